"""The app's request for a printed page, and the picture that answers it. Imports nothing heavy."""

from dataclasses import dataclass
from enum import IntEnum


class Highlight(IntEnum):
    """The kind of a highlight; the later one lies on top."""

    PASSAGE = 1
    """Another passage that answers."""
    CURRENT = 2
    """The current passage."""
    EXCERPT = 3
    """The excerpt in the current passage."""
    FOUND = 4
    """The letters that the reader searches for in the text."""


@dataclass(frozen=True, slots=True)
class TextToHighlight:
    """A piece of a page's text that is to be found and highlighted."""

    text: str
    share: float
    """Where in the page's text it begins, 0 to 1: decides between places that say the same."""
    kind: Highlight


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A page of a file, to be drawn."""

    path: str
    """Absolute; undecodable bytes are surrogate escapes."""
    page: int
    """The number of the page, from 1."""
    width: int
    """Pixels that the picture may be wide."""
    height: int | None
    """Pixels that it may be high; None: as high as the width makes it."""
    highlights: tuple[TextToHighlight, ...] = ()


Box = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels from the top left; right and bottom are one past the last pixel."""


@dataclass(frozen=True, slots=True)
class HighlightBoxes:
    """Where a `TextToHighlight` stands."""

    kind: Highlight
    boxes: tuple[Box, ...]
    """A rectangle for each line; () if the text was not found on the page."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """The picture of a page."""

    width: int
    height: int
    rgb: bytes
    """`width * height * 3` bytes: red, green, blue of each pixel, row by row from the top."""
    n_pages: int
    """Pages of the file."""
    highlights: tuple[HighlightBoxes, ...] = ()
    """The places of the highlights, in the order of `PageQuestion.highlights`."""
