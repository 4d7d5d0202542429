"""The line of keys: those that fit, those of the place that has the focus, and clicks on them."""

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.text_boxes import HelpScreen
from longsearch.tui.widgets.key_line import KeyLine, ShownKey, fitting
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, settle


def key(label: str, meaning: str) -> ShownKey:
    return ShownKey(label, label, meaning, "")


KEYS = (key("enter", "Results"), key("F3", "Files"), key("F1", "Help"), key("^q", "Quit"))


def test_all_keys_are_shown_where_they_fit() -> None:
    width = len("enter Results  F3 Files  F1 Help  ^q Quit")
    assert fitting(KEYS, width) == KEYS
    assert fitting(KEYS, width - 1) == KEYS[:3]


def test_help_stays_longest() -> None:
    assert [one.meaning for one in fitting(KEYS, 24)] == ["Results", "Help"]
    assert [one.meaning for one in fitting(KEYS, 8)] == ["Help"]


@given(st.lists(st.tuples(st.text(max_size=4), st.text(max_size=9)), unique=True), st.integers(0, 200))
def test_what_is_shown_fits_and_keeps_its_order(texts: list[tuple[str, str]], width: int) -> None:
    keys = (*(key(*text) for text in texts), key("F1", "Help"))
    shown = fitting(keys, width)
    assert shown == (keys[-1],) or sum(one.width for one in shown) + 2 * (len(shown) - 1) <= width
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
        line = pilot.app.screen.query_one(KeyLine)
        start = str(line.render()).index("Help")
        await pilot.click(KeyLine, offset=(start, 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, HelpScreen)
