"""The outline of a document: its headings with their pages, or, without headings, the beginning of each page. Pure."""

from bisect import bisect_right
from dataclasses import dataclass

from longsearch.engine.types import DocumentText
from longsearch.tui.text.display import shown

_FIRST_WORDS = 80
"""Characters of a page that stand for it."""
_INDENT = 2
_MAX_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of an outline."""

    title: str
    """Safe for the terminal, indented by its level."""
    page: int | None
    start: int
    """Offset in the document's text."""


def outline(document: DocumentText) -> list[Entry]:
    """Return the entries in the order of the text."""
    if document.headings:
        return [
            Entry(
                " " * _INDENT * (min(heading.level, _MAX_LEVEL) - 1) + shown(heading.title),
                document.page_at(heading.start), heading.start,
            )
            for heading in sorted(document.headings, key=lambda heading: heading.start)
        ]  # fmt: skip
    return [
        Entry(shown(document.text[start : start + _FIRST_WORDS].strip()) or "(no text)", page, start)
        for page, start in enumerate(document.page_starts, start=1)
    ]


def entry_at(entries: list[Entry], offset: int) -> int | None:
    """Return the index of the last entry at or before `offset`; None if there is none."""
    index = bisect_right(entries, offset, key=lambda entry: entry.start)
    return index - 1 if index else None
