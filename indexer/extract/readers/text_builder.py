"""Builds a document's text block by block and records the offset of each heading. Knows no format."""

from longsearch.indexer.extract.clean import clean_block, one_line
from longsearch.indexer.extract.titles import is_title
from longsearch.indexer.extract.wire.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText, RawMetadata


class TextBuilder:
    """Collects blocks and headings. Each block is cleaned when it is added, so offsets never change."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[tuple[int, str, int]] = []
        self._was_tight = False

    def add(self, block: str, tight: bool = False) -> None:
        """Append `block` unless it is empty. An empty line separates blocks, but not two `tight` ones."""
        text = clean_block(block)
        if not text:
            return
        if self._parts:
            text = ("\n" if tight and self._was_tight else "\n\n") + text
        self._was_tight = tight
        self._parts.append(text)
        self._length += len(text)

    def add_heading(self, level: int, title: str) -> None:
        """Append a heading on a line of its own."""
        line = one_line(title, MAX_TITLE_CHARACTERS)
        if not line:
            return
        self.add(line)
        if len(self._headings) < MAX_HEADINGS:
            self._headings.append((level, line, self._length - len(line)))

    def file_text(self, title: str = "", metadata: RawMetadata = ()) -> FileText:
        """Return the text. If `title` is no title, the first heading of the outermost level becomes its title.

        `metadata` holds `title` too, with its source, if a reader found it elsewhere than among the headings.
        """
        if not is_title(title) and self._headings:
            title = min(self._headings, key=lambda heading: heading[0])[1]
            metadata = tuple(value for value in metadata if value[0] != "title")
        return FileText("".join(self._parts), (), title, tuple(self._headings), "", metadata)
