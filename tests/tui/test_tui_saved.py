"""Saved searches: F6 saves a search, lists the saved ones with what is new, and asks one again."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.results import SearchMode
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import Question, Saved
from longsearch.tui.screens.dialogs import LineDialog
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.screens.user_data_calls import UserDataCalls
from tests.tui.fake_backend import FakeBackend, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, results, screen_text, settle

HOSTILE = Saved("\x1b[2J[red]x", Question("pumps\u202e"), "a\x07", ("[link=y]title\x1b[31m, p. 3",))


def with_saved() -> FakeBackend:
    backend = three_reports()
    backend.user_data.searches = [
        HOSTILE,
        Saved(
            "Valves", Question("valve fail", SearchMode.MEANING, "Find causes"), "papers", ("Unit 2, p. 12", "Notes")
        ),
        Saved("elsewhere", Question("lease"), "legal", (), "elsewhere is about legal: longsearch /legal"),
    ]
    return backend


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def test_a_search_is_saved_with_a_name() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve fail")
        await press(pilot, "f6")
        assert "Save: valve fail" in screen_text(pilot.app)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, LineDialog)
        await press(pilot, "ctrl+u", *"Valves", "enter")
        assert backend.user_data.searches == [Saved("Valves", Question("valve fail"))]
        assert "✓ saved: Valves" in screen_text(pilot.app)
        await press(pilot, "ctrl+s", "enter", "escape")
        assert len(backend.user_data.searches) == 1
        backend.user_data.errors["save"] = LongsearchError("the disk is full", "make room")
        await press(pilot, "ctrl+s", "enter", "enter")
        assert "✗ the disk is full — make room" in screen_text(pilot.app)


async def test_a_new_name_typed_into_the_list_still_offers_to_save_the_query() -> None:
    async with LongsearchApp(with_saved()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve fail")
        await press(pilot, "f6", *"valv")
        assert "Save: valve fail" not in screen_text(pilot.app)
        await press(pilot, "ctrl+u", *"my new name")
        assert "Save: valve fail" in screen_text(pilot.app)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, LineDialog)


async def test_new_passages_are_marked_until_somebody_looks() -> None:
    backend = with_saved()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert "● 3 new passages (F6)" in screen_text(pilot.app)
        await ask(pilot, "valve")  # then the first line offers to save that
        await press(pilot, "f6")
        text = screen_text(pilot.app)
        assert "● Valves" in text
        assert "2 new: Unit 2, p. 12; Notes" in text
        await press(pilot, *"valv", "enter")
        assert pilot.app.screen.query_one(Input).value == "valve fail"
        assert backend.called("meaning")[-1] == ("valve fail", "Find causes")
        assert results(pilot).has_focus
        assert "● 2 new: Unit 2, p. 12; Notes" in screen_text(pilot.app)
        await press(pilot, "slash", "ctrl+u")
        pilot.app.screen.query_one(UserDataCalls).count_news()  # as it does every ten seconds
        await settle(pilot)
        assert "● 1 new passage (F6)" in screen_text(pilot.app)


async def test_a_search_of_another_folder_says_where_it_is() -> None:
    backend = with_saved()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "f6", *"lease", "enter")
        assert "✗ elsewhere is about legal: longsearch /legal" in screen_text(pilot.app)
        assert pilot.app.screen.query_one(Input).value == ""


async def test_a_saved_search_is_deleted_and_the_offer_to_save_is_not() -> None:
    backend = with_saved()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        await press(pilot, "f6", "down", "down", "f8")
        assert [one.name for one in backend.user_data.searches] == [HOSTILE.name, "elsewhere"]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, MainScreen)


async def test_without_a_query_and_without_saved_searches_it_says_what_to_do() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await settle(pilot)
        await press(pilot, "f6")
        assert "Type a query first, to save it." in screen_text(pilot.app)
        await press(pilot, "enter", "f8", "escape")
        backend.user_data.errors = {"saved": LongsearchError("saved.json is damaged", "mend it")}
        await press(pilot, "f6")
        assert "✗ saved.json is damaged — mend it" in screen_text(pilot.app)


@pytest.mark.parametrize("size", [SMALL, (30, 12)])
async def test_hostile_names_and_titles_stay_text(size: tuple[int, int]) -> None:
    backend = with_saved()
    async with LongsearchApp(backend).run_test(size=size) as pilot:
        await settle(pilot)
        for keys in (("f6",), ("enter",)):
            await press(pilot, *keys)
            text = screen_text(pilot.app)
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
            assert all(len(row) == size[0] for row in text.split("\n"))
