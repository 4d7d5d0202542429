"""Turns the events of an OpenDocument's content into blocks, headings and pages. Knows no archive."""

from collections.abc import Mapping

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS

_SKIPPED = frozenset({"tracked-changes", "table-of-content", "forms", "desc", "binary-data", "ruby-text"})
_FURNITURE = frozenset({"header", "footer", "date-time", "page-number", "page"})
"""Frames of a slide that say the same on all slides."""
_CELL_SEPARATOR = " | "
_MAX_LEVEL = 9


class Content:
    """Takes the events of `content.xml`. A paragraph inside another one, such as a footnote, follows it."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._n_skipped = 0
        self._open: list[list[str]] = []
        self._inner: list[str] = []
        self._level = 0
        self._marker = ""
        self._rows: list[list[str]] = []
        self._cells: list[list[str]] = []
        self._n_slides = 0
        self._slide: list[tuple[str, bool]] | None = None
        self._slide_title: list[str] = []
        self._frame = ""
        self._in_notes = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or name in _SKIPPED:
            self._n_skipped += 1
            return
        match name:
            case "p" | "h":
                self._open.append([])
                self._level = min(_MAX_LEVEL, _number(attributes.get("outline-level"), 1)) if name == "h" else 0
            case "s":
                self.characters(" ")
            case "tab":
                self.characters("\t")
            case "line-break":
                self.characters("\n")
            case _:
                self._start_part(name, attributes)

    def _start_part(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "list-item":
                self._marker = "- "
            case "table-row":
                self._rows.append([])
            case "table-cell" | "covered-table-cell":
                self._cells.append([])
            case "page":
                self._slide, self._slide_title = [], []
                self._n_slides += 1
            case "frame" | "custom-shape":
                self._frame = attributes.get("class", "")
            case "notes":
                self._in_notes = True

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
            return
        match name:
            case "p" | "h":
                if self._open:
                    self._end_paragraph("".join(self._open.pop()).strip())
            case "list-item":
                self._marker = ""
            case "frame" | "custom-shape":
                self._frame = ""
            case "notes":
                self._in_notes = False
            case _:
                self._end_part(name)

    def _end_part(self, name: str) -> None:
        match name:
            case "table-cell" | "covered-table-cell":
                if self._cells:
                    words = " ".join(self._cells.pop())
                    if self._rows:
                        self._rows[-1].append(words)
            case "table-row":
                if self._rows:
                    self._end_row(self._rows.pop())
            case "page":
                self._end_slide()

    def characters(self, text: str) -> None:
        """Text of the open paragraph."""
        if self._open and not self._n_skipped:
            self._open[-1].append(text)

    def close(self) -> None:
        """Add what a cut-off file left open."""
        while self._open:
            self._end_paragraph("".join(self._open.pop()).strip())
        if self._slide is not None:
            self._end_slide()

    def _end_paragraph(self, words: str) -> None:
        if self._open:
            self._inner.append(words)
            return
        inner, self._inner = self._inner, []
        if self._cells:
            self._cells[-1] += filter(None, (words, *inner))
            return
        level, self._level = self._level, 0
        if level and self._slide is None:
            self._builder.add_heading(level, words)
        elif words:
            self._add(self._marker + words, bool(self._marker))
            self._marker = ""
        for note in inner:
            self._add(note)

    def _end_row(self, row: list[str]) -> None:
        line = _CELL_SEPARATOR.join(row).strip(" |")
        if line and self._cells:  # a table in a cell of another
            self._cells[-1].append(line)
        elif line:
            self._add(line, tight=True)

    def _add(self, block: str, tight: bool = False) -> None:
        if self._slide is None:
            self._builder.add(block, tight)
        elif self._frame == "title" and not self._in_notes:
            self._slide_title.append(block)
        elif self._frame not in _FURNITURE:
            self._slide.append((block, self._in_notes))

    def _end_slide(self) -> None:
        blocks, self._slide = self._slide or [], None
        title = one_line(" ".join(self._slide_title), MAX_TITLE_CHARACTERS)
        self._builder.begin_page()
        self._builder.add_heading(1, title) if title else self._builder.mark(1, f"Slide {self._n_slides}")
        for block, is_note in blocks:
            if not is_note:
                self._builder.add(block, tight=True)
        if notes := "\n".join(block for block, is_note in blocks if is_note):
            self._builder.add("Notes: " + notes)


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 4 else default
