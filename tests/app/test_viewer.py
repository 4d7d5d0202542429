"""Opening a file where it is: which command, what a viewer is told, and what is said when there is none."""

import os
import sys
from pathlib import Path

import pytest

from longsearch.app.paths import config_path
from longsearch.app.viewing import known, viewer
from longsearch.app.viewing.viewer import Target, describe_viewers, line_of, open_in_viewer, phrase_of, plan_opening
from longsearch.engine.errors import LongsearchError

SCREEN = {"DISPLAY": ":0"}
TEXT = "The valve behind the second pump had stayed open for eight minutes."
PHRASE = "The valve behind the second pump had"


def on_path(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(viewer.shutil, "which", lambda name: f"/usr/bin/{name}" if name in names else None)


def command(path: str, page: int | None, environment: dict[str, str], platform: str, text: str = "") -> list[str]:
    plan = plan_opening(Target(path, page, text), environment, platform)
    assert plan is not None
    return list(plan.command)


def test_an_own_action_gets_its_words_as_arguments_and_no_shell_reads_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('[actions]\nnote = ["jrnl", "{text}", "at {path} p. {page}"]\nold = "gone {path}"\n')
    on_path(monkeypatch, "jrnl")
    started: list[viewer.Plan] = []
    monkeypatch.setattr(viewer, "_start", started.append)
    opened = viewer.run_action("note", Target("/a;b.pdf", 7, "--rf $(calc) {path}\x1b[31m\nnext"))
    assert opened.said == "note: started jrnl"
    program, text, place = started[0].command
    assert (program, place) == ("/usr/bin/jrnl", "at /a;b.pdf p. 7")
    assert text.startswith(" --rf $(calc) {path}") and text.isprintable()
    with pytest.raises(LongsearchError, match="gone is not installed"):
        viewer.run_action("old", Target("/a.pdf"))
    with pytest.raises(LongsearchError, match="there is no action new"):
        viewer.run_action("new", Target("/a.pdf"))
    monkeypatch.setattr(viewer.shutil, "which", lambda name: rf"C:\bin\{name}.CMD")
    with pytest.raises(LongsearchError, match="batch file"):
        viewer.run_action("note", Target("/a.pdf"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("zathura", ["zathura", "-P", "7", "-f", PHRASE, "/a.pdf"]),
        ("okular", ["okular", "-p", "7", "--find", PHRASE, "/a.pdf"]),
        ("evince", ["evince", "-i", "7", "-l", PHRASE, "/a.pdf"]),
        ("sioyek", ["sioyek", "--page", "7", "--focus-text", PHRASE, "--focus-text-page", "6", "/a.pdf"]),
        ("SumatraPDF", ["SumatraPDF", "-page", "7", "-search", PHRASE, "/a.pdf"]),
    ],
)
def test_each_viewer_is_told_page_and_phrase(monkeypatch: pytest.MonkeyPatch, name: str, told: list[str]) -> None:
    on_path(monkeypatch, name, "xdg-open")
    assert command("/a.pdf", 7, SCREEN, "linux", TEXT) == told
    plan = plan_opening(Target("/a.pdf", 7, TEXT), SCREEN, "linux")
    assert plan is not None and plan.where == " at page 7 and the phrase" and PHRASE not in plan.fallback
    assert PHRASE not in command("/a.pdf", 7, SCREEN, "linux")


def test_skim_gets_path_and_page_as_arguments_of_its_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_path(monkeypatch)
    monkeypatch.setattr(viewer, "APPLICATIONS", (tmp_path,))
    assert command('/a "b".pdf', 7, {}, "darwin") == ["open", '/a "b".pdf']
    (tmp_path / "Skim.app").mkdir()
    told = command('/a "b".pdf', 7, {}, "darwin", TEXT)
    assert told[0] == "osascript" and told[-2:] == ['/a "b".pdf', "7"]
    assert not any("b" in line for line in told[2:-2:2] if "argv" in line and "POSIX" in line)


def test_on_windows_a_name_never_passes_through_a_shell() -> None:
    assert command("C:\\a&calc&.docx", None, {}, "win32") == [viewer.WINDOWS, "C:\\a&calc&.docx"]


def test_other_files_open_in_the_systems_default_viewer_which_takes_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch, "evince", "xdg-open")
    assert command("/a.docx", None, SCREEN, "linux") == ["xdg-open", "/a.docx"]
    on_path(monkeypatch, "xdg-open")
    plan = plan_opening(Target("/a.pdf", 7), SCREEN, "linux")
    assert plan is not None and plan.where == " (it takes no page: p. 7)"


def test_the_users_own_viewer_comes_first_and_needs_no_shell() -> None:
    environment = {"LONGSEARCH_VIEWER": "my viewer --page={page} --find {phrase} '{path}'"}
    told = command("/a b;rm.pdf", 3, environment, "linux", TEXT)
    assert told == ["my", "viewer", "--page=3", "--find", PHRASE, "/a b;rm.pdf"]
    assert command("/a.pdf", None, {"LONGSEARCH_VIEWER": "view"}, "linux") == ["view", "/a.pdf"]
    assert command("/{page}.pdf", 3, environment, "linux")[-1] == "/{page}.pdf", "a path is no template"


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        ("vim", ["vim", "+3", "/f.md"]),
        ("/opt/bin/nvim -R", ["/opt/bin/nvim", "-R", "+3", "/f.md"]),
        ("hx", ["hx", "/f.md:3"]),
        ("code --wait", ["code", "--wait", "--goto", "/f.md:3"]),
        ("kate", ["kate", "-l", "3", "/f.md"]),
        ("unheard-of", ["unheard-of", "/f.md"]),
    ],
)
def test_a_text_file_opens_in_the_editor_at_the_line(
    monkeypatch: pytest.MonkeyPatch, editor: str, told: list[str]
) -> None:
    monkeypatch.setattr(viewer.shutil, "which", lambda name: name)
    monkeypatch.setattr(viewer, "line_of", lambda path, text: 3)
    plan = plan_opening(Target("/f.md", None, TEXT), {"EDITOR": "ed", "VISUAL": editor}, "linux")
    assert plan is not None and list(plan.command) == told
    assert plan.needs_terminal != plan.needs_display == (told[0] in known.OWN_WINDOW)


def test_an_editor_that_is_not_here_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch, "xdg-open")
    assert command("/f.md", None, SCREEN | {"EDITOR": "vim"}, "linux", TEXT) == ["xdg-open", "/f.md"]


def test_the_line_of_a_passage_is_found_through_markup(tmp_path: Path) -> None:
    path = tmp_path / "f.md"
    path.write_text("# Title\n\nOther words.\n\nThe *valve* behind the [second](x.md)\npump had stayed **open** for.\n")
    assert line_of(path, "Other words. The valve") == 3
    assert line_of(path, TEXT) == 5, "the link's address stands among the later letters"
    assert line_of(path, "pump had stayed open") == 6
    assert line_of(path, "Decay heat went on at six percent.") is None
    path.write_text("The members of the club must wear shoes.\n\nThe members of the club must wear aprons.\n")
    assert line_of(path, "The members of the club must wear aprons.") == 3
    assert line_of(path, "") is None and line_of(tmp_path / "gone.md", TEXT) is None


def test_the_line_of_a_passage_is_found_where_the_file_breaks_a_japanese_word(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# 題名\n\n最初の行。\n\n協定は三十日後に効\n力を生ずる。\n", encoding="utf-8")
    assert line_of(path, "協定は三十日後に効力を生ずる。") == 5
    assert line_of(path.rename(tmp_path / "a.pdf"), "協定は三十日後に効力を生ずる。") is None


@pytest.mark.parametrize(
    ("text", "phrase"), [(TEXT, PHRASE), ("one", ""), ("", ""), ("a\n b  c", "a b c"), ("x" * 60 + " and more", "")]
)
def test_a_phrase_is_a_few_words_that_stand_on_one_printed_line(text: str, phrase: str) -> None:
    assert phrase_of(text) == phrase


def test_without_a_display_it_says_what_it_would_run_and_leaves_it_to_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a b.pdf"
    path.touch()
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "LONGSEARCH_VIEWER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(viewer, "_spawn", lambda command: pytest.fail("nothing is to be started"))
    on_path(monkeypatch, "evince")
    opened = open_in_viewer(str(path), 7)
    assert opened.copy == f"evince -i 7 '{path}'" and opened.copy in opened.said and not opened.command
    on_path(monkeypatch)
    assert open_in_viewer(str(path), 7).copy == str(path)


def test_a_system_without_a_viewer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch)
    with pytest.raises(LongsearchError, match="no viewer") as caught:
        plan_opening(Target("/a.pdf", 1), SCREEN, "linux")
    assert "LONGSEARCH_VIEWER" in caught.value.hint


def test_a_missing_file_and_a_missing_viewer_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LongsearchError, match="gone"):
        open_in_viewer(str(tmp_path / "a.pdf"), 1)
    (tmp_path / "a.pdf").touch()
    monkeypatch.setenv("LONGSEARCH_VIEWER", "/nowhere/viewer")
    with pytest.raises(LongsearchError, match="cannot start"):
        open_in_viewer(str(tmp_path / "a.pdf"), 1)


def test_opening_a_file_names_the_viewer_and_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").touch()
    monkeypatch.setenv("LONGSEARCH_VIEWER", "true {page} {path}")
    assert open_in_viewer(str(tmp_path / "a.pdf"), 12).said == "opened with true at page 12"


def test_an_old_viewer_that_refuses_the_phrase_is_started_at_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "zathura"
    script.write_text(f'#!/bin/sh\n[ "$3" = -f ] && exit 1\necho "$@" > {tmp_path}/told\n')
    script.chmod(0o755)
    (tmp_path / "a.pdf").touch()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("LONGSEARCH_VIEWER", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(viewer, "REFUSES_WITHIN_S", 20.0)
    told: list[tuple[str, ...]] = []
    spawn = viewer._spawn

    def noted(command: tuple[str, ...]) -> object:
        told.append(command)
        return spawn(command)

    monkeypatch.setattr(viewer, "_spawn", noted)
    open_in_viewer(str(tmp_path / "a.pdf"), 7, TEXT)
    assert [command[:4] for command in told] == [
        ("zathura", "-P", "7", "-f"),
        ("zathura", "-P", "7", f"{tmp_path}/a.pdf"),
    ]


def test_doctor_lists_every_viewer_and_what_it_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch, "okular", "evince", "xdg-open", "vim")
    found = describe_viewers({"DISPLAY": ":0", "EDITOR": "vim"}, "linux")
    assert found == (
        "okular (page and phrase), evince (page and phrase), xdg-open (no page), for text files vim (line)"
    )
    assert "no display here" in describe_viewers({}, "linux")
    on_path(monkeypatch)
    assert describe_viewers(SCREEN, "linux").startswith("none; set LONGSEARCH_VIEWER")
