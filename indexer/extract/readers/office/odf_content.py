"""Turns the events of an OpenDocument file into blocks, headings, rows and pages. Knows no archive.

Longer than 300 lines because texts, slides and sheets share their elements: a note or a comment may stand in each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.mathml import MathLine
from longsearch.indexer.extract.readers.office.odf_lists import Lists
from longsearch.indexer.extract.readers.office.word.flows import Block, marked
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.table_head import TableHead
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS

_SKIPPED_NAMES = """
tracked-changes table-of-content alphabetical-index-source binary-data ruby-text settings scripts
note-citation sender-firstname hidden-text-declaration dde-connection-decls
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_FURNITURE = frozenset({"header", "footer", "date-time", "page-number", "page"})
"""Frames of a slide that say the same on all slides."""
_NO_TEXT = frozenset({"creator", "date", "creator-initials", "date-string", "initials"})
"""What a comment says of itself."""
_PICTURES = frozenset({"frame", "g", "image", "object", "semantics", "custom-shape", "rect", "line", "path", "a"})
_BOXES = frozenset({"text-box", "custom-shape", "rect", "ellipse", "caption", "polygon", "path", "line"})
_HEADS = frozenset({"header", "footer", "header-left", "footer-left", "header-first", "footer-first"})
_STORED = ("string", "date", "time", "boolean")
_MAX_LEVEL = 9
_MAX_REPEATED = 1_000
"""Times that a filled row or cell is repeated; more is the pattern of an empty sheet."""
Row = tuple[int, list[str]]
AddRows = Callable[[str, list[Row], Mapping[int, list[tuple[int, int]]]], None]
"""Takes the name of a sheet, its rows, and the columns of its wide cells by row."""


@dataclass(slots=True)
class _Part:
    """A comment, a note, a text box, or a head of pages: what lies beside a paragraph."""

    mark: str
    blocks: list[Block] = field(default_factory=list)
    author: str = ""
    day: str = ""

    def finished(self) -> tuple[Block, ...]:
        """Return its text as one block, marked as what it is."""
        by = f" by {self.author}" if self.author else ""
        return marked(self.mark + by + (f", {self.day[:10]}" if self.day else ""), self.blocks)


@dataclass(slots=True)
class _Cell:
    words: list[str] = field(default_factory=list)
    n_columns: int = 1
    n_wide: int = 1
    """Columns that it covers."""
    n_below: int = 0
    """Rows below that it covers."""
    is_covered: bool = False
    beside: list[Block] = field(default_factory=list)
    stored: str = ""
    """Its value, which is shown only if the file does not say how it looks."""


class Content:
    """Takes the events of `content.xml`, of `styles.xml`, or of a flat file."""

    def __init__(self, builder: TextBuilder, lists: Lists, add_rows: AddRows | None = None) -> None:
        """`add_rows`: takes the rows of each sheet of a spreadsheet. A text's tables become lines."""
        self._builder = builder
        self._lists = lists
        self._add_rows = add_rows
        self._n_skipped = 0
        self._name = ""
        self._open: list[list[str]] = []
        self._beside: list[Block] = []
        self._parts: list[_Part] = []
        self._level = 0
        self._is_quoted = False
        self._tables: list[_Table] = []
        self._n_slides = 0
        self._slide: list[tuple[Block, bool]] | None = None
        self._slide_title: list[str] = []
        self._frame = ""
        self._in_notes = False
        self._n_notes: dict[str, int] = {}
        self._heads: list[str] = []
        self._path: list[str] = []
        self._is_hidden_slide = False
        self._hidden_depth = 0
        """How many paragraphs are open down to the hidden one; 0 if none is hidden."""
        self._math: MathLine | None = None
        self._controls: dict[str, str] = {}
        self._links: list[str] = []
        self._descriptions = Descriptions()
        self._written: dict[str, str] = {}
        """What was written of the innermost picture: its "title", its "desc"."""
        self.is_flat = False
        """Whether the file is no archive: links of an archive begin in it, and leave it by `../`."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._math is not None or (name == "math" and not self._n_skipped):
            self._math = self._math or MathLine()
            self._math.start(name, attributes)
            return
        self._lists.start(name, attributes)
        above = self._path[-1] if self._path else ""
        self._path.append(name)
        if self._n_skipped or name in _SKIPPED or self._hides(name, attributes, above):
            self._n_skipped += 1
            return
        self._name = name
        if name in ("title", "desc") and above in _PICTURES:
            self._written[name] = ""
            return
        match name:
            case "p" | "h":
                self._open.append([])
                self._level = min(_MAX_LEVEL, _number(attributes.get("outline-level"), 1)) if name == "h" else 0
                if len(self._open) == 1:  # not a comment's, in the middle of a quotation
                    self._is_quoted = self._lists.is_quotation(attributes.get("style-name", ""))
            case "s":
                self.characters(" ")
            case "tab":
                self.characters("\t")
            case "line-break":
                self.characters("\n")
            case "a" if draft.is_read and self._open:
                target = attributes.get("href", "")
                self._links.append(target if self.is_flat else target.removeprefix("../"))
                self.characters(draft.link_begin(self._links[-1]))
            case _:
                self._start_part(name, attributes)

    def _hides(self, name: str, attributes: Mapping[str, str], above: str) -> bool:
        """Return whether an element is not shown: hidden text, a hidden row, a slide that is left out."""
        if name == "hidden-paragraph" and attributes.get("is-hidden") == "true" and self._open:
            self._hidden_depth = len(self._open)
        if attributes.get("is-hidden") == "true" or (name == "variable-set" and attributes.get("display") == "none"):
            return True
        if name in ("span", "p", "h"):
            return self._lists.hides_text(attributes.get("style-name", ""))
        if name == "annotation" and above == "semantics":  # the source of a formula
            return True
        if name == "section":
            return attributes.get("display", "true") == "none"
        if name == "table-row":
            return attributes.get("visibility") == "collapse"
        return name == "table" and self._lists.hides_table(attributes.get("style-name", ""))

    def _start_part(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _BOXES:
            self._frame = attributes.get("class", "") or self._frame
            of_master = "master-page" in self._path and self._frame in _HEADS
            mark = self._frame.capitalize() if of_master else "Text box"
            self._parts.append(_Part("" if self._slide is not None else mark))
        elif name in _HEADS:
            self._parts.append(_Part(name.partition("-")[0].capitalize()))
        elif name == "note":
            kind = attributes.get("note-class", "footnote").capitalize()
            self._n_notes[kind] = self._n_notes.get(kind, 0) + 1
            name = draft.note_name(kind, self._n_notes[kind])
            if draft.is_read and self._open:
                self._open[-1].append(name)
            self._parts.append(_Part(name))
        elif name == "annotation":
            self._parts.append(_Part("Comment"))
        else:
            self._start_place(name, attributes)

    def _start_place(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "frame":
                self._frame = attributes.get("class", "")
            case "table":
                self._tables.append(_Table(attributes.get("name", "")))
            case "table-row" if self._tables:
                self._tables[-1].begin_row(_number(attributes.get("number-rows-repeated"), 1, 10))
            case "table-cell" | "covered-table-cell" if self._tables:
                self._tables[-1].begin_cell(name, attributes)
            case "page":
                self._slide, self._slide_title = [], []
                self._n_slides += 1
                self._is_hidden_slide = self._lists.hides_slide(attributes.get("style-name", ""))
            case "notes":
                self._in_notes = True
            case "control":
                self._put_beside(self._controls.pop(attributes.get("control", ""), ""))
            case _ if name in _CONTROLS and "forms" in self._path:
                identity = attributes.get("id") or f"field {len(self._controls)}"
                self._controls[identity] = _CONTROLS[name](attributes)

    def _put_beside(self, words: str) -> None:
        """Let what a field of a form shows, or what is written of a picture, follow its paragraph."""
        blocks = [Block(words, is_apart=True)] if words else []
        self._beside.extend(blocks) if self._open else self._put(blocks)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._math is not None:
            self._end_math(self._math)
            return
        self._lists.end(name)
        self._name = ""
        if self._path:
            self._path.pop()
        if self._n_skipped:
            self._n_skipped -= 1
            return
        match name:
            case "p" | "h":
                if self._open:
                    self._end_words()
            case _ if name in _BOXES or name in ("annotation", "note"):
                self._end_beside()
            case _ if name in _HEADS:
                self._end_head()
            case "frame":
                self._frame = ""
            case _:
                self._end_part(name)
        if self._written and name in _PICTURES:
            self._end_picture()

    def _end_picture(self) -> None:
        """Let what a person wrote of a picture follow the paragraph in which it stands."""
        line = self._descriptions.line(*map(self._written.get, ("title", "desc")))
        self._written = {}
        self._put_beside(line)

    def _end_words(self) -> None:
        """End the innermost paragraph. A hidden paragraph loses its words and keeps what lies beside it."""
        is_hidden = len(self._open) == self._hidden_depth
        words = "".join(self._open.pop()).strip()
        self._hidden_depth = 0 if is_hidden else self._hidden_depth
        self._end_paragraph("" if is_hidden else words)

    def _end_math(self, math: MathLine) -> None:
        if math.end():
            self._math = None
            self._open[-1].append(math.text) if self._open else self._put((Block(math.text),) if math.text else ())

    def _end_part(self, name: str) -> None:
        match name:
            case "notes":
                self._in_notes = False
            case "table-cell" | "covered-table-cell" if self._tables:
                self._tables[-1].end_cell()
            case "table-row" if self._tables:
                self._end_row(self._tables[-1])
            case "table" if self._tables:
                self._end_table(self._tables.pop())
            case "page" if self._slide is not None:
                self._end_slide()
            case "a" if self._links:
                self.characters(draft.link_end(self._links.pop()))

    def characters(self, text: str) -> None:
        """Text between tags: of the open paragraph, or what a comment says of itself."""
        if self._n_skipped:
            return
        if self._math is not None:
            self._math.characters(text)
        elif self._name in self._written:
            self._written[self._name] += text
        elif self._name in _NO_TEXT and self._parts:
            part = self._parts[-1]
            if self._name == "creator":
                part.author += text
            elif self._name == "date":
                part.day += text
        elif self._open:
            self._open[-1].append(text)
        elif self._name and self._name not in _NO_TEXT and "body" in self._path and not text.isspace():
            self._put((Block(text.strip()),))

    def close(self) -> None:
        """Add what a cut-off file left open."""
        while self._open:
            self._end_paragraph("".join(self._open.pop()).strip())
        while self._parts:
            self._end_beside()
        for words in self._controls.values():
            self._put_beside(words)
        while self._tables:
            self._tables[-1].end_cell()
            self._end_row(self._tables[-1])
            self._end_table(self._tables.pop())
        if self._slide is not None:
            self._end_slide()

    def _end_paragraph(self, words: str) -> None:
        level, self._level = self._level, 0
        label = self._lists.label(level) if words else ""
        beside, self._beside = (self._beside, []) if not self._open else ([], self._beside)
        if level and self._slide is None and not self._parts:
            block = Block(f"{label} {words}".strip() if label != "-" else words, level)
        else:
            block = Block(
                f"{label} {words}" if label else words, tight=bool(label), is_quoted=self._is_quoted and not self._open
            )
        self._put((block,) if words else ())
        self._put(beside)

    def _end_beside(self) -> None:
        """Let a note, a comment or a box follow the paragraph in which it stands."""
        if not self._parts:
            return
        if "master-page" in self._path and self._parts[-1].mark in ("Header", "Footer"):
            self._end_head()
            return
        part = self._parts.pop()
        blocks = part.finished() if part.mark else tuple(part.blocks)
        if self._open:
            self._beside += blocks
        else:
            self._put(blocks)

    def _end_head(self) -> None:
        if self._parts:
            for block in self._parts.pop().finished():
                if block.text not in self._heads and any(map(str.isalpha, block.text.partition(": ")[2])):
                    self._heads.append(block.text)

    @property
    def heads(self) -> list[str]:
        """The heads and feet of pages, each once."""
        return self._heads

    def _put(self, blocks: "tuple[Block, ...] | list[Block]") -> None:
        """Put blocks where they belong: a comment, a cell, a slide, or the document."""
        for block in blocks:
            if self._parts:
                self._parts[-1].blocks.append(block)
            elif self._tables and self._tables[-1].cell is not None:
                cell = self._tables[-1].cell
                cell.beside.append(block) if block.is_apart else cell.words.append(block.text)
            elif self._tables and self._add_rows is not None:
                self._tables[0].beside.append(block)
            elif self._slide is None:
                self._add(block)
            elif self._frame == "title" and not self._in_notes:
                self._slide_title.append(block.text)
            elif self._frame not in _FURNITURE:
                self._slide.append((block, self._in_notes))

    def _add(self, block: Block) -> None:
        if block.level:
            self._builder.add_heading(block.level, block.text)
        else:
            self._builder.add(block.text, block.tight, block.is_quoted)

    def _end_row(self, table: "_Table") -> None:
        is_sheet = self._add_rows is not None and len(self._tables) == 1
        cells, beside = table.end_row()
        if is_sheet:
            table.keep_row(cells, [block.text for block in beside])
            return
        outer, self._tables = self._tables, self._tables[:-1]
        for line in table.head.lines(cells):
            self._put((Block(line, tight=True, is_apart=bool(self._tables)),))
        self._put(beside)
        self._tables = outer

    def _end_table(self, table: "_Table") -> None:
        if self._add_rows is not None and not self._tables:
            self._add_rows(table.name, table.rows, table.wide)
            for block in table.beside:
                self._add(block)

    def _end_slide(self) -> None:
        blocks, self._slide = self._slide or [], None
        title = one_line(" ".join(self._slide_title), MAX_TITLE_CHARACTERS)
        self._builder.begin_page()
        if self._is_hidden_slide:
            return
        self._builder.add_heading(1, title) if title else self._builder.mark(1, f"Slide {self._n_slides}")
        for block, is_note in blocks:
            if not is_note:
                self._builder.add(block.text, tight=True)
        if notes := "\n".join(block.text for block, is_note in blocks if is_note):
            self._builder.add("Notes: " + notes)


class _Table:
    """A table that is being read, row by row."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cell: _Cell | None = None
        self.head = TableHead()
        self.rows: list[Row] = []
        self.wide: dict[int, list[tuple[int, int]]] = {}
        """Number of a row of a sheet -> the first and the last column of its wide cells."""
        self.beside: list[Block] = []
        """What stands on a sheet outside its cells."""
        self._number = 1
        self._n_repeated = 1
        self._cells: list[_Cell] = []
        self._above: dict[int, tuple[str, int]] = {}

    def begin_row(self, n_repeated: int) -> None:
        """A row begins; it stands for `n_repeated` equal rows."""
        self._cells, self._n_repeated = [], n_repeated

    def begin_cell(self, name: str, attributes: Mapping[str, str]) -> None:
        """A cell begins."""
        n_columns = _number(attributes.get("number-columns-repeated"), 1, 10)
        n_wide = _number(attributes.get("number-columns-spanned"), 1)
        n_below = _number(attributes.get("number-rows-spanned"), 1, 10) - 1
        stored = next(filter(None, (attributes.get(f"{kind}-value") for kind in _STORED)), attributes.get("value", ""))
        self.cell = _Cell([], n_columns, n_wide, n_below, name == "covered-table-cell", stored=stored)
        self._cells.append(self.cell)

    def end_cell(self) -> None:
        """The open cell ends."""
        self.cell = None

    def end_row(self) -> tuple[list[str], list[Block]]:
        """Return the texts of the row's cells, and what lies beside them."""
        line: list[str] = []
        beside: list[Block] = []
        gap = column = 0
        for cell in self._cells:
            words = " ".join(" ".join(text.split()) for text in cell.words) or cell.stored
            words = words or (self._covered(column) if cell.is_covered else "")
            if cell.n_wide > 1 and words:
                self.wide.setdefault(self._number, []).append((column, column + cell.n_wide - 1))
            if cell.n_below and words:
                self._above[column] = (words, cell.n_below)
            beside += cell.beside
            column += cell.n_columns
            if not words:
                gap += cell.n_columns
                continue
            line += [""] * min(gap, 16_384) + [words] * min(cell.n_columns, _MAX_REPEATED)
            gap = 0
        self._cells = []
        return line, beside

    def _covered(self, column: int) -> str:
        """Return the text of the cell above that reaches down to this row."""
        text, n_below = self._above.get(column, ("", 0))
        if n_below:
            self._above[column] = (text, n_below - 1)
        return text if n_below else ""

    def keep_row(self, cells: list[str], notes: list[str]) -> None:
        """Keep the row of a sheet, as often as it stands there."""
        if cells or notes:
            for offset in range(min(self._n_repeated, _MAX_REPEATED)):
                self.rows.append((self._number + offset, cells))
            for note in notes:
                self.rows.append((self._number, [note]))
        self._number += self._n_repeated


def _typed(attributes: Mapping[str, str]) -> str:
    return attributes.get("current-value") or attributes.get("value", "")


def _ticked(attributes: Mapping[str, str]) -> str:
    state = attributes.get("current-state") or attributes.get("state") or attributes.get("current-selected")
    return f"{'☒' if state in ('checked', 'true') else '☐'} {attributes.get('label', '')}".rstrip()


_CONTROLS: dict[str, Callable[[Mapping[str, str]], str]] = {
    **dict.fromkeys(("text", "textarea", "formatted-text", "number", "date", "time", "combobox"), _typed),
    **dict.fromkeys(("checkbox", "radio"), _ticked),
    **dict.fromkeys(("fixed-text", "frame"), lambda attributes: attributes.get("label", "")),
    "option": lambda attributes: attributes.get("label", "") if attributes.get("current-selected") == "true" else "",
}
"""A field of a form -> what it shows. The words of buttons are left out."""


def _number(text: str | None, default: int, n_digits: int = 4) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < n_digits else default
