"""`longsearch config`, and what other commands do with the config file."""

import json
import os
from pathlib import Path

import pytest

from longsearch.app.cli import main
from longsearch.app.commands import doctor
from longsearch.app.commands.open import preferences
from longsearch.app.folders.indexes import known_roots, roots_to_keep
from longsearch.app.models.encoders import chosen_model
from longsearch.app.models.folder_models import thinking
from longsearch.app.models.resident import ResidentModel
from longsearch.app.models.turns import Models
from longsearch.app.paths import config_path
from longsearch.app.settings.schema import SETTINGS


@pytest.fixture(autouse=True)
def own_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    for name in (*(setting.variable for setting in SETTINGS), "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)


def write(text: str) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_config_shows_each_value_and_where_it_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["config"]) == 0
    assert "there is none" in capsys.readouterr().out
    path = write('ocr = "deu+eng"\nfolders = ["~/papers"]\n')
    monkeypatch.setenv("LONGSEARCH_WIDTH", "1/2")
    assert main(["config"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert {line[18:20] for line in printed[1:]} == {"  "} and all(line[20] != " " for line in printed[1:])
    lines = [line.split(maxsplit=1) for line in printed]
    assert lines[0] == [str(path)]
    said = {line[0]: line[1] for line in lines[1:]}
    assert said["ocr"] == "deu+eng  (line 1)"
    assert said["folders"] == '["~/papers"]  (line 2)'
    assert said["width"] == "1/2  (LONGSEARCH_WIDTH)"
    assert said["model"] == "bundled  (default)"
    assert main(["config", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["path"] == str(path) and found["exists"] and found["problems"] == []
    assert found["settings"]["ocr"] == {"value": "deu+eng", "origin": f"{path}, line 1", "default": "`false`"}


def test_check_finds_mistakes_of_the_file_the_environment_the_app_and_the_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["config", "check"]) == 0
    assert "there is no" in capsys.readouterr().out
    write("width = 1\n")
    assert main(["config", "check"]) == 0
    assert "1 setting, no mistake" in capsys.readouterr().out
    write(
        'width = 3\ntheme = "nrd"\nmodel = "org/missing"\nfolders = ["/not/there"]\n'
        '[keys]\n"main.opn" = "o"\n"main.similar" = "n"\n"main.help" = "f99x"\n'
    )
    monkeypatch.setenv("LONGSEARCH_DEEPEN", "maybe")
    assert main(["config", "check"]) == 3
    said = capsys.readouterr().err
    for words in (
        "width is 3", "no theme nrd", "no command main.opn", "did you mean main.open?", "main.help has no key f99x",
        "n is the key of main.next and of main.similar", "LONGSEARCH_DEEPEN is 'maybe'", "model: ",
        "note: /not/there is not there now",
    ):  # fmt: skip
        assert words in said
    assert main(["config", "check", "--json"]) == 3
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 7


def test_keys_lists_the_commands_of_the_app_with_their_keys_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    write('[keys]\n"main.open" = ["f9", "ctrl+s"]\n')
    assert main(["config", "keys"]) == 0
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()}
    assert rows["main.open"].startswith("f9, ctrl+s ") and rows["main.open"].endswith("at this page")
    assert " ".join(rows["files.reload"].split()) == "f5 Read the list again"
    assert main(["config", "keys", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["keys"]
    assert told["main.open"]["keys"] == ["f9", "ctrl+s"]
    assert told.keys() == rows.keys()


def test_edit_makes_a_private_file_opens_it_and_checks_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\necho "$2" > "$0.args"\necho "width = 3" >> "$2"\n')
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", f"{script} --wait")
    assert main(["config", "edit"]) == 3
    path = config_path()
    assert (tmp_path / "editor.args").read_text().strip() == str(path)
    assert "citations.width" in capsys.readouterr().err  # at the end of the file, below a table
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(path.parent).st_mode & 0o777 == 0o700
    monkeypatch.setenv("EDITOR", "false")
    assert main(["config", "edit"]) == 3
    assert "false ended with status 1" in capsys.readouterr().err
    monkeypatch.setenv("EDITOR", "/nowhere/editor")
    assert main(["config", "edit"]) == 3
    assert "cannot start /nowhere/editor" in capsys.readouterr().err


def test_a_mistake_stops_index_but_no_search(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "-q", str(root)]) == 0
    write('modle = "multilingual"\nwidth = 3\n')
    capsys.readouterr()
    assert main(["search", "the sea in the evening", str(root), "--mode", "words", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["results"]
    assert captured.err.count("\n") == 1
    assert "no setting modle (did you mean model?; 1 more: longsearch config check)" in captured.err
    assert main(["index", "-q", str(root)]) == 3
    assert "no setting modle" in capsys.readouterr().err


def test_doctor_checks_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    check = doctor.CHECKS["settings"]
    assert check() == "every setting has its default"
    write("width = 1\n")
    monkeypatch.setenv("LONGSEARCH_OCR", "deu")
    assert check() == f"{config_path()}: 1 setting; set by the environment: LONGSEARCH_OCR"
    write("width = 7\n")
    ok, found = doctor.outcome(check)
    assert not ok and "width is 7" in found


def test_the_app_gets_colours_keys_and_mistakes() -> None:
    write('theme = "nord"\nwidth = 7\n[keys]\n"main.open" = "f9"\n')
    chosen = preferences()
    assert (chosen.theme, chosen.keys) == ("nord", {"main.open": "f9"})
    assert [message.rpartition(": ")[2] for message, _ in chosen.problems] == ["width is 7"]


def test_folders_of_the_file_are_listed_and_kept_by_the_daemon(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(f'folders = ["{root}", "/not/there"]\n')
    assert roots_to_keep() == [root]
    assert main(["folders"]) == 0
    assert str(root) in capsys.readouterr().out
    assert known_roots() == roots_to_keep() == [root]
    assert main(["folders", "forget", str(root), "--yes"]) == 0
    assert "stands in the config file" in capsys.readouterr().err


def test_a_running_process_follows_the_model_of_the_file(root: Path) -> None:
    models = Models(ResidentModel())
    first = models.default
    assert models.status()["name"] == "bundled"
    write('model = "org/name"\n')
    assert chosen_model() == models.status()["name"] == "org/name"
    assert models.default is not first and models.default.widths is first.widths
    write('model = "english"\n')
    assert models.default is first


def test_a_number_of_soft_tokens_in_the_file_does_not_stop_a_model_that_cannot_think() -> None:
    write("think = 4\n")
    assert thinking(None) is None
