"""Looks for a quotation in one indexed folder or in several, for the command line and for the app."""

import time
from collections.abc import Sequence
from dataclasses import replace

from longsearch.app.search.scope import Scope, opened
from longsearch.engine.errors import QueryError
from longsearch.engine.query_language.fields import Condition
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.prefixes import quote_in
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.quotations.quotation import best_places, find_quotation
from longsearch.engine.types.results import DocumentHit, PassageHit, Quotation, SearchMode, SearchResults

ALL_FILES = FileFilter()


def quotations(
    scope: Scope, quote: str, k: int = 10, file_filter: FileFilter = ALL_FILES, conditions: Sequence[Condition] = ()
) -> tuple[list[Quotation], list[str]]:
    """Return the places in these folders that say the quotation, the nearest first, and notes for a person.

    Raises QueryError, and LongsearchError if no folder can be searched.
    """
    file_filter = replace(file_filter, under=scope.under)
    with opened(scope) as found:
        places = [
            replace(one, folder=folder.name)
            for folder, index in found.parts
            for one in find_quotation(index, quote, k, file_filter, conditions)
        ]
        return best_places(places)[:k], list(found.notes)


def where(query: str, scope: Scope, k: int) -> SearchResults:
    """Answer a query that begins with `where:`, as the app shows results.

    The query may hold fields that every index knows, such as in:, author: and folder:, but its order is ignored. Raises
    QueryError if it holds no quotation.
    """
    started = time.perf_counter()
    typed = quote_in(query) or ""
    try:
        parsed = parse(typed)
    except QueryError:
        parsed = None
    if parsed is None or parsed.is_listing:
        raise QueryError("There is no quotation yet", 'Type where: "the words you remember"')
    found, notes = quotations(scope.admitted(parsed.folders), parsed.meaning, k, parsed.files, parsed.conditions)
    took_ms = (time.perf_counter() - started) * 1000
    return as_results(query, found, took_ms, [*parsed.notes, *notes])


def as_results(query: str, found: Sequence[Quotation], took_ms: float, notes: Sequence[str]) -> SearchResults:
    """Return the places as results: a hit for each document, with its places as passages."""
    of_document: dict[tuple[str, int], list[Quotation]] = {}
    for one in found:
        of_document.setdefault((one.root, one.document_id), []).append(one)
    hits = tuple(
        DocumentHit(
            rank=rank,
            document_id=places[0].document_id,
            path=places[0].path,
            title=places[0].title,
            score=places[0].similarity,
            passages=tuple(as_passage(one) for one in places),
            root=places[0].root,
            folder=places[0].folder,
        )
        for rank, places in enumerate(of_document.values(), start=1)
    )
    said = [described(found[0])] if found else ["nobody says this, not even with small changes"]
    return SearchResults(query, SearchMode.WORDS, "", took_ms, hits, "; ".join([*said, *notes]))


def as_passage(one: Quotation) -> PassageHit:
    """Return the place as a passage."""
    return PassageHit(
        one.page,
        one.heading,
        one.start,
        one.stop,
        one.text,
        one.similarity,
        page_label=one.page_label,
        n_pages=one.n_pages,
    )


def described(one: Quotation) -> str:
    """Say in words how near a place is to the quotation."""
    if one.is_verbatim:
        return "verbatim"
    return "the same words" if one.similarity == 1 else f"nearly the same: {int(one.similarity * 100)} in 100 letters"
