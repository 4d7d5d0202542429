"""The settings: environment before config file before default, and what a mistake costs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.indexing.opening import open_pipeline
from longsearch.app.paths import config_path
from longsearch.app.settings import page
from longsearch.app.settings.editor import editor_command
from longsearch.app.settings.reading import current, is_from_file, line_of, read, require_sound
from longsearch.app.settings.schema import SETTINGS, Setting, Settings
from longsearch.engine.errors import LongsearchError


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in (*(setting.variable for setting in SETTINGS), "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)


def write(text: str | bytes) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def said() -> list[str]:
    return [f"{problem.message} | {problem.hint}" for problem in read().problems]


def test_without_a_file_every_setting_has_its_default_and_no_folder_is_made(tmp_path: Path) -> None:
    settings = current()
    assert (settings.model, settings.ocr, settings.width, settings.folders) == ("bundled", None, None, ())
    assert {one.origin for one in read().effective} == {"default"}
    assert not (tmp_path / "config").exists()


def test_a_variable_wins_over_the_file_and_the_file_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    write('model = "multilingual"\nwidth = 0.5\nocr = true\ndeepen = true\nthink = 4\n')
    settings = current()
    assert (settings.model, settings.width, settings.ocr, settings.deepen) == ("multilingual", 0.5, "", True)
    assert is_from_file("think")
    monkeypatch.setenv("LONGSEARCH_MODEL", "org/name")
    monkeypatch.setenv("LONGSEARCH_OCR", "0")
    monkeypatch.setenv("LONGSEARCH_WIDTH", " ")  # empty: not set
    monkeypatch.setenv("LONGSEARCH_THINK", "7")
    settings = current()
    assert (settings.model, settings.width, settings.ocr, settings.think) == ("org/name", 0.5, None, 7)
    origins = {one.setting.key: one.origin for one in read().effective}
    assert origins["model"] == "LONGSEARCH_MODEL"
    assert origins["width"] == f"{config_path()}, line 2"
    assert origins["dtype"] == "default"
    assert not is_from_file("think")


def test_tables_and_lists_are_read() -> None:
    write(
        'folders = ["~/papers", "/notes"]\nviewer = ["my viewer", "{path}"]\neditor = "vim -p"\n'
        '[keys]\nmain.open = ["o", "f9"]\n"main.next" = "n,right"\n'
        '[adapters]\ndjvu = "djvutxt {path} -"\n".TXT2" = "cat"\n'
        '[citations]\nform = "pandoc"\nbib = "~/a.bib"\nzotero = "/z"\n'
    )
    assert said() == []
    settings = current()
    assert settings.folders == (Path.home() / "papers", Path("/notes"))
    assert settings.viewer == ("my viewer", "{path}")
    assert settings.editor == ("vim", "-p")
    assert settings.keys == {"main.open": "o,f9", "main.next": "n,right"}
    assert settings.adapters == {".djvu": ("djvutxt", "{path}", "-"), ".txt2": ("cat", "{path}")}
    assert (settings.citation_form, settings.bib, settings.zotero) == (
        "pandoc", (Path.home() / "a.bib",), Path("/z"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ('modle = "x"', "line 2: there is no setting modle", "did you mean model?"),
        ("zzz = 1", "there is no setting zzz", "see them all: longsearch config"),
        ('bib = "x"', "there is no setting bib", "did you mean citations.bib?"),
        ('citations.fom = "plain"', "there is no setting citations.fom", "did you mean citations.form?"),
        ('citations.model = "x"', "there is no setting citations.model", "put model above the first line in brackets"),
        ("width = 3", "line 2: width is 3", "set it to auto, 1, 1/2, 1/4 or 1/8"),
        ("width = true", "width is true", "set it to auto"),
        ('deepen = "yes"', "deepen is 'yes'", "set it to true or false"),
        ("think = -1", "think is -1", "set it to a whole number"),
        ("think = true", "think is true", "set it to a whole number"),
        ('ocr = "deu;rm"', "ocr is 'deu;rm'", "set it to true, false, or tesseract's languages"),
        ('dtype = "float16"', "dtype is 'float16'", "set it to auto, float32, bfloat16 or int8"),
        ('folders = ["papers"]', "folders is ['papers']", "set it to absolute paths"),
        ('model = "./mine"', "model is './mine'", "set it to a model's name, or the absolute path"),
        ('viewer = "a \'b"', "viewer is", "set it to a command line"),
        ("viewer = []", "viewer is []", "set it to a command line"),
        ("theme = 2026-01-01", "theme is datetime.date(2026, 1, 1)", "set it to a text"),
        ("keys = 1", "keys is 1", "set it to a table of keys"),
        ("keys.a.b = 1", "keys is", "set it to a table of keys"),
        ('adapters."tar.gz" = "cat"', "adapters is", "set it to a table of commands"),
        ("adapters.x = 1", "adapters is", "set it to a table of commands"),
        ("citations = 1", "there is no setting citations", ""),
        ('citations.form = "chicago"', "citations.form is 'chicago'", "set it to plain, markdown"),
        ("zotero = ''", "there is no setting zotero", "did you mean citations.zotero?"),
    ],
)
def test_a_mistake_names_its_line_and_what_is_expected_and_costs_that_setting_alone(
    line: str, message: str, hint: str
) -> None:
    write(f'ocr = "deu"\n{line}\n' if not line.startswith("ocr") else f'model = "english"\n{line}\n')
    (problem,) = said()
    assert message in problem and hint in problem
    assert str(config_path()) in problem
    assert current().ocr == (None if line.startswith("ocr") else "deu")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = english\n", "line 1: this is not TOML: Invalid value"),
        ('ocr = "deu"\nocr = "eng"\n', "this is not TOML: Cannot overwrite a value"),
        ('model = "x', "this is not TOML"),
        (b"model = '\xff'\n", "cannot be read: it is not UTF-8"),
        (b"#" * 1_000_001, "cannot be read: it has more than 1 MB"),
    ],
)
def test_a_file_that_cannot_be_read_counts_as_empty(text: str | bytes, message: str) -> None:
    write(text)
    (problem,) = said()
    assert message in problem and "until this is mended" in problem
    assert current().model == "bundled"


def test_a_folder_in_place_of_the_file_is_a_problem_and_no_crash() -> None:
    config_path().mkdir(parents=True)
    assert "cannot be read" in said()[0]


def test_a_file_that_others_may_write_is_not_used() -> None:
    path = write("think = 4\n")
    path.chmod(0o602)
    assert "other users may write it" in said()[0]
    assert current().think is None
    path.chmod(0o660)  # a group of one's own is common
    assert current().think == 4


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "think = " + "9" * 5000, "a." * 3000 + "b = 1"])
def test_values_that_break_the_parser_are_a_problem_and_no_crash(text: str) -> None:
    write(text)
    assert len(said()) == 1
    assert current().model == "bundled"


TOML_VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def as_toml(value: Any) -> str:
    """Write a value as the config file holds it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_toml(key)} = {as_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()


@given(st.sampled_from(SETTINGS), TOML_VALUES.filter(lambda value: value != {}))
def test_a_value_in_the_file_is_in_force_or_one_problem_names_it_and_the_default_stays(
    setting: Setting, value: object
) -> None:
    write(f"{setting.key} = {as_toml(value)}\n")
    reading = read()
    in_force, default = getattr(reading.settings, setting.name), getattr(Settings(), setting.name)
    try:
        allowed = setting.kind.from_toml(value)
    except ValueError:
        (problem,) = reading.problems
        assert f"line 1: {setting.key} is " in problem.message and setting.kind.expected in problem.hint
        assert in_force == default
    else:
        assert reading.problems == () and in_force == allowed


@given(st.sampled_from([setting for setting in SETTINGS if setting.variable]), st.text(max_size=8))
def test_a_variable_is_in_force_or_its_problem_names_it_and_the_default_stays(setting: Setting, text: str) -> None:
    reading = read({setting.variable: text})
    in_force = getattr(reading.settings, setting.name)
    if setting.name in reading.wrong_variables:
        assert reading.wrong_variables[setting.name].message.startswith(f"{setting.variable} is ")
        assert in_force == getattr(Settings(), setting.name)
    else:
        assert in_force == (setting.kind.from_text(text.strip()) if text.strip() else getattr(Settings(), setting.name))


def test_the_file_is_read_again_when_it_has_changed() -> None:
    write("think = 1\n")
    assert current().think == 1
    write("think = 22\n")
    assert current().think == 22
    config_path().unlink()
    assert current().think is None


def test_a_wrong_variable_is_an_error_for_whoever_needs_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    write("width = 1\n")
    monkeypatch.setenv("LONGSEARCH_WIDTH", "1/3")
    assert current().width == 1.0
    assert current("ocr").width == 1.0
    with pytest.raises(LongsearchError, match="LONGSEARCH_WIDTH is '1/3'") as caught:
        current("width")
    assert caught.value.hint == "set it to auto, 1, 1/2, 1/4 or 1/8"


def test_nothing_is_indexed_while_the_file_holds_a_mistake(home: Path) -> None:
    require_sound()
    write('modle = "multilingual"\n')
    with pytest.raises(LongsearchError, match="modle"):
        require_sound()
    with pytest.raises(LongsearchError, match="modle"), open_pipeline(home, None, lambda: False):  # type: ignore[arg-type]
        pass
    assert list(home.rglob("*.sqlite")) == []


def test_the_line_of_a_key_is_that_where_its_statement_begins() -> None:
    text = "# a\n\n[keys]\na = [\n  'x',\n\n  'y']\n# b\nb = 1\n[citations]\nform = 1\n"
    assert [line_of(text, key) for key in ("keys", "keys.a", "keys.b", "citations.form")] == [3, 4, 9, 11]
    assert line_of(text, "model") is None


def test_the_page_of_settings_holds_the_table_of_the_schema() -> None:
    written = (Path(__file__).parents[2] / "docs" / "settings.md").read_text("utf-8")
    assert page.table() in written, "print the table: python -m longsearch.app.settings.page"


def test_a_new_file_sets_nothing_and_each_of_its_examples_is_allowed() -> None:
    write(page.starting_file())
    assert said() == []
    assert not any(one.is_from_file for one in read().effective)
    lines = [line[1:] if line[:1] == "#" and line[1:2] != " " else line for line in page.starting_file().split("\n")]
    write("\n".join(lines))
    assert said() == []
    assert all(one.is_from_file for one in read().effective)


def test_the_settings_keep_every_number_format_of_the_engine() -> None:
    from longsearch.engine.inference.device import _DTYPES

    kind = next(setting.kind for setting in SETTINGS if setting.key == "dtype")
    assert [kind.from_toml(name) for name in ("auto", *_DTYPES)] == ["auto", *_DTYPES]


def test_the_editor_is_that_of_the_settings_then_visual_then_editor_then_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LongsearchError, match="no editor"):
        editor_command()
    (tmp_path / "vi").write_text("#!/bin/sh\n")
    (tmp_path / "vi").chmod(0o700)
    assert editor_command() == ("vi",)
    assert editor_command({"EDITOR": "nano -w", "PATH": os.environ["PATH"]}) == ("nano", "-w")
    assert editor_command({"EDITOR": "nano", "VISUAL": "code --wait"}) == ("code", "--wait")
    with pytest.raises(LongsearchError, match="VISUAL"):
        editor_command({"VISUAL": "code '"})
    write('editor = "hx"\n')
    assert editor_command({"VISUAL": "code --wait"}) == ("hx",)
    assert editor_command({"LONGSEARCH_EDITOR": "kak"}) == ("kak",)


@pytest.mark.parametrize(
    ("value", "languages"),
    [
        (None, None),
        ("", None),
        ("0", None),
        ("off", None),
        ("1", ""),
        ("YES", ""),
        ("deu+eng", "deu+eng"),
        ("chi_sim", "chi_sim"),
    ],
)
def test_the_setting_turns_ocr_on_or_off_or_names_languages(value: str | None, languages: str | None) -> None:
    assert current("ocr", environment={} if value is None else {"LONGSEARCH_OCR": value}).ocr == languages


@pytest.mark.parametrize("value", ["-l x", "../x", "deu eng", "2"])
def test_any_other_value_of_the_setting_is_refused(value: str) -> None:
    with pytest.raises(LongsearchError, match="LONGSEARCH_OCR is "):
        current("ocr", environment={"LONGSEARCH_OCR": value})
