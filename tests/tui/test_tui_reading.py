"""The selected document: its text, passages and place, and what a better answer does to them."""

from dataclasses import replace

from textual.widgets import Input

from longsearch.engine.errors import StoreError
from longsearch.engine.types.results import PassageHit, SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.text.highlight import NO_WORDS
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.preview import Preview
from longsearch.tui.widgets.relevance_strip import RelevanceStrip
from longsearch.tui.widgets.results import Results
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import ROOT, FakeBackend, hit, long_document, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, results, screen_text, settle, until


async def test_the_arrow_keys_select_a_document_also_from_the_query_line() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        assert preview(pilot).document is backend.documents[1]
        await pilot.press("down")
        await settle(pilot)
        assert preview(pilot).document is backend.documents[2]
        assert isinstance(pilot.app.focused, Input)
        await pilot.press("down", "down", "down", "up", "up")
        await settle(pilot)
        assert preview(pilot).document is backend.documents[1]
        assert [call[0] for call in backend.called("document")] == ["1", "2", "3"]  # each of them once


async def test_when_reading_is_slow_only_the_last_selected_document_is_read_next() -> None:
    backend = three_reports()
    door = backend.hold("document", "1")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: backend.called("document"))
        assert "Reading…" in screen_text(pilot.app)
        await pilot.press("down", "down")
        door.set()
        await until(pilot, lambda: preview(pilot).document is backend.documents[3])
        assert [call[0] for call in backend.called("document")] == ["1", "3"]


async def test_the_reason_why_a_document_cannot_be_read_stands_in_its_place() -> None:
    backend = three_reports()
    backend.errors["document"] = StoreError("The text is gone.", "Wait until it is indexed again.")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        assert "The text is gone. — Wait until it is indexed again." in screen_text(pilot.app)


async def test_enter_goes_in_and_escape_goes_out_step_by_step() -> None:
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve")
        await pilot.press("down", "enter")
        assert pilot.app.focused is results(pilot)
        await pilot.press("enter")
        assert pilot.app.focused is preview(pilot)
        await pilot.press("escape")
        assert pilot.app.focused is results(pilot)
        assert results(pilot).highlighted == 1
        await pilot.press("escape")
        assert isinstance(pilot.app.focused, Input)
        await pilot.press("enter", "slash")
        assert isinstance(pilot.app.focused, Input)
        await pilot.press("enter", "ctrl+l")
        assert isinstance(pilot.app.focused, Input)


async def test_a_text_that_gets_more_room_stays_where_it_is() -> None:
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        height, top = preview(pilot).size.height, preview(pilot).scroll_offset.y
        await pilot.press("enter")
        await settle(pilot)
        assert preview(pilot).size.height >= height + 8 and preview(pilot).scroll_offset.y == top


async def test_the_text_opens_at_the_best_passage_and_n_and_p_go_through_the_others() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "p. 12 of 40 · passage 2 of 5" in screen_text(pilot.app)
        await pilot.press("n")
        assert "p. 13 of 40 · passage 3 of 5" in screen_text(pilot.app)
        await pilot.press("n", "n", "n")
        assert "p. 3 of 40 · passage 1 of 5" in screen_text(pilot.app)
        await pilot.press("p")
        assert "p. 40 of 40 · passage 5 of 5" in screen_text(pilot.app)


async def test_a_bar_marks_the_current_passage_and_only_the_sentence_that_answers_is_lit() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        view = preview(pilot)
        lines = [list(view.render_line(y)) for y in range(view.size.height)]
        marked = " ".join(line[3].text for line in lines if len(line) > 3 and line[1].text == "▌")
        assert marked.startswith("Training had prepared the crew")
        grounds = {segment.style.bgcolor for line in lines for segment in line if segment.style}
        assert len(grounds) == 2
        lit = view.get_component_rich_style("preview--excerpt").bgcolor
        text = " ".join(
            segment.text for line in lines for segment in line if segment.style and segment.style.bgcolor == lit
        )
        assert text.startswith("Hydrogen collected")
        assert text.endswith("early in the afternoon.")


async def test_a_low_pane_shows_the_sentence_that_answers_though_its_passage_begins_far_above() -> None:
    report = long_document()
    start = report.page_starts[11]
    stop = report.text.index("\n\n", report.text.index("\n\n", start) + 2)
    answer = report.text.rindex(". ", start, stop) + 2
    own = PassageHit(12, "", start, stop, report.text[start:stop], 0.9, (answer, stop))
    backend = FakeBackend(replace(hit(1, report, ()), passages=(own,)), documents={1: report})
    async with LongsearchApp(backend).run_test(size=(60, 20)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        view = preview(pilot)
        shown = "".join(segment.text for y in range(view.size.height) for segment in view.render_line(y))
        assert report.text[answer : answer + 18] in shown
        top = view.scroll_offset.y
        await pilot.press("enter")
        await settle(pilot)
        assert view.scroll_offset.y <= top, "more room shows more above it"
        assert view.text_layout.line_at(answer) - view.scroll_offset.y < view.size.height


async def test_a_click_in_the_strip_goes_to_that_part_of_the_document() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.click(RelevanceStrip, offset=(0, preview(pilot).size.height - 1))
        assert "p. 40 of 40" in screen_text(pilot.app)
        await pilot.click(RelevanceStrip, offset=(0, 0))
        assert "p. 1 of 40" in screen_text(pilot.app)


async def test_a_passage_across_two_pages_has_the_same_page_in_the_heading_and_the_viewer() -> None:
    report = long_document()
    start, stop = report.page_starts[5] - 60, report.page_starts[5] + 400  # mostly on page 6
    own = PassageHit(6, "", start, stop, report.text[start:stop], 0.9)
    backend = FakeBackend(replace(hit(1, report, ()), passages=(own,)), documents={1: report})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "p. 6 of 40 · passage 1 of 1" in screen_text(pilot.app)
        await pilot.press("o")
        await settle(pilot)
        assert [call[:2] for call in backend.called("open")] == [(str(ROOT / "reports/unit-2.pdf"), 6)]


async def test_a_document_being_read_stays_when_a_better_answer_comes() -> None:
    backend = three_reports()
    backend.answers[("valve", SearchMode.HYBRID)] = tuple(reversed(backend.hits))
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: preview(pilot).document is backend.documents[1])
        await pilot.press("enter", "enter", "n", "pagedown")
        top = preview(pilot).scroll_offset.y
        door.set()
        await until(pilot, lambda: "3 documents  " in screen_text(pilot.app))
        await settle(pilot)
        assert results(pilot).highlighted == 2
        assert preview(pilot).document is backend.documents[1]
        assert preview(pilot).scroll_offset.y == top
        assert "passage 3 of 5" in screen_text(pilot.app)


async def test_a_document_being_read_stays_even_if_the_better_answer_lacks_it() -> None:
    backend = three_reports()
    backend.answers[("valve", SearchMode.HYBRID)] = backend.hits[1:]
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: preview(pilot).document is backend.documents[1])
        await pilot.press("enter", "enter")
        door.set()
        await until(pilot, lambda: "2 documents  " in screen_text(pilot.app))
        await settle(pilot)
        assert results(pilot).highlighted is None
        assert preview(pilot).document is backend.documents[1]


async def test_a_best_document_that_nobody_chose_gives_way_to_a_better_one() -> None:
    backend = three_reports()
    backend.answers[("valve", SearchMode.HYBRID)] = tuple(reversed(backend.hits))
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert results(pilot).highlighted == 0
        assert preview(pilot).document is backend.documents[3]


async def test_a_late_message_from_a_replaced_list_changes_nothing() -> None:
    backend = three_reports()
    backend.answers |= {("nothing", mode): () for mode in SearchMode}
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        gone = Results.Selected(backend.hits[1], NO_WORDS, is_chosen=True)
        await ask(pilot, "nothing", press_enter=True)
        results(pilot).post_message(gone)
        await settle(pilot)
        assert "Nothing found for “nothing”." in screen_text(pilot.app)
        assert pilot.app.screen.query_one(TextPane).hit is None


async def test_a_late_message_about_the_readers_place_changes_nothing_once_the_text_is_gone() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "why did the valve fail", press_enter=True)
        pane = pilot.app.screen.query_one(TextPane)
        assert "passage" in pane.query_one(HeaderLine).right
        pane.clear()
        await settle(pilot)
        pane.on_preview_moved(Preview.Moved())
        assert pane.query_one(HeaderLine).right == ""


async def test_a_long_text_is_wrapped_in_a_thread_and_shown_at_its_passage() -> None:
    document = long_document(400)
    assert len(document.text) > 500_000
    backend = FakeBackend(hit(1, document, (390, 2)), documents={1: document})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "p. 390 of 400 · passage 2 of 2" in screen_text(pilot.app)
        await pilot.resize_terminal(100, 30)
        await settle(pilot)
        assert "p. 390 of 400 · passage 2 of 2" in screen_text(pilot.app)


async def test_resizing_the_terminal_keeps_the_place_in_the_text_and_in_the_list() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down", "enter", "n")
        passage = preview(pilot).current_span
        assert passage is not None
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: pilot.app.screen.size.width == SMALL[0] and preview(pilot).size.width > 70)
        view = preview(pilot)
        assert (
            not results(pilot).display or results(pilot).region.height == 0
        )  # the text takes all the room while it is read
        assert view.size.width > 70
        assert view.place().first <= passage.start <= view.place().last
        await pilot.press("j", "j", "j")
        first = view.place().first
        await pilot.resize_terminal(70, 20)
        await until(pilot, lambda: preview(pilot).size.width <= 70)
        layout = view.text_layout
        assert layout.line_at(view.place().first) == layout.line_at(first)
        await pilot.press("escape")
        await settle(pilot)
        assert results(pilot).highlighted == 1
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: results(pilot).region.height > 15)
        assert results(pilot).highlighted == 1
