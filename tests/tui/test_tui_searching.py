"""Queries and their answers: typing, slow and late answers, modes, the instruction, a changing index."""

from dataclasses import replace

import pytest
from textual.widgets import Input

from longsearch.engine.errors import ModelError
from longsearch.engine.types.results import DocumentHit, SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.screens.instruction import PRESETS, InstructionScreen
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.widgets.mode_tabs import ModeTabs
from tests.tui.fake_backend import DONE, FakeBackend, hit, long_document, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, grow_index, preview, results, screen_text, settle, until


async def test_every_keystroke_searches_by_words_and_enter_in_the_chosen_mode() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        for key in "abc":
            await pilot.press(key)
            await settle(pilot)
        assert backend.called("words") == [("a", ""), ("ab", ""), ("abc", "")]
        assert backend.called("hybrid") == []
        assert "searching by meaning…" in screen_text(pilot.app)
        await pilot.press("enter")
        await settle(pilot)
        assert backend.called("hybrid") == [("abc", "")]
        assert "3 documents  " in screen_text(pilot.app)
        assert "searching by meaning…" not in screen_text(pilot.app)


async def test_a_pause_in_typing_starts_the_search_in_the_chosen_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackendCalls, "DEBOUNCE_S", 0.01)
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: backend.called("hybrid"))
        await settle(pilot)
        assert backend.called("hybrid") == [("valve", "")]
        assert "3 documents  " in screen_text(pilot.app)


async def test_a_draft_is_judged_once_at_the_pause() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "verify: draft.md"
        await settle(pilot)
        assert backend.called("words") == backend.called("hybrid") == []
        await pilot.press("enter")
        await until(pilot, lambda: backend.called("hybrid"))
        await settle(pilot)
        assert backend.called("words") == []


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


def read_hits(backend: FakeBackend) -> tuple[DocumentHit, ...]:
    """The hits of the backend after they were read: of each another sentence."""
    found = []
    for one in backend.hits:
        first = one.passages[0]
        read = replace(first, excerpt=(first.start, first.start + 9), probability=0.9)
        found.append(replace(one, passages=(read, *one.passages[1:])))
    return tuple(found)


async def test_the_reader_replaces_the_answer_and_moves_no_selection() -> None:
    backend = three_reports()
    backend.readings["valve"] = read_hits(backend)
    door = backend.hold("read", "valve")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.press("enter")
        await until(pilot, lambda: backend.called("read"))
        await settle(pilot, all_workers=False)
        await pilot.press("down")
        assert results(pilot).selected == backend.hits[1]
        door.set()
        await settle(pilot)
        assert results(pilot).hits == backend.readings["valve"]
        assert results(pilot).selected == backend.readings["valve"][1]
        assert backend.called("read") == [("valve", "hybrid")]


async def test_what_was_read_is_read_again_when_the_index_changes() -> None:
    backend = three_reports()
    backend.readings["valve"] = read_hits(backend)
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        n_searches = len(backend.called("hybrid"))
        backend.readings["valve"] = read_hits(backend)[:1]
        await pilot.press("escape")
        await grow_index(pilot, backend, 1)
        pilot.app.screen.keep_current()
        await settle(pilot)
        assert results(pilot).hits == backend.readings["valve"]
        assert len(backend.called("hybrid")) == n_searches


async def test_a_search_by_words_is_not_read() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await settle(pilot)
        assert backend.called("read") == []


async def test_during_a_slow_search_only_the_newest_query_waits() -> None:
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


async def test_clearing_the_query_clears_the_results_even_if_an_answer_comes_late() -> None:
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


async def test_enter_pressed_before_the_answer_goes_to_the_results_when_they_come() -> None:
    backend = three_reports()
    door = backend.hold("words", "a")
    backend.hold("hybrid", "a")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("a", "enter")
        assert isinstance(pilot.app.focused, Input)
        door.set()
        await until(pilot, lambda: pilot.app.focused is results(pilot))
        backend.close()


async def test_an_empty_answer_on_the_way_does_not_keep_a_person_from_the_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BackendCalls, "DEBOUNCE_S", 60.0)
    backend = three_reports()
    backend.answers["valve b", SearchMode.WORDS] = backend.answers["valve bo", SearchMode.WORDS] = ()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("escape", "end")
        doors = backend.hold("words", "valve b"), backend.hold("hybrid", "valve bo")
        await pilot.press("space", "b", "o", "enter")
        assert pilot.app.focused is results(pilot), "those of the earlier question, so far"
        doors[0].set()
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        doors[1].set()
        await until(pilot, lambda: pilot.app.focused is results(pilot))


async def test_an_error_is_shown_with_its_hint_and_the_results_by_words_stay() -> None:
    backend = three_reports()
    backend.errors["hybrid"] = ModelError("The model is not there.", "Run `longsearch doctor`.")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        text = screen_text(pilot.app)
        assert "✗ The model is not there. — Run `longsearch doctor`." in text
        assert "3 documents by words" in text
        await pilot.press("slash", "x")
        assert "✗" not in screen_text(pilot.app)


async def test_a_search_that_found_nothing_is_repeated_when_the_index_grows() -> None:
    backend = three_reports()
    found, backend.hits = backend.hits, ()
    backend.progress_now = replace(DONE, n_current=10, n_partial=0)
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        assert "Nothing found for “valve”." in screen_text(pilot.app)
        backend.hits = found
        await grow_index(pilot, backend, 0)
        await until(pilot, lambda: "3 documents  " in screen_text(pilot.app))


async def test_while_the_query_line_has_the_focus_a_changed_index_is_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MainScreen, "RENEW_EVERY_S", 0.01)
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("escape")
        backend.hits = backend.hits[1:]
        await grow_index(pilot, backend, -1)
        await until(pilot, lambda: "2 documents  " in screen_text(pilot.app))


async def test_nothing_by_words_is_not_the_last_word_while_the_search_by_meaning_goes_on() -> None:
    backend = three_reports()
    backend.hits = ()
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: "No document has the words of “valve”." in screen_text(pilot.app))
        assert "The search by meaning goes on." in screen_text(pilot.app)
        assert "Ctrl+T searches by meaning" not in screen_text(pilot.app)
        pilot.app.screen.query_one(BackendCalls).search_now()
        door.set()
        await until(pilot, lambda: "Nothing found for “valve”." in screen_text(pilot.app))
        assert "goes on" not in screen_text(pilot.app)


async def test_the_sign_of_a_slow_search_stays_when_the_index_changes_meanwhile() -> None:
    backend = three_reports()
    door = backend.hold("hybrid")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.screen.query_one(Input).value = "valve"
        await until(pilot, lambda: "3 documents by words" in screen_text(pilot.app))
        pilot.app.screen.query_one(BackendCalls).search_now()
        await grow_index(pilot, backend, 1)
        pilot.app.screen.keep_current()
        await settle(pilot, all_workers=False)
        assert "searching by meaning…" in screen_text(pilot.app)
        door.set()


async def test_an_unchanged_answer_leaves_the_list_scrolled_as_it_was() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("escape")
        results(pilot).scroll_to(y=1, animate=False, immediate=True)
        await settle(pilot)
        assert results(pilot).scroll_offset.y == 1
        await grow_index(pilot, backend, 1)
        pilot.app.screen.keep_current()
        await settle(pilot)
        assert len(backend.called("hybrid")) == 2
        assert results(pilot).scroll_offset.y == 1


async def test_results_stay_while_somebody_looks_through_them_and_are_renewed_on_the_way_back() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("down")
        backend.hits = backend.hits[1:]
        await grow_index(pilot, backend, -1)
        pilot.app.screen.keep_current()
        await settle(pilot)
        assert "3 documents  " in screen_text(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: "2 documents  " in screen_text(pilot.app))
        assert preview(pilot).document is backend.documents[2]  # the chosen document
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


async def test_f2_and_ctrl_t_choose_the_next_mode_and_search_in_it() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.press("f2", "enter")
        await settle(pilot)
        assert backend.called("meaning") == [("valve", "")]
        await pilot.press("ctrl+t")
        await settle(pilot)
        assert backend.called("words") == [("valve", "")] * 3  # once in each mode
        assert "searching by meaning…" not in screen_text(pilot.app)
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.WORDS
        await pilot.press("f2")
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.HYBRID


async def test_a_click_chooses_the_mode() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.click(ModeTabs, offset=(20, 0))
        assert pilot.app.screen.query_one(ModeTabs).mode is SearchMode.WORDS


async def test_in_a_narrow_terminal_the_query_has_the_room_and_a_click_chooses_the_next_mode() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(40, 24)) as pilot:
        await settle(pilot)
        tabs = pilot.app.screen.query_one(ModeTabs)
        assert pilot.app.screen.query_one(Input).size.width >= 20
        assert "hybrid" in screen_text(pilot.app) and "meaning" not in screen_text(pilot.app).split("\n")[0]
        await pilot.click(ModeTabs)
        assert tabs.mode is SearchMode.MEANING
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "hybrid  meaning  words" in screen_text(pilot.app))


async def test_a_typed_instruction_goes_with_the_search_and_is_shown() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await pilot.press("ctrl+r", *"dates", "enter", "enter")
        await settle(pilot)
        assert backend.called("hybrid") == [("valve", "dates")]
        assert "goal: dates" in screen_text(pilot.app)
        await pilot.press("ctrl+r", *["backspace"] * 5, "enter")
        await settle(pilot)
        assert "instruction:" not in screen_text(pilot.app)


async def test_the_arrow_keys_choose_a_preset_and_escape_changes_nothing() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await pilot.press("ctrl+r", "down", "down", "enter")
        assert f"goal: {PRESETS[0]}" in screen_text(pilot.app)
        await pilot.press("ctrl+r", "x")
        assert isinstance(pilot.app.screen, InstructionScreen)
        await pilot.press("escape")
        assert f"goal: {PRESETS[0]}" in screen_text(pilot.app)
