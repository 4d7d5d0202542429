"""Documents similar to the one in view."""

import pytest
from textual.widgets import Input

from longsearch.engine.errors import StoreError
from longsearch.tui.app import LongsearchApp
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import FakeBackend, hit, long_document, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, results, screen_text, settle


async def test_m_lists_the_documents_similar_to_the_one_in_view_and_escape_leads_back_to_it() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=(130, 26)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down", "m")
        await settle(pilot)
        assert backend.called("similar") == [("2",)]
        assert "2 documents similar to Valves: a manual" in screen_text(pilot.app)
        assert pilot.app.focused is results(pilot)
        assert pilot.app.screen.query_one(TextPane).hit.document_id == 1  # type: ignore[union-attr]
        await pilot.press("escape")
        await settle(pilot)
        assert "3 documents  " in screen_text(pilot.app)
        assert pilot.app.focused is results(pilot)
        assert results(pilot).highlighted == 1
        assert pilot.app.screen.query_one(TextPane).hit.document_id == 2  # type: ignore[union-attr]
        await pilot.press("escape")
        assert isinstance(pilot.app.focused, Input)


@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_m_works_in_the_text_too_even_if_the_text_fills_the_screen(size: tuple[int, int]) -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter", "m")
        await settle(pilot)
        assert "2 documents similar to a passage of" in screen_text(pilot.app)
        assert pilot.app.focused is results(pilot)
        await pilot.press("m")
        await settle(pilot)
        assert backend.called("similar") == [("1", backend.hits[0].passages[0].start), ("2",)]
        await pilot.press("escape")
        await settle(pilot)
        assert "3 documents  " in screen_text(pilot.app)


async def test_the_query_line_leads_back_from_similar_documents() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("m")
        await settle(pilot)
        await pilot.press("slash", "enter")
        await settle(pilot)
        assert "3 documents  " in screen_text(pilot.app)
        await pilot.press("m")
        await settle(pilot)
        await pilot.press("slash", "s")
        await settle(pilot)
        assert "3 documents by words" in screen_text(pilot.app)
        assert backend.called("words")[-1] == ("s", "")  # the query was selected: typing replaces it


async def test_if_no_document_is_similar_the_list_says_so() -> None:
    report = long_document()
    backend = FakeBackend(hit(1, report, (3,)), documents={1: report})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("m")
        await settle(pilot)
        assert "No other document is similar to “Report on the accident at unit 2”." in screen_text(pilot.app)
        await pilot.press("escape")
        await settle(pilot)
        assert "1 document  " in screen_text(pilot.app)


async def test_if_a_document_cannot_be_compared_yet_the_reason_is_shown_and_the_results_stay() -> None:
    backend = three_reports()
    backend.errors["similar"] = StoreError("Valves has not been read for its meaning yet", "wait")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("m")
        await settle(pilot)
        text = screen_text(pilot.app)
        assert "Valves has not been read for its meaning yet — wait" in text
        assert "3 documents  " in text


async def test_in_the_text_m_searches_for_passages_like_the_current_one() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key in ("enter", "n", "m"):
            await pilot.press(key)
            await settle(pilot)
        (second,) = [one for one in backend.hits[0].passages if one.page == 13]
        assert backend.called("similar") == [("1", second.start)]
        assert "similar to a passage of Report" in screen_text(pilot.app)
        await pilot.press("escape")
        await settle(pilot)
        assert "3 documents  " in screen_text(pilot.app)
