"""Draws in place of Textual: frames from the widgets that are seen, lines and scrollbars as they are painted."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor
from textual._styles_cache import RenderLineCallback, StylesCache
from textual.color import Color
from textual.css.styles import RulesMap, StylesBase
from textual.geometry import Region, Size, Spacing
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.visual import RenderOptions, Visual


class NeedfulCompositor(Compositor):
    """Draws the widgets that are seen, and for a change those that it touches. Textual draws all: 2 to 8 ms."""

    _changed: Sequence[Region] = ()

    def render_partial_update(self) -> ChopsUpdate | None:
        """Draw what has changed."""
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        whole = self.size.region
        drawn = [one.intersection(whole) for one in self._changed or (crop or whole,)]
        taken = [0] * self.size.height
        """Of each row, a bit for each column in which a widget further up is drawn."""
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            parts = [
                (part.line_range, ((1 << part.width) - 1) << part.x)
                for one in drawn
                if (part := seen.intersection(one))
            ]
            if all(taken[row] & columns == columns for rows, columns in parts for row in rows):
                continue
            for rows, columns in parts:
                for row in rows:
                    taken[row] |= columns
            yield region, clip, widget.render_lines(seen.translate(-region.offset))


class BareLines(StylesCache):
    """Takes the lines of a widget as it paints them, and sets them into its frame. Textual styles each, in 50 us."""

    _sides: tuple[object, tuple[Strip, Strip]] | None = None
    """Of which frame on which ground, and what stands left and right of its lines."""

    @staticmethod
    def get_inner_outer(  # type: ignore[override]  # there it is a method in a cache
        base_background: Color, background: Color
    ) -> tuple[VisualStyle, VisualStyle]:
        """Return the styles inside and around a frame. Textual's own keeps 1,024 widgets with their lines for ever."""
        return VisualStyle(background=base_background + background), VisualStyle(background=base_background)

    def render_line(
        self,
        styles: StylesBase,
        y: int,
        size: Size,
        content_size: Size,
        padding: Spacing,
        base_background: Color,
        background: Color,
        render_content_line: RenderLineCallback,
        *labels_and_colours: Any,
    ) -> Strip:
        """Return a line of the widget."""
        how = size, content_size, padding, base_background, background, render_content_line, *labels_and_colours
        row = y - styles.gutter.top
        if not 0 <= row < content_size.height:
            return super().render_line(styles, y, *how)
        line = render_content_line(row)
        if line.cell_length != content_size.width:
            blank = self.get_inner_outer(base_background, background)[0].rich_style
            line = line.adjust_cell_length(content_size.width, blank)
        if size == content_size:
            return line
        frame = size.width, padding, styles.border, base_background, background
        if self._sides is None or self._sides[0] != frame:
            whole = super().render_line(styles, y, *how)
            self._sides = frame, (whole.crop(0, styles.gutter.left), whole.crop(size.width - styles.gutter.right))
        left, right = self._sides[1]
        return Strip([*left, *line, *right], size.width)


class BarOfCells(ScrollBarRender, Visual):
    """A vertical scrollbar whose cells are its lines. Textual has Rich print them: 1 ms each time that it moves."""

    def render_strips(self, width: int, height: int | None, style: VisualStyle, options: RenderOptions) -> list[Strip]:
        """Return a cell of the bar for each line."""
        colours, ground = self.style, style.rich_style
        if not (isinstance(colours, Style) and colours.color and colours.bgcolor):
            return []  # a scrollbar gives both
        place = height or 1, self.virtual_size, self.window_size, self.position, width
        bar = self.render_bar(*place, back_color=colours.bgcolor, bar_color=colours.color)
        return [Strip([Segment(text, ground + own)], width) for text, own, _ in bar.segments]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the cells of a line."""
        return self.thickness

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the least number of lines."""
        return 1
