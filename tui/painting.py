"""Saves Textual work: styles and lays out only what has changed, and paints all lines of a widget in one style."""

from collections.abc import Callable
from functools import partialmethod
from typing import TYPE_CHECKING, Generic, Self

from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.screen import Screen, ScreenResultType
from textual.scroll_view import ScrollView
from textual.strip import Strip
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


if TYPE_CHECKING:
    _Widget = Widget
    _Screen = Screen
else:
    _Screen = Generic
    _Widget = object  # Textual takes the bindings and the style sheet of the first base that is a widget


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


class PaintsOnce(_Screen[ScreenResultType]):
    """A screen that styles and paints nothing twice. Textual paints all of it for each new layout of a box."""

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        """Style nothing again: each widget was styled when it was mounted."""
        event.refresh_styles = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Lay out anew, or paint these regions, or all."""
        return super().refresh(*regions, repaint=repaint and not layout, layout=layout, recompose=recompose)


class PaintsLines(QuietFocus):
    """A part of a widget that draws itself by `render_line`, in its `ground`."""

    _ground: Style | None = None
    _kept: tuple[Style | None, dict[object, Style]] = (None, {})
    """Styles on a ground: to compute one takes 0.2 ms."""
    _painted: Size | None = None
    """The size in which it was painted last."""

    @property
    def ground(self) -> Style:
        """The widget's own style. While lines are painted it is that of the first: to compute it takes 0.3 ms."""
        return self._ground or self.rich_style

    def kept(self, key: object, make: Callable[[], Style] | None = None) -> Style:
        """Return the style that was made for this key on the same ground, or make it; None: that of the component."""
        ground = self.ground
        if ground != self._kept[0]:
            self._kept = ground, {}
        styles = self._kept[1]
        if key not in styles:
            styles[key] = make() if make is not None else self.get_component_rich_style(str(key))
        return styles[key]

    def notify_style_update(self) -> None:
        """Forget the styles that were made."""
        self._kept = None, {}
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint these lines. Textual forgets to tell a new size if a widget's place was asked for just before it."""
        if self.size != self._painted:
            self._painted = self.size
            self.post_message(events.Resize(self.size, self.virtual_size, self.container_size))
        self._ground = self.rich_style
        try:
            return super().render_lines(crop)
        finally:
            self._ground = None


class ScrollsLines(PaintsLines, ScrollView):
    """Lines that scroll. The rules of styles give it its place, so more lines need no new layout, as in Textual."""

    virtual_size = Reactive(Size(0, 0), repaint=False)

    @property
    def room(self) -> int:
        """The cells beside the scrollbar. Textual's `size` includes it."""
        return self.scrollable_content_region.width

    watch_virtual_size = ScrollView._scroll_update
    # at once: Textual waits for the next tick of its animations, also if there are none
    scroll_up = partialmethod(ScrollView.scroll_up, animate=False)
    scroll_down = partialmethod(ScrollView.scroll_down, animate=False)
    scroll_page_up = partialmethod(ScrollView.scroll_page_up, animate=False)
    scroll_page_down = partialmethod(ScrollView.scroll_page_down, animate=False)
    scroll_home = partialmethod(ScrollView.scroll_home, animate=False)
    scroll_end = partialmethod(ScrollView.scroll_end, animate=False)
