"""A column beside the text: shows where in the document the lit passages are, and which part is on the screen.

It replaces the scroll bar. Each row has two halves, so 40 rows show 80 parts. A click scrolls to that part.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from longsearch.tui.text.lighting import Span


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the strip."""

    upper: bool
    """Whether a passage lies in the upper half of its part of the document."""
    lower: bool
    """The same for the lower half."""
    current: bool
    """Whether the current passage lies in one of the two halves."""
    on_screen: bool
    """Whether its part of the document is on the screen."""

    @property
    def character(self) -> str:
        """The character to draw."""
        return " ▄▀█"[2 * self.upper + self.lower]


def strip_rows(spans: Sequence[Span], current: int, length: int, view: tuple[int, int], height: int) -> list[Row]:
    """Make `height` rows for a document of `length` characters; `view` is the first and the last offset on screen."""
    length = max(length, 1)
    halves = {
        min(span.start * 2 * height // length, 2 * height - 1): index == current for index, span in enumerate(spans)
    }
    if 0 <= current < len(spans):  # the half row is current even if other passages share it
        halves[min(spans[current].start * 2 * height // length, 2 * height - 1)] = True
    first, last = (min(offset * height // length, height - 1) for offset in view)
    return [
        Row(
            upper=2 * row in halves,
            lower=2 * row + 1 in halves,
            current=halves.get(2 * row, False) or halves.get(2 * row + 1, False),
            on_screen=first <= row <= last,
        )
        for row in range(height)
    ]


class RelevanceStrip(Widget):
    """The widget that draws `strip_rows`."""

    COMPONENT_CLASSES = {"strip--passage", "strip--current", "strip--on-screen"}  # noqa: RUF012 - Textual's own type

    @dataclass
    class Clicked(Message):
        """A click in the strip."""

        share: float
        """How far down, 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        self._spans: Sequence[Span] = ()
        self._current = -1
        self._length = 0
        self._view = (0, 0)
        self._rows: list[Row] = []

    def show(self, spans: Sequence[Span], current: int, length: int, view: tuple[int, int]) -> None:
        """Draw these passages of a document of `length` characters, with `view` on the screen; nothing for length 0."""
        self._spans, self._current, self._length, self._view = spans, current, length, view
        self._draw()

    def on_resize(self) -> None:
        """Draw the strip for the new height."""
        self._draw()

    def _draw(self) -> None:
        height = self.size.height if self._length else 0
        self._rows = strip_rows(self._spans, self._current, self._length, self._view, height)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        if y >= len(self._rows):
            return Strip.blank(self.size.width, self.rich_style)
        row = self._rows[y]
        name = "strip--current" if row.current else "strip--passage"
        style = self.get_component_rich_style(name)
        if row.on_screen:
            style += Style(bgcolor=self.get_component_rich_style("strip--on-screen").bgcolor)
        return Strip([Segment(row.character, style)], 1).adjust_cell_length(self.size.width, style)

    def on_click(self, event: events.Click) -> None:
        """Report how far down the click was."""
        self.post_message(self.Clicked(event.y / max(self.size.height - 1, 1)))
