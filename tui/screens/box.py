"""What the boxes on top of a screen share: the screen below is seen through, dimmed."""

from functools import cached_property, lru_cache
from typing import Self

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.app import RenderResult
from textual.color import Color
from textual.containers import Vertical
from textual.css.styles import RulesMap
from textual.geometry import Region
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from longsearch.tui.painting import Plain
from longsearch.tui.screens.kept import KeptScreen


class Box(Plain, Vertical):
    """The box: a frame with a title around the widgets."""


@lru_cache(maxsize=1024)
def dimmed(style: RichStyle, color: Color) -> RichStyle:
    """Return a style as it is seen through a colour. A screen has a few dozen styles, each in many places."""
    ((_, seen, _),) = BackgroundScreen.process_segments([Segment(" ", style)], color)
    return seen or RichStyle.null()


class Dimmed(Visual):
    """A screen seen through a colour, as it is when it is drawn first. Textual mixes the colours of each piece anew."""

    def __init__(self, screen: Screen[object], color: Color) -> None:
        self._screen, self._color = screen, color

    @cached_property
    def _lines(self) -> list[Strip]:
        return [
            Strip([Segment(text, dimmed(style or RichStyle.null(), self._color)) for text, style, _ in line])
            for line in self._screen._compositor.render_strips()
        ]

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return the lines of the screen, at most `height`."""
        return [line.adjust_cell_length(width) for line in self._lines[:height]]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return the width of the screen, in cells."""
        return self._screen.size.width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return the height of the screen, in rows."""
        return self._screen.size.height


class BoxScreen(KeptScreen[ScreenResultType], ModalScreen[ScreenResultType]):
    """A box on top of a screen, which is drawn again only when something on it changes.

    The first frame draws the box, over what the terminal shows, and the second one dims that: the box is there sooner.
    """

    _below: Dimmed | None = None
    _seen: object = None
    """The screen below, the colour and the size in which it was drawn."""
    _is_drawn = False

    def on_screen_resume(self) -> None:
        """Draw the box, and then what lies below as it is now."""
        self._below, self._is_drawn = None, False

    def render(self) -> RenderResult:  # type: ignore[override]  # Textual draws a Visual as well
        """Draw what lies below the box."""
        below = super().render()
        if not isinstance(below, BackgroundScreen):
            return below
        seen = (below.screen, below.color, self.size)
        if self._below is None or seen != self._seen:
            self._below, self._seen = Dimmed(below.screen, below.color), seen
        return self._below

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """As Textual does. Regions come from a change on the screen below."""
        if regions:
            self._below = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def _compositor_refresh(self) -> None:
        if self._is_drawn or not self.is_current:
            super()._compositor_refresh()
            return
        seen = [
            region.intersection(clip)
            for widget, (region, clip) in self._compositor.visible_widgets.items()
            if widget.parent is self
        ]
        self._compositor._dirty_regions = {self.size.region}
        self.draw_first(*seen)
        self._is_drawn, self._repaint_required = True, False
        self._exchange_repaint_regions()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint what lies below the box, once the box is drawn."""
        return super().render_lines(crop) if self._is_drawn else [Strip.blank(crop.width)] * crop.height
