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
from longsearch.engine.search.background import with_levels
from longsearch.engine.search.hits import to_hit
from longsearch.engine.search.lookup import lookup
from longsearch.engine.search.query import Query
from longsearch.engine.search.query_words import words_of
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.search.retrieval import allowed_passages
from longsearch.engine.search.searcher import Plan, admits_no_file, best_documents, nearest_excerpts
from longsearch.engine.search.statistics import pooled
from longsearch.engine.store import documents, languages, vectors
from longsearch.engine.store.session import Session
from longsearch.engine.types import DocumentHit, SearchMode, SearchResults


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
) -> SearchResults:
    """Find the best `k` documents of all parts, with at most `passages_per_document` passages each.

    A part without a vector is left out of a search by meaning. In a hybrid search its documents have their score by
    words alone, as a document that waits for its vectors. If no part has a vector, HYBRID runs as WORDS. A document
    that several parts hold is listed once: with its best score, then in the innermost folder. Raises ValueError if no
    part can be searched.
    """
    started = time.perf_counter()
    if mode is SearchMode.MEANING:
        parts = [part for part in parts if part.vector is not None]
    elif all(part.vector is None for part in parts):
        mode = SearchMode.WORDS
    if not parts:
        raise ValueError("no index to search, or none with a vector")
    with ExitStack() as stack:
        dbs = [stack.enter_context(part.session.reading()) for part in parts]
        plans = _plans(dbs, parts, query, mode, k, passages_per_document)
        best = _merged(dbs, parts, plans)[:k]
        hits = with_levels(_hits(dbs, parts, plans, best), [background.load(db) for db in dbs], mode)
        note = _note(dbs, plans)
    took_ms = (time.perf_counter() - started) * 1000
    return SearchResults(query.text, mode, instruction, took_ms, hits, note, lit=query.terms)


def _plans(
    dbs: Sequence[apsw.Connection],
    parts: Sequence[Part],
    query: Query,
    mode: SearchMode,
    k: int,
    passages_per_document: int,
) -> list[Plan]:
    """The search of each part, by the figures of all."""
    asked = lookup(query, languages.joined([languages.in_index(db) for db in dbs]))
    words = [None if mode is SearchMode.MEANING else words_of(db, asked) for db in dbs]
    own = [held.statistics for held in words if held is not None]
    figures = pooled(own) if own else None
    return [
        Plan(
            query,
            asked,
            mode,
            None if mode is SearchMode.WORDS else part.vector,
            allowed_passages(db, asked, query.files),
            k,
            passages_per_document,
            held.pooled_with(figures) if held is not None and figures is not None else None,
        )
        for db, part, held in zip(dbs, parts, words, strict=True)
    ]


def _merged(dbs: Sequence[apsw.Connection], parts: Sequence[Part], plans: Sequence[Plan]) -> list[_Found]:
    """The best documents of all parts, best first, each once."""
    found: list[_Found] = []
    for number, (db, plan) in enumerate(zip(dbs, plans, strict=True)):
        ranked = best_documents(db, plan)
        hashes = documents.hashes_of(db, [document.document_id for document in ranked])
        found += [_Found(number, document, hashes[document.document_id]) for document in ranked]
    depths = [len(part.session.root.parts) for part in parts]
    found.sort(key=lambda one: (-one.document.score, -depths[one.part]))
    once: dict[bytes, _Found] = {}
    for one in found:
        once.setdefault(one.content_hash, one)
    return list(once.values())


def _hits(
    dbs: Sequence[apsw.Connection], parts: Sequence[Part], plans: Sequence[Plan], best: Sequence[_Found]
) -> tuple[DocumentHit, ...]:
    def hits() -> Iterator[DocumentHit]:
        roots = [part.session.root for part in parts]
        for rank, one in enumerate(best, start=1):
            db, plan = dbs[one.part], plans[one.part]
            nearest = nearest_excerpts(db, plan, [one.document])
            hit = to_hit(db, roots[one.part], plan.query.files, rank, one.document, nearest)
            yield replace(hit, folder=parts[one.part].folder)

    return tuple(hits())


def _note(dbs: Sequence[apsw.Connection], plans: Sequence[Plan]) -> str:
    """Why the answer may be incomplete, or ""."""
    query = plans[0].query
    if all(admits_no_file(query, plan.allowed) for plan in plans):
        return f"No file matches {query.files}"
    n_waiting = sum(vectors.n_waiting(db) for db, plan in zip(dbs, plans, strict=True) if plan.vector is not None)
    return f"{counted(n_waiting, 'document')} cannot be searched by meaning yet" if n_waiting else ""
