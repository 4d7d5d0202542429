"""Earlier queries: Up in an empty line steps through them, F5 lists them; and the app opens as it was left."""

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.results import SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.backend.interface import InView, Question, Saved
from longsearch.tui.painting import WrappedLines
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.picker import LineList, PickerScreen
from longsearch.tui.text.query_filling import HistorySteps
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.starters import Starters
from tests.tui.fake_backend import FakeBackend, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, results, screen_text, settle, until

HOSTILE = "\x1b[2J[red]pumps\u202e[/red]\nand more " * 20


def with_history() -> FakeBackend:
    backend = three_reports()
    backend.user_data.asked = [
        Question("valves", SearchMode.WORDS),
        Question(HOSTILE),
        Question("pumps", instruction="Find the definition of this term"),
    ]
    return backend


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def line(pilot: Pilot[Any]) -> str:
    return pilot.app.screen.query_one(Input).value


def test_steps_go_from_the_newest_to_the_oldest_and_back_to_an_empty_line() -> None:
    steps = HistorySteps()
    assert steps.step("", -1) is None  # there is nothing to step to
    steps.renew(["c", "b", "a"])
    assert steps.step("", 1) is None
    assert [steps.step("", -1), steps.step("c", -1), steps.step("b", -1), steps.step("a", -1)] == ["c", "b", "a", "a"]
    assert [steps.step("a", 1), steps.step("b", 1), steps.step("c", 1)] == ["b", "c", ""]
    assert steps.step("", -1) == "c"
    assert steps.step("c, edited", -1) is None
    steps.renew(["d", "c"])
    assert steps.step("c", 1) == "d"


async def test_up_in_an_empty_line_gives_the_last_query_and_down_comes_back() -> None:
    backend = with_history()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "up")
        assert line(pilot) == "valves"
        assert backend.called("words")[-1] == ("valves", "")
        await press(pilot, "up", "up", "up", "down", "down", "down")
        assert line(pilot) == ""
        await press(pilot, "up", "x", "down")  # an edited query: Down is for the results again
        assert line(pilot) == "valvesx"


async def test_questions_whose_answers_were_of_use_are_remembered() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "typed only")
        assert backend.user_data.asked == []
        await press(pilot, "down")
        await ask(pilot, "sent", press_enter=True)
        await press(pilot, "y", "space", "enter")
        assert [one.query for one in backend.user_data.asked] == ["sent", "typed only"]
        await press(pilot, "slash", "ctrl+u", "up")
        assert line(pilot) == "sent"


async def test_f5_lists_earlier_queries_and_asks_one_again_as_it_was() -> None:
    backend = with_history()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "f5")
        assert isinstance(pilot.app.screen, PickerScreen)
        await press(pilot, *"DEF p")
        await press(pilot, "enter")
        assert line(pilot) == "pumps"
        assert backend.called("hybrid")[-1] == ("pumps", "Find the definition of this term")
        assert results(pilot).has_focus
        await press(pilot, "ctrl+y", "down", "up", "pagedown", "pageup", "enter")
        assert line(pilot) == "pumps"  # it is the newest now


def commands(pilot: Pilot[Any]) -> str:
    """What the palette offers."""
    shown = (option.prompt for option in pilot.app.screen.query_one(LineList).options)
    return "\n".join(str(row) for lines in shown if isinstance(lines, WrappedLines) for row in lines.make())


async def test_the_command_palette_finds_earlier_queries_and_asks_one_again() -> None:
    backend = three_reports()
    backend.user_data.asked = [Question("pumps \x1b[31mof steel", SearchMode.WORDS), Question("other valves")]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p")
        await settle(pilot)
        assert "pumps" not in commands(pilot), "only what is typed is looked for"
        await pilot.press(*"pumps")
        await until(pilot, lambda: "Ask again" in commands(pilot))
        assert "\x1b" not in screen_text(pilot.app) and "other valves" not in commands(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: bool(backend.called("words")))
        assert backend.called("words")[-1][0].startswith("pumps")
        assert pilot.app.screen.query_one(QueryBar).question.mode is SearchMode.WORDS


async def test_the_palette_finds_the_words_of_a_query_of_thousands_of_characters_at_once() -> None:
    pasted = "a sentence of a page that was pasted, about valves; " * 60
    backend = three_reports()
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        backend.user_data.asked = [Question(pasted), Question("pumps")]
        await settle(pilot)
        await pilot.press("ctrl+p", *"valves pasted sentence about page of that")
        await until(pilot, lambda: "Ask again" in screen_text(app))


async def test_a_query_is_deleted_from_the_history() -> None:
    backend = with_history()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "f5", "f8", "f8")
        assert [one.query for one in backend.user_data.asked] == ["pumps"]
        backend.user_data.errors["forget_question"] = LongsearchError("history.json is in use", "try again")
        await press(pilot, "f8")
        assert "✗ history.json is in use — try again" in screen_text(pilot.app)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, MainScreen)
        assert line(pilot) == ""


@pytest.mark.parametrize("size", [SMALL, (30, 10)])
async def test_hostile_queries_stay_text_within_the_list(size: tuple[int, int]) -> None:
    async with LongsearchApp(with_history()).run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "f5")
        text = screen_text(pilot.app)
        assert not {"\x1b", "\u202e"} & set(text)
        assert all(len(row) == size[0] for row in text.split("\n"))
        await press(pilot, "escape", "up", "up")
        assert "\x1b" not in screen_text(pilot.app)


async def test_an_empty_or_damaged_history_says_so() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "f5")
        assert "Nothing was asked yet" in screen_text(pilot.app)
        await press(pilot, "f8", "enter", "escape")
        backend.user_data.errors = {"history": LongsearchError("history.json is damaged", "mend it")}
        await press(pilot, "f5")
        assert "✗ history.json is damaged — mend it" in screen_text(pilot.app)


async def test_the_app_opens_with_what_was_in_view_and_the_next_letter_replaces_it() -> None:
    backend = three_reports()
    question = Question("valve", SearchMode.MEANING, "Find causes")
    backend.user_data.last_in_view = InView(question, backend.hits[1].path)
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert pilot.app.screen.in_view() == InView(question, backend.hits[1].path)
        assert results(pilot).highlighted == 1
        assert "goal: Find causes" in screen_text(pilot.app)
        await press(pilot, "p", "u")
        assert line(pilot) == "pu"


async def test_a_document_that_is_brought_back_shows_its_best_passage_until_a_person_reads_it() -> None:
    backend = three_reports()
    first, *others = backend.hits
    better = replace(first, passages=first.passages[3:])
    backend.answers[("valve", SearchMode.HYBRID)] = (better, *others)
    backend.user_data.last_in_view = InView(Question("valve"), first.path)
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "p. 12 of 40" in screen_text(pilot.app)
        pilot.app.screen.query_one(BackendCalls).search_now()
        await settle(pilot)
        assert "p. 31 of 40" in screen_text(pilot.app)
        await press(pilot, "enter", "enter", "pagedown")
        top = preview(pilot).scroll_offset.y
        backend.answers[("valve", SearchMode.HYBRID)] = backend.hits
        pilot.app.screen.query_one(BackendCalls).search_now()
        await settle(pilot)
        assert preview(pilot).scroll_offset.y == top


async def test_a_document_that_is_gone_leaves_the_best_in_view() -> None:
    backend = three_reports()
    backend.user_data.last_in_view = InView(Question("valve"), "/gone.pdf")
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert results(pilot).highlighted == 0
        backend.hits = (replace(backend.hits[0], path="/gone.pdf"), *backend.hits[1:])
        await ask(pilot, "pumps")
        assert results(pilot).highlighted == 0


async def test_the_view_is_kept_when_the_app_is_left() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "j", "b", "ctrl+q")  # from the basket, too
    assert backend.user_data.left[-1:] == [InView(Question("valve"), backend.hits[1].path)]
    assert backend.called("close") == [("",)]


async def test_a_desk_that_fails_stops_neither_the_start_nor_the_end() -> None:
    backend = three_reports()
    error = LongsearchError("last.json is damaged", "mend it")
    backend.user_data.errors = {"last": error, "leave": error, "remember": error}
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "✗ last.json is damaged — mend it" in screen_text(pilot.app)
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "ctrl+q")
    assert backend.called("close") == [("",)]


async def test_an_empty_line_offers_what_was_asked_before_what_is_saved_and_headings_of_the_documents() -> None:
    backend = three_reports()
    backend.user_data.asked = [Question("why did the valve fail"), Question("decay heat")]
    backend.user_data.searches = [Saved("pumps", Question("pump that failed", SearchMode.WORDS))]
    backend.heading_list = ["The history of the valve"]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert all(text in screen_text(pilot.app) for text in ("decay heat", "pumps", "The history of the valve"))
        await pilot.press("down", "down", "down", "enter")
        await settle(pilot)
        assert backend.called("words")[-1][:1] == ("pump that failed",)
        assert "decay heat" not in screen_text(pilot.app)


async def test_enter_in_an_empty_line_goes_to_what_is_offered() -> None:
    backend = three_reports()
    backend.heading_list = ["The history of the valve"]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        assert isinstance(pilot.app.focused, Starters)
        await pilot.press("enter")
        await settle(pilot)
        assert backend.called("hybrid")[-1][:1] == ("The history of the valve",)


async def test_what_was_asked_of_another_folder_is_not_offered_and_the_arrows_have_it() -> None:
    backend = three_reports()
    backend.user_data.asked = [Question("how to mend a sail"), Question("decay heat")]
    backend.user_data.asked_elsewhere = backend.user_data.asked[:1]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "decay heat" in screen_text(pilot.app) and "sail" not in screen_text(pilot.app)
        await press(pilot, "up")
        assert line(pilot) == "how to mend a sail"


async def test_up_from_the_first_offer_goes_back_to_the_query() -> None:
    backend = three_reports()
    backend.heading_list = ["The history of the valve"]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("down")
        assert isinstance(pilot.app.focused, Starters)
        await pilot.press("up", "v")
        await settle(pilot)
        assert pilot.app.query_one(Input).value == "v"
        assert not pilot.app.query_one("#message").display


async def test_a_click_asks_an_offered_heading() -> None:
    backend = three_reports()
    backend.heading_list = ["The history of the valve"]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.click(Starters, offset=(6, 2))
        await settle(pilot)
        assert backend.called("hybrid")[-1][:1] == ("The history of the valve",)
