"""A text that scrolls. It formats only the lines that are on the screen.

Textual's Static formats all of its lines, and again for every new size: the help took 0.3 s of processor time.
"""

from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import RenderOptions

from longsearch.tui.painting import PaintsLines


class LongText(PaintsLines, ScrollView, can_focus=True):
    """Lines of text, wrapped to the width."""

    def __init__(self, content: Content, hang: int = 0, id: str | None = None) -> None:
        """`hang`: cells at the left that stay empty where a line goes on."""
        super().__init__(id=id)
        self._hang = hang
        self._lines = content.split("\n", allow_blank=True)
        self._rows: list[Content] = []
        """The lines, wrapped to `_width` cells."""
        self._width = 0

    def _wrap(self, width: int) -> int:
        """Wrap the lines to so many cells; return how many rows they are."""
        if width != self._width:
            self._width = width
            self._rows = [row for line in self._lines for row in wrapped(line, width, self._hang)]
            self.virtual_size = Size(width, len(self._rows))
        return len(self._rows)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows at this width."""
        return self._wrap(width)

    def on_resize(self) -> None:
        """Wrap to the new width."""
        self._wrap(self.size.width)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Format one row."""
        row, width = self.scroll_offset.y + y, self.size.width
        if row >= len(self._rows):
            return Strip.blank(width, self.ground)
        options = RenderOptions(self._get_style, {})
        (strip, *_) = self._rows[row].render_strips(width, 1, self.visual_style, options)
        return strip.adjust_cell_length(width, self.ground)


def wrapped(line: Content, width: int, hang: int = 0) -> list[Content]:
    """Return a line in pieces of at most so many cells; nearly all lines are short enough as they are.

    From the second piece on, `hang` cells at the left are empty, unless they are more than half of the width.
    """
    if line.cell_length <= width:
        return [line]
    if not hang or 2 * hang > width:
        return line.wrap(width)
    first, *rest = line[hang:].wrap(width - hang)
    return [line[:hang] + first, *(Content(" " * hang) + piece for piece in rest)]
