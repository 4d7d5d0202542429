"""The focus moves without styling or painting the whole screen, and all looks as if that had been done."""

from typing import Any

import pytest
from rich.style import Style
from textual._compositor import Compositor
from textual.content import Content
from textual.pilot import Pilot

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.text_boxes import help_content
from longsearch.tui.widgets import long_text
from longsearch.tui.widgets.long_text import LongText, wrapped
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
async def test_enter_into_the_text_paints_it_only_in_more_room_and_lays_out_nothing_else(
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
        most = preview(pilot).size.height + before  # the focus may come before the room
        assert len(lines) <= is_larger * most  # in the same room it is the same text
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


async def test_the_help_formats_no_more_rows_than_are_seen_and_wraps_its_lines_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[int] = []
    lines: list[object] = []
    paint = LongText.render_line
    monkeypatch.setattr(LongText, "render_line", lambda self, y: rows.append(y) or paint(self, y))
    monkeypatch.setattr(long_text, "wrapped", lambda line, *how: lines.append(how) or wrapped(line, *how))
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("f1")
        await settle(pilot)
        box = pilot.app.screen.query_one(LongText)
        assert box.virtual_size.height > 2 * box.size.height > 0  # else there is nothing to save
        assert len(rows) <= 3 * box.size.height  # Textual paints a new screen up to three times
        assert len(lines) == len(help_content().split("\n", allow_blank=True))


@pytest.mark.parametrize("width", [20, 58, 76, 200])
def test_the_rows_of_a_long_text_are_those_that_textual_makes_of_all_of_it(width: int) -> None:
    content = help_content()
    rows = [row.plain.rstrip() for line in content.split("\n", allow_blank=True) for row in wrapped(line, width)]
    assert rows == [row.plain.rstrip() for row in content.wrap(width)]


def test_a_line_of_the_help_goes_on_below_its_meaning() -> None:
    line = Content("  key    what it does, in many words")
    assert [row.plain for row in wrapped(line, 25, 9)] == ["  key    what it does, in", "         many words"]
    assert [row.plain for row in wrapped(line, 12, 9)] == [row.plain for row in line.wrap(12)]  # no room beside it


async def test_the_height_at_another_width_leaves_the_rows_of_the_help_as_they_are() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        box = pilot.app.screen.query_one(LongText)
        rows = [strip.text for strip in map(box.render_line, range(box.size.height))]
        assert box.get_content_height(box.size, box.size, 20) > box.virtual_size.height
        assert [strip.text for strip in map(box.render_line, range(box.size.height))] == rows


async def test_the_end_of_the_help_can_be_read_at_every_width() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        box = pilot.app.screen.query_one(LongText)
        for size in (WIDE, (40, 12), WIDE):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: box.size.height < size[1] < 2 * box.size.height)
            await pilot.press("end")
            await until(pilot, lambda: box.scroll_offset.y == box.max_scroll_y)
            last = box.render_line(box.size.height - 1).text.split()
            assert last and help_content().plain.split()[-len(last) :] == last, size
