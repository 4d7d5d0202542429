"""Keys and commands: typing quickly, opening and copying, help, the command palette, the keymap."""

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widget import Widget
from textual.widgets import Input

from longsearch.engine.types.results import Folder, SearchMode
from longsearch.tui import keys_page
from longsearch.tui.app import LongsearchApp
from longsearch.tui.bindings import TakesKeys
from longsearch.tui.screens.files import FilesScreen
from longsearch.tui.screens.instruction import InstructionScreen
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.text_boxes import HelpScreen
from longsearch.tui.themes import LIGHT
from longsearch.tui.widgets.mode_tabs import ModeTabs
from tests.tui.fake_backend import FakeBackend, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, press_each, screen_text, settle


async def test_letters_are_text_in_the_query_line() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press(*"nopy", "slash", "question_mark")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "nopy/?"
        assert backend.called("open") == []


async def test_letters_typed_right_after_the_slash_go_to_the_query_line() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key, character in (("slash", "/"), ("n", "n"), ("o", "o"), ("y", "y")):  # at once: `press` waits after each
            pilot.app.post_message(events.Key(key, character))
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "noy"
        assert backend.called("open") == []


async def test_pasted_lines_are_joined_into_one_query() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        pilot.app.post_message(events.Paste("  honey bees\nswarm in\tMay\r\n\nwhen \x1bcrowded\n"))
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "honey bees swarm in May when crowded"
        assert backend.called("words") == [("honey bees swarm in May when crowded", "")]


async def test_editing_keys_and_letters_act_in_the_order_in_which_they_are_pressed() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "tor onion")
        for key in ("ctrl+u", "a", "b", "backspace", "c", "home", "d", "end", "e", "enter"):
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "dace"
        assert backend.called("hybrid") == [("dace", "")]


async def test_o_opens_the_file_at_the_page_of_the_current_passage() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("n", "o")
        await settle(pilot)
        assert [call[:2] for call in backend.called("open")] == [(backend.hits[0].path, 13)]
        assert "✓ opened unit-2-report.pdf with xdg-open" in screen_text(pilot.app)


async def test_y_copies_the_passage_and_capital_y_the_path() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("y")
        await settle(pilot)
        assert pilot.app.clipboard.startswith(backend.hits[0].passages[0].text)
        assert pilot.app.clipboard.endswith(f"p. 12 ({backend.hits[0].path})\n")
        await pilot.press("Y")
        assert pilot.app.clipboard == backend.hits[0].path


async def test_keys_that_need_a_document_do_nothing_without_one() -> None:
    backend = FakeBackend()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+o", "down", "up", "pagedown", "pageup", "escape", "enter", "tab")
        await settle(pilot)
        assert backend.called("open") == []


async def test_help_lists_the_keys_and_closes() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(90, 72)) as pilot:
        await pilot.press("f1")
        text = screen_text(pilot.app)
        for words in ("F3, Ctrl+F", "Next passage in the document", '"an exact phrase"', "Ctrl+R"):
            assert words in text
        await pilot.press("j", "k", "escape")
        assert isinstance(pilot.app.screen, MainScreen)
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)


def palette(app: LongsearchApp) -> dict[str, Any]:
    """Return the commands of the palette by title."""
    commands = list(app.get_system_commands(app.screen))
    assert len({command.title for command in commands}) == len(commands)
    return {command.title: command for command in commands}


async def test_the_command_palette_offers_every_action_that_works_now() -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        at_first = {
            "Mode",
            "Goal of the search",
            "Files",
            "History",
            "Saved searches",
            "Basket",
            "Table",
            "Help",
            "Theme",
            "Quit",
            "Jump",
            "Wider results",
            "Wider text",
        }
        assert set(palette(app)) == at_first
        await ask(pilot, "valve")
        more = {
            "Open",
            "Next passage",
            "Passage before",
            "Previous passage",
            "Page",
            "Larger page",
            "Smaller page",
            "Copy",
            "Copy path",
            "Add to basket",
        }
        with_document = at_first | more | {"Similar", "Outline", "Go to page", "Side by side", "Why"}
        with_document |= {"Action", "Narrow", "Dates"}
        assert set(palette(app)) == with_document
        await pilot.press("enter")
        await settle(pilot)
        assert set(palette(app)) == with_document | {"Query", "Read", "Mark", "Undo", "Unfold"}
        assert palette(app)["Add to basket"].help == "Space · Put the passage into the basket of evidence"
        await pilot.press("enter")
        assert set(palette(app)) == with_document | {"Find"}


async def test_commands_of_the_palette_do_what_their_keys_do() -> None:
    backend = three_reports()
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await palette(app)["Mode"].callback()
        assert app.screen.query_one(ModeTabs).mode is SearchMode.MEANING
        await palette(app)["Add to basket"].callback()
        await settle(pilot)
        assert len(backend.user_data.kept) == 1
        await palette(app)["Help"].callback()
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)


async def test_the_command_palette_finds_a_command_by_the_words_that_explain_it_and_does_it() -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=WIDE) as pilot:
        await press_each(pilot, "ctrl+p", "ctrl+p", *"status")
        assert "Files" in screen_text(app) and "Quit" not in screen_text(app).split("Esc")[0]
        await press_each(pilot, "enter")
        assert isinstance(app.screen, FilesScreen) and len(app.screen_stack) == 2
        await press_each(pilot, "ctrl+p", *"read again", "escape")
        assert isinstance(app.screen, FilesScreen)


async def test_the_command_theme_lists_the_apps_own_first_and_keeps_the_one_that_is_chosen() -> None:
    backend = three_reports()
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        await press_each(pilot, "ctrl+p", *"theme", "enter")
        lines = screen_text(app)
        assert "● longsearch-dark" in lines
        assert lines.index("longsearch-dark") < lines.index("longsearch-light") < lines.index("ansi")
        await press_each(pilot, *"light", "enter")
        assert app.theme == LIGHT and backend.user_data.themes == [LIGHT]


async def test_a_list_that_is_longer_than_the_screen_keeps_the_sentence_below_it_in_view() -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=SMALL) as pilot:
        await press_each(pilot, "ctrl+p")
        assert "Enter does it." in screen_text(app)


async def test_the_command_palette_opens_another_folder_and_all_folders() -> None:
    for title, expected in (("Open manuals", "/home/ada/manuals"), ("Open all folders", "")):
        backend = three_reports()
        backend.user_data.other_folders = [Folder("manuals", "/home/ada/manuals", 61)]
        app = LongsearchApp(backend)
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)
            assert "61 documents · /home/ada/manuals" in palette(app)["Open manuals"].help
            await palette(app)[title].callback()
            await settle(pilot)
        assert app.return_value == expected
        assert backend.called("close") and len(backend.user_data.left) == 1


async def test_leaving_the_app_opens_no_other_folder() -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+q")
        await settle(pilot)
    assert app.return_value is None


async def test_a_keymap_gives_a_command_another_key() -> None:
    app = LongsearchApp(three_reports())
    app.set_keymap({"main.help": "f9"})
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("f9")
        assert isinstance(pilot.app.screen, HelpScreen)


def test_every_binding_has_an_id_of_its_own() -> None:
    from longsearch.tui import bindings
    from longsearch.tui.screens.dialogs import LineDialog, YesNoDialog
    from longsearch.tui.screens.files import FilesScreen
    from longsearch.tui.screens.picker import PickerScreen

    tables: list[Any] = [bindings.MAIN, bindings.LIST_MOVES, bindings.TEXT_MOVES, bindings.BASKET]
    tables += [
        screen.BINDINGS
        for screen in (FilesScreen, LineDialog, YesNoDialog, PickerScreen, HelpScreen, InstructionScreen, LongsearchApp)
    ]
    ids = [binding.id for table in tables for binding in table]
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_the_page_of_the_app_holds_the_tables_of_the_keys() -> None:
    written = (Path(__file__).parents[2] / "docs" / "app.md").read_text("utf-8")
    assert keys_page.page() in written, "print the tables: python -m longsearch.tui.keys_page"


KeyRun = list[tuple[str, list[str], str]]
"""Of each key the key, the widgets that were asked about it, and the screen after it."""


async def run_of_keys(monkeypatch: pytest.MonkeyPatch) -> KeyRun:
    asked: list[str] = []
    forward = Widget._forward_event

    def note(self: Widget, event: events.Event) -> None:
        if isinstance(event, events.Key):
            asked.append(type(self).__name__)
        forward(self, event)

    monkeypatch.setattr(Widget, "_forward_event", note)
    run: KeyRun = []
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        keys = ["j", "x", "escape", "h", "greater_than_sign", "enter", "n", "t", "j", "enter", "f1", "escape", "colon"]
        keys += ["4", "enter", "slash", "l", "escape", "semicolon", "a", "f3", "j", "escape", "ctrl+p", "h", "escape"]
        for key in keys:
            asked.clear()
            await press_each(pilot, key)
            run.append((key, [*asked], screen_text(pilot.app)))
    return run


async def test_a_binding_runs_at_once_and_does_what_it_does_where_each_widget_is_asked_about_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = await run_of_keys(monkeypatch)
    asked = {name for key, widgets, _ in ours if key != "escape" for name in widgets}
    assert asked == {"Input", "Prompt"}  # they take letters
    monkeypatch.delattr(TakesKeys, "_check_bindings")
    theirs = await run_of_keys(monkeypatch)
    assert [(key, text) for key, _, text in ours] == [(key, text) for key, _, text in theirs]
    assert sum(len(widgets) for _, widgets, _ in theirs) > sum(len(widgets) for _, widgets, _ in ours) + 10
