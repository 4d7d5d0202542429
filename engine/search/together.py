"""Searches several indexes as one: their words are scored by the figures of all of them, and their hits are merged.

A score by words is the one that a single index of all these documents would give. A score by meaning is a cosine: it
compares where two indexes hold vectors of the same model. Where the models differ, hits are merged by their scores all
the same, and the caller should say so.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import apsw

from longsearch.engine.amounts import counted
from longsearch.engine.arrays import Vectors
from longsearch.engine.search import background
from longsearch.engine.search.answering.sqlite import answers_of
from longsearch.engine.search.background import with_levels
from longsearch.engine.search.hits import to_hits
from longsearch.engine.search.lookup import Lookup, lookup
from longsearch.engine.search.metadata_filter import in_order, list_order, sort_keys
from longsearch.engine.search.query_language.query import Query, in_languages
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.search.retrieval import allowed_passages
from longsearch.engine.search.searcher import (
    Plan,
    best_documents,
    in_asked_order,
    nearest_excerpts,
    with_filter_notes,
)
from longsearch.engine.search.statistics import pooled
from longsearch.engine.store import documents, languages, vectors
from longsearch.engine.store.session import Session
from longsearch.engine.types.results import DocumentHit, SearchMode, SearchResults


@dataclass(frozen=True, slots=True)
class Part:
    """One of the indexes that are searched together."""

    session: Session
    folder: str
    """The name of its folder, which its hits carry."""
    vector: Vectors | None
    """The query as a unit vector (dim,) from the model that made this index's vectors; None if there is none."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A document of one part."""

    part: int
    document: RankedDocument
    content_hash: bytes


def search_together(
    parts: Sequence[Part],
    query: Query,
    mode: SearchMode,
    k: int = 10,
    instruction: str = "",
    passages_per_document: int = 5,
    explain: bool = False,
) -> SearchResults:
    """Find the best `k` documents of all parts, with at most `passages_per_document` passages each.

    A part without a vector is left out of a search by meaning. In a hybrid search its documents have their score by
    words alone, as a document that waits for its vectors. If no part has a vector, HYBRID runs as WORDS. A document
    that several parts hold is listed once: with its best score, then in the innermost folder. `explain`: give each hit
    the reason for its score. Raises ValueError if no
    part can be searched.
    """
    started = time.perf_counter()
    if query.is_listing:
        mode = SearchMode.WORDS
    if mode is SearchMode.MEANING:
        parts = [part for part in parts if part.vector is not None]
    elif all(part.vector is None for part in parts):
        mode = SearchMode.WORDS
    if not parts:
        raise ValueError("no index to search, or none with a vector")
    with ExitStack() as stack:
        dbs = [stack.enter_context(part.session.reading()) for part in parts]
        spoken = languages.joined([languages.in_index(db) for db in dbs])
        query = in_languages(query, spoken.codes)
        plans = _plans(dbs, parts, query, lookup(query, spoken), mode, k, passages_per_document)
        plans = [replace(plan, is_explained=explain) for plan in plans]
        best = _merged(dbs, parts, plans)[:k]
        hits = _hits(dbs, parts, plans, best)
        if not query.is_listing:
            hits = with_levels(hits, [background.load(db) for db in dbs], mode)
        hits = in_asked_order(hits, query)
        note = with_filter_notes(dbs, plans, _note(dbs, plans))
    took_ms = (time.perf_counter() - started) * 1000
    return SearchResults(query.text, mode, instruction, took_ms, hits, note, lit=query.terms, languages=spoken.codes)


def _plans(
    dbs: Sequence[apsw.Connection],
    parts: Sequence[Part],
    query: Query,
    asked: Lookup,
    mode: SearchMode,
    k: int,
    passages_per_document: int,
) -> list[Plan]:
    """The search of each part, by the figures of all."""
    has_words = mode is not SearchMode.MEANING and not query.is_listing
    words = [answers_of(db).words(asked) if has_words else None for db in dbs]
    own = [held.statistics for held in words if held is not None]
    figures = pooled(own) if own else None
    return [
        Plan(
            query,
            asked,
            mode,
            None if mode is SearchMode.WORDS else part.vector,
            allowed_passages(db, asked, query.files, query.conditions),
            k,
            passages_per_document,
            held.pooled_with(figures) if held is not None and figures is not None else None,
        )
        for db, part, held in zip(dbs, parts, words, strict=True)
    ]


def _merged(dbs: Sequence[apsw.Connection], parts: Sequence[Part], plans: Sequence[Plan]) -> list[_Found]:
    """The best documents of all parts, best first, or the first of a list; each once."""
    query, found, keys = plans[0].query, list[_Found](), list[str]()
    sort = list_order(query.sort)
    # of documents that are equally good, those of inner folders come first: sorting keeps their order
    for number in sorted(range(len(parts)), key=lambda number: -len(parts[number].session.root.parts)):
        ranked = best_documents(dbs[number], plans[number])
        ids = [document.document_id for document in ranked]
        hashes = documents.hashes_of(dbs[number], ids)
        found += [_Found(number, document, hashes[document.document_id]) for document in ranked]
        keys += sort_keys(dbs[number], ids, sort) if query.is_listing else []
    if query.is_listing:
        found = in_order(found, keys, sort, query.is_reversed)
    else:
        found.sort(key=lambda one: -one.document.score)
    once: dict[bytes, _Found] = {}
    for one in found:
        once.setdefault(one.content_hash, one)
    return list(once.values())


def _hits(
    dbs: Sequence[apsw.Connection], parts: Sequence[Part], plans: Sequence[Plan], best: Sequence[_Found]
) -> tuple[DocumentHit, ...]:
    def of_part(number: int) -> Iterator[DocumentHit]:
        db, plan, part = dbs[number], plans[number], parts[number]
        ranked = [one.document for one in best if one.part == number]
        hits = to_hits(db, part.session.root, plan.query.files, ranked, nearest_excerpts(db, plan, ranked))
        return (replace(hit, folder=part.folder) for hit in hits)

    found = [of_part(number) for number in range(len(parts))]
    return tuple(replace(next(found[one.part]), rank=rank) for rank, one in enumerate(best, start=1))


def _note(dbs: Sequence[apsw.Connection], plans: Sequence[Plan]) -> str:
    """Why the answer may be incomplete, or ""."""
    n_waiting = sum(vectors.n_waiting(db) for db, plan in zip(dbs, plans, strict=True) if plan.vector is not None)
    return f"{counted(n_waiting, 'document')} cannot be searched by meaning yet" if n_waiting else ""
