"""`longsearch doctor` where there is little to stand on: no home, no locale, no terminal, altered weights."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands import doctor
from longsearch.app.paths import calibration_path, data_folder
from longsearch.app.paths import home as own_home
from longsearch.engine.errors import LongsearchError
from longsearch.engine.models import hub

_NO_USER = """
import pwd, sys

def unknown(uid):
    raise KeyError(uid)

pwd.getpwuid = unknown
from longsearch.app.cli import main
sys.exit(main(sys.argv[1:]))
"""


def bare(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run longsearch as a user whom the system does not know, in a folder, without HOME, locale or terminal."""
    paths = {"PATH": os.defpath, "PYTHONPATH": os.environ.get("PYTHONPATH", str(Path(__file__).parents[2]))}
    return subprocess.run(
        [sys.executable, "-c", _NO_USER, *arguments],
        cwd=folder,
        env={**paths, "LC_ALL": "C", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_home_the_doctor_says_what_to_set_and_makes_no_folder(tmp_path: Path) -> None:
    done = bare(tmp_path, "doctor", "--json")
    assert done.returncode == 3
    assert done.stderr == ""
    findings = json.loads(done.stdout)
    assert findings["model"]["ok"]
    assert findings["weights"]["ok"]
    assert "set HOME, or XDG_DATA_HOME" in findings["data"]["found"]
    assert "Error(" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_a_home_a_data_folder_is_enough_to_index_and_search(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The tide follows the moon, ü.")
    data = {"XDG_DATA_HOME": str(tmp_path / "data")}
    done = bare(tmp_path, "index", "-q", "notes", **data)
    assert (done.returncode, done.stderr) == (0, "")
    found = bare(tmp_path, "search", "tide", "notes", "--mode", "words", **data)
    assert found.returncode == 0
    assert "follows the moon" in found.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "notes"]


@pytest.mark.parametrize("arguments", [["search", "x"], ["status"], ["folders"], ["daemon", "install", "--print"]])
def test_without_a_home_every_command_ends_with_a_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pwd

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LongsearchError):
        own_home()
    assert main(arguments) == 3
    assert "no home folder" in capsys.readouterr().err


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LongsearchError, match="cannot be made"):
        doctor.CHECKS["data"]()
    with pytest.raises(LongsearchError, match="cannot be made"):
        doctor.CHECKS["daemon"]()


def test_without_a_place_for_a_cache_it_lies_beside_the_indexes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    assert calibration_path().parent == data_folder() / "cache"


def test_altered_weights_are_found(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "bundled is as published" in (told := doctor.CHECKS["weights"]())
    assert "reader is as published" in told
    copy = tmp_path / "model"
    shutil.copytree(hub.bundled_model(), copy)
    monkeypatch.setattr(hub, "shipped_model", lambda name: copy if name == "bundled" else tmp_path / "none")
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(30_000_000)
        file.write(b"\xff")
    with pytest.raises(LongsearchError, match="its card says"):
        doctor.CHECKS["weights"]()
    (copy / "README.md").write_text("no hash")
    with pytest.raises(LongsearchError, match="names no SHA-256"):
        doctor.CHECKS["weights"]()
