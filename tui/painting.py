"""Saves Textual work: styles, lays out and draws only what has changed, and all lines of a widget in one style.

Longer than 300 lines because the parts of Textual that are replaced here call each other.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partialmethod
from typing import TYPE_CHECKING, Any, Generic, Self, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual._styles_cache import RenderLineCallback, StylesCache
from textual.color import Color
from textual.content import Content
from textual.css.styles import RulesMap, StylesBase
from textual.geometry import Region, Size, Spacing
from textual.reactive import Reactive
from textual.screen import Screen, ScreenResultType
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.visual import RenderOptions, Visual
from textual.widget import Widget
from textual.widgets import Static


def set_class_of(owner: Widget, is_set: bool, name: str, *changed: Widget) -> None:
    """Set or remove a class of `owner`. The style sheets must use it for the widgets `changed` and for no others.

    Textual would style everything below `owner`: 20 ms for a pane, 30 ms for the screen.
    """
    if owner.has_class(name) is not is_set:
        owner.set_class(is_set, name, update=False)
        owner.app.stylesheet.update_nodes([widget for widget in changed if widget.is_attached], animate=True)


def show_line(line: Static, text: str) -> None:
    """Show a text in a line, or hide the line. Only another text costs anything: the screen is laid out, 5 ms."""
    if str(line.content) != text:
        line.update(Content(text))
        line.display = bool(text)


def show_title(widget: Widget, title: str) -> None:
    """Write a title on the frame of a widget. Only another title costs anything: all of the widget is painted."""
    if widget._border_title is None or widget._border_title.plain != title:
        widget.border_title = Content(title)


def filled(segments: list[Segment], width: int, blank: Style) -> Strip:
    """Return a line of `width` cells: cut, or filled with blanks of a style. Textual takes four times as long."""
    n_cells = sum(cell_len(segment.text) for segment in segments)
    if n_cells > width:
        return Strip(segments, n_cells).adjust_cell_length(width, blank)
    if n_cells < width:
        segments.append(Segment(" " * (width - n_cells), blank))
    return Strip(segments, width)


if TYPE_CHECKING:
    from textual.widgets import OptionList
    from textual.widgets.option_list import Option

    _OptionList = OptionList
    _Widget = Widget
    _Screen = Screen
else:
    _Screen = Generic
    _OptionList = _Widget = object  # Textual takes the bindings and the style sheet of the first base that is a widget


class QuietFocus(_Widget):
    """A part of a widget that looks the same with and without the focus, or paints what differs itself.

    Its style sheets must have no rule for `:focus`. Textual would style it and paint all of it: 5 ms for a list.
    """

    def focus(self, scroll_visible: bool = True) -> Self:
        """Take the focus once all that waits is done, as Textual does, but for painting all lines again."""
        self.app.call_later(self._take_focus, scroll_visible)
        return self

    def _take_focus(self, scroll_visible: bool) -> None:
        if self.is_attached:
            self.screen.set_focus(self, scroll_visible=scroll_visible)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Style nothing."""

    def on_focus(self, event: events.Focus) -> None:
        """Note it, and paint nothing."""
        self._note_focus(event, has_focus=True)

    def on_blur(self, event: events.Blur) -> None:
        """Note it, and paint nothing."""
        self._note_focus(event, has_focus=False)

    def _note_focus(self, event: events.Focus | events.Blur, has_focus: bool) -> None:
        event.prevent_default()
        self.has_focus = has_focus
        if self.parent is not None:
            told = events.DescendantFocus if has_focus else events.DescendantBlur
            self.parent.post_message(told(self))


class NeedfulCompositor(Compositor):
    """Draws the widgets that are seen, and for a change those that it touches. Textual draws all: 2 to 8 ms."""

    _changed: Sequence[Region] = ()
    """What goes to the terminal now."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """Draw what has changed. A new layout names a pane and all that lies in it."""
        named = self._dirty_regions
        named -= {one for one in named if any(other != one and other.contains_region(one) for other in named)}
        self._changed = tuple(named)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        """Draw all: because all has changed, or for a picture, which the terminal does not see."""
        whole = self.size.region
        self._changed = (whole,) if whole in self._dirty_regions else ()
        try:
            return super().render_full_update(simplify)
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        whole = self.size.region
        drawn = [one.intersection(whole) for one in self._changed or (crop or whole,)]
        taken = [0] * self.size.height
        """Of each row, a bit for each column in which a widget further up is drawn."""
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            if any(one.contains_region(seen) for one in self._changed):
                widget._repaint_regions.clear()  # it will be seen as it is now
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


@lru_cache(maxsize=64)
def blank_on(ground: Color) -> Style:
    """Return the style of a blank on a ground. A list fills each of its lines beside the scrollbar."""
    return VisualStyle(background=ground).rich_style


class BareLines(StylesCache):
    """Takes the lines of a widget as it paints them, and sets them into its frame. Textual styles each, in 50 us."""

    below_bar = 0
    """Cells at the end of a line that a scrollbar covers. They may be missing: then the line need not be cut there."""
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
        if (missing := content_size.width - line.cell_length) and missing != self.below_bar:
            line = line.adjust_cell_length(content_size.width, blank_on(base_background + background))
        if size == content_size:
            return line
        frame = size.width, padding, styles.border, base_background, background
        if self._sides is None or self._sides[0] != frame:
            whole = super().render_line(styles, y, *how)
            self._sides = frame, (whole.crop(0, styles.gutter.left), whole.crop(size.width - styles.gutter.right))
        left, right = self._sides[1]
        return Strip([*left, *line, *right], size.width)


class PaintsOnce(_Screen[ScreenResultType]):
    """A screen that styles and paints nothing twice. Textual paints all of it for each new layout of a box."""

    def __init__(self, *how: Any, **more: Any) -> None:
        """As Textual's screens."""
        super().__init__(*how, **more)
        self._compositor, self._styles_cache = NeedfulCompositor(), BareLines()

    draws_first: Widget | None = None
    """The widget that the person looks at. The next drawing of the screen begins with it."""

    def _compositor_refresh(self) -> None:
        if self._repaint_required:  # paint that with the new layout; Textual would paint it once more, after this
            self._compositor.update_widgets({self})
            self._repaint_required = False
        first, self.draws_first = self.draws_first, None
        if first is not None and self.is_current:
            self.draw_first(first.region)
        else:
            super()._compositor_refresh()

    def draw_first(self, *regions: Region) -> None:
        """Draw these regions as far as they have changed, and in a second frame what lies around the largest."""
        changed, largest = self._compositor._dirty_regions, max(regions, key=lambda one: one.area, default=Region())
        self._compositor._dirty_regions = {part for one in changed for of in regions if (part := one.intersection(of))}
        super()._compositor_refresh()
        self.call_later(self.refresh, *(part for one in changed for part in around(largest, one)))

    def on_mount(self) -> None:
        """Note in which colours each widget is styled."""
        self._css_update_count = self.app._css_update_count

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        """Style nothing again, unless the colours have changed since."""
        now = self.app._css_update_count
        event.refresh_styles = self._css_update_count != now
        self._css_update_count = now

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:  # Textual lays out anew for a size in which it has laid out already
            super()._screen_resized(size)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Lay out anew, or paint these regions, or all."""
        return super().refresh(*regions, repaint=repaint and not layout, layout=layout, recompose=recompose)


def around(box: Region, whole: Region) -> list[Region]:
    """Return the parts of a region above, below, left and right of a box; all of it if the box is elsewhere."""
    box = box.intersection(whole)
    if not box:
        return [whole]
    box = box.translate(-whole.offset)
    above, rest = whole.split_horizontal(box.y)
    beside, below = rest.split_horizontal(box.height)
    left, rest = beside.split_vertical(box.x)
    return [part for part in (above, below, left, rest.split_vertical(box.width)[1]) if part]


class Plain(_Widget):
    """A part of a widget that has no scrollbars, or its own. It is laid out and painted once in a new size.

    Textual lays out the screen again, as there could be scrollbars, and tells of a size after it has painted.
    """

    virtual_size = Reactive(Size(0, 0), repaint=False)

    def __init__(self, *how: Any, **more: Any) -> None:
        """As the widget."""
        super().__init__(*how, **more)
        self._styles_cache = BareLines()

    def fit(self) -> None:
        """Fit the contents to the size, before they are painted in it."""

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        is_new = size != self._size
        is_told = super()._size_updated(size, virtual_size, container_size, layout)
        if is_new and size:
            self.fit()
        return is_told

    def on_resize(self, event: events.Resize) -> None:
        """Fit the contents also in the old size: they may have changed while the widget was hidden."""
        self.fit()


class BarOfCells(ScrollBarRender, Visual):
    """A vertical scrollbar whose cells are its lines. Textual has Rich print them: 1 ms each time that it moves."""

    def render_strips(self, width: int, height: int | None, style: VisualStyle, options: RenderOptions) -> list[Strip]:
        """Return a cell of the bar for each line."""
        colours, ground = self.style, style.rich_style
        if not (isinstance(colours, Style) and colours.color and colours.bgcolor):
            return []  # a scrollbar gives both
        place = height or 1, self.virtual_size, self.window_size, self.position, width
        bar = self.render_bar(*place, back_color=colours.bgcolor, bar_color=colours.color).segments
        cells = {cell: Strip([Segment(cell.text, ground + cell.style)], width) for cell in set(bar)}
        return [cells[cell] for cell in bar]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the cells of a line."""
        return self.thickness

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the least number of lines."""
        return 1


class PlainBar(Plain, ScrollBar):
    """A scrollbar that paints its lines whole."""

    renderer = BarOfCells
    auto_links = False  # else each line is made a second time

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Paint the bar. Where it comes or goes, the widget that it belongs to lays out the screen."""
        return super().refresh(*regions, repaint=repaint, recompose=recompose)


class ScrollsPlainly(Plain):
    """A part of a widget with a plain scrollbar."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The bar, made as Textual makes its own."""
        if self._vertical_scrollbar is None:
            bar = self._vertical_scrollbar = PlainBar(True, "vertical", thickness=self.scrollbar_size_vertical)
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar


class PaintsLines(Plain, QuietFocus):
    """A part of a widget that draws itself by `render_line`, in its `ground`."""

    _ground: Style | None = None
    _kept: tuple[Style | None, dict[object, Style]] = (None, {})
    """Styles on a ground: to compute one takes 0.2 ms."""
    _painted = 0
    """The width in which it is painted."""

    @property
    def ground(self) -> Style:
        """The widget's own style. While lines are painted it is that of the first: to compute it takes 0.3 ms."""
        return self._ground or self.rich_style

    @property
    def width(self) -> int:
        """The widget's own cells in a line. While lines are painted it is that of the first."""
        return self._painted if self._ground else self.size.width

    def kept(self, key: object, make: Callable[[], Style] | None = None) -> Style:
        """Return the style that was made for this key on the same ground, or make it; None: that of the component."""
        ground = self.ground
        if ground is not self._kept[0] and ground != self._kept[0]:
            self._kept = ground, {}
        styles = self._kept[1]
        if key not in styles:
            styles[key] = make() if make is not None else self.get_component_rich_style(str(key))
        return styles[key]

    def styled(self, style: str | VisualStyle) -> Style:
        """Return a style, or one in words as in markup, on the ground."""
        return self.kept(style, lambda: (self.visual_style + self._get_style(style)).rich_style)

    def notify_style_update(self) -> None:
        """Forget the styles that were made."""
        self._kept = None, {}
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint these lines."""
        self._painted, self._ground = self.size.width, self.rich_style
        try:
            return super().render_lines(crop)
        finally:
            self._ground = None


@dataclass(frozen=True)
class WrappedLines(Visual):
    """Lines of text that are wrapped already. Textual wraps a text for its height, and again for its strips."""

    n_lines: int
    make: Callable[[], Sequence[Content]]
    """Makes the lines, once they are in view."""

    def render_strips(self, width: int, height: int | None, style: VisualStyle, options: RenderOptions) -> list[Strip]:
        """Return the lines, at most `height`."""
        return [
            filled(
                [
                    Segment(text, own.rich_style)
                    for text, own in line.render(style, end="", parse_style=options.get_style)
                    if text
                ],
                width,
                style.rich_style,
            )
            for line in self.make()[:height]
        ]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the cells of the longest line."""
        return max(line.cell_length for line in self.make())

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the number of lines."""
        return self.n_lines


class PaintsOptions(ScrollsPlainly, _OptionList):
    """A part of Textual's list of options, which are `WrappedLines`. Textual counts all lines for each line."""

    watch_virtual_size = ScrollView._scroll_update
    _fitted = 0
    """The width that the lines were made for."""
    _painted_option: tuple[int, Sequence[Strip]] = (-1, ())
    """While lines are painted: the last option and its lines."""
    _below = Strip([])
    """A line below the last option."""
    _padding = Spacing()
    """Cells around the lines of an option."""

    def fit(self) -> None:
        """Forget the lines of another width."""
        if self.size.width != self._fitted:
            self._fitted = self.size.width
            self._clear_caches()

    def _get_option_render(self, option: "Option", style: VisualStyle) -> list[Strip]:
        lines, key = cast("WrappedLines", option.prompt), (option, style, self._padding)
        if (strips := self._option_render_cache.get(key)) is None:
            width, of = self.scrollable_content_region.width, Style.from_meta({"option": self._option_to_index[option]})
            blank, room = style.rich_style + of, width - self._padding.width
            left, right = ([Segment(" " * n, blank)] if n else [] for n in (self._padding.left, self._padding.right))
            strips = [
                Strip([*left, *(Segment(text, own + of) for text, own, _ in line if own), *right], width)
                for line in lines.render_strips(room, None, style, RenderOptions(self._get_style, {}))
            ]
            if option._divider:
                rule = self.get_visual_style("option-list--separator").rich_style
                strips.append(Strip([Segment("─" * width, rule)], width))
            self._option_render_cache[key] = strips
        return strips

    def _update_lines(self) -> None:
        # Textual counts also while the list is empty, just before it is filled. The scrollbar would go and come back,
        # and the screen would be laid out twice more.
        if len(self._line_cache.heights) < len(self._options):
            super()._update_lines()

    def _on_resize(self, event: events.Resize) -> None:  # type: ignore[override]  # Textual gives the event to both
        event.prevent_default()
        self.fit()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint these lines."""
        self._painted_option = -1, ()
        width = self.scrollable_content_region.width
        below_bar = self.content_size.width - width if self.show_vertical_scrollbar else 0
        cast("BareLines", self._styles_cache).below_bar = below_bar
        self._below = Strip.blank(width, self.get_visual_style("option-list--option").rich_style)
        self._padding = self.get_component_styles("option-list--option").padding
        if not self._options:
            super()._update_lines()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Paint a line: one of an option, whose lines are all made with the first of them, or what is below."""
        at, lines = self.scroll_offset.y + y, self._lines
        if at >= len(lines):
            return self._below
        index, line = lines[at]
        if index != self._painted_option[0]:
            kind = "highlighted" if index == self.highlighted else "hover" if index == self._mouse_hovering_over else ""
            names = [f"option-list--option-{kind}"] if kind else []
            style = self.get_visual_style("option-list--option", *names)
            self._painted_option = index, self._get_option_render(self.options[index], style)
        return self._painted_option[1][line]


class ScrollsLines(ScrollsPlainly, PaintsLines, ScrollView):
    """Lines that scroll. The rules of styles give it its place, so more lines need no new layout, as in Textual."""

    @property
    def room(self) -> int:
        """The cells beside the scrollbar. Textual's `size` includes it."""
        return self.width - self.scrollbar_size_vertical

    def watch_scroll_y(self, before: float, now: float) -> None:
        """Paint what is seen now. A scrollbar without cells is left alone: to move it costs a layout of the screen."""
        if self.scrollbar_size_vertical:
            super().watch_scroll_y(before, now)
        elif round(before) != round(now):
            self.refresh(self.size.region)

    watch_virtual_size = ScrollView._scroll_update
    # at once: Textual waits for the next tick of its animations, also if there are none
    scroll_up = partialmethod(ScrollView.scroll_up, animate=False)
    scroll_down = partialmethod(ScrollView.scroll_down, animate=False)
    scroll_page_up = partialmethod(ScrollView.scroll_page_up, animate=False)
    scroll_page_down = partialmethod(ScrollView.scroll_page_down, animate=False)
    scroll_home = partialmethod(ScrollView.scroll_home, animate=False)
    scroll_end = partialmethod(ScrollView.scroll_end, animate=False)
