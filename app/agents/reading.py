"""Parts of a document's text for an agent: pages, what stands around an offset, or one part after another."""

import re

import apsw

from longsearch.app.agents import budget
from longsearch.app.agents.answers import Json, readable
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable
from longsearch.engine.store import documents
from longsearch.engine.types import DocumentText

_PAGES = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")


def part(db: apsw.Connection, document_id: int, pages: str, around: int | None, max_tokens: int, cursor: str) -> Json:
    """Return the text of `pages` ("3", "3-5"), around an offset, or from the beginning, and a cursor for what follows.

    Raises LongsearchError for pages or an offset that the document does not have.
    """
    document = documents.text(db, document_id)
    made_from = documents.hashes_of(db, [document_id])[document_id].hex()
    if cursor:
        start, stop = budget.place_of(cursor, made_from, 2)
    elif pages:
        start, stop = _span_of(document, pages)
    elif around is not None:
        start, stop = _start_before(document, around, max_tokens), len(document.text)
    else:
        start, stop = 0, len(document.text)
    text = budget.fitting(document.text[start:stop], max_tokens)
    end = start + len(text)
    last = max(start, end - 1)
    return {
        "title": printable(document.title),
        "first_page": document.page_at(start),
        "last_page": document.page_at(last),
        "pages": len(document.page_starts) or None,
        "start": start,
        "stop": end,
        "characters": len(document.text),
        "heading": printable(document.heading_at(start)),
        "text": readable(text),
        "next_cursor": budget.cursor(made_from, end, stop) if end < stop else None,
    }


def outline(db: apsw.Connection, document_id: int) -> tuple[Json, list[Json]]:
    """Return what a document is, and its headings."""
    found, starts = documents.outline(db, document_id), documents.page_starts(db, document_id)
    places = DocumentText("", starts, found.title)
    rows = [
        {"level": one.level, "title": printable(one.title), "page": places.page_at(one.start), "start": one.start}
        for one in found.headings
    ]
    about = {"title": printable(found.title), "language": found.language or None, "pages": len(starts) or None}
    return about, rows


def _span_of(document: DocumentText, pages: str) -> tuple[int, int]:
    """Return the offsets at which these pages begin and end."""
    found, n = _PAGES.fullmatch(pages.strip()), len(document.page_starts)
    if found is None:
        raise LongsearchError("pages are a number or a range", "such as 3 or 3-5")
    if not n:
        hint = "read it from its beginning with cursors, or around an offset"
        raise LongsearchError("this format has no pages", hint)
    first = int(found[1])
    last = int(found[2] or first)
    if not 1 <= first <= last or first > n:
        raise LongsearchError(f"the document has pages 1 to {n}", "name pages among these, such as 3 or 3-5")
    stops = (*document.page_starts[1:], len(document.text))
    return document.page_starts[first - 1], stops[min(last, n) - 1]


def _start_before(document: DocumentText, around: int, max_tokens: int) -> int:
    """Return where to begin so that `around` stands a third into the part."""
    if around >= max(1, len(document.text)):
        raise LongsearchError(f"the document has {len(document.text)} characters", "give the start of a passage")
    before = document.text[max(0, around - max_tokens) : around].encode("utf-8", "replace")[-max_tokens:]
    first = around - len(before.decode("utf-8", "ignore"))
    return first if first == 0 else document.text.find("\n", first, around) + 1 or first
