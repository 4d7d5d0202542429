"""The focus moves without styling or painting the whole screen, and all looks as if that had been done."""

from typing import Any

import pytest
from rich.style import Style
from textual._compositor import Compositor
from textual.pilot import Pilot

from longsearch.tui.app import LongsearchApp
from longsearch.tui.widgets.query_bar import QueryBar
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import ask, preview, results, settle


def looks(pilot: Pilot[Any]) -> dict[object, tuple[bool, str, Style]]:
    """Return for each widget whether it is displayed, its rules, and its own style."""
    return {one: (one.display, one.styles.css, one.rich_style) for one in pilot.app.screen.walk_children()}


@pytest.mark.parametrize("size", [(80, 24), (80, 12), (140, 40)])
async def test_after_every_move_of_the_focus_all_looks_as_if_the_whole_screen_was_styled(size: tuple[int, int]) -> None:
    async with LongsearchApp(three_reports()).run_test(size=size) as pilot:
        await ask(pilot, "valve")
        for key in ("enter", "enter", "escape", "slash", "ctrl+u"):
            await pilot.press(key)
            await settle(pilot)
            before = looks(pilot)
            pilot.app.screen.update_node_styles(animate=False)
            assert looks(pilot) == before, key


async def test_a_move_of_the_focus_does_not_paint_the_whole_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve")
        painted: list[object] = []
        monkeypatch.setattr(Compositor, "render_full_update", lambda *_, **__: painted.append("all"))
        await pilot.press("enter")
        await settle(pilot)
        assert results(pilot).has_focus and not pilot.app.screen.query_one(QueryBar).has_class("-active")
        await pilot.press("enter")
        await settle(pilot)
        assert preview(pilot).has_focus and painted == []


async def test_lines_are_painted_in_the_style_of_the_theme_that_was_chosen_last() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for theme in ("textual-light", "nord"):
            pilot.app.theme = theme
            await settle(pilot)
            first = preview(pilot).render_lines(preview(pilot).size.region)[-1]
            assert first == preview(pilot).render_line(preview(pilot).size.height - 1)
            assert preview(pilot).ground == preview(pilot).rich_style
