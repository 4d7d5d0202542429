"""The app with a scripted backend, driven by keys: typing, stale answers, selection, passages, errors, modes."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from fake_backend import DONE, EMPTY, ROOT, FakeBackend, hit, long_document, three_reports
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from conftest import ask, screen_text, settle, until
from engine.errors import ModelError, StoreError
from engine.types import DocumentText, PassageHit, SearchMode
from tui.app import LongsearchApp
from tui.backend_calls import BackendCalls
from tui.screens.help import HelpScreen
from tui.screens.instruction import PRESETS, InstructionScreen
from tui.screens.main import MainScreen
from tui.widgets.header_line import HeaderLine
from tui.widgets.preview import Preview
from tui.widgets.query_bar import ModeTabs
from tui.widgets.relevance_strip import RelevanceStrip
from tui.widgets.results import Results
from tui.widgets.status_line import StatusLine
from tui.widgets.text_pane import TextPane

WIDE, SMALL = (110, 26), (80, 24)


def preview(pilot: Pilot[None]) -> Preview:
    return pilot.app.screen.query_one(Preview)


def results(pilot: Pilot[None]) -> Results:
    return pilot.app.screen.query_one(Results)


def status(pilot: Pilot[None]) -> StatusLine:
    return pilot.app.screen.query_one(StatusLine)


async def index_has(pilot: Pilot[None], backend: FakeBackend, n_more: int) -> None:
    """The index comes to hold so many documents more, and the app hears of it."""
    backend.progress_now = replace(DONE, n_current=DONE.n_current + n_more)
    calls = pilot.app.screen.query_one(BackendCalls)
    calls.poll()
    await until(pilot, lambda: calls.progress == backend.progress_now)


# Opening


async def test_it_opens_ready_to_type_and_says_what_there_is() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert isinstance(pilot.app.focused, Input)
        text = screen_text(pilot.app)
        assert "480 documents ready." in text
        assert str(ROOT) in text
        assert backend.called("start") == [("",)]


async def test_it_opens_while_the_backend_still_starts() -> None:
    backend = three_reports()
    door = backend.hold("start")
    backend.hold("progress")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: "Report on the accident" in screen_text(pilot.app))
        assert "opening the index…" in screen_text(pilot.app)
        door.set()
        backend.close()


async def test_backend_calls_never_run_on_the_thread_of_the_screen() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("o", "f3")
        await settle(pilot)
    assert threading.get_ident() not in backend.threads
    assert {call[0] for call in backend.calls} >= {"start", "progress", "words", "hybrid", "document", "open", "files"}


async def test_why_indexing_does_not_run_is_said_at_once_and_stays() -> None:
    backend = three_reports()
    backend.start_note = "the daemon could not be started"
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "Indexing is not running: the daemon could not be started" in screen_text(pilot.app)
        await ask(pilot, "valve")
        assert "! the daemon could not be started · 480 documents ready" in screen_text(pilot.app)


async def test_an_empty_folder_is_explained() -> None:
    backend = FakeBackend()
    backend.progress_now = EMPTY
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await settle(pilot)
        assert "There are no PDFs or notes in this folder." in screen_text(pilot.app)


# Typing and answers


async def test_every_key_stroke_searches_words_and_the_pause_searches_the_chosen_mode() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        for key in "abc":
            await pilot.press(key)
            await settle(pilot)
        assert backend.called("words") == [("a", ""), ("ab", ""), ("abc", "")]
        assert backend.called("hybrid") == []
        assert "asking by meaning…" in screen_text(pilot.app)
        await pilot.press("enter")
        await settle(pilot)
        assert backend.called("hybrid") == [("abc", "")]
        assert "3 documents by hybrid" in screen_text(pilot.app)
        assert "asking by meaning…" not in screen_text(pilot.app)


async def test_the_chosen_mode_is_searched_by_itself_when_the_typing_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackendCalls, "DEBOUNCE_S", 0.01)
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: backend.called("hybrid"))
        await settle(pilot)
        assert backend.called("hybrid") == [("valve", "")]
        assert "by hybrid" in screen_text(pilot.app)


async def test_an_older_answer_never_replaces_a_newer_one() -> None:
    backend = three_reports()
    old, new = long_document(2, "The old answer"), long_document(2, "The new answer")
    backend.documents |= {1: old}
    backend.answers[("old", SearchMode.HYBRID)] = (hit(1, old, (1,)),)
    backend.answers[("new", SearchMode.WORDS)] = (hit(1, new, (1,)),)
    door = backend.hold("hybrid", "old")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        query = pilot.app.screen.query_one(Input)
        query.value = "old"
        await pilot.press("enter")
        await until(pilot, lambda: backend.called("hybrid"))
        query.value = "new"
        await until(pilot, lambda: "The new answer" in screen_text(pilot.app))
        door.set()
        await settle(pilot)
        assert "The new answer" in screen_text(pilot.app)
        assert "The old answer" not in screen_text(pilot.app)


async def test_while_a_search_is_slow_only_the_newest_query_waits_for_it() -> None:
    backend = three_reports()
    door = backend.hold("words", "a")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: backend.called("words"))
        await pilot.press("b", "c", "d", "e")
        assert backend.called("words") == [("a", "")]
        door.set()
        await until(pilot, lambda: len(backend.called("words")) == 2)
        await settle(pilot)
        assert backend.called("words") == [("a", ""), ("abcde", "")]


async def test_a_cleared_query_takes_the_results_away_even_if_an_answer_comes_late() -> None:
    backend = three_reports()
    door = backend.hold("words", "a")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: backend.called("words"))
        await pilot.press("backspace")
        door.set()
        await settle(pilot)
        assert "480 documents ready." in screen_text(pilot.app)
        assert "Report on the accident" not in screen_text(pilot.app)


async def test_enter_before_the_answer_goes_to_the_results_when_they_come() -> None:
    backend = three_reports()
    door = backend.hold("words", "a")
    backend.hold("hybrid", "a")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("a", "enter")
        assert isinstance(pilot.app.focused, Input)
        door.set()
        await until(pilot, lambda: pilot.app.focused is results(pilot))
        backend.close()


async def test_an_error_is_a_line_with_its_hint_and_the_words_stay() -> None:
    backend = three_reports()
    backend.errors["hybrid"] = ModelError("The model is not there.", "Run `longsearch doctor`.")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        text = screen_text(pilot.app)
        assert "✗ The model is not there. — Run `longsearch doctor`." in text
        assert "3 documents by words" in text
        await pilot.press("slash", "x")
        assert "✗" not in screen_text(pilot.app)


async def test_an_unexpected_exception_of_any_call_is_a_line_and_not_the_end() -> None:
    backend = three_reports()
    for kind in ("words", "hybrid", "document", "open", "files", "progress", "start"):
        backend.errors[kind] = RuntimeError(f"{kind} broke")
    async with LongsearchApp(backend).run_test(size=(170, 26)) as pilot:
        await settle(pilot)
        assert "✗ Something went wrong inside longsearch: RuntimeError: progress broke" in screen_text(pilot.app)
        await ask(pilot, "valve", press_enter=True)
        assert "RuntimeError: hybrid broke" in screen_text(pilot.app)
        del backend.errors["words"]
        await ask(pilot, "valves")
        assert "RuntimeError: document broke" in screen_text(pilot.app)
        await pilot.press("ctrl+o")
        await settle(pilot)
        assert "RuntimeError: open broke" in screen_text(pilot.app)
        await pilot.press("f3")
        await settle(pilot)
        assert "RuntimeError: files broke" in screen_text(pilot.app)


async def test_nothing_found_is_explained_and_repeated_when_the_index_grows() -> None:
    backend = three_reports()
    found, backend.hits = backend.hits, ()
    backend.progress_now = replace(DONE, n_current=10, n_partial=0)
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "Nothing found for “valve”." in screen_text(pilot.app)
        backend.hits = found
        await index_has(pilot, backend, 0)
        await until(pilot, lambda: "3 documents by hybrid" in screen_text(pilot.app))


async def test_from_the_query_line_a_search_is_repeated_when_the_index_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MainScreen, "RENEW_EVERY_S", 0.01)
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("escape")
        backend.hits = backend.hits[1:]
        await index_has(pilot, backend, -1)
        await until(pilot, lambda: "2 documents by hybrid" in screen_text(pilot.app))


async def test_the_sign_of_a_slow_search_stays_when_the_index_changes_meanwhile() -> None:
    backend = three_reports()
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: "3 documents by words" in screen_text(pilot.app))
        pilot.app.screen.query_one(BackendCalls).search_now()
        await index_has(pilot, backend, 1)
        pilot.app.screen.keep_current()
        await settle(pilot, all_workers=False)
        assert "asking by meaning…" in screen_text(pilot.app)
        door.set()


async def test_the_same_answer_again_leaves_the_list_as_it_was_scrolled() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("escape")
        results(pilot).scroll_to(y=1, animate=False, immediate=True)
        await settle(pilot)
        assert results(pilot).scroll_offset.y == 1
        await index_has(pilot, backend, 1)
        pilot.app.screen.keep_current()
        await settle(pilot)
        assert len(backend.called("hybrid")) == 2
        assert results(pilot).scroll_offset.y == 1


async def test_somebody_among_the_results_is_not_disturbed_and_finds_them_renewed_when_back() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down")
        backend.hits = backend.hits[1:]
        await index_has(pilot, backend, -1)
        pilot.app.screen.keep_current()
        await settle(pilot)
        assert "3 documents by hybrid" in screen_text(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: "2 documents by hybrid" in screen_text(pilot.app))
        assert preview(pilot).document is backend.documents[2]  # the one that was chosen
        n_searches = len(backend.called("hybrid"))
        pilot.app.screen.keep_current()
        await settle(pilot)
        assert len(backend.called("hybrid")) == n_searches


async def test_a_note_on_the_answer_is_shown() -> None:
    backend = three_reports()
    backend.note = "words only: the model is loading"
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        assert "words only: the model is loading" in screen_text(pilot.app)


# Modes and instruction


async def test_the_mode_goes_round_and_is_searched_with() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.press("f2", "enter")
        await settle(pilot)
        assert backend.called("meaning") == [("valve", "")]
        await pilot.press("ctrl+t")
        await settle(pilot)
        assert backend.called("words") == [("valve", "")] * 3  # for hybrid, for meaning, and by itself
        assert "asking by meaning…" not in screen_text(pilot.app)
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.WORDS
        await pilot.press("f2")
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.HYBRID


async def test_a_click_chooses_the_mode() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await pilot.click(ModeTabs, offset=(20, 0))
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.WORDS


async def test_an_instruction_of_ones_own_goes_with_the_search_and_is_shown() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.press("ctrl+r", *"dates", "enter", "enter")
        await settle(pilot)
        assert backend.called("hybrid") == [("valve", "dates")]
        assert "instruction: dates" in screen_text(pilot.app)
        await pilot.press("ctrl+r", *["backspace"] * 5, "enter")
        await settle(pilot)
        assert "instruction:" not in screen_text(pilot.app)


async def test_a_preset_is_chosen_with_the_arrow_keys_and_escape_changes_nothing() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+r", "down", "down", "enter")
        assert f"instruction: {PRESETS[0]}" in screen_text(pilot.app)
        await pilot.press("ctrl+r", "x")
        assert isinstance(pilot.app.screen, InstructionScreen)
        await pilot.press("escape")
        assert f"instruction: {PRESETS[0]}" in screen_text(pilot.app)


# Selection, text, passages


async def test_the_selection_moves_the_preview_also_from_the_query_line() -> None:
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
        assert [call[0] for call in backend.called("document")] == ["1", "2", "3"]  # none of them twice


async def test_only_the_document_last_selected_is_read_when_reading_is_slow() -> None:
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


async def test_a_document_that_cannot_be_read_says_why_in_its_place() -> None:
    backend = three_reports()
    backend.errors["document"] = StoreError("The text is gone.", "Wait until it is indexed again.")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        assert "The text is gone. — Wait until it is indexed again." in screen_text(pilot.app)


async def test_enter_and_escape_go_in_and_out_step_by_step() -> None:
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


async def test_the_text_opens_at_the_best_passage_and_n_and_p_go_round() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "p. 12 of 40 · passage 2 of 5 · 0.84" in screen_text(pilot.app)
        await pilot.press("n")
        assert "p. 13 of 40 · passage 3 of 5" in screen_text(pilot.app)
        await pilot.press("n", "n", "n")
        assert "p. 3 of 40 · passage 1 of 5" in screen_text(pilot.app)
        await pilot.press("p")
        assert "p. 40 of 40 · passage 5 of 5" in screen_text(pilot.app)


async def test_letters_are_text_in_the_query_and_commands_elsewhere() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press(*"nopy", "slash", "question_mark")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "nopy/?"
        assert backend.called("open") == []


async def test_the_passages_are_lit_and_the_current_one_brighter() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        view = preview(pilot)
        current = view.get_component_rich_style("preview--current").bgcolor
        lit = [
            segment
            for y in range(view.size.height)
            for segment in view.render_line(y)
            if segment.style and segment.style.bgcolor == current
        ]
        text = " ".join(segment.text for segment in lit)
        assert text.startswith("Training had prepared the crew")
        assert text.endswith("that the vessel was full.")
        assert any(segment.text == "valve" and segment.style and segment.style.bold for segment in lit)


async def test_a_click_in_the_strip_goes_to_that_part_of_the_document() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.click(RelevanceStrip, offset=(0, preview(pilot).size.height - 1))
        assert "p. 40 of 40" in screen_text(pilot.app)
        await pilot.click(RelevanceStrip, offset=(0, 0))
        assert "p. 1 of 40" in screen_text(pilot.app)


async def test_the_document_a_person_reads_stays_when_the_better_answer_comes() -> None:
    backend = three_reports()
    backend.answers[("valve", SearchMode.HYBRID)] = tuple(reversed(backend.hits))
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: preview(pilot).document is backend.documents[1])
        await pilot.press("enter", "enter", "n", "pagedown")
        top = preview(pilot).scroll_offset.y
        door.set()
        await until(pilot, lambda: "3 documents by hybrid" in screen_text(pilot.app))
        await settle(pilot)
        assert results(pilot).highlighted == 2
        assert preview(pilot).document is backend.documents[1]
        assert preview(pilot).scroll_offset.y == top
        assert "passage 3 of 5" in screen_text(pilot.app)


async def test_a_better_answer_without_the_document_being_read_does_not_take_it_away() -> None:
    backend = three_reports()
    backend.answers[("valve", SearchMode.HYBRID)] = backend.hits[1:]
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: preview(pilot).document is backend.documents[1])
        await pilot.press("enter", "enter")
        door.set()
        await until(pilot, lambda: "2 documents by hybrid" in screen_text(pilot.app))
        await settle(pilot)
        assert results(pilot).highlighted is None
        assert preview(pilot).document is backend.documents[1]


async def test_a_best_answer_nobody_chose_gives_way_to_the_better_one() -> None:
    backend = three_reports()
    backend.answers[("valve", SearchMode.HYBRID)] = tuple(reversed(backend.hits))
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert results(pilot).highlighted == 0
        assert preview(pilot).document is backend.documents[3]


# Opening and copying


async def test_o_opens_the_file_at_the_page_of_the_current_passage() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("n", "o")
        await settle(pilot)
        assert backend.called("open") == [(backend.hits[0].path, 13)]
        assert "✓ opened unit-2-report.pdf with xdg-open" in screen_text(pilot.app)


async def test_y_copies_the_passage_and_capital_y_the_path() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("y")
        assert pilot.app.clipboard.startswith(backend.hits[0].passages[0].text)
        assert pilot.app.clipboard.endswith(f"p. 12 ({backend.hits[0].path})\n")
        await pilot.press("Y")
        assert pilot.app.clipboard == backend.hits[0].path


async def test_without_a_document_its_keys_do_nothing() -> None:
    backend = FakeBackend()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+o", "down", "up", "pagedown", "pageup", "escape", "enter", "tab")
        await settle(pilot)
        assert backend.called("open") == []


# Help, palette, quitting


async def test_help_lists_the_keys_and_closes() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(90, 60)) as pilot:
        await pilot.press("f1")
        text = screen_text(pilot.app)
        for words in ("F3, Ctrl+F", "Next passage in the document", '"an exact phrase"', "Ctrl+R"):
            assert words in text
        await pilot.press("j", "k", "escape")
        assert isinstance(pilot.app.screen, MainScreen)
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)


async def test_the_palette_offers_only_what_works() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await pilot.pause()
        commands = {command.title: command.callback for command in pilot.app.get_system_commands(pilot.app.screen)}
        assert set(commands) == {"Mode", "Instruction", "Files", "Help", "Theme", "Quit"}
        commands["Mode"]()
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.MEANING
        commands["Help"]()
        await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)


async def test_quitting_closes_the_backend_so_that_a_search_under_way_ends() -> None:
    backend = three_reports()
    backend.hold("hybrid")
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await pilot.press("enter")
        await until(pilot, lambda: backend.called("hybrid"))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
    assert backend.called("close") == [("",)]
    assert app.return_code == 0


async def test_quitting_twice_leaves_even_if_the_backend_does_not_close() -> None:
    backend = three_reports()
    door = backend.hold("close")
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+q")
        assert not app._exit
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
        door.set()


# Hostile and odd input


HOSTILE = "[red]Alert[/red] \x1b[31mred\x1b]0;owned\x07 \u202eevil \udcff"


async def test_hostile_titles_paths_and_texts_are_shown_literally() -> None:
    text = f"{HOSTILE}\n\x1b[2J and more [bold]text[/bold]\n" * 3
    bad = replace(
        hit(1, long_document(2), (1,), f"[b]dir[/b]/{HOSTILE}.pdf", HOSTILE),
        passages=(PassageHit(None, HOSTILE, 0, 30, text[:30], 0.5),),
    )
    backend = FakeBackend(bad, documents={1: DocumentText(text, (), HOSTILE)})
    backend.note = HOSTILE
    backend.start_note = HOSTILE
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "[red]x[/red]", press_enter=True)
        await pilot.press("y", "Y", "n", "p")
        shown = screen_text(pilot.app)
        assert "[red]Alert[/red] \ufffd[31mred\ufffd]0;owned\ufffd \ufffdevil \ufffd" in shown
        assert "[bold]text[/bold]" in shown
        assert not any(character in shown for character in "\x1b\x07\u202e\udcff")


async def test_a_hit_whose_passages_reach_past_the_text_is_shown() -> None:
    late = replace(hit(1, long_document(2), (2,)), passages=(PassageHit(9, "", 900_000, 900_100, "gone", 0.5),))
    backend = FakeBackend(late, documents={1: long_document(2)})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "gone", press_enter=True)
        await pilot.press("n", "enter", "n", "G", "g")
        assert preview(pilot).document is backend.documents[1]


async def test_word_of_a_place_that_comes_when_nothing_is_shown_any_more_is_not_heeded() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "why did the valve fail", press_enter=True)
        pane = pilot.app.screen.query_one(TextPane)
        late = Preview.Moved(pane.preview.place(), pane.preview.spans)
        assert late.place.passage > 0
        pane.clear()
        await settle(pilot)
        head = pane.query_one(HeaderLine).right
        pane.on_preview_moved(late)
        assert pane.query_one(HeaderLine).right == head == ""


@pytest.mark.parametrize("document", [DocumentText("", (), ""), DocumentText("\n", (0, 0, 0), "")])
async def test_an_empty_document_is_shown(document: DocumentText) -> None:
    empty = replace(hit(1, long_document(2), (2,)), passages=())
    async with LongsearchApp(FakeBackend(empty, documents={1: document})).run_test(size=WIDE) as pilot:
        await ask(pilot, "x", press_enter=True)
        await pilot.press("n", "o", "y", "enter", "G", "g", "space")
        assert preview(pilot).document is document


@pytest.mark.parametrize("size", [(1, 1), (12, 6), (99, 13), (160, 50)])
async def test_no_terminal_is_too_small_or_too_large(size: tuple[int, int]) -> None:
    async with LongsearchApp(three_reports()).run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter", "n", "escape", "f3", "escape", "f1", "escape", "ctrl+r", "escape")
        assert isinstance(pilot.app.screen, MainScreen)


async def test_a_new_size_lays_everything_out_anew_and_keeps_the_place() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down", "enter", "n")
        passage = preview(pilot).current_span
        assert passage is not None
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: pilot.app.screen.size.width == SMALL[0] and preview(pilot).size.width > 70)
        view = preview(pilot)
        assert not results(pilot).display or results(pilot).region.height == 0  # whoever reads has the room
        assert view.size.width > 70
        assert view.place().first <= passage.start <= view.place().last
        await pilot.press("j", "j", "j")
        first = view.place().first
        await pilot.resize_terminal(70, 20)
        await until(pilot, lambda: preview(pilot).size.width <= 70)
        layout = view._layout_of_text
        assert layout.line_at(view.place().first) == layout.line_at(first)
        await pilot.press("escape")
        await settle(pilot)
        assert results(pilot).highlighted == 1
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: results(pilot).region.height > 15)
        assert results(pilot).highlighted == 1


async def test_a_long_text_is_wrapped_aside_and_shown_at_its_passage() -> None:
    document = long_document(400)
    assert len(document.text) > 500_000
    backend = FakeBackend(hit(1, document, (390, 2)), documents={1: document})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "p. 390 of 400 · passage 2 of 2" in screen_text(pilot.app)
        await pilot.resize_terminal(100, 30)
        await settle(pilot)
        assert "p. 390 of 400 · passage 2 of 2" in screen_text(pilot.app)


async def test_a_keymap_gives_a_command_another_key() -> None:
    app = LongsearchApp(three_reports())
    app.set_keymap({"main.help": "f9"})
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("f9")
        assert isinstance(pilot.app.screen, HelpScreen)


def test_every_binding_has_an_id() -> None:
    from tui import bindings
    from tui.screens.files import FilesScreen

    tables: list[Any] = [bindings.MAIN, bindings.LIST_MOVES, bindings.TEXT_MOVES]
    tables += [screen.BINDINGS for screen in (FilesScreen, HelpScreen, InstructionScreen, LongsearchApp)]
    ids = [binding.id for table in tables for binding in table]
    assert None not in ids
    assert len(set(ids)) == len(ids)


# More like this


async def test_documents_like_the_one_in_view_are_listed_and_the_way_back_leads_to_it() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down", "m")
        await settle(pilot)
        assert backend.called("similar") == [("2",)]
        assert "2 documents like Valves: a manual · 6 ms" in screen_text(pilot.app)
        assert pilot.app.focused is results(pilot)
        assert pilot.app.screen.query_one(TextPane).hit.document_id == 1  # type: ignore[union-attr]
        await pilot.press("escape")
        await settle(pilot)
        assert "3 documents by hybrid" in screen_text(pilot.app)
        assert pilot.app.focused is results(pilot)
        assert results(pilot).highlighted == 1
        assert pilot.app.screen.query_one(TextPane).hit.document_id == 2  # type: ignore[union-attr]
        await pilot.press("escape")
        assert isinstance(pilot.app.focused, Input)


@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_from_the_text_too_where_it_takes_all_the_room(size: tuple[int, int]) -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter", "m")
        await settle(pilot)
        assert "2 documents like Report on the accident" in screen_text(pilot.app)
        assert pilot.app.focused is results(pilot)
        await pilot.press("m")
        await settle(pilot)
        assert backend.called("similar") == [("1",), ("2",)]
        await pilot.press("escape")
        await settle(pilot)
        assert "3 documents by hybrid" in screen_text(pilot.app)


async def test_the_query_line_leads_back_from_what_is_like_a_document() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("m")
        await settle(pilot)
        await pilot.press("slash", "enter")
        await settle(pilot)
        assert "3 documents by hybrid" in screen_text(pilot.app)
        await pilot.press("m")
        await settle(pilot)
        await pilot.press("slash", "s")
        await settle(pilot)
        assert "3 documents by words" in screen_text(pilot.app)
        assert backend.called("words")[-1] == ("s", "")  # the line was marked: typing begins anew


async def test_a_document_that_nothing_is_like_is_said_to_be_alone() -> None:
    report = long_document()
    backend = FakeBackend(hit(1, report, (3,)), documents={1: report})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("m")
        await settle(pilot)
        assert "No other document is like “Report on the accident at unit 2”." in screen_text(pilot.app)
        await pilot.press("escape")
        await settle(pilot)
        assert "1 document by hybrid" in screen_text(pilot.app)


async def test_what_cannot_be_compared_yet_is_said_and_the_answer_stays() -> None:
    backend = three_reports()
    backend.errors["similar"] = StoreError("Valves has not been read for its meaning yet", "wait")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("m")
        await settle(pilot)
        text = screen_text(pilot.app)
        assert "Valves has not been read for its meaning yet — wait" in text
        assert "3 documents by hybrid" in text


# Quick hands


async def test_word_of_a_list_that_is_gone_changes_nothing() -> None:
    backend = three_reports()
    backend.answers[("nothing", SearchMode.WORDS)] = ()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        gone = Results.Selected(backend.hits[1], None)
        await ask(pilot, "nothing")
        results(pilot).post_message(gone)
        await settle(pilot)
        assert "Nothing found for “nothing”." in screen_text(pilot.app)
        assert pilot.app.screen.query_one(TextPane).hit is None


async def test_what_is_typed_right_behind_the_slash_is_in_the_query_line() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key, character in (("slash", "/"), ("n", "n"), ("o", "o"), ("y", "y")):  # at once: `press` waits after each
            pilot.app.post_message(events.Key(key, character))
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "noy"
        assert backend.called("open") == []


async def test_all_lines_of_what_is_pasted_are_asked_as_one() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        pilot.app.post_message(events.Paste("  honey bees\nswarm in\tMay\r\n\nwhen crowded\n"))
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "honey bees swarm in May when crowded"
        assert backend.called("words") == [("honey bees swarm in May when crowded", "")]


async def test_a_passage_over_a_page_s_end_is_on_one_page_everywhere() -> None:
    report = long_document()
    start, stop = report.page_starts[5] - 60, report.page_starts[5] + 400  # mostly on page 6
    own = PassageHit(6, "", start, stop, report.text[start:stop], 0.9)
    backend = FakeBackend(replace(hit(1, report, ()), passages=(own,)), documents={1: report})
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "p. 6 of 40 · passage 1 of 1" in screen_text(pilot.app)
        await pilot.press("o")
        await settle(pilot)
        assert backend.called("open") == [(str(ROOT / "reports/unit-2.pdf"), 6)]


async def test_keys_that_edit_and_letters_act_in_the_order_in_which_they_were_pressed() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "tor onion")
        for key in ("ctrl+u", "a", "b", "backspace", "c", "home", "d", "end", "e", "enter"):
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "dace"
        assert backend.called("hybrid") == [("dace", "")]
