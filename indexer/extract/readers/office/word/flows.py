"""Collects what a paragraph, a cell, a table or a text box holds, until its place in the document is known."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.table_head import TableHead


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text of its own, such as a paragraph or the row of a table."""

    text: str
    level: int = 0
    """Its level as a heading, from 1; 0 if it is none."""
    tight: bool = False
    """Whether no empty line parts it from a neighbour that is tight as well."""
    is_apart: bool = False
    """Whether it stands in no line of a table: it is a row itself, or lies beside the text."""
    is_quoted: bool = False
    """Whether its style sets it off as a quotation."""


def marked(mark: str, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return one block that says what these are, such as "Footnote 1: ..."; () if they hold no text."""
    text = "\n".join(block.text for block in blocks if block.text.strip())
    return (Block(f"{mark}: {text}", is_apart=True),) if text.strip() else ()


@dataclass(slots=True)
class Paragraph:
    """A paragraph that is being read."""

    words: list[str] = field(default_factory=list)
    beside: list[Block] = field(default_factory=list)
    """What follows it: notes, comments, text boxes."""
    style: str = ""
    list_id: str | None = None
    place: int | None = None
    """The level of the list, from 0."""
    outline: int | None = None
    is_gone: bool = False
    """Whether its end was deleted: the next paragraph goes on in it."""
    is_mark_hidden: bool = False
    is_drop_cap: bool = False
    """Whether it is the large first letter of the next paragraph."""


class Flow:
    """Paragraphs one after another: those of the document, a cell, a note or a text box."""

    def __init__(self, builder: TextBuilder | None = None, is_implied: bool = False) -> None:
        """`builder`: takes the blocks at once. `is_implied`: a paragraph within another one opened it."""
        self._builder = builder
        self.is_implied = is_implied
        self.blocks: list[Block] = []
        self.paragraph: Paragraph | None = None
        self.unfinished: Paragraph | None = None
        """What the next paragraph goes on with."""

    def add(self, blocks: Iterable[Block]) -> None:
        """Append `blocks`."""
        if self._builder is None:
            self.blocks.extend(blocks)
            return
        for block in blocks:
            if block.level:
                self._builder.add_heading(block.level, block.text)
            else:
                self._builder.add(block.text, block.tight, block.is_quoted)


@dataclass(slots=True)
class _Cell:
    flow: Flow
    n_columns: int = 1
    goes_on: bool = False
    """Whether it is merged with the cell above it."""
    is_gone: bool = False


class Table:
    """A table that is being read, row by row."""

    def __init__(self) -> None:
        self._row: list[_Cell] = []
        self._first_column = 0
        self._above: dict[int, str] = {}
        self._head = TableHead()
        self.is_row_gone = False
        self.is_head = False

    def begin_row(self) -> None:
        """A row begins."""
        self._row, self._first_column = [], 0
        self.is_row_gone = self.is_head = False

    def skip_columns(self, n_columns: int) -> None:
        """The row begins further to the right."""
        self._first_column = min(max(n_columns, 0), 100)

    def begin_cell(self) -> Flow:
        """A cell begins; return its flow."""
        self._row.append(_Cell(Flow()))
        return self._row[-1].flow

    def span(self, n_columns: int) -> None:
        """The open cell is as wide as `n_columns`."""
        if self._row:
            self._row[-1].n_columns = min(max(n_columns, 1), 100)

    def go_on(self, goes_on: bool) -> None:
        """The open cell is merged with the one above it, or with those below."""
        if self._row:
            self._row[-1].goes_on = goes_on

    def remove_cell(self) -> None:
        """The open cell was deleted."""
        if self._row:
            self._row[-1].is_gone = True

    def end_row(self) -> Iterator[Block]:
        """Yield the row as a line, and then the tables in its cells. A row of one cell stays as it is."""
        cells = [cell for cell in self._row if not cell.is_gone]
        if self.is_row_gone or not cells:
            return
        if len(cells) == 1 and not cells[0].goes_on and len(cells[0].flow.blocks) > 1:
            yield from cells[0].flow.blocks
            return
        words = {**dict.fromkeys(range(self._first_column), ""), **self._words(cells)}
        inner = [block for cell in cells for block in cell.flow.blocks if block.is_apart]
        for line in self._head.lines(list(words.values()), list(words), self.is_head):
            yield Block(line, tight=True, is_apart=True)
        yield from inner

    def _words(self, cells: list[_Cell]) -> dict[int, str]:
        """Return the text of each cell by its first column; of one that is merged with the cell above, that cell's."""
        words: dict[int, str] = {}
        column = self._first_column
        for cell in cells:
            own = " ".join(" ".join(block.text.split()) for block in cell.flow.blocks if not block.is_apart)
            own = own or (self._above.get(column, "") if cell.goes_on else "")
            self._above[column] = words[column] = own
            column += cell.n_columns
        return words
