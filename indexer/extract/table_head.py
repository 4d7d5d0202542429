"""Makes the lines of a table's rows: cells under their columns, and the first row again in a long table.

A passage in the middle then has the names of its columns.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

CELL_SEPARATOR = " | "
_BLOCK_CHARACTERS = 1_500
_MAX_CHARACTERS = 300
"""Characters of the longest first row that is said again."""
_LEAST_ROWS = 3
"""Rows below the names that make a table sure to be one."""
_FILLED, _NUMBERS = 0.8, 0.8
"""Shares of a sure table's cells that are filled, and of a column's that are numbers."""
_MAX_COLUMNS = 100
"""Columns that cells are put under."""


class TableHead:
    """The columns of a table that is being read, row by row, and its first row."""

    def __init__(self, block_characters: int = _BLOCK_CHARACTERS) -> None:
        """`block_characters`: after so much of the table its first row is said again."""
        self._block_characters = block_characters
        self._cells: Sequence[str] = ()
        self._starts: Sequence[int] = ()
        self._columns: Sequence[int] = ()
        self._names = ""
        self._is_head = False
        self._n_rows = self._n_characters = 0

    def lines(self, cells: Sequence[str], starts: Sequence[int] = (), is_head: bool = False) -> list[str]:
        """Return the row as a line, at times after one of the columns' names; [] if it is empty.

        `starts`: where each cell begins, if some may be wider than others. `is_head`: the file calls the row a head.
        If the second row has more cells than the first, the names are said again if they have moved: some were wide.
        Later rows add no columns: a form has rows of many widths, and none of its cells stands under another.
        """
        line = as_line(under(cells, starts, self._columns))
        if not line:
            return []
        if not self._columns and len(line) <= _MAX_CHARACTERS and (is_head or all(cells[1:])):
            self._cells, self._starts, self._names = cells, starts, line
            self._is_head = is_head or are_names(cells)
        names = self._names
        self._n_rows += 1
        if self._n_rows <= 2 and len(cells) > len(self._columns):
            self._columns = (starts or range(len(cells)))[:_MAX_COLUMNS]
            names = as_line(under(self._cells, self._starts, self._columns))
        self._n_characters += len(line)
        is_due = names != self._names or (self._is_head and self._n_characters > self._block_characters)
        if not is_due or len(names) > _MAX_CHARACTERS:
            return [line]
        self._names, self._is_head, self._n_characters = names, True, len(line)
        return [names, line]


def under(cells: Sequence[str], starts: Sequence[int], columns: Sequence[int]) -> Sequence[str]:
    """Return a row in which an empty cell follows a wide one for each further column that it covers.

    `columns`: where the columns of the table begin. A row of as many cells stays as it is: its edges are only uneven.
    """
    if not starts or len(cells) >= len(columns):
        return cells
    ends = [bisect_left(columns, start) for start in starts[1:]]
    placed: list[str] = []
    for cell, start, end in zip(cells, starts, (*ends, len(columns)), strict=True):
        placed += [cell, *[""] * (end - bisect_right(columns, start))]
    return placed


def as_line(cells: Iterable[str]) -> str:
    """Return the cells of a row on one line, without the empty ones at its end."""
    return CELL_SEPARATOR.join(cells).rstrip(" |")


def are_names(cells: Sequence[str]) -> bool:
    """Return whether the first row of a table holds the names of its columns: all filled, and no number."""
    return len(cells) > 1 and all(cells) and not any(map(is_number, cells))


def surely_begins_with_names(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first of a table's rows names its columns: it is all words, above a column of numbers.

    `rows` have the same number of cells, some of them empty. Too few rows, or many empty cells, make nothing sure.
    """
    names, body = rows[0], rows[1:]
    n_filled = sum(map(bool, (cell for row in body for cell in row)))
    if len(body) < _LEAST_ROWS or n_filled < _FILLED * len(body) * len(names) or not are_names(names):
        return False
    return any(sum(map(is_number, column)) >= _NUMBERS * len(body) for column in zip(*body, strict=True))


def is_number(cell: str) -> bool:
    """Return whether a cell has digits and no letter."""
    return not any(map(str.isalpha, cell)) and any(map(str.isdigit, cell))
