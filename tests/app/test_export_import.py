"""`longsearch export`, `import` and `uninstall`: what a person owns moves, comes back, or goes."""

import json
import zipfile
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.paths import config_path, data_folder, themes_folder
from longsearch.app.user_data.user_file import UserFile


@pytest.fixture
def own(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's things, and the path of their export."""
    for name in ("HOME", "USERPROFILE"):  # uninstall looks for the skill there
        monkeypatch.setenv(name, str(home))
    with UserFile("history.json").changing() as known:
        known["queries"] = [{"query": "tides", "root": "/notes", "at": 1.0}]
    with UserFile("app.json").changing() as known:
        known["theme"] = "sea"
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('model = "english"\n', "utf-8")
    themes_folder().mkdir(exist_ok=True)
    (themes_folder() / "sea.toml").write_text("primary = '#00f'\n", "utf-8")
    return home / "mine.zip"


def test_what_was_exported_comes_back_and_what_was_there_can_be_restored(own: Path) -> None:
    assert main(["export", str(own)]) == 0
    assert own.stat().st_mode & 0o077 == 0
    before = UserFile("history.json").read()
    with UserFile("history.json").changing() as known:
        known["queries"] = []
    config_path().write_text('model = "multilingual"\n', "utf-8")
    (themes_folder() / "sea.toml").unlink()
    assert main(["import", str(own)]) == 0
    assert UserFile("history.json").read() == before
    assert UserFile("history.json").read_version(UserFile("history.json").versions()[0]) == {"queries": []}
    assert config_path().read_text("utf-8") == 'model = "english"\n'
    assert config_path().with_name("config.toml.before").read_text("utf-8") == 'model = "multilingual"\n'
    assert (themes_folder() / "sea.toml").exists()
    assert config_path().stat().st_mode & 0o077 == 0


def test_an_export_never_writes_over_a_file(own: Path) -> None:
    own.write_text("precious", "utf-8")
    assert main(["export", str(own)]) == 3
    assert own.read_text("utf-8") == "precious"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("../../evil.toml", "x"),
        ("themes/../../evil.toml", "x"),
        ("indexes/a.sqlite", "x"),
        ("history.json", "no json"),
        ("basket.json", json.dumps({"passages": 3})),
    ],
)
def test_a_made_up_file_is_refused_and_nothing_is_changed(own: Path, name: str, text: str) -> None:
    with zipfile.ZipFile(own, "w") as archive:
        archive.writestr("app.json", json.dumps({"theme": "other"}))
        archive.writestr(name, text)
    assert main(["import", str(own)]) == 3
    assert UserFile("app.json").read() == {"theme": "sea"}
    assert main(["import", str(config_path())]) == 3  # no ZIP at all


def test_uninstall_says_what_there_is_and_removes_it_only_if_the_person_agrees(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = own.with_name("document.md")
    document.write_text("mine", "utf-8")
    folder, skills = data_folder(), own.with_name(".claude") / "skills"
    (skills / "another").mkdir(parents=True)
    assert main(["skill", "install"]) == 0
    assert main(["uninstall"]) == 3  # nobody can be asked
    printed = capsys.readouterr().out
    assert str(folder) in printed and str(config_path().parent) in printed
    assert UserFile("history.json").path.exists()
    assert main(["uninstall", "--yes"]) == 0
    assert not folder.exists() and not config_path().exists()
    assert [path.name for path in skills.iterdir()] == ["another"]
    assert document.read_text("utf-8") == "mine"


def test_uninstall_removes_a_cache_that_lies_in_the_data_folder_with_it(
    own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = data_folder() / "cache"
    inner.mkdir()
    monkeypatch.setattr("longsearch.app.paths.calibration_path", lambda: inner / "calibration.json")
    assert main(["uninstall", "--yes"]) == 0
    assert not inner.parent.exists()
    assert capsys.readouterr().out.count(str(inner.parent)) == 1
