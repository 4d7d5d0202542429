"""The basket: Space puts a passage into it, `b` shows it, and each key there does what it says."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from longsearch.engine.errors import LongsearchError
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.basket import BasketScreen
from longsearch.tui.screens.dialogs import LineDialog, YesNoDialog
from longsearch.tui.screens.main import MainScreen
from tests.tui.fake_backend import FakeBackend, three_folders, three_reports
from tests.tui.fake_user_data import some_evidence
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, screen_text, settle


def with_basket() -> FakeBackend:
    backend = three_reports()
    backend.user_data.kept = some_evidence()
    return backend


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys one after the other, and wait for what each does."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def kept_ids(backend: FakeBackend) -> list[int]:
    return [int(one.evidence.id, 16) for one in backend.user_data.kept]


async def test_space_keeps_the_current_passage_from_the_results_and_from_the_text() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve fail", press_enter=True)
        await press(pilot, "space", "enter")
        assert preview(pilot).has_focus
        await press(pilot, "n", "space")
        assert [one.evidence.page for one in backend.user_data.kept] == [12, 13]
        assert {one.evidence.query for one in backend.user_data.kept} == {"valve fail"}
        assert "✓ kept: 2 passages in the basket" in screen_text(pilot.app)


async def test_space_and_b_are_text_in_the_query_line_and_d_and_u_page_through_the_text() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await press(pilot, "a", "space", "b")
        assert pilot.app.screen.query_one(Input).value == "a b"
        assert backend.user_data.kept == []
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "enter", "g", "d")
        below = preview(pilot).scroll_offset.y
        assert below > 0
        await press(pilot, "u")
        assert preview(pilot).scroll_offset.y < below


async def test_an_error_of_the_desk_is_shown() -> None:
    backend = three_reports()
    error = LongsearchError("basket.json is damaged", "mend it")
    backend.user_data.errors = {"keep": error, "basket": error, "quotation": error}
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key in ("space", "y", "b"):
            await press(pilot, key)
            assert "✗ basket.json is damaged — mend it" in screen_text(pilot.app)
        await press(pilot, "n", "e", "y", "d", "J", "o", "C", "enter", "u")
        assert isinstance(pilot.app.screen, BasketScreen)


async def test_passages_are_moved_removed_and_brought_back() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "J", "J")
        assert kept_ids(backend) == [2, 3, 1, 4]
        assert pilot.app.screen.query_one(OptionList).highlighted == 2  # the cursor follows the passage
        await press(pilot, "K", "d")
        assert kept_ids(backend) == [2, 3, 4]
        await press(pilot, "u", "u", "u", "u")
        assert kept_ids(backend) == [1, 2, 3, 4]
        assert "✓ taken back: moving" in screen_text(pilot.app)
        await press(pilot, "u")  # there is nothing left to take back
        assert kept_ids(backend) == [1, 2, 3, 4]


async def test_a_note_is_written_changed_and_left_as_it_is() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "j", "j", "n")
        assert isinstance(pilot.app.screen, LineDialog)
        await press(pilot, "a", "space", "b", "enter")
        assert backend.user_data.kept[2].evidence.note == "a b"
        await press(pilot, "n", "x", "escape")
        assert backend.user_data.kept[2].evidence.note == "a b"
        await press(pilot, "n", "backspace", "enter")
        assert backend.user_data.kept[2].evidence.note == "a"


async def test_clearing_asks_first_and_can_be_taken_back() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "C")
        assert isinstance(pilot.app.screen, YesNoDialog)
        await press(pilot, "enter", "n")
        assert len(backend.user_data.kept) == 4
        await press(pilot, "C", "y")
        assert backend.user_data.kept == []
        assert "Basket: 0 passages" in screen_text(pilot.app)
        await press(pilot, "u")
        assert len(backend.user_data.kept) == 4


async def test_the_basket_is_exported_to_the_file_that_is_named() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "e", "escape", "e", *"a.bib", "enter")
        assert backend.user_data.exported == ["a.bib"]
        assert "✓ 4 passages written to a.bib" in screen_text(pilot.app)
        backend.user_data.errors["export"] = LongsearchError("a.bib exists already", "choose another name")
        await press(pilot, "e", "enter")
        assert "✗ a.bib exists already — choose another name" in screen_text(pilot.app)


async def test_a_passage_of_the_basket_is_copied_and_opened_at_its_page() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "y", "o")
        one = backend.user_data.kept[0].evidence
        assert pilot.app.clipboard == f"{one.quote}\n— {one.title}, p. 12 ({one.path})\n"
        assert backend.called("open") == [(one.path, 12, one.quote)]


async def test_enter_looks_for_the_passage_in_the_app() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "enter")
        assert isinstance(pilot.app.screen, MainScreen)
        query = f'where: "{backend.user_data.kept[0].evidence.quote}"'
        assert pilot.app.screen.query_one(Input).value == query
        assert backend.called("hybrid")[-1] == (query, "")


@pytest.mark.parametrize("leave", ["escape", "q", "b"])
async def test_leaving_the_basket_changes_nothing(leave: str) -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", leave)
        assert pilot.app.screen.query_one(Input).value == "valve"


async def test_a_passage_of_another_folder_says_where_it_is() -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        from dataclasses import replace

        first = backend.user_data.kept[0]
        elsewhere = replace(first.evidence, root="/home/ada/legal")
        backend.user_data.kept[0] = replace(first, evidence=elsewhere)
        await press(pilot, "b", "enter")
        assert "is in another folder: longsearch /home/ada/legal" in screen_text(pilot.app)
        assert pilot.app.screen.query_one(Input).value == "valve"


async def test_over_several_folders_the_passage_is_looked_for_in_its_own() -> None:
    backend = three_folders()
    backend.user_data.kept = some_evidence()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "enter")
        assert pilot.app.screen.query_one(Input).value.endswith('stayed open." folder:"papers"')


@pytest.mark.parametrize("size", [SMALL, WIDE, (30, 8)])
async def test_hostile_text_stays_text_within_its_line(size: tuple[int, int]) -> None:
    backend = with_basket()
    async with LongsearchApp(backend).run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press(pilot, "b", "j", "n", "escape")
        text = screen_text(pilot.app)
        assert not {"\x1b", "\x07", "\u202e", "\r"} & set(text)
        assert all(len(line) == size[0] for line in text.split("\n"))
        if size != (30, 8):
            assert "[red]\ufffd]0;owned\ufffd valves" in text
