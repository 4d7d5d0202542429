"""The table of evidence: it is filled while it is open, stopped, corrected, and its cells open the page."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from longsearch.engine.errors import LongsearchError
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.table import TableScreen
from tests.tui.fake_backend import FakeBackend, FakeTable, three_reports
from tests.tui.tui_helpers import SMALL, ask, screen_text, settle, until


async def show(pilot: Pilot[Any], *keys: str) -> None:
    await ask(pilot, "valve", press_enter=True)
    for key in ("T", "enter", *keys):
        await pilot.press(key)
        await settle(pilot)


async def test_each_cell_is_filled_and_shown_below_in_full_and_the_file_named() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await show(pilot)
        assert isinstance(pilot.app.screen, TableScreen)
        assert backend.called("table") == [("~/questions.txt",)]
        assert len(backend.called("fill")) == 6
        text = screen_text(pilot.app)
        assert "Table: 3 documents by 3 questions" in text
        assert "✓ kept in /home/ada/q.table.csv" in text
        assert "p. 14, likely" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


async def test_it_stops_goes_on_and_is_left_while_it_is_filled() -> None:
    backend = three_reports()
    held = backend.hold("fill", FakeTable.questions[1])
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("T")
        await settle(pilot)
        await pilot.press("enter")
        await until(pilot, backend.entered["fill", FakeTable.questions[1]].is_set)
        await pilot.press("s")
        held.set()
        await settle(pilot)
        assert "stopped, 2 cells to ask" in screen_text(pilot.app)
        await pilot.press("s")
        await settle(pilot)
        assert "✓ kept in" in screen_text(pilot.app)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, MainScreen)


async def test_a_corrected_cell_stays_and_an_error_is_told() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await show(pilot, "right", "e")
        assert pilot.app.screen.query_one(Input).value == "Nobody was told. [unsure]"
        await pilot.press("ctrl+u", *"mine", "enter")
        await settle(pilot)
        assert backend.called("correct") == [(FakeTable.questions[1], backend.evidence_table.documents[0], "mine")]
        assert "✓ corrected" in screen_text(pilot.app)
        backend.errors["correct"] = LongsearchError("the disk is full", "")
        await pilot.press("e", "x", "enter")
        await settle(pilot)
        assert "✗ the disk is full" in screen_text(pilot.app)


async def test_a_cell_opens_its_page_in_the_viewer_and_on_enter_in_the_app() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await show(pilot, "o")
        ((path, page, text),) = backend.called("open")
        assert (page, text) == (
            14,
            backend.evidence_table.cell(*sorted(backend.evidence_table.cells)[0]).rpartition(" [")[0],
        )
        assert str(path).endswith(backend.evidence_table.documents[0])
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value.startswith('where: "The valve of')


async def test_a_file_that_asks_nothing_is_told_and_the_columns_follow_the_cursor() -> None:
    backend: FakeBackend = three_reports()
    backend.errors["table"] = LongsearchError("q.txt asks nothing", "write a question on each line")
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await show(pilot)
        assert isinstance(pilot.app.screen, MainScreen)
        assert "q.txt asks nothing" in screen_text(pilot.app)
        backend.errors.clear()
        await pilot.press("T", "enter")
        await settle(pilot)
        assert "what did the [red]comm" not in screen_text(pilot.app)
        await pilot.press("right", "right", "right")
        await settle(pilot)
        assert "what did the [red]comm" in screen_text(pilot.app)
