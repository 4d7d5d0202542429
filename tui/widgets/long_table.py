"""A table of many rows with a cursor. It makes only the rows that are on the screen.

Textual's DataTable keeps a Rich text for each cell and a key for each row: 50,000 files took seven seconds.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.style import Style

from longsearch.tui.bindings import TABLE_MOVES
from longsearch.tui.painting import ScrollsLines, filled
from longsearch.tui.text.display import clip

_PADDING = 1  # on each side of a cell


class Cell(NamedTuple):
    """The text of a row in one column, or the label of a column."""

    text: str
    """On one line, and safe for the terminal."""
    style: str = ""
    """What differs from the style of the row: one of `styles`, or ""."""
    is_right: bool = False
    """Whether the text stands at the right end."""

    def fitted(self, width: int) -> str:
        """Return the text in `width` cells, cut or filled, between the blanks of its column."""
        text = clip(self.text, width)
        blank = " " * (width - cell_len(text))
        return f" {blank}{text} " if self.is_right else f" {text}{blank} "


Column = tuple[Cell, int | None]
"""The label of a column, and its width in cells without padding; None: the room that the others leave."""


class LongTable(ScrollsLines):
    """Rows below a line of labels; up, down, page up, page down, home and end move the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "Select", show=False), *TABLE_MOVES]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--header", "table--cursor", "table--even-row", "table--odd-row"}
    DEFAULT_CSS = """
    LongTable {
        background-tint: $foreground 5%;
        & > .table--header {
            text-style: bold; background: $panel; color: $foreground; background-tint: $foreground 5%;
        }
        & > .table--even-row { background: $surface-darken-1 40%; }
    }
    """

    cursor_row = reactive(0, repaint=False)

    class Highlighted(Message):
        """The cursor is on this row, or the rows are new."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

    class Selected(Message):
        """Enter was pressed, or a row was clicked."""

    def __init__(self, has_labels: bool = True, id: str | None = None) -> None:
        """`has_labels`: the first line names the columns."""
        super().__init__(id=id)
        self._n_above = int(has_labels)
        """Lines above the first row."""
        self._columns: Sequence[Column] = ()
        self._row_of: Callable[[int], Sequence[Cell]] = lambda _: ()
        self.row_count = 0

    def show(self, columns: Sequence[Column], row_count: int, row_of: Callable[[int], Sequence[Cell]]) -> None:
        """Show other rows, with the cursor on the first; `row_of` makes the cells of a row when it is seen."""
        self._columns, self._row_of, self.row_count = columns, row_of, row_count
        self.virtual_size = Size(self._own_width(columns), row_count + self._n_above)
        self.set_reactive(LongTable.cursor_row, 0)
        self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()
        if row_count:
            self.post_message(self.Highlighted(0))

    @staticmethod
    def _own_width(columns: Sequence[Column]) -> int:
        """Return the cells that the columns take, without that which takes the rest."""
        return sum((width or 0) + 2 * _PADDING for _, width in columns)

    def row_at(self, row: int) -> Sequence[Cell]:
        """The cells of a row."""
        return self._row_of(row)

    def move_cursor(self, row: int) -> None:
        """Put the cursor on a row, or on the last one if there are fewer, and show it."""
        self.cursor_row = max(0, min(row, self.row_count - 1))

    def watch_cursor_row(self, before: int, row: int) -> None:
        """Scroll to the cursor's row; paint it, and the one that the cursor has left."""
        if self.size:
            self.fit()
        for one in (before, row):
            self.refresh_lines(one + self._n_above)
        if self.row_count:
            self.post_message(self.Highlighted(row))

    def action_move(self, rows: int) -> None:
        """Move the cursor down, or up if `rows` is negative."""
        self.move_cursor(self.cursor_row + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many rows as are seen."""
        self.move_cursor(self.cursor_row + pages * max(1, self.scrollable_content_region.height - self._n_above))

    def action_go_to(self, row: int) -> None:
        """Move the cursor to a row; -1 is the last one."""
        self.move_cursor(row if row >= 0 else self.row_count - 1)

    def action_select(self) -> None:
        """Report the row under the cursor."""
        if self.row_count:
            self.post_message(self.Selected())

    def on_click(self, event: Click) -> None:
        """Move the cursor to a row and report it."""
        y = event.get_content_offset_capture(self).y
        row = self.scroll_offset.y + y - self._n_above
        if y >= self._n_above and row < self.row_count:
            self.move_cursor(row)
            self.action_select()

    def fit(self) -> None:
        """Show the row under the cursor: the labels cover the first line, so the row must lie below it."""
        region = Region(0, self.cursor_row, 1, 1 + self._n_above)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the labels, a row, or nothing."""
        width = self.width
        row = self.scroll_offset.y + y - self._n_above
        if y < self._n_above and self._columns:
            return self._line([label for label, _ in self._columns], "table--header", width)
        if not 0 <= row < self.row_count:
            return Strip.blank(width, self.ground)
        name = "cursor" if row == self.cursor_row else "odd-row" if row % 2 else "even-row"
        return self._line(self._row_of(row), f"table--{name}", width)

    def _line(self, cells: Sequence[Cell], style_class: str, width: int) -> Strip:
        rest = max(self.room - self._own_width(self._columns), 1)
        segments = [
            Segment(
                cell.fitted(rest if own is None else own),
                self.kept((style_class, cell.style), partial(self._style, cell, style_class)),
            )
            for (_, own), cell in zip(self._columns, cells, strict=True)
        ]
        return filled(segments, width, self.kept(style_class))

    def _style(self, cell: Cell, style_class: str) -> RichStyle:
        """A cell's own colour wins, except under the cursor."""
        row, own = self.get_visual_style(style_class), Style.parse(cell.style)
        return (own + row if style_class == "table--cursor" else row + own).rich_style
