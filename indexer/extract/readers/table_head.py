"""Says the first row of a long table again: a passage in the middle then has the names of its columns."""

from collections.abc import Sequence

_BLOCK_CHARACTERS = 1_500
"""After so much of a table its first row is said again."""
_MAX_CHARACTERS = 300
"""Characters of the longest first row that is said again."""


class TableHead:
    """The first row of a table that is being read, row by row."""

    def __init__(self) -> None:
        self._names = ""
        self._is_first = True
        self._n_characters = 0

    def before(self, cells: Sequence[str], line: str, is_head: bool = False) -> str:
        """Return the names that stand before a row, or "". `line`: the row's text. `is_head`: the file calls it one."""
        if self._is_first and len(line) <= _MAX_CHARACTERS and (is_head or are_names(cells)):
            self._names = line
        self._is_first = False
        self._n_characters += len(line)
        if self._n_characters <= _BLOCK_CHARACTERS or not self._names:
            return ""
        self._n_characters = len(line)
        return self._names


def are_names(cells: Sequence[str]) -> bool:
    """Return whether the first row of a table holds the names of its columns: all filled, and no number."""
    return len(cells) > 1 and all(cells) and not any(map(is_number, cells))


def is_number(cell: str) -> bool:
    """Return whether a cell has digits and no letter."""
    return not any(map(str.isalpha, cell)) and any(map(str.isdigit, cell))
