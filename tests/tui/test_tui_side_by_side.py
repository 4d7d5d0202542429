"""Two passages side by side."""

from typing import Any

from textual.pilot import Pilot

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.side_by_side import SideBySide
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import three_reports
from tests.tui.test_tui_snapshots import Compare, ask_and_press, both_sizes, compare
from tests.tui.tui_helpers import ask, screen_text, settle

LARGE = (140, 30)


async def asked(pilot: Pilot[Any], *keys: str) -> None:
    await ask(pilot, "valve", press_enter=True)
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def panes(pilot: Pilot[Any]) -> list[TextPane]:
    return list(pilot.app.screen.query(TextPane))


async def test_s_marks_a_passage_and_s_on_another_one_of_the_document_shows_both() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=LARGE) as pilot:
        await asked(pilot, "s")
        assert "✓ marked: s on another passage shows both" in screen_text(pilot.app)
        await press_all(pilot, "n", "s")
        assert isinstance(pilot.app.screen, SideBySide)
        left, right = panes(pilot)
        assert [pane.passage for pane in (left, right)] == [backend.hits[0].passages[at] for at in (0, 2)]
        text = screen_text(pilot.app)
        assert "p. 12 of 40" in text and "p. 13 of 40" in text
        await press_all(pilot, "escape")
        assert isinstance(pilot.app.screen, MainScreen)
        await press_all(pilot, "s")
        assert "✓ marked" in screen_text(pilot.app), "the next s begins again"


async def press_all(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def test_two_documents_stand_side_by_side_and_keys_go_to_the_side_with_the_focus() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=LARGE) as pilot:
        await asked(pilot, "s", "down", "s")
        left, right = panes(pilot)
        assert left.hit is not None and right.hit is not None
        assert [left.hit.document_id, right.hit.document_id] == [1, 2]
        assert left.is_active and left.reader.pane.has_focus
        before = left.reader.preview.current_span
        await press_all(pilot, "tab", "n")
        assert right.is_active and not left.is_active
        assert left.reader.preview.current_span == before
        assert right.passage == backend.hits[1].passages[1]
        await press_all(pilot, "left", "p")
        assert left.reader.preview.current_span != before


async def test_s_twice_on_one_passage_takes_the_mark_away() -> None:
    async with LongsearchApp(three_reports()).run_test(size=LARGE) as pilot:
        await asked(pilot, "s", "s")
        assert "✓ no longer marked" in screen_text(pilot.app)
        await press_all(pilot, "down", "s")
        assert isinstance(pilot.app.screen, MainScreen)


@both_sizes
def test_snapshot_of_two_documents_side_by_side(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("s", "down", "s"))
