"""Parts of a document's text for an agent: pages, what stands around an offset, or one part after another."""

import re

import apsw

from longsearch.app.agents import budget
from longsearch.app.agents.answers import Json, readable
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.index import Index
from longsearch.engine.printable import printable
from longsearch.engine.store import documents, texts

_PAGES = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")


def part(index: Index, document_id: int, pages: str, around: int | None, max_tokens: int, cursor: str) -> Json:
    """Return the text of `pages` ("3", "3-5"), around an offset, or from the beginning, and a cursor for what follows.

    Unpacks only what is returned: a document may have 100 million characters. Raises LongsearchError for pages or an
    offset that the document does not have.
    """
    known, n = documents.outline(index.db, document_id), texts.n_characters(index.db, document_id)
    made_from = documents.hashes_of(index.db, [document_id])[document_id].hex()
    start, stop = 0, n
    if cursor:
        start, stop = budget.place_of(cursor, made_from, 2)
    elif pages:
        start, stop = _span_of(known.page_starts, n, pages)
    elif around is not None:
        start = _start_before(index.db, document_id, n, around, max_tokens)
    text = budget.fitting(
        _text(index.db, document_id, start, min(stop, start + max_tokens * budget.BYTES_PER_TOKEN)), max_tokens
    )
    end = start + len(text)
    return {
        "title": printable(known.title),
        "first_page": known.page_at(start),
        "last_page": known.page_at(max(start, end - 1)),
        "pages": len(known.page_starts) or None,
        "start": start,
        "stop": end,
        "characters": n,
        "heading": printable(known.place_at(start).heading),
        "text": readable(text),
        "next_cursor": budget.cursor(made_from, end, stop) if end < stop else None,
    }


def beginning(index: Index, document_id: int, max_tokens: int) -> str:
    """Return the first `max_tokens` of a document's text."""
    return readable(budget.fitting(_text(index.db, document_id, 0, max_tokens * budget.BYTES_PER_TOKEN), max_tokens))


def outline(index: Index, document_id: int) -> tuple[Json, list[Json]]:
    """Return what a document is, and its headings."""
    known = documents.outline(index.db, document_id)
    rows = [
        {"level": one.level, "title": printable(one.title), "page": known.page_at(one.start), "start": one.start}
        for one in known.headings
    ]
    return {
        "title": printable(known.title),
        "language": known.language or None,
        "pages": len(known.page_starts) or None,
    }, rows


def _text(db: apsw.Connection, document_id: int, start: int, stop: int) -> str:
    return texts.spans(db, document_id, [(start, stop)])[0] if start < stop else ""


def _span_of(page_starts: tuple[int, ...], n_characters: int, pages: str) -> tuple[int, int]:
    """Return the offsets at which these pages begin and end."""
    found, n = _PAGES.fullmatch(pages.strip()), len(page_starts)
    if found is None:
        raise LongsearchError("pages are a number or a range", "such as 3 or 3-5")
    if not n:
        hint = "read it from its beginning with cursors, or around an offset"
        raise LongsearchError("this format has no pages", hint)
    first = int(found[1])
    last = int(found[2] or first)
    if not 1 <= first <= last or first > n:
        raise LongsearchError(f"the document has pages 1 to {n}", "name pages among these, such as 3 or 3-5")
    stops = (*page_starts[1:], n_characters)
    return page_starts[first - 1], stops[min(last, n) - 1]


def _start_before(db: apsw.Connection, document_id: int, n: int, around: int, max_tokens: int) -> int:
    """Return where to begin so that `around` stands a third into the part."""
    if around >= max(1, n):
        raise LongsearchError(f"the document has {n} characters", "give the start of a passage")
    text = _text(db, document_id, max(0, around - max_tokens), around)
    kept = text.encode("utf-8", "replace")[-max_tokens:].decode("utf-8", "ignore")
    first = around - len(kept)
    return first if first == 0 else first + kept.find("\n") + 1
