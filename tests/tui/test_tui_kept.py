"""Screens that stay while they are closed look, when they open again, as if they were made then."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import OptionList, Static

from longsearch.engine.types.progress import FileReport
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import Question
from longsearch.tui.screens import picker
from longsearch.tui.screens.kept import KeptScreen, kept
from longsearch.tui.screens.loading import load_screens
from longsearch.tui.screens.picker import Line, PickerScreen
from longsearch.tui.screens.side_by_side import SideBySide
from longsearch.tui.themes import LIGHT
from longsearch.tui.widgets.preview import NO_DOCUMENT
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import FakeBackend, some_files, three_folders
from tests.tui.fake_user_data import some_evidence
from tests.tui.test_tui_painting import noted_layouts
from tests.tui.tui_helpers import SMALL, WIDE, ask, press_each, screen_text, settle

load_screens()
OPENED_BY = {
    "HelpScreen": ("f1",),
    "WhyScreen": ("x",),
    "OutlineScreen": ("t",),
    "BasketScreen": ("b",),
    "LineDialog": ("ampersand",),
    "YesNoDialog": ("b", "C"),
    "FilesScreen": ("f3",),
    "PickerScreen": ("f6",),
    "EarlierScreen": ("f5",),
    "CommandsScreen": ("ctrl+p",),
    "JumpScreen": ("semicolon",),
    "InstructionScreen": ("ctrl+r",),
    "FoldersScreen": ("f4",),
    "SideBySide": ("g", "s", "down", "s"),
    "TableScreen": ("T", "enter"),
}
"""The keys that open each screen from the results."""
USED_BY: dict[str, tuple[str, ...]] = {
    "LineDialog": ("z",),
    "InstructionScreen": ("z", "down", "down"),
    "PickerScreen": ("z",),
    "EarlierScreen": ("v",),
    "CommandsScreen": ("a",),
    "FilesScreen": ("j", "f"),
    "JumpScreen": (),
}
"""What a person does there; elsewhere the person scrolls."""


def much() -> FakeBackend:
    """Every screen has something to show."""
    backend = three_folders()
    backend.file_list, backend.user_data.kept = some_files(), some_evidence()
    backend.user_data.asked = [Question("pumps"), Question("valves")]
    return backend


def kinds(kind: type[Any] = KeptScreen) -> Iterator[str]:
    """Yield the names of all screens that stay."""
    for one in kind.__subclasses__():
        yield from kinds(one)
        if one.__dict__.get("BINDINGS") or issubclass(one, PickerScreen):
            yield one.__name__


def cells(region: Region) -> Iterator[tuple[int, int]]:
    """Yield the column and the row of each cell."""
    return product(region.column_range, region.line_range)


async def leave(pilot: Pilot[Any]) -> None:
    """Close all that is open on top of the main screen."""
    while len(pilot.app.screen_stack) > 1:
        await press_each(pilot, "escape")


def picture(app: App[Any]) -> list[list[tuple[str, object]]]:
    """Return the cells of the screen, line by line, each with its style."""
    strips = app.screen._compositor.render_strips()
    return [[(cell, style) for text, style, _ in strip for cell in text] for strip in strips]


async def opened(
    name: str, used: bool = False, theme: str = "", size: tuple[int, int] = WIDE
) -> list[list[tuple[str, object]]]:
    """Return the picture of a screen; `used`: of its second time, after a change of colours and size."""
    app: LongsearchApp = LongsearchApp(much())
    if theme and not used:
        app.theme = theme
    async with app.run_test(size=SMALL if used else size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        if used:
            await press_each(pilot, *OPENED_BY[name], *USED_BY.get(name, ("down", "pagedown")))
            assert type(app.screen).__name__ == name
            await leave(pilot)
            app.theme = theme or app.theme
            await pilot.resize_terminal(*size)
            await settle(pilot)
        await press_each(pilot, *OPENED_BY[name])
        assert type(app.screen).__name__ == name
        return picture(app)


def test_every_screen_that_stays_is_tested_here() -> None:
    assert set(kinds()) == set(OPENED_BY)


@pytest.mark.parametrize("theme", ["", LIGHT])
@pytest.mark.parametrize("name", OPENED_BY)
async def test_a_screen_looks_the_second_time_as_the_first_time_also_in_other_colours_and_sizes(
    name: str, theme: str
) -> None:
    assert await opened(name, used=True, theme=theme) == await opened(name, theme=theme)


async def test_no_widget_is_made_below_a_key_that_opens_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    app = LongsearchApp(much())
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        made: list[object] = []
        register = App._register
        monkeypatch.setattr(App, "_register", lambda app, *of, **how: made.append(of) or register(app, *of, **how))
        for keys in OPENED_BY.values():
            await press_each(pilot, *keys)
            assert len(app.screen_stack) > 1
            await leave(pilot)
        assert not made
        await pilot.app.mount(Static())
        assert made


async def test_two_passages_are_painted_once_also_when_they_are_opened_first(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[tuple[int, int]] = []
    paint = Screen._compositor_refresh

    def paint_and_note(screen: Screen[object]) -> None:
        if isinstance(screen, SideBySide) and screen.is_current:
            painted.extend({cell for one in screen._compositor._dirty_regions for cell in cells(one)})
        paint(screen)

    monkeypatch.setattr(Screen, "_compositor_refresh", paint_and_note)
    async with LongsearchApp(much()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, *OPENED_BY["SideBySide"])
        whole = set(cells(pilot.app.size.region))
    assert set(painted) == whole and len(painted) <= 1.1 * len(whole)


async def test_a_box_lists_what_it_is_given_each_time() -> None:
    app = LongsearchApp(much())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for name in ("first", "second"):
            app.push_screen(kept(app, PickerScreen).put(name, [Line(f"the {name} line")], ""))
            await settle(pilot)
            assert f"the {name} line" in screen_text(app)
            assert name == "first" or "the first line" not in screen_text(app)
            await press_each(pilot, "escape")


async def test_a_screen_that_is_open_already_is_opened_a_second_time_as_another_one() -> None:
    app = LongsearchApp(much())
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        first = kept(app, PickerScreen).put("One", [Line("first")], "")
        app.push_screen(first)
        second = kept(app, PickerScreen).put("Two", [Line("second")], "")
        app.push_screen(second)
        await settle(pilot)
        assert "second" in screen_text(app)
        await press_each(pilot, "escape")
        assert app.screen is first
        assert "first" in screen_text(app)
        await press_each(pilot, "escape")
        assert not second.is_attached  # it was made for once
        assert kept(app, PickerScreen) is first


async def test_a_closed_list_of_files_keeps_no_file() -> None:
    app = LongsearchApp(much())
    async with app.run_test(size=WIDE) as pilot:
        await press_each(pilot, "f3")
        files = app.screen
        assert vars(files)["_shown"]
        await press_each(pilot, "escape")
        held = [one for one in vars(files).values() if isinstance(one, list | dict) and one]
        assert not [one for one in held if any(isinstance(file, FileReport) for file in one)]
        assert not vars(files)["_shown"]
        assert not vars(files)["_files"]


async def test_two_passages_that_are_closed_keep_no_document_and_no_page() -> None:
    app = LongsearchApp(much())
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, *OPENED_BY["SideBySide"])
        sides = app.screen
        assert isinstance(sides, SideBySide)
        panes = list(sides.query(TextPane))
        assert all(pane.reader.preview.document is not NO_DOCUMENT for pane in panes)
        await press_each(pilot, "v")
        assert panes[0].reader.is_printed
        await press_each(pilot, "escape")
        assert all(pane.reader.preview.document is NO_DOCUMENT for pane in panes)
        assert not any(pane.documents.get(1) or pane.reader.is_printed for pane in panes)


async def test_a_screen_is_opened_before_it_was_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    async def make_none(*_: object) -> None:
        load_screens()

    monkeypatch.setattr("longsearch.tui.screens.loading.make_screens_ready", make_none)
    app = LongsearchApp(much())
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for name in ("HelpScreen", "BasketScreen", "SideBySide", "TableScreen"):
            await press_each(pilot, *OPENED_BY[name])
            assert type(app.screen).__name__ == name
            seen = picture(app)
            await leave(pilot)
            assert seen == await opened(name)


async def test_what_is_opened_again_with_the_same_contents_is_neither_filled_nor_laid_out_nor_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = much()
    app, filled, layouts = LongsearchApp(backend), list[object](), noted_layouts(monkeypatch)
    fill = OptionList.set_options
    monkeypatch.setattr(OptionList, "set_options", lambda self, lines: filled.append(self) or fill(self, lines))
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for is_again in (False, True):
            filled.clear()
            for keys in (("f5",), ("ctrl+p",), OPENED_BY["SideBySide"]):
                await press_each(pilot, *keys[:-1])
                layouts.clear()
                backend.calls.clear()
                await press_each(pilot, keys[-1])
                assert len(app.screen_stack) > 1
                assert not is_again or not layouts, keys
                assert "document" not in {kind for kind, *_ in backend.calls}
                await leave(pilot)
            assert len(filled) == (0 if is_again else 2)
        backend.user_data.asked.append(Question("seals"))
        await press_each(pilot, "f5")
        assert len(filled) == 1
        assert "seals" in screen_text(app)


async def test_only_the_earlier_queries_in_view_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = much()
    backend.user_data.asked = [Question(f"pumps {n}") for n in range(500)]
    made: list[str] = []
    monkeypatch.setattr(picker, "clip", lambda text, width: made.append(text) or text[:width])
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press_each(pilot, "f5")
        assert "pumps 3" in screen_text(pilot.app)
        assert 0 < len(made) < 100
