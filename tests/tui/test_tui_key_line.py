"""The line of keys: those that fit, those of the place that has the focus, and clicks on them."""

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.text_boxes import HelpScreen
from longsearch.tui.widgets.key_line import KeyLine, ShownKey, fitting
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, screen_text, settle


def key(label: str, meaning: str) -> ShownKey:
    return ShownKey(label, label, meaning, "")


KEYS = (key("Enter", "Results"), key("F3", "Files"), key("F1", "Help"), key("Ctrl+Q", "Quit"))


def test_all_keys_are_shown_where_they_fit() -> None:
    width = len("Enter Results  F3 Files  F1 Help  Ctrl+Q Quit")
    assert fitting(KEYS, width) == KEYS
    assert fitting(KEYS, width - 1) == (KEYS[0], *KEYS[2:])


def test_quit_stays_long_and_help_longest() -> None:
    assert [shown.meaning for shown in fitting(KEYS, 24)] == ["Help", "Quit"]
    assert [shown.meaning for shown in fitting(KEYS, 8)] == ["Help"]


async def test_the_keys_of_every_screen_are_spelt_as_on_the_keyboard() -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=(200, 30)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for place in ("", "f3", "escape", "b", "escape", "f5"):
            await pilot.press(*filter(None, [place]))
            await settle(pilot)
            labels = [shown.label for shown in app.screen.query_one(KeyLine).keys]
            assert labels and not [label for label in labels if len(label) > 1 and not label[0].isupper()]


@given(st.lists(st.tuples(st.text(max_size=4), st.text(max_size=9)), unique=True), st.integers(0, 200))
def test_what_is_shown_fits_and_keeps_its_order(texts: list[tuple[str, str]], width: int) -> None:
    keys = (*(key(*text) for text in texts), key("F1", "Help"))
    shown = fitting(keys, width)
    assert len(shown) == 1 or sum(one.width for one in shown) + 2 * (len(shown) - 1) <= width
    assert [one for one in keys if one in shown] == list(shown)


async def test_the_line_follows_the_focus() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve")
        line = pilot.app.screen.query_one(KeyLine)
        in_query = line.keys
        await pilot.press("enter")
        await settle(pilot)
        assert not isinstance(pilot.app.focused, Input)
        assert line.keys != in_query
        assert "Copy" in " ".join(one.meaning for one in line.keys)


async def test_a_click_on_a_key_presses_it() -> None:
    async with LongsearchApp(three_reports()).run_test(size=SMALL) as pilot:
        await settle(pilot)
        start = screen_text(pilot.app).splitlines()[-1].index("Help")
        await pilot.click(KeyLine, offset=(start, 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, HelpScreen)
