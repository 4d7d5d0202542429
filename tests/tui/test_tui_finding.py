"""Reading: search within the text, the outline, going to a page; apart from the passages of the query."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from longsearch.engine.page_image import Highlight
from longsearch.engine.types.documents import Heading
from longsearch.engine.types.results import SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.outline import Outline, OutlineScreen, entry_at
from longsearch.tui.text.finding import MAX_PLACES, find
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.long_table import LongTable
from longsearch.tui.widgets.prompt import Prompt
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.relevance_strip import RelevanceStrip, warmth_of
from longsearch.tui.widgets.status_line import StatusLine
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import FakeBackend, hit, long_document, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, results, screen_text, settle


def heading(pilot: Pilot[Any]) -> str:
    return pilot.app.screen.query_one(TextPane).query_one(HeaderLine).right


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
    await settle(pilot)


async def read(pilot: Pilot[Any]) -> None:
    """Ask, and go into the text of the best document."""
    await ask(pilot, "valve", press_enter=True)
    await press(pilot, "enter")


# Pure


@given(st.text("aAbBİß \n", max_size=40), st.text("aAbBİß \n", max_size=3))
def test_every_place_holds_the_searched_letters_and_none_is_missed(text: str, wanted: str) -> None:
    finding = find(text, wanted, 0)

    def fold(letters: str) -> str:
        folded = (letter.lower() for letter in letters.replace("\n", " "))
        return "".join(new if len(new) == 1 else old for new, old in zip(folded, letters, strict=True))

    assert all(fold(text[start : start + len(wanted)]) == fold(wanted) for start in finding.starts)
    covered = {start + index for start in finding.starts for index in range(-len(wanted) + 1, len(wanted))}
    for start in range(len(text) - len(wanted) + 1):
        if wanted and fold(text[start : start + len(wanted)]) == fold(wanted):
            assert start in covered


def test_case_and_line_ends_do_not_matter_and_the_first_place_is_the_next_one() -> None:
    text = "The valve\nhad failed. Later the VALVE HAD held. the valve had"
    finding = find(text, "valve had", 20)
    assert [text[start : start + 9] for start in finding.starts] == ["valve\nhad", "VALVE HAD", "valve had"]
    assert finding.current == 1 and finding.step(1).step(1).current == 0 and finding.step(-1).step(-1).current == 2
    assert finding.between(0, 9) == [(4, 13)] and finding.between(13, 20) == []
    assert finding.in_words("x") == "2 of 3 “x”"
    assert find(text, "pump", 0).place is None and find(text, "pump", 0).step(1).in_words("pump") == "no “pump”"
    assert find("a" * 3 * MAX_PLACES, "a", 0).in_words("a") == "1 of 10,000+ “a”"


def test_an_outline_is_made_of_headings_or_else_of_the_numbers_of_pages() -> None:
    headings = (Heading(3, "\x1b[31mDeep", 2_500), Heading(1, "One", 0))
    entries = Outline(headings, long_document(3).page_starts)
    assert [(entry.title, entry.page) for entry in entries] == [("One", 1), ("    �[31mDeep", 2)]
    assert (entry_at(entries, 2_499), entry_at(entries, 2_500), entry_at(Outline(), 5)) == (0, 1, None)
    pages = Outline((), long_document(3).page_starts)
    assert [(entry.page, entry.title) for entry in pages] == [(1, "Page 1"), (2, "Page 2"), (3, "Page 3")]
    assert not Outline()


# In the app


async def test_slash_in_the_text_finds_and_n_goes_through_the_places_not_the_passages() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await read(pilot)
        await press(pilot, "slash", *"day 1")
        assert isinstance(pilot.app.focused, Prompt)
        assert heading(pilot).endswith("“day 1”") and "p. 13 of 40 · 5 of 11" in heading(pilot)
        await press(pilot, "9")
        assert "1 of 1 “day 19”" in heading(pilot) and heading(pilot).startswith("p. 19")
        assert "19. What happened on day 19" in screen_text(pilot.app)
        await press(pilot, "backspace", "enter")
        assert pilot.app.focused is preview(pilot)
        assert "of 11 “day 1”" in heading(pilot)
        page = heading(pilot).split()[1]
        await press(pilot, "n")
        assert heading(pilot).split()[1] == str(int(page) + 1)
        await press(pilot, "N")
        assert heading(pilot).split()[1] == page
        await press(pilot, "p")
        assert heading(pilot).startswith("p. 3 of 40 · ")
        await press(pilot, "escape")
        assert heading(pilot).startswith("p. 3 of 40 · passage 1 of 5") and pilot.app.focused is preview(pilot)
        await press(pilot, "n")
        assert "passage 2 of 5" in heading(pilot)
        await press(pilot, "escape")
        assert pilot.app.focused is results(pilot)


async def test_escape_while_typing_goes_back_to_where_the_reader_was() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await read(pilot)
        before = heading(pilot)
        await press(pilot, "slash", *"day 30", "escape")
        assert pilot.app.focused is preview(pilot) and heading(pilot) == before
        await press(pilot, "slash", *"no such words", "enter")
        assert heading(pilot).endswith("no “no such words”")


async def test_slash_among_the_results_goes_to_the_query_and_in_a_line_it_is_text() -> None:
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "slash")
        assert pilot.app.screen.query_one(QueryBar).has_focus_within
        await press(pilot, "enter", "enter", "slash", "slash", "a")
        assert pilot.app.screen.query_one(Prompt).value == "/a"
        await press(pilot, "escape", "ctrl+l")
        assert pilot.app.screen.query_one(QueryBar).has_focus_within


async def test_letters_typed_at_once_after_slash_are_text() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await read(pilot)
        for key, character in (("slash", "/"), ("n", "n"), ("o", "o"), ("y", "y")):
            pilot.app.post_message(events.Key(key, character))
        await settle(pilot)
        assert pilot.app.screen.query_one(Prompt).value == "noy" and backend.called("open") == []


async def test_pasted_and_found_text_never_draws_outside_its_box() -> None:
    backend = three_reports()
    backend.documents[1] = replace(backend.documents[1], text=backend.documents[1].text.replace("valve", "va\u202elve"))
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await read(pilot)
        await press(pilot, "slash")
        pilot.app.post_message(events.Paste("the\npump \x1b[2J\u202e"))
        await settle(pilot)
        assert pilot.app.screen.query_one(Prompt).value == "the pump [2J"
        pilot.app.screen.query_one(TextPane).reader.find("va\u202elve\x1b[2J")
        await settle(pilot)
        assert "\x1b" not in screen_text(pilot.app) + heading(pilot) and "\u202e" not in heading(pilot)


async def test_another_document_ends_the_search() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await read(pilot)
        await press(pilot, "slash", *"pump", "enter", "escape", "escape", "j")
        assert preview(pilot).finding is None


async def test_on_a_printed_page_the_found_letters_are_marked() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await read(pilot)
        await press(pilot, "v")
        await settle(pilot)
        await press(pilot, "slash", *"day 20", "enter")
        question: Any = backend.called("page_image")[-1][1]
        assert question.page == 20
        assert [(highlight.text, highlight.kind) for highlight in question.highlights] == [("day 20", Highlight.FOUND)]
        assert heading(pilot).startswith("p. 20 of 40") and "1 of 1 “day 20”" in heading(pilot)


async def test_colon_goes_to_a_page_in_the_text_and_in_print() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await read(pilot)
        await press(pilot, "colon", *"27", "enter")
        assert heading(pilot).startswith("p. 27 of 40") and pilot.app.focused is preview(pilot)
        await press(pilot, "colon", *"999", "enter")
        assert heading(pilot).startswith("p. 40 of 40")
        await press(pilot, "colon", *"xi", "enter")
        assert pilot.app.screen.query_one(StatusLine).error == "no page xi: they are 1 to 40"
        await press(pilot, "v")
        await press(pilot, "colon", *"5", "enter")
        assert heading(pilot).startswith("p. 5 of 40")
        await press(pilot, "v", "escape", "j", "j", "colon")
        assert pilot.app.screen.query_one(StatusLine).error == "this document has no pages"


async def test_the_outline_opens_at_the_reader_and_goes_to_an_entry() -> None:
    document = long_document(40)
    starts = [document.page_starts[page] for page in range(0, 40, 4)]
    headings = tuple(Heading(1, f"Chapter {index} \x1b[2J", start) for index, start in enumerate(starts))
    document = replace(document, headings=headings)
    backend = FakeBackend(hit(1, document, (12,)), documents={1: document})
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await read(pilot)
        await press(pilot, "t")
        assert isinstance(pilot.app.screen, OutlineScreen)
        assert pilot.app.screen.query_one(LongTable).cursor_row == 2
        assert "Chapter 2" in screen_text(pilot.app) and "p. 9" in screen_text(pilot.app)
        await press(pilot, "j", "j", "enter")
        assert heading(pilot).startswith("p. 17 of 40") and pilot.app.focused is preview(pilot)
        await press(pilot, "t", "escape")
        assert heading(pilot).startswith("p. 17 of 40")


async def test_a_document_without_headings_and_pages_has_no_outline() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "j", "j")
        await settle(pilot)
        await press(pilot, "t")
        assert pilot.app.screen.query_one(StatusLine).error == "this document has neither headings nor pages"


async def test_tab_goes_round_query_results_and_text() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "v")
        await settle(pilot)
        seen = []
        for _ in range(3):
            await press(pilot, "tab")
            seen.append(type(pilot.app.focused).__name__)
        assert seen == ["PageView", "_Line", "Results"]


@pytest.mark.parametrize("is_printed", [False, True], ids=["text", "printed"])
async def test_a_click_on_the_strip_goes_to_that_part(is_printed: bool) -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await read(pilot)
        if is_printed:
            await press(pilot, "v")
            await settle(pilot)
        await pilot.click("RelevanceStrip", offset=(0, 15))
        await settle(pilot)
        assert int(heading(pilot).split()[1]) > 20


# The strip


def test_the_strip_is_warm_where_passages_are_nearer_than_usual() -> None:
    similarity = tuple(
        (100 * index, 100 * index + 100, cosine) for index, cosine in enumerate((0.1, 0.2, 0.5, 0.1, 0.3))
    )
    assert warmth_of(similarity, 500, 5) == pytest.approx([0, 0, 1, 0, 1 / 3])
    assert warmth_of(similarity, 500, 1) == [1.0]
    assert warmth_of(similarity, 500, 0) == [], "a strip without a text has no rows"
    assert warmth_of((), 500, 3) == [0, 0, 0] and warmth_of(((0, 9, 0.4), (9, 20, 0.4)), 20, 2) == [0, 0]
    assert warmth_of(((0, 10_000, 0.2), (40, 90, 0.9)), 10, 2) == [0, 0], "offsets beyond the text do not matter"


async def test_a_search_by_meaning_warms_the_strip_and_one_by_words_does_not() -> None:
    backend = three_reports()
    length = len(backend.documents[1].text)
    backend.near = {1: ((0, length // 2, 0.1), (length // 2, length * 3 // 4, 0.2), (length * 3 // 4, length, 0.9))}
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert backend.called("passage_similarity")[0] == ("1", "valve", "")
        strip = pilot.app.screen.query_one(RelevanceStrip)
        cells = [next(iter(strip.render_line(y))) for y in range(strip.size.height)]
        n_warm = sum(cell.text == "▀" for cell in cells[-strip.size.height // 5 :])
        assert n_warm == len(cells[-strip.size.height // 5 :]) and any(cell.text == " " for cell in cells)
        await press(pilot, "j")
        assert backend.called("passage_similarity")[-1][0] == "2"
        assert all(next(iter(strip.render_line(y))).text in " ▄▀█" for y in range(strip.size.height))


async def test_a_search_by_words_asks_for_no_similarity_of_passages() -> None:
    backend = three_reports()
    backend.near = {1: ((0, 500, 0.1), (500, 9_000, 0.2), (9_000, 90_000, 0.9))}
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await press(pilot, "ctrl+t", "ctrl+t")
        await ask(pilot, "valve", press_enter=True)
        assert backend.called("words") and backend.called("passage_similarity") == []


async def test_a_warm_strip_is_left_behind_by_an_answer_without_hits() -> None:
    backend = three_reports()
    backend.near = {1: ((0, 300, 0.1), (300, 900, 0.6), (900, 2_000, 0.3))}
    backend.answers = {("nothing", mode): () for mode in SearchMode}
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await ask(pilot, "nothing", press_enter=True)
        assert "Nothing found for “nothing”." in screen_text(pilot.app)
        await ask(pilot, "valve")
        assert "Report on the accident" in screen_text(pilot.app)
