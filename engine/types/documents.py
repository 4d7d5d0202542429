"""A document's text with its outline and metadata, and its passages. Imports nothing heavy.

Character offsets count from the start of `DocumentText.text`. Page numbers begin at 1.
"""

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document's outline."""

    level: int
    """1 for the outermost."""
    title: str
    start: int
    """Offset of its first character."""


@dataclass(frozen=True, slots=True)
class MetadataValue:
    """One value of a document's metadata, and where it was read."""

    field: str
    """`title`, `author`, `date`, `created`, `language`, `tag`, `doi`, `arxiv` or a key of the document's own."""
    value: str
    """On one line. A date is a year, a month or a day in ISO form (see `engine.dates`), a language its ISO code."""
    source: str
    """Where the value was read, in a word or two: "PDF info", "front matter", "path"."""


MARKS = "marks"
"""The source of the values by which a document is found by its marks; they are shown with no hit."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a person marked in a document, or wrote beside its text."""

    kind: str
    """`highlight`, `underline`, `strikeout`, `comment`, `note`, `reply`, `text`, `insertion` or `deletion`."""
    start: int
    """Offset of its first character; of a note that marks no words, the place beside which it stands."""
    stop: int
    quote: str = ""
    """The words that it marks, if they do not stand in the text from `start` to `stop`."""
    note: str = ""
    author: str = ""
    color: str = ""
    """As "#rrggbb"; "" if the mark has none."""


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A place in a document, as people name it (see `engine.places`)."""

    page: int | None
    """Counted from 1; None if the format has no pages."""
    heading: str = ""
    """The last heading at or before the place, or ""."""
    page_label: str = ""
    """The printed number of the page, or ""."""
    n_pages: int = 0
    """Of the whole document; 0 if its pages have no printed numbers."""


class WithPlaces:
    """The pages and headings of a document."""

    __slots__ = ()
    page_starts: tuple[int, ...]
    page_labels: tuple[str, ...]
    headings: tuple[Heading, ...]

    def place_at(self, offset: int) -> DocumentPlace:
        """The place of the character at `offset`."""
        page = bisect_right(self.page_starts, offset)
        index = bisect_right(self.headings, offset, key=lambda heading: heading.start)
        heading = self.headings[index - 1].title if index else ""
        label = self.page_labels[page - 1] if 0 < page <= len(self.page_labels) else ""
        return DocumentPlace(page or None, heading, label, len(self.page_labels))

    def page_at(self, offset: int) -> int | None:
        """The page that holds the character at `offset`, or None if the format has no pages."""
        return bisect_right(self.page_starts, offset) or None


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document, a few sentences: the unit of a hit."""

    start: int
    stop: int
    """One past the last character."""
    n_tokens: int


@dataclass(frozen=True, slots=True)
class DocumentText(WithPlaces):
    """The text that was read from one file."""

    text: str
    page_starts: tuple[int, ...]
    """Offset of each page's first character, ascending, beginning with 0; empty for formats without pages."""
    title: str
    """The document's own title, on one line; "" if it has none. The store then returns the file's name as title."""
    headings: tuple[Heading, ...] = ()
    metadata: tuple[MetadataValue, ...] = field(default=(), compare=False)
    """Facts that a reader found beside the text, and the title. The store returns them with hits, not with the text."""
    ocr_pages: tuple[int, ...] = field(default=(), compare=False)
    """The pages whose text is from OCR, ascending."""
    n_scanned: int = field(default=0, compare=False)
    """Pages that show something and have no text: OCR could read them. The store keeps it with the file."""
    page_labels: tuple[str, ...] = field(default=(), compare=False)
    """The number or name that is printed on each page, such as "iv"; () if the file says no other ones than 1, 2, …"""
    quoted: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """(start, stop) of each paragraph that its style sets off as a quotation, ascending. The store does not keep it."""
    marks: tuple[Mark, ...] = field(default=(), compare=False)
    """What people marked and noted, ascending."""
