"""The focus moves without styling or painting the whole screen, and all looks as if that had been done."""

from collections import Counter
from typing import Any

import pytest
from rich.style import Style
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.content import Content
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.renderables.background_screen import BackgroundScreen
from textual.visual import RenderOptions
from textual.widget import Widget
from textual.widgets import Input

from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.tui.app import LongsearchApp
from longsearch.tui.painting import BareLines
from longsearch.tui.screens.box import BoxScreen, Dimmed
from longsearch.tui.screens.text_boxes import _KEY_CELLS, help_content
from longsearch.tui.text import result_content
from longsearch.tui.text.highlight import NO_WORDS
from longsearch.tui.widgets import long_text
from longsearch.tui.widgets.long_table import LongTable
from longsearch.tui.widgets.long_text import LongText, wrapped
from longsearch.tui.widgets.preview import Preview
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.relevance_strip import RelevanceStrip
from longsearch.tui.widgets.results import Results
from longsearch.tui.widgets.status_line import StatusLine
from tests.tui.fake_backend import FakeBackend, many_reports, three_reports
from tests.tui.tui_helpers import SMALL, WIDE, ask, press_each, preview, results, screen_text, settle, until


def looks(pilot: Pilot[Any]) -> dict[object, tuple[bool, str, Style]]:
    """Return for each widget whether it is displayed, its rules, and its own style."""
    return {one: (one.display, one.styles.css, one.rich_style) for one in pilot.app.screen.walk_children()}


def noted_lines(monkeypatch: pytest.MonkeyPatch, widget: type[Any]) -> list[int]:
    """Return a list to which every line is added that a widget of this type paints from now on."""
    lines: list[int] = []
    paint = widget.render_line
    monkeypatch.setattr(widget, "render_line", lambda self, y: lines.append(y) or paint(self, y))
    return lines


def noted_layouts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list to which the place of every layout is added from now on."""
    layouts: list[object] = []
    lay_out = Compositor.reflow
    monkeypatch.setattr(Compositor, "reflow", lambda self, *place: layouts.append(place) or lay_out(self, *place))
    return layouts


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
    lines, layouts = noted_lines(monkeypatch, Preview), noted_layouts(monkeypatch)
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


@pytest.mark.parametrize("n_hits", [3, 20])
@pytest.mark.parametrize(
    ("keys", "painted"),
    [
        (("greater_than_sign", "less_than_sign"), {"Results", "Preview"}),
        (("enter", "colon", "escape"), set()),
        (("enter", "slash", "escape"), set()),
    ],
)
async def test_a_key_that_changes_the_panes_lays_them_out_once_and_paints_each_line_once(
    monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...], painted: set[str], n_hits: int
) -> None:
    hits, documents = many_reports()
    layouts = noted_layouts(monkeypatch)
    lines: Counter[tuple[str, int]] = Counter()
    paint = BareLines.render_line

    def paint_and_count(self: BareLines, styles: Any, y: int, size: Any, *how: Any) -> Any:
        lines[type(styles.node).__name__, y] += 1
        return paint(self, styles, y, size, *how)

    monkeypatch.setattr(BareLines, "render_line", paint_and_count)
    async with LongsearchApp(FakeBackend(*hits[:n_hits], documents=documents)).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key in keys:
            layouts.clear()
            lines.clear()
            await pilot.press(key)
            await settle(pilot)
            if key != "enter":
                assert len(layouts) == 1, key
                assert {name for name, _ in lines} & {"Results", "Preview"} == painted
                assert painted <= {name for name, _ in lines}
                of_panes = [n for (name, _), n in lines.items() if name in painted]
                assert set(of_panes) <= {1}, lines


async def test_of_many_results_only_those_in_view_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, documents = many_reports()
    drawn: list[str] = []
    draw = result_content._path_line
    monkeypatch.setattr(result_content, "_path_line", lambda hit, *how: drawn.append(hit.path) or draw(hit, *how))
    async with LongsearchApp(FakeBackend(*hits, documents=documents)).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key in ("greater_than_sign", "less_than_sign"):
            drawn.clear()
            await press_each(pilot, key)
            in_view = {index for index, _ in results(pilot)._lines[: results(pilot).size.height]}
            assert results(pilot).option_count == 20 > len(in_view)
            assert sorted(drawn) == sorted(hits[index].path for index in in_view)


async def test_a_list_that_is_emptied_and_filled_has_its_scrollbar_while_it_is_long() -> None:
    hits, documents = many_reports()
    async with LongsearchApp(FakeBackend(*hits, documents=documents)).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, "j")
        shown = results(pilot)
        for some in (hits[:1], hits, [], hits):
            shown.show(tuple(some), NO_WORDS)
            await settle(pilot)
            n_lines = len(shown._lines)
            strips = shown.render_lines(shown.size.region)
            has_text = [*[True] * n_lines, *[False] * len(strips)][: len(strips)]
            assert [bool(strip.text.strip()) for strip in strips] == has_text
            assert shown.virtual_size.height == n_lines
            assert shown.show_vertical_scrollbar is (len(some) > 1)


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
    rows = noted_lines(monkeypatch, LongText)
    lines: list[tuple[int, int]] = []
    long_text.rows_of.cache_clear()
    monkeypatch.setattr(long_text, "wrapped", lambda line, *how: lines.append(how) or wrapped(line, *how))
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("f1")
        await settle(pilot)
        box = pilot.app.screen.query_one(LongText)
        assert box.virtual_size.height > 2 * box.size.height > 0  # else there is nothing to save
        assert len(rows) <= 3 * box.size.height  # Textual paints a new screen up to three times
        of_help = [hang for _, hang in lines if hang]  # the box of Why, whose lines do not hang, has no text yet
        assert len(of_help) == len(help_content().split("\n", allow_blank=True))


@pytest.mark.parametrize("width", [20, 58, 76, 200])
def test_the_rows_of_a_long_text_are_those_that_textual_makes_of_all_of_it(width: int) -> None:
    content = help_content()
    rows = [row.plain.rstrip() for line in content.split("\n", allow_blank=True) for row in wrapped(line, width)]
    assert rows == [row.plain.rstrip() for row in content.wrap(width)]


def test_every_meaning_of_the_help_begins_in_one_column() -> None:
    rows = [line for line in help_content().plain.split("\n") if line.startswith("  ")]
    meant = [row[_KEY_CELLS + 2 :] for row in rows]
    below = [at for at, row in enumerate(rows) if len(row.strip()) > _KEY_CELLS and not meant[at].startswith("  ")]
    assert len(rows) > 50 and len(below) < 5
    assert all(rows[at + 1][: _KEY_CELLS + 2].isspace() for at in below)
    assert {len(text) - len(text.lstrip()) for at, text in enumerate(meant) if at not in below} == {2}


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


async def test_a_move_of_the_focus_styles_neither_the_query_nor_the_list_nor_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    styled: list[object] = []
    style = Stylesheet.apply
    monkeypatch.setattr(Stylesheet, "apply", lambda self, node, **how: styled.append(node) or style(self, node, **how))
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve")
        for key, n_most in (("enter", 2), ("enter", 4), ("escape", 4), ("slash", 2)):
            del styled[:]
            await pilot.press(key)
            await settle(pilot)
            assert len(styled) <= n_most, (key, styled)
            assert not [node for node in styled if isinstance(node, Input | Results | Preview)], key


async def test_the_cursor_in_the_list_paints_the_rows_that_it_leaves_and_reaches_as_all_rows_would_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = noted_lines(monkeypatch, Results)
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        for key, n_hits in (("slash", 1), ("enter", 1), ("down", 2), ("up", 2), ("enter", 1), ("escape", 1)):
            del lines[:]
            await pilot.press(key)
            await settle(pilot)
            rows = results(pilot)
            assert 0 < len(lines) <= n_hits * max(rows._heights.values()), key
            painted = rows.render_lines(rows.outer_size.region)
            rows.refresh()
            assert rows.render_lines(rows.outer_size.region) == painted, key


@pytest.mark.parametrize(("key", "words"), [("f1", "Asking"), ("t", "Page 4")])
async def test_the_first_frame_of_a_box_has_its_text_and_no_frame_is_whole(
    monkeypatch: pytest.MonkeyPatch, key: str, words: str
) -> None:
    app = LongsearchApp(three_reports())
    frames: list[tuple[str, str]] = []
    paint = Compositor.render_update

    def paint_and_note(self: Compositor, *how: Any, **more: Any) -> Any:
        update = paint(self, *how, **more)
        if update is not None:
            frames.append((type(update).__name__, update.render_segments(app.console)))
        return update

    async with app.run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter")
        await settle(pilot)
        monkeypatch.setattr(Compositor, "render_update", paint_and_note)
        await pilot.press(key)
        await settle(pilot)
        assert isinstance(app.screen, BoxScreen)
        assert {kind for kind, _ in frames} == {"ChopsUpdate"}
        assert words in frames[0][1] and [words in text for _, text in frames].count(True) <= 2
        assert "❯" not in frames[0][1], "the box comes alone"
        assert ["❯" in text for _, text in frames].count(True) == 1, "what lies below is drawn once"
        del frames[:]
        await pilot.press("escape")
        await settle(pilot)
        assert "Report on the accident" in frames[0][1] and "❯" not in frames[0][1], "first the pane with the focus"
        assert ["❯" in text for _, text in frames].count(True) == 1


async def test_a_page_of_a_text_draws_it_alone_and_neither_arranges_nor_frames_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Widget] = []
    framed: list[object] = []
    arranged: list[object] = []
    draw, frame, arrange = Widget.render_lines, StylesCache.render_line, Compositor._arrange_root
    monkeypatch.setattr(Widget, "render_lines", lambda self, crop: drawn.append(self) or draw(self, crop))
    monkeypatch.setattr(StylesCache, "render_line", lambda *how: framed.append(how) or frame(*how))
    monkeypatch.setattr(Compositor, "_arrange_root", lambda *how, **more: arranged.append(how) or arrange(*how, **more))
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter")
        await settle(pilot)
        del drawn[:], framed[:], arranged[:]
        preview(pilot).turn_page(1)
        await settle(pilot)
        leaves = {widget for widget in drawn if not widget.children}
        assert preview(pilot) in leaves and len(leaves) <= 3, leaves
        assert len(framed) <= 3 and arranged == []  # the line over the text names another page


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (60, 20)])
async def test_no_word_of_the_help_is_cut(size: tuple[int, int]) -> None:
    app = LongsearchApp(three_reports())
    async with app.run_test(size=size) as pilot:
        await pilot.press("f1")
        await settle(pilot)
        box = app.screen.query_one("#help", LongText)
        seen: dict[int, str] = {}
        while not seen or max(seen) < box.virtual_size.height - 1:
            room, top = box.scrollable_content_region, box.scroll_offset.y
            lines = screen_text(app).splitlines()[room.y : room.bottom]
            seen |= {top + row: line[room.x : room.right] for row, line in enumerate(lines)}
            await pilot.press("pagedown")
            await settle(pilot)
        assert " ".join(seen.values()).split() == help_content().plain.split()


@pytest.mark.parametrize("alpha", [0.0, 0.6])
async def test_a_screen_below_a_box_looks_as_textual_dims_it(alpha: float) -> None:
    app, color = LongsearchApp(three_reports()), Color.parse("#102030").with_alpha(alpha)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        options = RenderOptions(lambda _: app.screen.visual_style, {})
        below = Dimmed(app.screen, color)
        ours = below.render_strips(*WIDE, app.screen.visual_style, options)
        theirs = app.console.render_lines(
            BackgroundScreen(app.screen, color), app.console_options.update(width=WIDE[0], height=WIDE[1]), pad=False
        )
        assert len(ours) == WIDE[1]
        assert [[(one.text, one.style) for one in line] for line in ours] == [
            [(one.text, one.style) for one in line] for line in theirs
        ]


async def test_what_changes_below_a_box_is_seen_through_it() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        line = pilot.app.screen.query_one(StatusLine)
        await pilot.press("f1")
        await settle(pilot)
        line.say("a file has come")

        def is_seen() -> bool:
            update = pilot.app.screen._compositor.render_update(full=True, screen_stack=pilot.app._background_screens)
            return update is not None and "a file has come" in update.render_segments(pilot.app.console)

        await until(pilot, is_seen)


async def test_another_passage_paints_the_rows_of_the_strip_that_change_and_lays_out_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, layouts = noted_lines(monkeypatch, RelevanceStrip), noted_layouts(monkeypatch)
    async with LongsearchApp(three_reports()).run_test(size=(140, 40)) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("enter")
        await settle(pilot)
        for key in ("n", "n", "pagedown", "pageup"):
            del rows[:], layouts[:]
            before = list(pilot.app.screen.query_one(RelevanceStrip)._rows)
            await pilot.press(key)
            await settle(pilot)
            strip = pilot.app.screen.query_one(RelevanceStrip)
            changed = {y for y, (old, new) in enumerate(zip(before, strip._rows, strict=True)) if old != new}
            assert changed <= set(rows) and len(rows) < len(strip._rows) / 2 and not layouts, key


async def test_the_cursor_in_a_table_paints_the_rows_that_it_leaves_and_reaches_as_all_rows_would_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = noted_lines(monkeypatch, LongTable)
    backend = three_reports()
    backend.file_list = [FileReport(f"file {n}.pdf", FileStatus.CURRENT, "", "", 1, 9, 9) for n in range(100)]
    async with LongsearchApp(backend).run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        await pilot.press("f3")
        await settle(pilot)
        table = pilot.app.screen.query_one(LongTable)
        for key, n_most in (("down", 2), ("down", 2), ("G", table.size.height), ("up", 2)):
            del lines[:]
            await pilot.press(key)
            await settle(pilot)
            assert 0 < len(lines) <= n_most, key
            painted = table.render_lines(table.outer_size.region)
            table.refresh()
            assert table.render_lines(table.outer_size.region) == painted, key
            await settle(pilot)
