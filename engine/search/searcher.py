"""Searches an index for a parsed query and, if given, its vector. Returns documents with their best passages.

Knows no model: the caller encodes `query.meaning` with its instruction.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import apsw
import numpy as np

from longsearch.engine.amounts import counted
from longsearch.engine.arrays import Vectors
from longsearch.engine.search import background
from longsearch.engine.search.answering.answers import Found, QueryWords
from longsearch.engine.search.answering.sqlite import answers_of
from longsearch.engine.search.background import with_levels
from longsearch.engine.search.explaining.points import Parts, with_reasons
from longsearch.engine.search.fusion import both, trust
from longsearch.engine.search.hits import LEAST_SCORE, to_hits
from longsearch.engine.search.lookup import Lookup, lookup
from longsearch.engine.search.metadata_filter import list_order, listed, sort_hits
from longsearch.engine.search.query_language.query import Query, in_languages
from longsearch.engine.search.ranking import RankedDocument, group
from longsearch.engine.search.retrieval import (
    Candidates,
    allowed_passages,
    by_meaning,
    by_words,
    candidates,
    cosines,
    ids,
)
from longsearch.engine.store import excerpts, languages, metadata, vectors
from longsearch.engine.store.excerpts import Nearest
from longsearch.engine.store.segments import admitted
from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.session import Session
from longsearch.engine.store.vectors import K_MAX
from longsearch.engine.types.results import DocumentHit, SearchMode, SearchResults

# Candidates per list. KNN at 100k passages takes 0.1 s for 200 and 0.35 s for 4,096. On ten dev sets (39,844 passages)
# 200 candidates by vector find 99 % of the top ten documents that all passages would find, and 50 find 95.5 %.
_N_CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """One search of one index: the query, the mode that can run, and the limits."""

    query: Query
    asked: Lookup
    """The query's terms as the index is asked."""
    mode: SearchMode
    vector: Vectors | None
    allowed: Allowed | None
    k: int
    passages_per_document: int
    words: QueryWords | None
    """What the index holds of the query's words; None in a search by meaning and for a list without words."""
    is_explained: bool = False
    """Whether each hit gets the reason for its score, which costs a millisecond or two."""

    @property
    def admits_no_document(self) -> bool:
        """Whether the filters of documents leave none, whatever the query's words are."""
        left = self.allowed.documents if self.allowed else None
        return left is not None and not len(left)


def search(
    session: Session,
    query: Query,
    mode: SearchMode,
    query_vector: Vectors | None = None,
    k: int = 10,
    instruction: str = "",
    under: str = "",
    passages_per_document: int = 5,
    explain: bool = False,
) -> SearchResults:
    """Find the best `k` documents for a query, with at most `passages_per_document` passages each.

    A query of filters alone lists the documents that they admit, newest first. `query_vector` (dim,) is a unit vector
    from the model that made the index's vectors; without it, HYBRID runs as WORDS and the note says so. `under`: only
    files in this folder, relative to the root. `explain`: give each hit the reason for its score. Raises ValueError for
    MEANING without a vector, or for a vector of another dimension.
    """
    started = time.perf_counter()
    file_filter = replace(query.files, under=under)
    with session.reading() as db:
        mode, note = (SearchMode.WORDS, "") if query.is_listing else _mode_and_note(db, mode, query_vector)
        spoken = languages.in_index(db)
        query = in_languages(query, spoken.codes)
        asked = lookup(query, spoken)
        allowed = allowed_passages(db, asked, file_filter, query.conditions)
        words = None if query.is_listing or mode is SearchMode.MEANING else answers_of(db).words(asked)
        plan = Plan(query, asked, mode, query_vector, allowed, k, passages_per_document, words, explain)
        ranked = best_documents(db, plan)
        hits = to_hits(db, session.root, file_filter, ranked, nearest_excerpts(db, plan, ranked))
        if not query.is_listing:
            hits = with_levels(hits, [background.load(db)], mode)
        note = with_filter_notes([db], [plan], note)
    took_ms = (time.perf_counter() - started) * 1000
    hits = in_asked_order(hits, query)
    return SearchResults(query.text, mode, instruction, took_ms, hits, note, lit=query.terms, languages=spoken.codes)


def in_asked_order(hits: tuple[DocumentHit, ...], query: Query) -> tuple[DocumentHit, ...]:
    """The best hits in the order for which the query asks. The documents of a listing are in this order already."""
    return hits if query.is_listing else sort_hits(hits, query.sort, query.is_reversed)


def with_filter_notes(dbs: Sequence[apsw.Connection], plans: Sequence[Plan], note: str) -> str:
    """The note on one search of these indexes, and what is to be said about the query's fields."""
    query = plans[0].query
    if query.filters and all(plan.admits_no_document for plan in plans):
        note = f"No {'document' if query.conditions else 'file'} matches {query.filters}"
    notes = [*query.notes, note]
    if query.conditions and (n := sum(map(metadata.n_undescribed, dbs))):
        notes.append(f"{counted(n, 'document')} will have authors and dates after the next sweep")
    return "; ".join(filter(None, notes))


def _mode_and_note(db: apsw.Connection, mode: SearchMode, vector: Vectors | None) -> tuple[SearchMode, str]:
    """The mode that can run, and a note that says why the answer may be incomplete, or ""."""
    if mode is SearchMode.WORDS:
        return mode, ""
    if vector is None and mode is SearchMode.MEANING:
        raise ValueError("a search by meaning needs the query's vector")
    if vector is None:
        return SearchMode.WORDS, "Searched by words only: the query could not be turned into a vector"
    if vectors.model_in_use(db) is None:
        return (SearchMode.WORDS if mode is SearchMode.HYBRID else mode), "No document has vectors yet"
    n_waiting = vectors.n_waiting(db)
    if n_waiting:
        return mode, f"{counted(n_waiting, 'document')} cannot be searched by meaning yet"
    return mode, ""


def best_documents(db: apsw.Connection, plan: Plan) -> list[RankedDocument]:
    """Rank documents by their candidates, or list them if the query has no words.

    Fetch more candidates until `k` documents have one: a book may hold the best 200. Stop early if every document of
    the index has one: otherwise asking an index of 30 for 50 took 1.5 times as long.
    """
    if plan.query.is_listing:
        left = plan.allowed.documents if plan.allowed else None
        return listed(db, left, list_order(plan.query.sort), plan.query.is_reversed, plan.k)
    n = _N_CANDIDATES
    while True:
        found, is_exhausted = _candidates(db, plan, n)
        n_documents = len(found.document_ids)
        if n_documents >= plan.k or is_exhausted or n >= K_MAX or n_documents == admitted.n_documents(db):
            return _ranked(db, plan, found)
        n = min(4 * n, K_MAX)


def _candidates(db: apsw.Connection, plan: Plan, n: int) -> tuple[Candidates, bool]:
    """The best `n` passages of each list that the mode needs, and whether there are no more."""
    is_empty = plan.allowed is not None and plan.allowed.is_empty
    words: Found = []
    near: Found = []
    if plan.words is not None and not is_empty:
        words = plan.words.best(n, plan.allowed)
    if plan.vector is not None and plan.mode is not SearchMode.WORDS and not is_empty:
        near = answers_of(db).nearest_passages(plan.vector, n, plan.allowed)
    vector = None if plan.mode is SearchMode.WORDS else plan.vector
    return candidates(db, words, near, vector), max(len(words), len(near)) < n


def _ranked(db: apsw.Connection, plan: Plan, found: Candidates) -> list[RankedDocument]:
    """The best `k` documents of the candidates with their final scores, best first."""
    nothing = np.zeros(len(found.ids))
    words = nothing if plan.words is None else by_words(db, plan.words, found)
    near = None if plan.vector is None or plan.mode is SearchMode.WORDS else cosines(db, plan.vector, found)
    meaning = nothing if near is None else by_meaning(near)
    trusted = 1.0 if plan.words is None else trust(plan.words.statistics.known_words)
    scores = {SearchMode.WORDS: words, SearchMode.MEANING: meaning}.get(plan.mode, both(trusted * words, meaning))
    kept = np.ones(len(scores), np.bool_)
    if plan.mode is not SearchMode.WORDS and not plan.asked.phrases:
        # drop what matches neither words nor meaning: in a small index everything is a candidate
        kept = (scores >= LEAST_SCORE) | found.is_by_words
    order = np.lexsort((found.ids, -scores))
    order = order[kept[order]]
    best_ids = found.ids[order].tolist()
    owners = found.document_ids[found.documents[order]].tolist()
    scored = zip(best_ids, scores[order].tolist(), strict=True)
    ranked = group(scored, dict(zip(best_ids, owners, strict=True)), plan.passages_per_document, plan.k)
    if plan.mode is SearchMode.HYBRID and plan.words is not None:
        say_little = (words == 0) | (trusted < 1)
        ranked = _with_meaning_alone(ranked, dict(zip(found.ids[say_little], meaning[say_little], strict=True)))
    if not plan.is_explained:
        return ranked
    return with_reasons(ranked, Parts(plan.asked.terms, plan.mode, plan.words, found, near))


def _with_meaning_alone(ranked: list[RankedDocument], of_passages: Mapping[int, float]) -> list[RankedDocument]:
    """The same, each with the score by meaning of its best passage if it is one of these."""
    scores = (of_passages.get(document.passages[0][0]) for document in ranked)
    return [
        document if score is None else replace(document, meaning_alone=float(score))
        for document, score in zip(ranked, scores, strict=True)
    ]


def nearest_excerpts(db: apsw.Connection, plan: Plan, ranked: list[RankedDocument]) -> dict[int, Nearest]:
    """The nearest excerpt of each passage; {} for a search by words. Passages without excerpts are left out."""
    if plan.mode is SearchMode.WORDS or plan.vector is None:
        return {}
    shown = [passage_id for document in ranked for passage_id in ids(document.passages)]
    return excerpts.nearest(db, plan.vector, shown)
