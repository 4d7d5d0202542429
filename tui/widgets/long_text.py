"""A text that scrolls. It formats only the lines that are on the screen.

Textual's Static formats all of its lines, and again for every new size: the help took 0.3 s of processor time.
"""

from functools import lru_cache

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip

from longsearch.tui.painting import ScrollsLines, filled


class LongText(ScrollsLines):
    """Lines of text, wrapped to the width."""

    def __init__(self, hang: int = 0, id: str | None = None) -> None:
        """`hang`: cells at the left that stay empty where a line goes on."""
        super().__init__(id=id)
        self._content, self._hang = Content(""), hang

    def show(self, content: Content) -> None:
        """Show another text, from its beginning."""
        if content is not self._content:
            self._content = content
            if self.size:
                self.fit()
            self.refresh(layout=True)
        self.scroll_to(y=0, animate=False, immediate=True)

    def _rows_at(self, width: int) -> list[Content]:
        """The lines, wrapped to so many cells, at least one: a terminal may leave the box none."""
        return rows_of(self._content, max(width, 1), self._hang)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows at this width, of which the scrollbar takes its part."""
        return len(self._rows_at(width - self.scrollbar_size_vertical))

    def fit(self) -> None:
        """Scroll through the rows of the new width."""
        self.virtual_size = Size(self.room, len(self._rows_at(self.room)))

    def render_line(self, y: int) -> Strip:
        """Format one row."""
        row, width = self.scroll_offset.y + y, self.room
        rows = self._rows_at(width)
        if row >= len(rows):
            return Strip.blank(width, self.ground)
        pieces = rows[row].render(end="", parse_style=self._get_style)
        segments = [Segment(text, self.styled(style)) for text, style in pieces]
        return filled(segments, width, self.ground)


@lru_cache(maxsize=2)
def rows_of(content: Content, width: int, hang: int) -> list[Content]:
    """Return the lines of a text, wrapped. They are kept for the next time that a box shows the text."""
    return [row for line in content.split("\n", allow_blank=True) for row in wrapped(line, width, hang)]


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
