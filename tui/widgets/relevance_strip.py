"""A column beside the text: shows where in the document the lit passages are, and which part is on the screen.

It replaces the scroll bar. Each row has two halves, so 40 rows show 80 parts. A click scrolls to that part. The colour
behind the marks shows how near each part is to the query by meaning, if that is known, compared with the other parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.color import Color, blend_rgb
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from longsearch.engine.types.results import PassageSimilarity
from longsearch.tui.painting import PaintsLines
from longsearch.tui.text.highlight import Span


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
    warmth: tuple[float, float] = (0.0, 0.0)
    """How near the upper and the lower half are to the query, 0 to 1."""


def warmth_of(similarity: PassageSimilarity, length: int, n_parts: int) -> list[float]:
    """Return for each of `n_parts` parts of a document how near its nearest passage is, 0 to 1.

    0 is the median passage or less, 1 the nearest. A part in which no passage begins has the warmth of the one before.
    """
    cosines = sorted(cosine for _, _, cosine in similarity)
    if n_parts < 1 or not cosines or cosines[-1] <= cosines[len(cosines) // 2]:
        return [0.0] * n_parts
    usual, highest = cosines[len(cosines) // 2], cosines[-1]
    parts = [-1.0] * n_parts
    for start, stop, cosine in similarity:
        first, last = (min(offset * n_parts // max(length, 1), n_parts - 1) for offset in (start, max(stop - 1, start)))
        for part in range(first, last + 1):
            parts[part] = max(parts[part], cosine)
    return [min(max((cosine - usual) / (highest - usual), 0.0), 1.0) for cosine in parts]


def strip_rows(
    spans: Sequence[Span],
    current: int,
    length: int,
    view: tuple[int, int],
    height: int,
    similarity: PassageSimilarity = (),
) -> list[Row]:
    """Make `height` rows for a document of `length` characters; `view` is the first and the last offset on screen."""
    warmth = warmth_of(similarity, length, 2 * height) if similarity else [0.0] * 2 * height
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
            warmth=(warmth[2 * row], warmth[2 * row + 1]),
        )
        for row in range(height)
    ]


class RelevanceStrip(PaintsLines, Widget):
    """The widget that draws `strip_rows`."""

    COMPONENT_CLASSES = {"strip--passage", "strip--current", "strip--on-screen", "strip--near"}  # noqa: RUF012 - Textual's own type

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
        self._similarity: PassageSimilarity = ()
        self._rows: list[Row] = []

    def show(self, spans: Sequence[Span], current: int, length: int, view: tuple[int, int]) -> None:
        """Draw these passages of a document of `length` characters, with `view` on the screen; nothing for length 0."""
        self._spans, self._current, self._length, self._view = spans, current, length, view
        self._draw()

    def warm(self, similarity: PassageSimilarity) -> None:
        """Show how near the passages of this document are to the query; () for nothing."""
        if similarity != self._similarity:
            self._similarity = similarity
            self._draw()

    def fit(self) -> None:
        """Draw the strip for the new height."""
        self._draw()

    def _draw(self) -> None:
        height = self.size.height if self._length else 0
        before = self._rows
        self._rows = strip_rows(self._spans, self._current, self._length, self._view, height, self._similarity)
        if len(before) != height:
            self.refresh()
        elif changed := [y for y, (old, new) in enumerate(zip(before, self._rows, strict=True)) if old != new]:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        if y >= len(self._rows):
            return Strip.blank(self.size.width, self.ground)
        row = self._rows[y]
        if any(row.warmth):
            return Strip([self._warm_cell(row)], 1).adjust_cell_length(self.size.width, self.ground)
        name = "strip--current" if row.current else "strip--passage"
        style = self.kept(name)
        if row.on_screen:
            style += Style(bgcolor=self.kept("strip--on-screen").bgcolor)
        return Strip([Segment(" ▄▀█"[2 * row.upper + row.lower], style)], 1).adjust_cell_length(self.size.width, style)

    def _warm_cell(self, row: Row) -> Segment:
        """Return a cell of two coloured halves. A half has the colour of its passage, or else of its warmth."""
        mark = self.kept("strip--current" if row.current else "strip--passage").color
        ground = self.kept("strip--on-screen" if row.on_screen else "strip--passage").bgcolor
        near = self.kept("strip--near").color
        colours = []
        for is_passage, warmth in zip((row.upper, row.lower), row.warmth, strict=True):
            if is_passage or ground is None or near is None:
                colours.append(mark)
            else:
                cold, warm = ground.get_truecolor(), near.get_truecolor()
                colours.append(Color.from_triplet(blend_rgb(cold, warm, warmth)))
        return Segment("▀", Style(color=colours[0], bgcolor=colours[1]))

    def on_click(self, event: events.Click) -> None:
        """Report how far down the click was."""
        self.post_message(self.Clicked(event.y / max(self.size.height - 1, 1)))
