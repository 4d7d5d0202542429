"""Builds a document's text block by block and records where each heading and page begins. Knows no format."""

from collections.abc import Iterable

from longsearch.indexer.extract.clean import clean_block, one_line, whole_line
from longsearch.indexer.extract.titles import is_stated, is_title
from longsearch.indexer.extract.wire import progress
from longsearch.indexer.extract.wire.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMark, RawMetadata


class TextBuilder:
    """Collects blocks and headings. Each block is cleaned when it is added, so offsets never change."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[tuple[int, str, int]] = []
        self._was_tight = False
        self._page_starts: list[int] = []
        self._n_open_pages = 0
        self._mark: tuple[int, str] | None = None
        self._quoted: list[tuple[int, int]] = []

    def add(self, block: str, tight: bool = False, is_quoted: bool = False) -> None:
        """Append `block` unless it is empty. An empty line separates blocks, but not two `tight` ones.

        `is_quoted`: it is set off as a quotation.
        """
        text = clean_block(block)
        if not text:
            return
        separator = ("\n" if tight and self._was_tight else "\n\n") if self._parts else ""
        start = self._length + len(separator)
        self._begin(start)
        if is_quoted and len(self._quoted) < MAX_HEADINGS:
            self._quoted.append((start, start + len(text)))
        text = separator + text
        self._was_tight = tight
        self._parts.append(text)
        self._length += len(text)
        progress.note()

    @property
    def length(self) -> int:
        """Characters added so far."""
        return self._length

    def include(self, text: str, headings: Iterable[tuple[int, str, int]]) -> None:
        """Append the clean text of another document, with its headings (level, title, start)."""
        if not text:
            return
        self.add(text)
        start = self._length - len(text)
        for level, title, offset in headings:
            if len(self._headings) < MAX_HEADINGS:
                self._headings.append((level, one_line(title, MAX_TITLE_CHARACTERS), start + offset))

    def begin_page(self) -> None:
        """Begin a page at the next block."""
        self._n_open_pages += 1
        self._was_tight = False

    def mark(self, level: int, title: str) -> None:
        """Record a heading at the next block, without a line of its own: the name of a place, such as a cell."""
        line = one_line(title, MAX_TITLE_CHARACTERS)
        self._mark = (level, line) if line else None
        self._was_tight = False

    def _begin(self, start: int) -> None:
        """Let the open pages and the mark begin at `start`."""
        self._page_starts += [start] * self._n_open_pages
        self._n_open_pages = 0
        if self._mark and len(self._headings) < MAX_HEADINGS:
            self._headings.append((*self._mark, start))
        self._mark = None

    def add_heading(self, level: int, title: str) -> None:
        """Append a heading on a line of its own, whole. Only its name among the headings may be cut."""
        line = whole_line(title)
        if not line:
            return
        self.add(line)
        if len(self._headings) < MAX_HEADINGS:
            self._headings.append((level, one_line(line, MAX_TITLE_CHARACTERS), self._length - len(line)))

    def file_text(
        self, title: str = "", metadata: RawMetadata = (), warning: str = "", marks: tuple[RawMark, ...] = ()
    ) -> FileText:
        """Return the text. If `title` is no title, the first heading of the outermost level becomes its title.

        `metadata` holds `title` too, with its source, if a reader found it elsewhere than among the headings.
        """
        stated = any(name == "title" and is_stated(text.strip(), source) for name, text, source in metadata)
        if not stated and not is_title(title) and self._headings:
            title = min(self._headings, key=lambda heading: heading[0])[1]
            metadata = tuple(value for value in metadata if value[0] != "title")
        starts = (*self._page_starts, *[self._length] * self._n_open_pages)
        text, outline, quoted = "".join(self._parts), tuple(self._headings), tuple(self._quoted)
        return FileText(text, starts, title, outline, warning, metadata, quoted=quoted, marks=marks)
