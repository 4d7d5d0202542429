"""What the app draws by a shorter way than Textual's looks as Textual draws it."""

from collections.abc import Iterator
from itertools import chain, count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual._ansi_theme import MONOKAI
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual._styles_cache import StylesCache
from textual.content import Content
from textual.filter import ANSIToTruecolor
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import OptionList

from longsearch.engine.types.documents import Mark
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import Question
from longsearch.tui.painting import (
    BareLines,
    BarOfCells,
    NeedfulCompositor,
    PaintsLines,
    PaintsOptions,
    ScrollsLines,
    WrappedLines,
    filled,
)
from longsearch.tui.text.highlight import NO_WORDS, runs
from longsearch.tui.themes import DARK, LIGHT
from longsearch.tui.widgets.long_table import Cell
from tests.tui.fake_backend import three_reports
from tests.tui.fake_user_data import some_evidence
from tests.tui.test_tui_kept import OPENED_BY, leave, much
from tests.tui.tui_helpers import WIDE, ask, press_each, settle

Cells = dict[tuple[int, int], tuple[str, Style | None]]
"""(row, column): a character and its style."""
TEXTS = st.text(st.sampled_from("ab 中e\u0301…"), max_size=12)


def cells_of(pieces: Iterator[tuple[str, Style | None, Any]], row: int, column: int) -> Iterator[tuple[Any, Any]]:
    """Yield each character of a line with its place."""
    for text, style, _ in pieces:
        for character in text:
            yield (row, column), (character, style)
            column += cell_len(character)


def painted(update: ChopsUpdate | None) -> Cells:
    """Return what an update writes to the terminal."""
    assert update is not None
    cells: Cells = {}
    for row, first, stop in update.spans:
        for column, strip in update.chops[row].items():
            for place, cell in cells_of(iter(strip or ()), row, column):
                if first <= place[1] < stop:
                    cells[place] = cell
    return cells


async def test_a_change_is_drawn_as_if_all_widgets_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    draw, frames = NeedfulCompositor.render_partial_update, []

    def draw_and_compare(compositor: NeedfulCompositor) -> ChopsUpdate | None:
        changed = set(compositor._dirty_regions)
        update = draw(compositor)
        compositor._dirty_regions = set(changed)
        theirs = Compositor.render_partial_update(compositor)
        if update is None:
            assert theirs is None
        else:
            frames.append(painted(update))
            assert frames[-1] == painted(theirs)
        return update

    monkeypatch.setattr(NeedfulCompositor, "render_partial_update", draw_and_compare)
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(
            pilot, "j", "enter", "n", "pagedown", "t", "j", "escape", "f1", "pagedown", "escape", "f3", "j", "escape"
        )
        assert len(frames) > 10


async def test_after_every_key_the_terminal_shows_what_a_whole_frame_would(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal: Cells = {}
    draw = Compositor.render_update

    def draw_and_write(compositor: Compositor, **how: Any) -> Any:
        update = draw(compositor, **how)
        if isinstance(update, LayoutUpdate):
            for row, strips in enumerate(update.strips):
                terminal.update(cells_of(chain.from_iterable(strips), row, 0))
        elif update is not None:
            terminal.update(painted(update))
        return update

    monkeypatch.setattr(Compositor, "render_update", draw_and_write)
    backend = three_reports()
    backend.user_data.asked = [Question(f"zebra crossing {n}") for n in range(50)]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        keys = ["j", "enter", "n", "f1", "pagedown", "escape", "t", "j", "escape", "escape", "x", "escape", "f3"]
        keys += ["escape", "greater_than_sign", "less_than_sign", "enter", "colon", "1", "escape", "b", "escape"]
        keys += ["f5", "z", "4", "x", "backspace", "escape", "semicolon"]
        for key in keys:
            await press_each(pilot, key)
            lines = enumerate(pilot.app.screen._compositor.render_strips())
            whole = dict(chain.from_iterable(cells_of(iter(line), row, 0) for row, line in lines))
            wrong = [place for place, cell in whole.items() if terminal.get(place) != cell]
            assert not wrong, (key, wrong[:9])


@pytest.mark.parametrize("keys", [("enter",), ("t",), ("f1",), ("f1", "pagedown"), ("f3",), ("x",)])
async def test_lines_with_and_without_a_frame_look_as_textual_styles_them(keys: tuple[str, ...]) -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, *keys)
        screen = pilot.app.screen
        widgets = [screen, *(widget for widget in screen.walk_children(Widget) if isinstance(widget, PaintsLines))]
        assert len(widgets) > 1
        for widget in widgets:
            crop = widget.outer_size.region
            ours = widget.render_lines(crop)
            assert isinstance(widget._styles_cache, BareLines)
            widget._styles_cache = StylesCache()
            theirs = widget.render_lines(crop)
            for row, our, their in zip(count(), ours, theirs, strict=False):
                assert dict(cells_of(iter(our), row, 0)) == dict(cells_of(iter(their), row, 0)), (widget, row)
            assert len(ours) == len(theirs) == crop.height


@pytest.mark.parametrize("keys", [(), ("greater_than_sign", "j"), ("b",), ("b", "j"), ("f5",), ("ctrl+p",)])
async def test_the_lines_of_a_list_look_as_textual_wraps_and_paints_them(
    keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = three_reports()
    backend.user_data.kept, backend.user_data.asked = some_evidence(), [Question("pumps"), Question("valves")]
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, *keys)
        (options,) = (one for one in pilot.app.screen.query(OptionList) if isinstance(one, PaintsOptions))
        crop = options.outer_size.region
        ours = options.render_lines(crop)
        for name in ("_get_option_render", "_update_lines", "render_line", "render_lines"):
            monkeypatch.delattr(PaintsOptions, name)
        options._styles_cache = StylesCache()
        options._clear_caches()
        for option in options.options:
            assert isinstance(option.prompt, WrappedLines)
            option._set_prompt(Content("\n").join(option.prompt.make()))
        theirs = options.render_lines(crop)
        assert options.option_count > 1 and len(ours) == len(theirs) == crop.height
        for row, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            room = options.scrollable_content_region.width  # the rest is below the scrollbar
            assert seen(our.crop(0, room)) == seen(their.crop(0, room)), row


def seen(line: Strip) -> list[tuple[object, ...]]:
    """Return what a person sees of each character."""
    return [
        (character, style.color, style.bgcolor, style.bold, style.underline)
        for text, style, _ in line
        for character in text
        if style
    ]


@pytest.mark.parametrize("keys", [("f1",), ("f1", "pagedown"), ("f1", "end"), ("t", "j")])
async def test_a_scrollbar_looks_as_textual_draws_it(keys: tuple[str, ...]) -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await press_each(pilot, *keys)
        bars = [box.vertical_scrollbar for box in pilot.app.screen.query(ScrollsLines)]
        assert any(bar.outer_size for bar in bars)
        for bar in bars:
            ours = bar.render_lines(bar.outer_size.region)
            assert bar.renderer is BarOfCells
            bar.renderer, bar._styles_cache = ScrollBarRender, StylesCache()
            bar.refresh()
            theirs = bar.render_lines(bar.outer_size.region)
            assert [[*line] for line in ours] == [[*line] for line in theirs]


@given(st.lists(TEXTS, max_size=4), st.integers(1, 20))
def test_a_line_is_cut_and_filled_as_textual_cuts_and_fills_it(texts: list[str], width: int) -> None:
    blank, segments = Style(bold=True), [Segment(text, Style(italic=True)) for text in texts]
    theirs = Strip(list(segments)).adjust_cell_length(width, blank)
    ours = filled(list(segments), width, blank)
    assert ours.cell_length == theirs.cell_length == width
    assert dict(cells_of(iter(ours), 0, 0)) == dict(cells_of(iter(theirs), 0, 0))


@given(TEXTS, st.booleans(), st.integers(1, 14))
def test_a_cell_of_a_table_is_as_wide_as_its_column_with_a_blank_on_each_side(
    text: str, is_right: bool, width: int
) -> None:
    shown = Cell(text, is_right=is_right).fitted(width)
    assert cell_len(shown) == width + 2 and shown[0] == shown[-1] == " "
    assert text in shown or "…" in shown


def test_a_line_without_anything_lit_is_one_run_and_an_empty_one_is_none() -> None:
    far = Mark("highlight", 90, 95)
    for start, stop in ((0, 20), (5, 5)):
        assert runs("x" * 99, start, stop, [], -1, NO_WORDS) == runs(
            "x" * 99, start, stop, [], -1, NO_WORDS, marks=[far]
        )


@pytest.mark.parametrize("theme", [DARK, LIGHT])
async def test_no_screen_has_a_colour_by_name_for_which_each_line_would_be_made_anew(theme: str) -> None:
    named = ANSIToTruecolor(MONOKAI)
    backend = much()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        pilot.app.theme = theme
        await ask(pilot, "valve", press_enter=True)
        assert pilot.app.get_line_filters() == []
        for keys in [(), ("space",), *OPENED_BY.values()]:
            await press_each(pilot, *keys)
            ground = pilot.app.screen.background_colors[1]
            for line in pilot.app.screen._compositor.render_strips():
                assert named.apply([*line], ground) == [*line], keys
            await leave(pilot)
        for other, filters in (("nord", [ANSIToTruecolor]), (theme, [])):
            pilot.app.theme = other
            await settle(pilot)
            assert [type(one) for one in pilot.app.get_line_filters()] == filters
