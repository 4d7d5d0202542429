"""Two passages side by side, and the map of the passages that were found."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from longsearch.engine.errors import StoreError
from longsearch.engine.types.results import PassageMap
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.map import MapScreen, kept_in_words
from longsearch.tui.screens.side_by_side import SideBySide
from longsearch.tui.widgets.scatter import Scatter, cells_of, mark_of
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import three_reports
from tests.tui.test_tui_snapshots import Compare, ask_and_press, both_sizes, compare
from tests.tui.tui_helpers import SMALL, ask, results, screen_text, settle

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


async def test_the_map_lights_the_document_in_view_and_leads_to_another() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=LARGE) as pilot:
        await asked(pilot, "down", "M")
        assert isinstance(pilot.app.screen, MapScreen)
        places = [(hit.document_id, one.start) for hit in backend.hits for one in hit.passages]
        assert backend.called("passage_map") == [("", *places)]
        text = screen_text(pilot.app)
        assert "2 dimensions show 59% of the differences (41% across, 18% up)" in text
        assert "2  Valves: a manual" in text
        await press_all(pilot, "j")
        assert "3  pumps.md" in screen_text(pilot.app)
        await press_all(pilot, "j", "k", "enter")
        assert isinstance(pilot.app.screen, MainScreen)
        assert results(pilot).highlighted == 2 and results(pilot).has_focus


async def test_a_click_on_a_point_lights_its_document() -> None:
    async with LongsearchApp(three_reports()).run_test(size=LARGE) as pilot:
        await asked(pilot, "M")
        plot = pilot.app.screen.query_one(Scatter)
        (x, y), owner = next(item for item in plot._cells().items() if item[1] == 2)
        await pilot.click(Scatter, offset=(x, y))
        await settle(pilot)
        assert plot.chosen == owner == 2


async def test_a_map_of_too_few_passages_and_an_error_are_said() -> None:
    backend = three_reports()
    backend.map_now = PassageMap((), (0.0, 0.0))
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await asked(pilot, "M")
        assert "a map needs three passages" in screen_text(pilot.app)
        backend.errors["passage_map"] = StoreError("The disk is gone", "mount it")
        await press_all(pilot, "M")
        assert "✗ The disk is gone — mount it" in screen_text(pilot.app)


coordinate = st.floats(-1e6, 1e6, allow_nan=False)


@given(
    st.lists(st.tuples(st.integers(0, 80), coordinate, coordinate), min_size=1, max_size=40),
    st.integers(1, 120),
    st.integers(1, 40),
)
def test_every_point_is_drawn_inside_the_box(points: list[tuple[int, float, float]], width: int, height: int) -> None:
    cells = cells_of(points, width, height, points[0][0])
    assert cells and all(0 <= x < width and 0 <= y < height for x, y in cells)
    assert points[0][0] in cells.values(), "the chosen one is never covered"
    assert all(len(mark_of(owner)) == 1 for owner in cells.values())


def test_points_keep_their_shape_up_is_up_and_a_cell_is_twice_as_high_as_wide() -> None:
    cells = cells_of([(0, 0.0, 0.0), (1, 4.0, 0.0), (2, 0.0, 4.0)], 21, 11, 0)
    assert cells == {(0, 10): 0, (20, 10): 1, (0, 0): 2}
    assert cells_of([(0, 5.0, 5.0), (1, 5.0, 5.0)], 9, 3, 1) == {(4, 1): 1}
    assert cells_of([], 9, 3, 1) == {} == cells_of([(0, 0.0, 0.0)], 0, 3, 0)


def test_the_share_that_is_kept_is_said_honestly() -> None:
    assert kept_in_words((0.2, 0.1)) == "2 dimensions show 30% of the differences (20% across, 10% up)"


@both_sizes
def test_snapshot_of_two_documents_side_by_side(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("s", "down", "s"))


@both_sizes
def test_snapshot_of_a_map(snap_compare: Compare, size: tuple[int, int]) -> None:
    compare(snap_compare, three_reports(), size, ask_and_press("M"))
