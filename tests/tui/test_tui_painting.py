"""The focus moves without styling or painting the whole screen, and all looks as if that had been done."""

from typing import Any

import pytest
from rich.style import Style
from textual._compositor import Compositor
from textual.pilot import Pilot

from longsearch.tui.app import LongsearchApp
from longsearch.tui.widgets.preview import Preview
from longsearch.tui.widgets.query_bar import QueryBar
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, preview, results, settle, until


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


@pytest.mark.parametrize(("size", "n_layouts"), [((80, 24), 2), ((140, 40), 0)])
async def test_enter_into_the_text_paints_each_line_once_and_lays_out_only_what_gets_more_room(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], n_layouts: int
) -> None:
    lines: list[int] = []
    layouts: list[object] = []
    paint, lay_out = Preview.render_line, Compositor.reflow
    monkeypatch.setattr(Preview, "render_line", lambda self, y: lines.append(y) or paint(self, y))
    monkeypatch.setattr(Compositor, "reflow", lambda self, *place: layouts.append(place) or lay_out(self, *place))
    async with LongsearchApp(three_reports()).run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        before = preview(pilot).size.height
        del lines[:], layouts[:]
        await pilot.press("enter")
        await settle(pilot)
        is_larger = preview(pilot).size.height > before
        assert len(lines) <= preview(pilot).size.height + is_larger * before  # the focus may come before the room
        assert len(layouts) <= n_layouts


@pytest.mark.parametrize("size", [SMALL, (140, 40)])
async def test_no_key_of_a_search_writes_more_than_three_screens_and_most_write_less_than_one(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    app = LongsearchApp(three_reports())
    paint, written = Compositor.render_update, [0]

    def paint_and_count(self: Compositor, *how: Any, **more: Any) -> Any:
        update = paint(self, *how, **more)
        written[-1] += len(update.render_segments(app.console).encode()) if update else 0
        return update

    async with app.run_test(size=size) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("slash")
        await settle(pilot)
        screen = paint(app.screen._compositor, full=True)
        n_bytes = len(screen.render_segments(app.console).encode()) if screen else 0
        monkeypatch.setattr(Compositor, "render_update", paint_and_count)
        for key in ("s", "backspace", "enter", "down", "up", "enter", "j", "n", "pagedown", "space", "escape"):
            written.append(0)
            await pilot.press(key)
            await settle(pilot)
    assert n_bytes > 0 and max(written) <= 3 * n_bytes, written
    assert sorted(written)[len(written) // 2] <= n_bytes, written


async def test_lines_are_painted_in_the_style_of_the_theme_that_was_chosen_last() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for theme in ("textual-light", "nord"):
            pilot.app.theme = theme
            await settle(pilot)
            first = preview(pilot).render_lines(preview(pilot).size.region)[-1]
            assert first == preview(pilot).render_line(preview(pilot).size.height - 1)
            assert preview(pilot).ground == preview(pilot).rich_style


async def test_a_text_is_wrapped_to_a_new_width_even_if_textual_does_not_tell_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        lay_out = Compositor.reflow
        monkeypatch.setattr(Compositor, "reflow", lambda *place: lay_out(*place)._replace(resized=set()))
        await pilot.resize_terminal(*SMALL)
        await until(pilot, lambda: 60 < preview(pilot).text_layout.width < SMALL[0])
