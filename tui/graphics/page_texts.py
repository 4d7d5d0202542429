"""Which texts of a page are to be lit when it is shown as printed. Pure."""

from collections.abc import Sequence

from longsearch.engine.page_image import Highlight, TextToHighlight
from longsearch.engine.types.documents import DocumentText
from longsearch.tui.text.finding import Finding
from longsearch.tui.text.highlight import Span


def page_range(document: DocumentText, page: int) -> tuple[int, int]:
    """Return (start, stop) of a page's text; `page` counts from 1."""
    starts = document.page_starts
    return starts[page - 1], starts[page] if page < len(starts) else len(document.text)


def texts_on_page(
    document: DocumentText, page: int, spans: Sequence[Span], current: int, finding: Finding | None = None
) -> tuple[TextToHighlight, ...]:
    """Return the part of each passage that stands on `page`, of the excerpt in the current one, and what is found."""
    lights = [
        (span.start, span.stop, Highlight.CURRENT if index == current else Highlight.PASSAGE)
        for index, span in enumerate(spans)
    ]
    if 0 <= current < len(spans) and (excerpt := spans[current].excerpt):
        lights.append((*excerpt, Highlight.EXCERPT))
    first, last = page_range(document, page)
    if finding is not None and finding.place is not None and first <= finding.place[0] < last:
        lights.append((*finding.place, Highlight.FOUND))
    length = max(last - first, 1)
    return tuple(
        TextToHighlight(document.text[max(start, first) : min(stop, last)], max(start - first, 0) / length, light)
        for start, stop, light in lights
        if start < last and stop > first and document.text[max(start, first) : min(stop, last)].strip()
    )


def page_of(document: DocumentText, span: Span | None) -> int:
    """Return the page at which a passage is shown. 1 without a passage."""
    return 1 if span is None else document.page_at(span.place) or 1
