"""A settings file that has lost its end or rotted is told once, and comes back; an edit is neither told nor undone."""

import os
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.paths import config_path
from longsearch.app.user_data.user_file import told

WHOLE = 'theme = "textual-light"\nwidth = "1/2"\nrestore = false\n'


@pytest.fixture
def checked(home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(WHOLE)
    assert noted(capsys) == ""
    return path


def noted(capsys: pytest.CaptureFixture[str]) -> str:
    told.clear()
    assert main(["config", "check"]) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize("n_left", [0, 24, 38])
def test_a_file_that_was_cut_off_is_told_once_and_brought_back(
    checked: Path, capsys: pytest.CaptureFixture[str], n_left: int
) -> None:
    checked.write_text(WHOLE[:n_left])
    assert "ends earlier than when it was last read" in noted(capsys)
    assert noted(capsys) == ""
    assert main(["restore", "settings", "1"]) == 0
    assert checked.read_text() == WHOLE
    assert noted(capsys) == ""


def test_bytes_that_changed_while_nobody_wrote_are_told(checked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = checked.stat()
    checked.write_text(WHOLE.replace("1/2", "1/4"))
    os.utime(checked, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "has other bytes, though nobody wrote it" in noted(capsys)
    assert "1/4" in checked.read_text()


@pytest.mark.parametrize("edited", [WHOLE + 'model = "english"\n', WHOLE[24:], WHOLE.replace("1/2", "1/4")])
def test_an_edit_is_no_damage(checked: Path, capsys: pytest.CaptureFixture[str], edited: str) -> None:
    before = checked.stat()
    checked.write_text(edited)
    os.utime(checked, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    assert noted(capsys) == ""
    assert checked.read_text() == edited
