"""The outline of a document: its headings with their pages, or, without headings, the beginning of each page. Pure."""

from bisect import bisect_right
from typing import NamedTuple

from longsearch.engine.types import DocumentText
from longsearch.tui.text.display import shown

_FIRST_WORDS = 80
"""Characters of a page that stand for it."""
_INDENT = 2
_MAX_LEVEL = 6


class Entry(NamedTuple):
    """One line of an outline."""

    text: str
    """The heading, or the first words of the page, as they stand in the document."""
    page: int | None
    start: int
    """Offset in the document's text."""
    level: int = 1

    @property
    def title(self) -> str:
        """Safe for the terminal, indented by its level. It is made when it is seen: a book has thousands."""
        return " " * _INDENT * (min(self.level, _MAX_LEVEL) - 1) + (shown(self.text.strip()) or "(no text)")


def outline(document: DocumentText) -> list[Entry]:
    """Return the entries in the order of the text."""
    if document.headings:
        headings = sorted(document.headings, key=lambda heading: heading.start)
        return [Entry(one.title, document.page_at(one.start), one.start, one.level) for one in headings]
    return [
        Entry(document.text[start : start + _FIRST_WORDS], page, start)
        for page, start in enumerate(document.page_starts, start=1)
    ]


def entry_at(entries: list[Entry], offset: int) -> int | None:
    """Return the index of the last entry at or before `offset`; None if there is none."""
    index = bisect_right(entries, offset, key=lambda entry: entry.start)
    return index - 1 if index else None
