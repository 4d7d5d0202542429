"""Jump mode, and the room of the panes by key and by mouse."""

from textual.widgets import Input

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.widgets.result_pane import ResultPane
from longsearch.tui.widgets.text_pane import TextPane
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, results, screen_text, settle, until


async def test_a_letter_goes_to_its_result_or_pane_and_the_letters_go() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        for letter, focused in (("d", lambda: results(pilot)), ("w", lambda: preview(pilot))):
            await pilot.press("f12")
            await settle(pilot)
            text = screen_text(pilot.app)
            assert "[q] " in text and "[w] " in text and "[a] Report" in text and "[d] pumps.md" in text
            await pilot.press(letter)
            await settle(pilot)
            assert isinstance(pilot.app.screen, MainScreen) and focused().has_focus
            assert "[" not in screen_text(pilot.app).replace("[red]", "")
            assert results(pilot).selected == backend.hits[2]
        await pilot.press("semicolon", "q")
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).has_focus


async def test_escape_and_a_letter_of_nothing_stay_where_they_are() -> None:
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key in ("escape", "z", "f5"):
            await pilot.press("semicolon", key)
            await settle(pilot)
            assert results(pilot).has_focus and "[a]" not in screen_text(pilot.app)


async def test_the_panes_take_room_from_each_other_by_keys_and_by_the_line_between_them() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        screen = pilot.app.screen
        pane, text = screen.query_one(ResultPane), screen.query_one(TextPane)
        first = pane.size.width
        await pilot.press("greater_than_sign")
        await settle(pilot)
        assert pane.size.width > first and pane.outer_size.width + text.outer_size.width == WIDE[0]
        await pilot.press("less_than_sign", "less_than_sign")
        await settle(pilot)
        assert pane.size.width < first
        await pilot.mouse_down(text, offset=(0, 5))
        await pilot.hover(offset=(66, 8))
        await pilot.mouse_up(offset=(66, 8))
        await settle(pilot)
        assert abs(pane.size.width - 66) <= WIDE[0] // 20
        before = pane.size.width
        await pilot.hover(offset=(30, 8))
        await settle(pilot)
        assert pane.size.width == before, "the line was let go"


async def test_the_room_stays_where_the_panes_stand_one_below_the_other() -> None:
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await ask(pilot, "valve", press_enter=True)
        pane = pilot.app.screen.query_one(ResultPane)
        first = pane.size.height
        await pilot.press("greater_than_sign", "greater_than_sign")
        await settle(pilot)
        assert pane.size.height > first and pane.size.width == SMALL[0]
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: pane.size.width > WIDE[0] * 9 // 20 and pane.size.height > SMALL[1] // 2)
