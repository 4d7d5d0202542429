"""`longsearch status` explains each file that is not fully searchable."""

import json
import shutil
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands.status import _in_short, describe
from longsearch.app.folders.indexes import IndexLockedError, is_being_indexed, locked
from longsearch.app.paths import index_path
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileReport, FileStatus


@pytest.fixture
def root(home: Path) -> Path:
    """A folder whose index lists two files that failed; one of them is tried again."""
    root = home / "root"
    root.mkdir()
    with Store.open(index_path(root), root=root) as store:
        store.add_failure(FileStamp("locked\x1b[31m.pdf", 1, 1, 1), "encrypted", "save a copy without the password")
        store.add_failure(FileStamp("drive.pdf", 1, 1, 2), "cannot be opened: Input/output error", "", 3, 4e9)
    return root


def test_a_failed_file_is_printed_with_reason_hint_and_next_try(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(root)]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "encrypted; save a copy without the password; read again once it has changed, or on request" in said
    assert "Input/output error; tried 3 times; read again in" in said
    assert f"nothing watches for changes: run longsearch index {root}" in said


def test_the_json_has_every_field_of_a_failed_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--json", str(root)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["daemon"] is None
    drive = next(file for file in found["files"] if file["path"] == "drive.pdf")
    assert (drive["n_failures"], drive["retry_at"], drive["n_tokens"], drive["n_tokens_embedded"]) == (3, 4e9, 0, 0)


def test_files_that_are_passed_over_are_counted_with_what_would_read_them(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(index_path(root), root=root) as store:
        store.remember_passed_over({".py": 40, ".pages": 2, ".jpg": 9, ".pst": 1, ".x\x1b[1m": 1})
    assert main(["status", str(root)]) == 0
    said = capsys.readouterr().out
    assert "not read 2 .pages: open them in their program, and save copies as PDF\nnot read 1 .pst: export" in said
    assert "not read 41 files of other kinds; to see which: longsearch status --verbose" in said
    assert main(["status", "--verbose", str(root)]) == 0
    said = capsys.readouterr().out
    assert "not read 40 .py: a program that you name in [adapters]" in said and "\x1b" not in said
    assert main(["status", "--json", str(root)]) == 0
    listed = json.loads(capsys.readouterr().out)["passed_over"]
    assert listed[0] == {"suffix": ".pages", "n_files": 2, "hint": "open them in their program, and save copies as PDF"}
    assert {found["suffix"]: found["n_files"] for found in listed}[".py"] == 40


def test_reasons_are_counted_without_what_differs_between_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(index_path(root), root=root) as store:
        for number in range(3):
            store.add_failure(
                FileStamp(f"{number}.txt", 1, 1, 3 + number), f"too large: {number} MB of text", "split it"
            )
    assert main(["status", "--verbose", str(root)]) == 0
    assert "failed   3 files: too large\n" in capsys.readouterr().out


def test_the_status_says_that_a_folder_is_being_indexed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with locked(root):
        assert main(["status", str(root)]) == 0
        said = capsys.readouterr().out
        assert "longsearch index is running on it now" in said
        assert "nothing watches" not in said
        assert main(["status", "--json", str(root)]) == 0
        assert json.loads(capsys.readouterr().out)["indexing"] is True
    assert main(["status", "--json", str(root)]) == 0
    assert json.loads(capsys.readouterr().out)["indexing"] is False


def test_a_look_at_the_status_does_not_stop_indexing(root: Path) -> None:
    with locked(root), pytest.raises(IndexLockedError), locked(root):
        pass
    assert not is_being_indexed(root)
    with locked(root):
        assert is_being_indexed(root)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (FileReport("a.md", FileStatus.CURRENT, "", "", 0, 900, 900), "current  a.md  (900 of 900 tokens embedded)"),
        (FileReport("a.md", FileStatus.WAITING, "", "", 0, 9_000, 40), "waiting  a.md  (40 of 9,000 tokens embedded)"),
        (
            FileReport("a.pdf", FileStatus.PARTIAL, "2 of 9 pages are damaged", "repair it", 9, 70, 70),
            "partial  a.pdf  (70 of 70 tokens embedded)\n         "
            "2 of 9 pages are damaged; repair it; read again once it has changed, or on request",
        ),
    ],
)
def test_each_status_is_explained(file: FileReport, expected: str) -> None:
    assert describe(file) == expected


def test_the_files_that_need_a_person_stand_last_and_those_that_wait_are_cut_short() -> None:
    failed = FileReport("0.pdf", FileStatus.FAILED, "it is encrypted", "", 1, 0, 0)
    waiting = [FileReport(f"{number}.md", FileStatus.WAITING, "", "", 0, 9, 0) for number in range(1, 1_300)]
    current = FileReport("z.md", FileStatus.CURRENT, "", "", 0, 9, 9)
    lines = list(_in_short([failed, *waiting, current]))
    assert [line.split()[1] for line in lines[:10]] == [f"{number}.md" for number in range(1, 11)]
    assert lines[10] == "waiting  1,289 more; to see them: longsearch status --all"
    assert "their meaning" in lines[11]
    assert lines[12].startswith("failed   0.pdf") and len(lines) == 13
    assert list(_in_short([current])) == []


def test_the_status_of_a_folder_that_is_gone_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(root)
    assert main(["status", str(root)]) == 0
    said = capsys.readouterr().out
    assert "away: it does not exist; is its drive mounted?" in said
    assert "longsearch index" not in said
