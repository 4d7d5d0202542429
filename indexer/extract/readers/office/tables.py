"""Turns the rows of a table into blocks of text, each under the names of the columns, so that a row means something.

A block is about as long as a passage. Each has a heading of its own, without a line in the text, that names its place:
`sheet "Budget" rows 12-40`. Knows no format: takes rows of strings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from longsearch.indexer.extract.clean import one_line, whole_line
from longsearch.indexer.extract.readers.table_head import CELL_SEPARATOR, is_number
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata

MAX_TABLE_CHARACTERS = 5_000_000
"""Text of the tables of one file; more is a data dump, whose rows would swamp everything else in the index."""
_BLOCK_CHARACTERS = 450
_MAX_BLOCKS = 5_000
_HEADER_WITHIN = 10
"""Rows within which the names of the columns stand; a table's title and remarks may come before."""
_MOSTLY = 0.5


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
    ) -> None:
        """Add a table whose rows come with their numbers. `notes`: lines that follow a row, by its number."""
        if is_page:
            self.builder.begin_page()
        left = dict(notes or {})
        numbered = ((number, _cells(row)) for number, row in rows)
        filled = ((number, cells) for number, cells in numbered if cells)
        head = list(islice(filled, _HEADER_WITHIN))
        names = _names_among([cells for _, cells in head])
        name = one_line(sheet, 100)
        place = f'sheet "{name}" ' if name else ""
        for index, block in enumerate(_joined(list(self._blocks(chain(head, filled), names, left)))):
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
        self, rows: Iterable[tuple[int, list[str]]], names: list[str], notes: dict[int, Sequence[str]]
    ) -> Iterator[_Block]:
        header = sum(map(len, names))
        room = max(_BLOCK_CHARACTERS - header, 3 * header)  # the names of many columns take a quarter of each block
        block: _Block | None = None
        for number, cells in rows:
            if self._n_characters > MAX_TABLE_CHARACTERS:
                self._is_cut = True
                break
            if cells == names and number not in notes:
                self._n_characters += header  # a file may repeat a megabyte ten thousand times
                continue
            line = "\n".join((*((_line(cells, names),) if cells != names else ()), *notes.pop(number, ())))
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


def _names_among(rows: Sequence[list[str]]) -> list[str]:
    """Return the names of the columns: the first row that is as full as any and holds no number; [] if none is."""
    widest = max((sum(map(bool, row)) for row in rows), default=0)
    for row in rows if widest > 1 else ():
        full = list(filter(None, row))
        if 2 * len(full) > widest and len(full) > 1:
            return row if len(rows) > 1 and not any(map(is_number, full)) else []
    return []


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
