"""Points on a plane, each drawn as the sign of the thing it belongs to. The drawing of the cells is pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase, digits

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from longsearch.tui.painting import PaintsLines

Point = tuple[int, float, float]
"""(whose point it is, x, y)."""
MARKS = digits[1:] + ascii_lowercase + ascii_uppercase
_OTHER = "·"


def mark_of(owner: int) -> str:
    """Return the sign of an owner, from 0: 1 to 9, then letters."""
    return MARKS[owner] if owner < len(MARKS) else _OTHER


def cells_of(points: Sequence[Point], width: int, height: int, chosen: int) -> dict[tuple[int, int], int]:
    """Return who is drawn in each cell (column, row), row 0 at the top. Both axes have one scale.

    A cell is twice as high as wide. Where several meet, `chosen` is seen, or else the one of the lowest number.
    """
    if not points or width < 1 or height < 1:
        return {}
    xs, ys = [x for _, x, _ in points], [y for _, _, y in points]
    across, up = max(xs) - min(xs), max(ys) - min(ys)
    scale = max(across / max(width - 1, 1), up / max(2 * (height - 1), 1)) or 1.0  # of a cell's width
    left = (width - 1 - across / scale) / 2
    top = (height - 1 - up / scale / 2) / 2
    cells: dict[tuple[int, int], int] = {}
    for owner, x, y in sorted(points, key=lambda point: (point[0] != chosen, point[0])):
        column, row = round(left + (x - min(xs)) / scale), round(top + (max(ys) - y) / scale / 2)
        cells.setdefault((min(max(column, 0), width - 1), min(max(row, 0), height - 1)), owner)
    return cells


class Scatter(PaintsLines, Widget):
    """The plot. A click names the document of the nearest point."""

    COMPONENT_CLASSES = {"scatter--chosen"}  # noqa: RUF012 - as Widget declares it
    chosen: reactive[int] = reactive(-1)
    """Whose points are lit."""

    @dataclass
    class Clicked(Message):
        """A click on a point."""

        owner: int

    def __init__(self, points: Sequence[Point]) -> None:
        super().__init__()
        self.points = points

    def _cells(self) -> dict[tuple[int, int], int]:
        return cells_of(self.points, self.size.width, self.size.height, self.chosen)

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        row = {column: owner for (column, at), owner in self._cells().items() if at == y}
        lit, plain = self.get_component_rich_style("scatter--chosen"), self.ground
        segments = [
            Segment(mark_of(row[x]), lit if row[x] == self.chosen else plain) if x in row else Segment(" ", plain)
            for x in range(self.size.width)
        ]
        return Strip(segments, self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Tell whose point is nearest; a row counts as two columns."""
        cells = self._cells()
        if cells:
            x, y = min(cells, key=lambda cell: (cell[0] - event.x) ** 2 + 4 * (cell[1] - event.y) ** 2)
            self.post_message(self.Clicked(cells[x, y]))
