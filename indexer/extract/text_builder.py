"""Builds the text of a document block by block, and knows at which offset each heading came to stand. No format."""

from indexer.extract.clean import clean_block, one_line
from indexer.extract.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS
from indexer.extract.messages import FileText
from indexer.extract.titles import is_title


class TextBuilder:
    """Blocks are cleaned as they come, so offsets never move."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[tuple[int, str, int]] = []
        self._was_tight = False

    def add(self, block: str, tight: bool = False) -> None:
        """Append `block` if it holds anything: after an empty line, or on the next line between two `tight` ones."""
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

    def file_text(self, title: str = "") -> FileText:
        """What was built; the title is `title` where that is one, else the first heading of the outermost level."""
        if not is_title(title) and self._headings:
            title = min(self._headings, key=lambda heading: heading[0])[1]
        return FileText("".join(self._parts), (), title, tuple(self._headings))
