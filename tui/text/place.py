"""Where in a document the reader is, and how the heading says it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from longsearch.engine.places import place_of
from longsearch.engine.types.documents import DocumentText
from longsearch.tui.text.display import clip, shown
from longsearch.tui.text.highlight import Span
from longsearch.tui.text.text_layout import TextLayout

_PLACE_WIDTH = 40
"""Cells at most; the subject of a message may be long."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the document the reader is."""

    page: int | None
    n_pages: int
    heading: str
    """The heading under which the reader is, or ""."""
    passage: int
    """Index of the current passage in the order of the text; -1 if there is none."""
    first: int
    """Offset of the first character on the screen."""
    last: int
    """Offset of the first character of the last line on the screen."""
    is_ocr: bool = False
    """Whether the text of the page is from OCR."""
    page_label: str = ""
    """The printed number of the page, or ""."""


def find_place(
    document: DocumentText, layout: TextLayout, spans: Sequence[Span], current: int, top: int, height: int
) -> Place:
    """Return the place of a reader who sees `height` lines from line `top` on. `current`: index of the passage."""
    first = min(top, len(layout) - 1)
    last = min(first + max(height, 1), len(layout)) - 1
    passage = spans[current] if current >= 0 else None
    if passage and first <= layout.line_at(passage.start) <= last:
        offset = passage.place
    else:
        offset = max(layout.span(min(first + height // 4, last))[1] - 1, 0)
    place = document.place_at(offset)
    return Place(
        place.page,
        len(document.page_starts),
        place.heading,
        current,
        layout.span(first)[0],
        layout.span(last)[0],
        place.page in document.ocr_pages,
        place.page_label,
    )


def place_in_words(place: Place, spans: Sequence[Span], path: str = "") -> str:
    """Return place and passage for the heading: `p. 12 of 40 (OCR) · passage 2 of 5`."""
    name = place_of(path, place, place.is_ocr)
    page = clip(shown(name), _PLACE_WIDTH)
    passage = f"passage {place.passage + 1} of {len(spans)}" if place.passage >= 0 else ""
    return " · ".join(filter(None, (page, passage)))
