"""Walking a folder: which files are listed, skipped and reported."""

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from longsearch.engine.errors import LongsearchError
from longsearch.indexer import walk as walking
from longsearch.indexer.extract.other_formats import most_frequent
from longsearch.indexer.ignore import IGNORE_FILE
from longsearch.indexer.walk import WalkProblem, take_listing, walk


def put(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def listed(root: Path) -> list[str]:
    problems: list[WalkProblem] = []
    paths = [stamp.path for stamp in walk(root, problems)]
    assert problems == []
    return paths


def test_readable_files_are_listed_in_a_stable_order(tmp_path: Path) -> None:
    put(tmp_path, "b/z.pdf", "b/a.md", "a.txt", "c.txt", "a/deep/er/x.html", "picture.png")
    assert listed(tmp_path) == ["a.txt", "c.txt", "a/deep/er/x.html", "b/a.md", "b/z.pdf"]


def test_a_stamp_holds_size_time_and_inode_of_the_file(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", text="12345")
    (stamp,) = walk(tmp_path, [])
    status = (tmp_path / "a.txt").stat()
    assert (stamp.size, stamp.mtime_ns, stamp.inode) == (5, status.st_mtime_ns, status.st_ino)


def test_hidden_dependency_and_cache_folders_are_skipped(tmp_path: Path) -> None:
    put(tmp_path, ".git/a.txt", ".hidden.md", "node_modules/p/README.md", "__pycache__/a.txt", "kept/a.txt")
    put(tmp_path, "cache/CACHEDIR.TAG", "cache/a.txt", "venv/pyvenv.cfg", "venv/lib/licence.txt")
    assert listed(tmp_path) == ["kept/a.txt"]


LEFTOVERS = (
    "~$report.docx", ".~lock.report.odt#", "Thumbs.db", "thumbs.db", "desktop.ini", ".DS_Store", "a.pdf.crdownload",
    "a.pdf.part", "a.pdf.download", "a.pdf.partial", ".a.md.swp", "a.swo", "a.md~", "a.md.~1~", "#a.md#",
    "~$two\nlines.md",
)  # fmt: skip


@pytest.mark.parametrize("name", LEFTOVERS)
def test_what_programs_leave_beside_documents_is_not_listed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "is_readable", lambda _: True)  # as if a setting had every ending read
    put(tmp_path, name, "a.md", "part.md", "~notes.md", "#2.md", "a~b.md", "$5.md", "download.md", "swp")
    assert set(listed(tmp_path)) == {"a.md", "part.md", "~notes.md", "#2.md", "a~b.md", "$5.md", "download.md", "swp"}


def test_files_that_cannot_be_read_are_counted_by_suffix(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "b.pages", "c/d.PAGES", "e.tar.zst", "README", "f.averylongsuffix", ".hidden.png", "g.md~")
    put(tmp_path, "h.secret", IGNORE_FILE, text="*.secret")
    assert take_listing(tmp_path).passed_over == {".pages": 2, ".zst": 1, "": 2}


def test_of_very_many_suffixes_the_rare_ones_are_counted_together() -> None:
    counts = Counter({f".{number}": 1 for number in range(200)} | {".pages": 7, "": 2})
    kept = most_frequent(counts)
    assert len(kept) <= 101
    assert (kept[".pages"], sum(kept.values())) == (7, counts.total())


def test_messages_of_a_maildir_are_listed_with_its_hidden_folders(tmp_path: Path) -> None:
    name = "1588578000.M20046P2137.host"
    put(
        tmp_path,
        f"cur/{name}:2,S",
        f"new/{name}",
        f"tmp/{name}",
        f".Sent/cur/{name}:2,",
        ".git/cur.txt",
        f"other/{name}",
    )
    assert sorted(listed(tmp_path)) == [f".Sent/cur/{name}:2,", f"cur/{name}:2,S", f"new/{name}"]


def test_what_a_browser_saves_beside_a_page_is_not_listed(tmp_path: Path) -> None:
    put(tmp_path, "Tides.html", "Tides_files/frame.html", "Ice.htm", "Ice-Dateien/frame.htm", "my_files/a.md")
    assert listed(tmp_path) == ["Ice.htm", "Tides.html", "my_files/a.md"]


def test_the_folder_of_a_download_under_way_is_not_entered(tmp_path: Path) -> None:
    put(tmp_path, "thesis.pdf.download/thesis.pdf", "download/a.md", "drafts~/a.md", "#box#/a.md")
    assert listed(tmp_path) == ["#box#/a.md", "download/a.md", "drafts~/a.md"]


def test_a_root_that_is_hidden_or_marked_as_a_cache_is_walked(tmp_path: Path) -> None:
    put(tmp_path, ".notes/CACHEDIR.TAG", ".notes/a.txt")
    assert listed(tmp_path / ".notes") == ["a.txt"]


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "root/a.txt", "outside/b.txt")
    (tmp_path / "root/loop").symlink_to(tmp_path / "root", target_is_directory=True)
    (tmp_path / "root/link.txt").symlink_to(tmp_path / "outside/b.txt")
    (tmp_path / "root/broken.txt").symlink_to(tmp_path / "nothing")
    assert listed(tmp_path / "root") == ["a.txt"]


def test_a_root_may_be_a_symbolic_link(tmp_path: Path) -> None:
    put(tmp_path, "real/a.txt")
    (tmp_path / "root").symlink_to(tmp_path / "real", target_is_directory=True)
    assert listed(tmp_path / "root") == ["a.txt"]


def test_pipes_and_folders_named_like_documents_are_not_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    put(tmp_path, "folder.pdf/a.txt")
    assert listed(tmp_path) == ["folder.pdf/a.txt"]


def test_ignore_files_follow_gitignore(tmp_path: Path) -> None:
    put(tmp_path, "drafts/a.md", "keep/drafts/b.md", "x.txt", "sub/x.txt", "sub/y.log.txt", "sub/z.txt", "old/a.md")
    put(tmp_path, ".longsearchignore", text="# comment\n/drafts/\nold\n*.log.txt\nx.txt\n!sub/x.txt\n")
    assert listed(tmp_path) == ["keep/drafts/b.md", "sub/x.txt", "sub/z.txt"]


def test_an_inner_ignore_file_overrides_an_outer_one(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "sub/a.txt", "sub/b.txt", "sub/deep/b.txt", "other/b.txt")
    put(tmp_path, ".longsearchignore", text="a.txt\n")
    put(tmp_path, "sub/.longsearchignore", text="!a.txt\n/b.txt\n")
    assert listed(tmp_path) == ["other/b.txt", "sub/a.txt", "sub/deep/b.txt"]


def test_an_invalid_ignore_file_is_reported_and_not_used(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "sub/b.txt")
    put(tmp_path, "sub/.longsearchignore", text="!\n")
    problems: list[WalkProblem] = []
    assert [stamp.path for stamp in walk(tmp_path, problems)] == ["a.txt", "sub/b.txt"]
    assert [problem.path for problem in problems] == ["sub/.longsearchignore"]
    assert "not used" in str(problems[0])


def test_names_with_undecodable_bytes_and_newlines_are_listed(tmp_path: Path) -> None:
    name = b"na\xffme\n\x1b[31m.txt"
    try:
        (tmp_path / os.fsdecode(name)).write_text("x")
    except OSError:
        pytest.skip("this file system accepts only Unicode names")
    assert [os.fsencode(path) for path in listed(tmp_path)] == [name]


def test_a_folder_that_cannot_be_listed_is_reported_and_the_rest_is_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a/x.txt", "locked/y.txt", "z/z.txt")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("longsearch.indexer.walk.os.scandir", refuse)
    problems: list[WalkProblem] = []
    assert [stamp.path for stamp in walk(tmp_path, problems)] == ["a/x.txt", "z/z.txt"]
    assert problems == [WalkProblem("locked", "Permission denied")]


def test_a_missing_root_raises_before_the_first_file(tmp_path: Path) -> None:
    with pytest.raises(LongsearchError, match="not there") as caught:
        walk(tmp_path / "nothing", [])
    assert caught.value.hint


def test_a_file_cannot_be_a_root(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    with pytest.raises(LongsearchError, match="not a folder"):
        walk(tmp_path / "a.txt", [])


@pytest.fixture
def deep_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of 1,500 levels, removed by `rm`: Python removes folders by recursion, which fails here."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_folders_may_nest_deeper_than_python_calls(deep_folder: Path) -> None:
    put(deep_folder, "z.txt")
    problems: list[WalkProblem] = []
    assert [stamp.path for stamp in walk(deep_folder, problems)] == ["z.txt"]
    # a path may be too long for the system, which is reported
    assert all("name too long" in problem.reason.lower() for problem in problems)


@pytest.mark.parametrize("pattern", ["draft[a-Z].md", "*a" * 8 + "b", "x/" + "*-" * 4])
def test_a_pattern_that_is_invalid_or_too_slow_is_reported_and_not_used(tmp_path: Path, pattern: str) -> None:
    (tmp_path / ("a" * 200 + ".md")).touch()
    (tmp_path / ".longsearchignore").write_text(f"{pattern}\n")
    problems: list[WalkProblem] = []
    assert len(list(walk(tmp_path, problems))) == 1
    (problem,) = problems
    assert problem.path == ".longsearchignore"
    assert "not used" in problem.reason


def test_usual_patterns_with_asterisks_are_used(tmp_path: Path) -> None:
    (tmp_path / "a-draft-of-2.md").touch()
    (tmp_path / ".longsearchignore").write_text("**/*-draft-*.*\n")
    problems: list[WalkProblem] = []
    assert list(walk(tmp_path, problems)) == []
    assert problems == []


@pytest.mark.parametrize("year", [2400, 1600])
def test_a_time_beyond_the_integers_of_the_index_is_clipped(tmp_path: Path, year: int) -> None:
    path = tmp_path / "a.md"
    path.touch()
    seconds = (year - 1970) * 31_557_600
    try:
        os.utime(path, (seconds, seconds))
    except (OSError, OverflowError):
        pytest.skip("this file system cannot store such a year")
    (stamp,) = walk(tmp_path, [])
    assert -(2**63) <= stamp.mtime_ns < 2**63
