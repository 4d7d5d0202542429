"""Turns the rows of a table into blocks of text, each under the names of the columns, so that a row means something.

A block is about as long as a passage. Each has a heading of its own, without a line in the text, that names its place:
`sheet "Budget" rows 12-40`. Knows no format: takes rows of strings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, zip_longest

from longsearch.indexer.extract.clean import one_line, whole_line
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.table_head import CELL_SEPARATOR, is_number
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata

MAX_TABLE_CHARACTERS = 5_000_000
"""Text of the tables of one file; more is a data dump, whose rows would swamp everything else in the index."""
_BLOCK_CHARACTERS = 450
_MAX_BLOCKS = 5_000
_HEADER_WITHIN = 10
"""Rows within which the names of the columns stand; a table's title and remarks may come before."""
_MOSTLY = 0.5
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_Row = tuple[int, list[str]]
"""The number of a row, from 1, and its cells."""


@dataclass(slots=True)
class _Block:
    first: int
    last: int
    """Numbers of its first and last row, from 1."""
    lines: list[str]
    n_characters: int = 0


class Tables:
    """Collects the tables of one file."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._n_characters = 0
        self._is_cut = False

    def add(self, rows: Iterable[Sequence[str]], sheet: str = "", is_page: bool = False) -> None:
        """Add a table. `sheet`: its name, if it has one; `is_page`: it counts as a page."""
        self.add_numbered(enumerate(rows, start=1), sheet, is_page)

    def add_numbered(
        self,
        rows: Iterable[tuple[int, Sequence[str]]],
        sheet: str = "",
        is_page: bool = False,
        notes: Mapping[int, Sequence[str]] | None = None,
        wide: Mapping[int, Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        """Add a table whose rows come with their numbers.

        `notes`: lines that follow a row, by its number. `wide`: the first and the last column of its wide cells.
        """
        if is_page:
            self.builder.begin_page()
        left = dict(notes or {})
        numbered = ((number, _cells(row)) for number, row in rows)
        filled = ((number, cells) for number, cells in numbered if cells)
        head = list(islice(filled, _HEADER_WITHIN))
        names, named_in = _names_among(head, wide or {})
        name = one_line(sheet, 100)
        place = f'sheet "{name}" ' if name else ""
        for index, block in enumerate(_joined(list(self._blocks(chain(head, filled), names, named_in, left)))):
            rows_of = f"row {block.first}" if block.first == block.last else f"rows {block.first}-{block.last}"
            self.builder.mark(1, place + rows_of)
            above = ("" if index else name, CELL_SEPARATOR.join(names))
            self.builder.add("\n".join((*filter(None, above), *block.lines)))
        for row in sorted(left):
            self.builder.mark(1, f"{place}row {row}")
            self.builder.add("\n".join(left[row]))

    def file_text(self, metadata: RawMetadata = (), title: str = "", warning: str = "") -> FileText:
        """Return the text. Without a `title`, the file's name serves."""
        limit = f"{MAX_TABLE_CHARACTERS / 1e6:.0f} million characters"
        warning = f"read to its limit for tables only, {limit}" if self._is_cut else warning
        return replace(self.builder.file_text(), title=title, metadata=metadata, warning=warning, untitled=True)

    def _blocks(
        self,
        rows: Iterable[tuple[int, list[str]]],
        names: list[str],
        named_in: Sequence[int],
        notes: dict[int, Sequence[str]],
    ) -> Iterator[_Block]:
        header = sum(map(len, names))
        room = max(_BLOCK_CHARACTERS - header, 3 * header)  # the names of many columns take a quarter of each block
        block: _Block | None = None
        for number, cells in rows:
            if self._n_characters > MAX_TABLE_CHARACTERS:
                self._is_cut = True
                break
            is_head = cells == names or number in named_in
            if is_head and number not in notes:
                self._n_characters += header  # a file may repeat a megabyte ten thousand times
                continue
            line = "\n".join((*(() if is_head else (_line(cells, names),)), *notes.pop(number, ())))
            self._n_characters += len(line) + 1
            if block and block.n_characters + len(line) > room:
                yield block
                block = None
            block = block or _Block(number, number, [])
            block.last = number
            block.lines.append(line)
            block.n_characters += len(line) + 1
        if block or names:
            yield block or _Block(1, 1, [])


def _cells(row: Sequence[str]) -> list[str]:
    """Return the cells, each on one line, without the empty ones at the end."""
    cells = [whole_line(cell) if cell else "" for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _names_among(rows: Sequence[_Row], wide: Mapping[int, Sequence[tuple[int, int]]]) -> tuple[list[str], list[int]]:
    """Return the names of the columns, and the numbers of the rows that hold them; none if no row does.

    It is the first row that is as full as any and holds no number. Wide cells in it, or above it, name groups.
    """
    widest = max((sum(map(bool, row)) for _, row in rows), default=0)
    for place, (number, row) in enumerate(rows) if widest > 1 else ():
        full = list(filter(None, row))
        if 2 * len(full) <= widest or len(full) < 2:
            continue
        for above, below in pairwise(rows[max(0, place - 1) : place + 2]):
            if names := _in_groups(above[1], below[1], wide.get(above[0], ())) if below[0] == above[0] + 1 else []:
                return names, [above[0], below[0]]
        return (row, [number]) if len(rows) > 1 and not any(map(is_number, full)) else ([], [])
    return [], []


def _in_groups(above: list[str], names: list[str], wide: Sequence[tuple[int, int]]) -> list[str]:
    """Return the names of columns, each after that of its group: "Cargo: coal"; [] if the row above names no groups.

    A title over all columns is no group. A column outside the groups has its name in one of the rows.
    """
    group_of = {
        column: above[first]
        for first, last in wide
        if last < len(names)
        and any(above[first : first + 1])
        and all(names[first : last + 1])
        and any((*above[:first], *names[:first], *above[last + 1 :], *names[last + 1 :]))
        for column in range(first, last + 1)
    }
    if not group_of or any(is_number(name) and not _YEAR.fullmatch(name) for name in names):
        return []
    joined = []
    for column, (group, name) in enumerate(zip_longest(above, names, fillvalue="")):
        if column not in group_of and group and name not in ("", group):
            return []
        joined.append(f"{group_of[column]}: {name}" if column in group_of else name or group)
    return joined


def _line(cells: list[str], names: list[str]) -> str:
    """Return a row as a line. Of a row that is mostly empty, only the filled cells, each after its column's name."""
    filled = [index for index, cell in enumerate(cells) if cell]
    if len(filled) > _MOSTLY * len(cells) or not names:
        return CELL_SEPARATOR.join(cells if names else filter(None, cells))
    return CELL_SEPARATOR.join(
        f"{names[index]}: {cells[index]}" if index < len(names) and names[index] else cells[index] for index in filled
    )


def _joined(blocks: list[_Block]) -> Iterator[_Block]:
    """Join neighbours until there are `_MAX_BLOCKS` at most: a document has a limited number of headings."""
    n_together = -(-len(blocks) // _MAX_BLOCKS) or 1
    for start in range(0, len(blocks), n_together):
        group = blocks[start : start + n_together]
        yield _Block(group[0].first, group[-1].last, [line for block in group for line in block.lines])
