"""Several indexed folders answer as one; one that is away or damaged says so, and the rest answers."""

import json
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.folders import forgetting, names, presence
from longsearch.app.folders.listing import find_folder, indexed_folders
from longsearch.app.paths import index_path
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question
from longsearch.app.search.searching import search as search_in
from longsearch.app.search.similar import similar_to_file
from longsearch.engine.errors import LongsearchError, QueryError
from longsearch.engine.store import documents
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.progress import FileStatus
from longsearch.engine.types.results import SearchMode, SearchResults
from tests.app.app_helpers import running, status, wait_until
from tests.app.made_folders import make_folder, toward, vector_source

HYBRID, MEANING, WORDS = SearchMode.HYBRID, SearchMode.MEANING, SearchMode.WORDS


@pytest.fixture
def three(home: Path) -> list[Path]:
    """Three folders, two of them with the same name; the third is a drive that is not mounted any more."""
    papers = make_folder(home / "papers", {"tides.md": "tides and moons", "bees.md": "bees in a box"})
    work = make_folder(home / "work" / "papers", {"lease.md": "a lease of a box"})
    usb = make_folder(home / "usb", {"moon.md": "moons of a far planet"}, drive=True)
    for file in usb.iterdir():
        file.unlink()
    return [papers, work, usb]


def search(text: str, mode: SearchMode = WORDS, vector: object = None, **options: object) -> SearchResults:
    source = vector_source(toward(1) if vector is None else vector)
    return search_in(Scope(indexed_folders()), Question(text, mode, **options), source)


def names_found(results: SearchResults) -> list[str]:
    return [f"{hit.folder}: {Path(hit.path).name}" for hit in results.hits]


def test_three_folders_of_which_one_is_unmounted_answer_as_one(three: list[Path]) -> None:
    results = search("moons box")
    assert set(names_found(results)) == {"papers: tides.md", "papers: bees.md", "work/papers: lease.md", "usb: moon.md"}
    assert results.note == ("usb is away (its drive is not mounted): its documents are found, but cannot be opened")
    assert [folder.name for folder in results.folders] == ["papers", "usb", "work/papers"]
    assert [hit.rank for hit in results.hits] == [1, 2, 3, 4]


def test_a_deleted_folder_answers_from_its_index(three: list[Path]) -> None:
    shutil.rmtree(three[0])
    results = search("tides")
    assert names_found(results) == ["papers: tides.md"]
    assert "papers is away (it does not exist" in results.note


def test_a_folder_whose_index_is_damaged_is_left_out_and_the_rest_answers(three: list[Path]) -> None:
    indexed_folders()  # gives the names
    index_path(three[0]).write_bytes(b"no index" * 1000)
    damaged = find_folder("papers", indexed_folders())
    assert "corrupt" in damaged.problem
    results = search("tides moons")
    assert names_found(results) == ["usb: moon.md"]
    assert "papers is left out: The index is corrupt" in results.note
    assert [folder.name for folder in results.folders] == ["usb", "work/papers"]


def test_a_damaged_index_that_never_had_a_name_goes_by_its_file(three: list[Path]) -> None:
    index_path(three[0]).write_bytes(b"no index" * 1000)
    (damaged,) = (folder for folder in indexed_folders() if folder.problem)
    assert damaged.name == index_path(three[0]).stem
    assert damaged.root == ""


def test_one_folder_can_be_chosen_left_out_or_begun(three: list[Path]) -> None:
    assert names_found(search("box folder:papers")) == ["papers: bees.md"]
    assert names_found(search("box folder:WORK/papers")) == ["work/papers: lease.md"]
    assert names_found(search("box -folder:papers")) == ["work/papers: lease.md"]
    assert set(names_found(search("box folder:pap"))) == {"papers: bees.md", "work/papers: lease.md"}
    with pytest.raises(QueryError, match="No folder is called paperz") as caught:
        search("box folder:paperz")
    assert caught.value.hint == "Did you mean papers?"
    with pytest.raises(QueryError, match="leaves out every folder"):
        search("box -folder:papers -folder:usb -folder:work")


def test_a_folder_alone_lists_its_documents_and_keys_of_any_folder_filter(three: list[Path]) -> None:
    with Store.open(index_path(three[1]), root=three[1]) as store:
        with store.reading() as db:
            (known,) = documents.all_ids(db).tolist()
        store.describe(known, "", [MetadataValue("status", "draft", "front matter")])
    assert set(names_found(search("folder:papers"))) == {"papers: tides.md", "papers: bees.md"}
    assert names_found(search("status:draft", HYBRID)) == ["work/papers: lease.md"]
    assert names_found(search("", also=[("status", "draft"), ("-folder", "usb")])) == ["work/papers: lease.md"]
    with pytest.raises(QueryError, match="No document has a field statsu"):
        search("", also=[("statsu", "draft")])


def test_one_folder_alone_answers_as_before_and_refuses_the_names_of_others(three: list[Path]) -> None:
    source = vector_source(toward(1))
    alone = search_in(Scope.of(three[0]), Question("box folder:papers", WORDS), source)
    together = search("box folder:papers")
    assert [(hit.path, hit.score) for hit in alone.hits] == pytest.approx(
        [(hit.path, hit.score) for hit in together.hits]
    )
    assert alone.folders == ()
    with pytest.raises(QueryError, match="No folder is called usb"):
        search_in(Scope.of(three[0]), Question("box folder:usb", WORDS), source)


def test_vectors_of_another_model_are_not_compared(home: Path) -> None:
    make_folder(home / "new", {"a.md": "apples"}, [toward(1, 1)])
    make_folder(home / "old", {"b.md": "apples too"}, [toward(1)], model="model-b")
    make_folder(home / "fresh", {"c.md": "apples as well"})
    results = search("apples", HYBRID)
    assert results.mode is HYBRID
    assert set(names_found(results)) == {"new: a.md", "old: b.md", "fresh: c.md"}
    assert "old: words only: the index was made with another model" in results.note
    assert "fresh: words only: no document has been read for its meaning yet" in results.note
    assert results.vector_ms == 2.0
    by_meaning = search("apples", MEANING)
    assert names_found(by_meaning) == ["new: a.md"]
    assert "old: left out: the index was made with another model" in by_meaning.note
    with pytest.raises(LongsearchError, match="the index was made with another model"):
        search_in(Scope([find_folder("old", indexed_folders())]), Question("apples", MEANING), vector_source(toward(1)))


def test_a_search_by_meaning_needs_a_vector_but_hybrid_does_not(home: Path) -> None:
    make_folder(home / "new", {"a.md": "apples"}, [toward(1)])

    def no_daemon(text: str, instruction: str | None) -> None:
        raise LongsearchError("no daemon is running")

    found = search_in(Scope(indexed_folders()), Question("apples", HYBRID), no_daemon)
    assert (found.mode, found.note) == (WORDS, "words only: no daemon is running")
    with pytest.raises(LongsearchError, match="no daemon"):
        search_in(Scope(indexed_folders()), Question("apples", MEANING), no_daemon)


def test_a_folder_inside_another_lists_a_document_once(home: Path) -> None:
    texts = {"inner/a.md": "apples", "b.md": "apples and pears"}
    outer = make_folder(home / "outer", texts, [toward(1), toward(1, 1)])
    make_folder(outer / "inner", {"a.md": "apples"}, [toward(1)])
    assert names_found(search("apples", HYBRID)) == ["inner: a.md", "outer: b.md"]
    similar = similar_to_file(Scope(indexed_folders()), outer / "b.md")
    assert [hit.path for hit in similar.hits] == [str(outer / "inner" / "a.md")]
    assert similar.similar_to == "b"


def test_similar_documents_come_from_every_folder_of_the_same_model(home: Path) -> None:
    make_folder(home / "one", {"a.md": "apples", "p.md": "pears"}, [toward(1), toward(1, 1)])
    make_folder(home / "two", {"b.md": "more apples"}, [toward(3, 1)])
    make_folder(home / "old", {"c.md": "other apples"}, [toward(1)], model="model-b")
    results = similar_to_file(Scope(indexed_folders()), home / "one" / "a.md")
    assert names_found(results) == ["two: b.md", "one: p.md"]
    assert "old: left out: the index was made with another model" in results.note


# ---- names


def test_a_folder_keeps_its_name_when_others_come_and_go(home: Path) -> None:
    make_folder(home / "z" / "papers", {"a.md": "a"})
    assert [folder.name for folder in indexed_folders()] == ["papers"]
    make_folder(home / "papers", {"b.md": "b"})
    assert {folder.name: folder.root for folder in indexed_folders()} == {
        "papers": str(home / "z" / "papers"),
        f"{home.name}/papers": str(home / "papers"),
    }


@pytest.mark.parametrize(
    ("part", "name"),
    [('say "hi"', "say 'hi'"), ("a\x1b[31m\nb", "a\ufffd[31m\ufffdb"), ("\udcff", "\ufffd"), ("★", "★"), ("-x", "-x")],
)
def test_a_hostile_folder_name_can_be_shown_typed_and_searched(home: Path, part: str, name: str) -> None:
    make_folder(home / part, {"a.md": "apples"})
    (folder,) = indexed_folders()
    assert folder.name == name
    assert names_found(search(f'apples folder:"{name}"')) == [f"{name}: a.md"]
    assert main(["folders", "rename", str(home / part), "calm"]) == 0
    assert names_found(search("apples folder:calm")) == ["calm: a.md"]


@given(
    st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1).map(lambda part: f"/r/{part}"), max_size=6)
)
def test_first_names_are_unique_and_clean(paths: list[str]) -> None:
    taken: list[str] = []
    for path in dict.fromkeys(paths):
        name = names.first_name(Path(path), taken)
        assert names.check_name(name[:64], []) if name[:64].strip() else True
        assert names.folded(name) not in map(names.folded, taken)
        taken.append(name)


@pytest.mark.parametrize("name", ["", "  ", 'a"b', "a”b", "a\x1bb", "x" * 65, "PAPERS"])
def test_a_name_that_cannot_be_used_is_refused(
    three: list[Path], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["folders", "rename", "usb", name]) == 3
    assert "called" in capsys.readouterr().err
    assert [folder.name for folder in indexed_folders()] == ["papers", "usb", "work/papers"]


def test_a_damaged_file_of_names_costs_only_the_names(three: list[Path]) -> None:
    indexed_folders()
    names.names_file().path.write_text('{"names": ["nonsense"]}')
    assert [folder.name for folder in indexed_folders()] == ["papers", "usb", "work/papers"]


# ---- away


def test_a_folder_that_does_not_answer_counts_as_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    def hang(root: Path, was_drive: bool = False) -> str:
        answers.wait(60) if root.name == "hung" else None
        return ""

    monkeypatch.setattr(presence, "reason_away", hang)
    found = presence.reasons_away([tmp_path / "hung", tmp_path / "quick"], timeout_s=0.05)
    answers.set()
    assert found == {tmp_path / "hung": "it does not answer within 0.05 s", tmp_path / "quick": ""}


def test_a_folder_says_why_it_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "drive").mkdir()
    assert presence.reason_away(tmp_path) == ""
    assert "does not exist" in presence.reason_away(tmp_path / "gone")
    assert "does not exist" in presence.reason_away(tmp_path / "file")
    assert presence.reason_away(tmp_path / "drive") == ""
    assert presence.reason_away(tmp_path / "drive", was_drive=True) == "its drive is not mounted"

    def forbidden(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", forbidden)  # root may read everything
    assert presence.reason_away(tmp_path) == "you may not read it"


# ---- forgetting


def test_a_forgotten_folder_keeps_its_files_and_can_be_taken_back(three: list[Path]) -> None:
    indexed_folders()
    assert main(["folders", "forget", "papers", "--yes"]) == 0
    assert [folder.name for folder in indexed_folders()] == ["usb", "work/papers"]
    assert (three[0] / "tides.md").read_text() == "tides and moons"
    assert main(["folders", "restore", "papers"]) == 0
    assert names_found(search("tides")) == ["papers: tides.md"]
    assert forgetting.forgotten() == []


def test_a_name_is_free_once_its_folder_is_forgotten(three: list[Path]) -> None:
    indexed_folders()
    assert main(["folders", "forget", str(three[0]), "--yes"]) == 0
    assert main(["folders", "rename", "work/papers", "papers"]) == 0
    assert main(["folders", "restore", "papers"]) == 0
    assert [folder.root for folder in indexed_folders()] == [str(three[1]), str(three[0]), str(three[2])]
    assert [folder.name for folder in indexed_folders()] == ["papers", f"{three[0].parent.name}/papers", "usb"]


def test_a_forgotten_index_is_deleted_after_thirty_days_or_at_once(three: list[Path]) -> None:
    indexed_folders()
    aside = index_path(three[0]).parent / "forgotten"
    forgetting.forget(find_folder("papers", indexed_folders()), now_s=0.0)
    assert [file.name for file in aside.glob("papers-*.sqlite")] == [index_path(three[0]).name]
    assert forgetting.delete_old(now_s=30 * 86_400.0) == 0
    assert forgetting.delete_old(now_s=30 * 86_400.0 + 1) == 1
    assert list(aside.glob("papers-*")) == []
    assert main(["folders", "forget", "usb", "--yes", "--delete"]) == 0
    assert list(aside.glob("usb-*")) == []
    assert forgetting.forgotten() == []


def test_nothing_is_forgotten_without_a_yes(
    three: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["folders", "forget", "usb"]) == 3
    assert "add --yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert main(["folders", "forget", "usb"]) == 1
    assert main(["folders", "forget", "nowhere"]) == 3
    assert main(["folders", "restore", "usb"]) == 3
    assert len(indexed_folders()) == 3
    monkeypatch.setattr("builtins.input", lambda question: "Yes")
    assert main(["folders", "forget", "usb"]) == 0
    assert len(indexed_folders()) == 2


def test_the_daemon_no_longer_watches_a_forgotten_folder(home: Path, root: Path) -> None:
    with running(Daemon(tick_s=0.01)):
        assert main(["folders", "add", str(root), "--name", "my notes"]) == 0
        backend = AppBackend()
        current = lambda: {file.path for file in backend.files() if file.status is FileStatus.CURRENT}  # noqa: E731
        wait_until(lambda: current() == {"tides.md", "violin.md"})
        assert main(["folders", "forget", "my notes", "--yes"]) == 0
        assert status()["roots"] == []
        assert not index_path(root).exists()


# ---- the command line


def test_a_search_outside_any_folder_searches_all(
    three: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(three[0].parent)
    assert main(["search", "--json", "--mode", "words", "moons"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [hit["folder"] for hit in found["results"]] == ["usb", "papers"]
    away = {folder["name"]: folder["away"] for folder in found["folders"]}
    assert away == {"papers": "", "usb": "its drive is not mounted", "work/papers": ""}
    assert main(["search", "--mode", "words", "moons"]) == 0
    assert "2 documents in 3 folders" in capsys.readouterr().out
    monkeypatch.chdir(three[1])
    assert main(["search", "--mode", "words", "moons"]) == 1
    assert main(["search", "--mode", "words", "moons", "--everywhere"]) == 0
    assert main(["search", "--mode", "words", "moons", str(three[0]), "--everywhere"]) == 3


def test_without_any_index_a_search_says_how_to_make_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    for arguments in (["search", "x"], ["search", "x", "--everywhere"], ["open"], ["similar", __file__]):
        assert main(arguments) == 3
        assert "longsearch" in capsys.readouterr().err
    assert main(["folders"]) == 1
    assert main(["folders", "--json"]) == 1


def test_the_list_says_what_each_folder_holds(three: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["folders", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["folders"]}
    assert rows["papers"]["documents"] == 2
    assert rows["papers"]["path"] == str(three[0])
    assert (rows["papers"]["model"], rows["papers"]["indexed_at"], rows["papers"]["away"]) == ("", None, "")
    assert rows["papers"]["bytes"] > 10_000
    assert main(["folders"]) == 0
    out = capsys.readouterr().out
    assert "papers  " in out
    assert "away: its drive is not mounted" in out


# ---- the app


def test_the_app_over_all_folders_tells_documents_of_different_folders_apart(home: Path) -> None:
    make_folder(home / "one", {"a.md": "apples"}, [toward(1)])
    make_folder(home / "two", {"b.md": "apples and pears"}, [toward(1, 1)])
    backend = AppBackend()
    results = backend.search("apples", WORDS)
    ids = [hit.document_id for hit in results.hits]
    assert len(set(ids)) == 2
    assert [backend.document(known).text for known in ids] == ["apples", "apples and pears"]
    (similar,) = backend.similar(ids[0]).hits
    assert similar.document_id == ids[1]
    progress = backend.progress()
    assert (progress.n_files, progress.n_current) == (2, 2)
    assert [(file.folder, file.path) for file in backend.files()] == [("one", "a.md"), ("two", "b.md")]


def test_the_app_over_all_folders_completes_their_names_and_the_values_of_all(three: list[Path]) -> None:
    backend = AppBackend()
    choices = {typed: backend.complete(typed).choices for typed in ("box folder:", "type:", "folder:us")}
    assert [(one.text, one.n_documents) for one in choices["box folder:"]] == [
        ("papers", 2), ("usb", 1), ("work/papers", 1),
    ]  # fmt: skip
    assert [(one.text, one.n_documents) for one in choices["type:"]] == [("md", 4)]
    assert [one.text for one in choices["folder:us"]] == ["usb"]
    assert AppBackend(three[0]).complete("folder:").choices == ()


def test_the_numbers_of_values_are_those_of_the_folders_that_the_query_names(three: list[Path]) -> None:
    n_documents = {
        typed: [(one.text, one.n_documents) for one in AppBackend().complete(typed).choices]
        for typed in ("folder:papers type:", "-folder:papers type:", "folder:nowhere type:", "folder:papers folder:us")
    }
    assert n_documents == {
        "folder:papers type:": [("md", 2)],
        "-folder:papers type:": [("md", 2)],
        "folder:nowhere type:": [],
        "folder:papers folder:us": [("usb", 1)],
    }


def test_a_file_of_a_folder_that_is_away_is_not_opened(three: list[Path]) -> None:
    backend = AppBackend()
    with pytest.raises(LongsearchError, match="usb is away: its drive is not mounted"):
        backend.open(str(three[2] / "moon.md"), None)
    assert backend.progress().activity == "1 folder away"


def test_the_status_outside_any_folder_is_that_of_all(
    three: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(three[0].parent)
    indexed_folders()
    index_path(three[0]).write_bytes(b"no index" * 1000)
    assert main(["status", "--json"]) == 0
    papers, usb, work = json.loads(capsys.readouterr().out)["folders"]
    assert "corrupt" in papers["problem"]
    assert (usb["away"], usb["n_files"], usb["files"][0]["path"]) == ("its drive is not mounted", 1, "moon.md")
    assert work["root"] == str(three[1])
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert "away: its drive is not mounted\n" in out
    assert f"work/papers  {three[1]}\n" in out


def test_what_a_person_says_of_a_folder_is_in_the_json_of_its_hits_and_goes_with_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_folder(home / "notes", {"tides.md": "The tide follows the moon."})
    assert main(["folders", "describe", "notes", "Notes of  my\x1b courses."]) == 0
    assert main(["search", "tide", str(home / "notes"), "--mode", "words", "--json"]) == 0
    out = capsys.readouterr().out.partition("\n")[2]
    assert json.loads(out)["results"][0]["folder_about"].startswith("Notes of my")
    assert main(["folders", "rename", "notes", "mine"]) == 0
    assert main(["folders", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["folders"][0]["about"].startswith("Notes of my")
    assert main(["folders", "describe", "mine", "x" * 501]) == 3
    assert main(["folders", "describe", "mine", ""]) == 0
    assert capsys.readouterr().out == "mine: nothing is said of it\n"
