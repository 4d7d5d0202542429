"""The person's own colours and keys, and mistakes in the settings."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from longsearch.tui.app import LongsearchApp
from longsearch.tui.preferences import Preferences, is_key, problems, sound_keys, theme_for
from tests.tui.fake_backend import three_reports
from tests.tui.test_tui_snapshots import Compare, both_sizes
from tests.tui.tui_helpers import WIDE, ask, screen_text, settle, until

MISTAKE = ("/home/you/.config/longsearch/config.toml, line 3: there is no setting modle", "did you mean model?")


async def test_a_key_of_the_settings_replaces_the_usual_one_in_the_footer_and_in_the_help() -> None:
    backend = three_reports()
    app = LongsearchApp(backend, Preferences(keys={"main.open": "f7, ctrl+b", "help.close": "x"}))
    async with app.run_test(size=(160, 26)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("o")
        await settle(pilot)
        assert backend.called("open") == []
        for key in ("f7", "ctrl+b"):
            await pilot.press(key)
            await settle(pilot)
        assert len(backend.called("open")) == 2
        assert "F7 Open" in screen_text(app)
        await pilot.press("f1")
        await settle(pilot)
        app.screen.query_one("#help").scroll_relative(y=25, animate=False)
        await settle(pilot)
        assert "F7, Ctrl+B" in screen_text(app)
        await pilot.press("x")
        await settle(pilot)
        assert not app.screen.query("#help")


async def test_a_theme_that_does_not_exist_and_a_key_that_does_not_leave_the_usual_ones() -> None:
    backend = three_reports()
    async with LongsearchApp(backend, Preferences("nrd", {"main.open": "f99x"})).run_test(size=WIDE) as pilot:
        assert pilot.app.theme == "longsearch-dark"
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("o")
        await settle(pilot)
        assert len(backend.called("open")) == 1


async def test_the_theme_of_the_settings_is_used() -> None:
    async with LongsearchApp(three_reports(), Preferences("nord")).run_test(size=WIDE) as pilot:
        assert pilot.app.theme == "nord"


async def test_the_theme_that_a_person_chooses_is_kept_for_the_next_start() -> None:
    backend = three_reports()
    backend.user_data.why_no_theme = "nord until you leave: the config file names gruvbox"
    async with LongsearchApp(backend).run_test(size=WIDE, notifications=True) as pilot:
        await settle(pilot)
        assert backend.user_data.themes == []
        pilot.app.theme = "nord"
        await until(pilot, lambda: pilot.app.screen.query(Toast))
        assert backend.user_data.themes == ["nord"]
        assert "the config file names gruvbox" in str(pilot.app.screen.query_one(Toast).render())


def test_the_theme_is_that_of_the_settings_then_the_one_kept_then_one_for_the_terminal() -> None:
    assert theme_for("nord", "gruvbox", True) == "nord"
    assert theme_for("auto", "gruvbox", True) == "gruvbox"
    assert theme_for("auto", "", True) == "longsearch-light"
    assert theme_for("auto", "deleted", False) == "longsearch-dark"
    assert problems("auto", {}) == []


async def test_mistakes_are_shown_without_control_characters() -> None:
    app = LongsearchApp(three_reports(), Preferences(problems=[("no setting \x1b[31m[b]x", "hint")]))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await until(pilot, lambda: app.screen.query(Toast))
        (toast,) = app.screen.query(Toast)
        said = toast.render()
        assert "\x1b" not in str(said) and "[b]x; hint" in str(said)


def test_names_and_keys_that_do_not_exist_are_found_with_the_nearest() -> None:
    assert problems("nord", {"main.open": "o,f7", "results.down": "down"}) == []
    ((message, hint),) = problems("nrd", {})
    assert message == "there is no theme nrd" and "nord" in hint
    ((message, hint),) = problems("nord", {"main.opn": "f9"})
    assert (message, hint) == ("keys: there is no command main.opn", "did you mean main.open?")
    ((message, _),) = problems("nord", {"main.open": "f9,contrl+o"})
    assert message == "keys: main.open has no key contrl+o"


def test_a_key_of_two_commands_of_one_screen_is_found_and_of_two_screens_is_not() -> None:
    found = [message for message, _ in problems("nord", {"main.similar": "n"})]
    assert found == ["keys: n is the key of main.next and of main.similar"]
    assert problems("nord", {"files.filter": "n"}) == []
    assert problems("nord", {"main.similar": "n", "main.next": "m"}) == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"preview.page_down": "space"}, ["space is the key of main.keep and of preview.page_down"]),
        (
            {"main.open": "g"},
            [f"g is the key of main.open and of {name}" for name in ("page.first", "preview.start", "results.first")],
        ),
        (
            {"sides.next": "d"},
            [f"d is the key of sides.next and of {name}" for name in ("page.screen_down", "preview.page_down")],
        ),
        ({"files.filter": "j"}, ["j is the key of files.filter and of Down in a list"]),
        ({"basket.note": "ctrl+q"}, ["ctrl+q is the key of app.quit and of basket.note"]),
        ({"prompt.leave": "ctrl+l"}, ["ctrl+l is the key of main.query and of prompt.leave"]),
    ],
)
def test_a_key_of_a_widget_and_of_the_screen_around_it_is_found(keys: dict[str, str], said: list[str]) -> None:
    found = sorted(message for message, _ in problems("nord", keys))
    assert found == [f"keys: {one}" for one in said]


@pytest.mark.parametrize(
    "keys",
    [
        {"page.next": "pagedown,f"},  # pages the text in the query line, the printed page on it
        {"preview.find": "slash,f7"},
        {"results.down": "down"},  # a list takes this key before the screen anyway
        {"preview.page_down": "space", "main.keep": "f7"},
        {"basket.note": "g"},  # a list of another screen
    ],
)
def test_commands_that_share_a_key_by_design_or_never_meet_are_no_mistake(keys: dict[str, str]) -> None:
    assert problems("nord", keys) == []


@pytest.mark.parametrize(
    "key", ["o", "O", "f6", "ctrl+o", "slash", "question_mark", "pagedown", "space", "ctrl+shift+k"]
)
def test_keys_of_a_keyboard_are_keys(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", "f99x", "ctrl+", "contrl+o", "o p", "ctrl+f99x"])
def test_other_words_are_no_keys(key: str) -> None:
    assert not is_key(key)
    assert sound_keys({"main.open": key}) == {}


def test_the_page_of_the_app_names_commands_that_exist() -> None:
    page = (Path(__file__).parents[2] / "docs" / "app.md").read_text("utf-8")
    section = page.partition("## Colours and keys")[2].partition("\n## ")[0]
    names = re.findall(r"\b(?:main|files|preview|results|help)\.[a-z_]+", section)
    assert len(names) > 5
    unknown = [message for message, _ in problems("nord", dict.fromkeys(names, "f9")) if "no command" in message]
    assert unknown == []


@pytest.mark.parametrize("page", ["app.md", "settings.md"])
def test_the_examples_of_the_pages_hold_no_mistake(page: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    examples = [tomllib.loads(block.partition("```")[0]) for block in text.split("```toml\n")[1:]]
    with_keys = [example for example in examples if "keys" in example]
    assert with_keys
    for example in with_keys:
        keys = {name: keys if isinstance(keys, str) else ",".join(keys) for name, keys in example["keys"].items()}
        assert problems(example["theme"], keys) == []


@both_sizes
def test_snapshot_of_a_mistake_in_the_settings(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = LongsearchApp(three_reports(), Preferences("textual-light"))

    async def steps(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        app._disable_notifications = False  # as Textual's tests do by default
        app.preferences = Preferences(problems=[MISTAKE])
        app.tell_mistakes()
        await until(pilot, lambda: app.screen.query(Toast))
        await settle(pilot)

    assert snap_compare(app, terminal_size=size, run_before=steps)
