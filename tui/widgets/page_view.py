"""Shows a page as it is printed, over the text: in the terminal's graphics, or in dots of braille.

Pages are drawn in a thread; the last one stays until the next is there. Knows no document: `TextPane` says which page,
and which texts on it are lit.
"""

from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap as wrap_words
from typing import TYPE_CHECKING, ClassVar

from rich.segment import ControlType, Segment
from textual import events, work
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from longsearch.engine.page_image import PageQuestion, TextToHighlight
from longsearch.tui.backend.latest_only import LatestOnly
from longsearch.tui.bindings import PAGE_MOVES
from longsearch.tui.graphics.terminal import KITTY_DELETE, Graphics, GraphicsProtocol
from longsearch.tui.painting import PaintsLines

if TYPE_CHECKING:
    from longsearch.tui.graphics.picture import Draw, Picture, Wish

ZOOMS = (0.0, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
"""Widths of the page, in widths of the pane; 0 shows the whole page."""
WIDTH_OF_PANE = ZOOMS.index(1.0)
KEPT_PAGES = 4
"""Pages whose pictures are kept: a page that is scrolled is not drawn again. At most 24 MB each."""


class PageView(PaintsLines, Widget, can_focus=True):
    """One page. Its name for the person is "the page as printed"."""

    BINDINGS: ClassVar[list[BindingType]] = PAGE_MOVES
    COMPONENT_CLASSES: ClassVar[set[str]] = {"page-view--message"}

    @dataclass
    class Turned(Message):
        """The reader wants another page."""

        step: int = 0
        """Pages forward; 0 for an `end`."""
        end: int = 0
        """1 for the first page, -1 for the last."""

    @dataclass
    class Drawn(Message):
        """A page is on the screen."""

        is_found: bool
        """Whether its lit texts were found on it."""

    def __init__(self, draw: "Draw", graphics: Graphics) -> None:
        super().__init__()
        self._draw_page = lru_cache(KEPT_PAGES)(draw)
        self._graphics = graphics
        self._lane: LatestOnly[Wish] = LatestOnly()
        self._path, self._page = "", 1
        self._highlights: tuple[TextToHighlight, ...] = ()
        self._zoom = WIDTH_OF_PANE
        self._corner: tuple[int, int] | None = None
        self._picture: Picture | None = None
        self._message = ""
        self._is_covered = False
        """Whether another screen lies over this one: a picture would lie over that."""

    @property
    def picture(self) -> "Picture | None":
        """The picture on the screen; None while there is none."""
        return self._picture if self.display else None

    def show(self, path: str, page: int, highlights: tuple[TextToHighlight, ...], is_jump: bool) -> None:
        """Show a page; after a jump, such that the current passage is seen, else from its top."""
        if path != self._path:
            self._picture = None
        self._path, self._page, self._highlights = path, page, highlights
        self._corner = None if is_jump else (self._corner[0] if self._corner else 0, 0)
        self.display = True
        self._ask()

    def close(self) -> None:
        """Show nothing; free the pictures."""
        self._erase()
        self.display, self._picture, self._path = False, None, ""
        self._draw_page.cache_clear()
        self._lane.drop()

    def cover(self, is_covered: bool) -> None:
        """Take the picture away while another screen lies on top; bring it back."""
        if is_covered:
            self._erase()
        self._is_covered = is_covered
        self.refresh()

    def on_mount(self) -> None:
        """Take the picture away while another program has the terminal."""
        self.app.app_suspend_signal.subscribe(self, lambda _: self.cover(True))
        self.app.app_resume_signal.subscribe(self, lambda _: self.cover(False))

    # Keys

    def action_turn(self, step: int) -> None:
        self.post_message(self.Turned(step))

    def action_end(self, end: int) -> None:
        self.post_message(self.Turned(end=end))

    def action_zoom(self, step: int) -> None:
        """Make the page larger or smaller; what was in the middle stays there."""
        old = self._zoom
        self._zoom = min(max(old + step, 0), len(ZOOMS) - 1)
        if self._zoom != old:
            self._corner = None
            self._ask()

    def action_move(self, x: int, y: int) -> None:
        """Move by eighths of the pane. Beyond the end of a page comes the next one."""
        if (picture := self._picture) is None:
            return
        view = picture.view
        left, top = view.left + x * view.width // 8, view.top + y * view.height // 8
        lowest = max(picture.image.height - view.height, 0)
        if (y > 0 and view.top >= lowest) or (y < 0 and view.top <= 0):
            self.post_message(self.Turned(1 if y > 0 else -1))
            return
        self._corner = (max(left, 0), min(max(top, 0), lowest))
        self._ask()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(0, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(0, -1)

    # Drawing

    def fit(self) -> None:
        """Draw the page for the new size."""
        if self.display and self._path:
            self._ask()

    def _ask(self) -> None:
        if self.size.width < 1 or self.size.height < 1:
            return  # not on the screen yet; a resize event follows
        from longsearch.tui.graphics.picture import Wish

        graphics = self._graphics
        pane = self.size.width * graphics.cell_width
        zoom = ZOOMS[self._zoom]
        height = None if zoom else self.size.height * graphics.cell_height
        question = PageQuestion(self._path, self._page, int(pane * (zoom or 1.0)), height, self._highlights)
        around = self.background_colors[1].rgb
        wish = Wish(question, self.size.width, self.size.height, self._corner, around)
        if self._lane.offer(wish, is_anew=False):
            self._make_pictures()

    @work
    async def _make_pictures(self) -> None:
        """Make the picture asked for, then the last one asked for meanwhile; show it if it is still wanted."""
        async for wish, picture, error in self._lane.answers(self._make):
            if not self.display or (wish.question.path, wish.question.page) != (self._path, self._page):
                continue
            self._picture, self._message = picture, error
            if picture is None:
                self._erase()
            else:
                self._corner = (picture.view.left, picture.view.top)
                self.post_message(self.Drawn(picture.is_found))
            self.refresh()

    def _make(self, wish: "Wish") -> "Picture":
        from longsearch.tui.graphics.picture import make_picture

        return make_picture(wish, self._draw_page, self._graphics)

    # Painting

    def render_line(self, y: int) -> Strip:
        """Draw one line. The last one carries the picture, so that it is drawn over all of them."""
        width, height = self.size
        picture = self._picture
        if picture is None or (picture.wish.columns, picture.wish.rows) != (width, height):
            return self._message_line(y)
        if picture.lines:
            return picture.lines[y] if y < len(picture.lines) else Strip.blank(width, self.ground)
        blank = Strip.blank(width, self.ground)
        if y != height - 1 or self._is_covered or not self.screen.is_active:
            return blank
        x, top = self.region.offset
        at_corner = f"\x1b7\x1b[{top + 1};{x + 1}H{picture.sequence}\x1b8"
        return Strip([*blank, Segment(at_corner, None, ((ControlType.CURSOR_FORWARD, 0),))], width)

    def _message_line(self, y: int) -> Strip:
        lines = wrap_words(self._message or "drawing the page…", max(self.size.width - 4, 1))
        text = f"  {lines[y - 1]}" if 1 <= y <= len(lines) else ""
        style = self.kept("page-view--message")
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, style)

    def _erase(self) -> None:
        """Take the picture off the screen: in Kitty it lies over the text, elsewhere the next text replaces it."""
        if self._graphics.protocol is GraphicsProtocol.KITTY and self._picture is not None and self.is_attached:
            driver = self.app._driver
            if driver is not None:
                driver.write(KITTY_DELETE)
