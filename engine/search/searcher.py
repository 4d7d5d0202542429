"""Searches one index, or several as one, for a parsed query. Returns documents with their best passages.

Words are scored by the figures of all indexes together: a score is the one that a single index of all these documents
would give. A score by meaning is a cosine, which compares where two indexes hold vectors of the same model. Where the
models differ, hits are merged by their scores all the same, and the caller should say so. Knows no model: the caller
encodes `query.meaning` with its instruction.
Longer than 300 lines because the steps of a search stand here in their order.
"""

import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.amounts import counted
from longsearch.engine.answers.choosing import Asked, Table
from longsearch.engine.arrays import Vectors
from longsearch.engine.index.backends import QueryWords
from longsearch.engine.index.bm25 import pooled
from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import Lookup, all_of, any_of, as_typed, lookup
from longsearch.engine.languages.compounds import COMPOUNDING
from longsearch.engine.query_language.query import Query, in_languages, written
from longsearch.engine.search import joined, versions
from longsearch.engine.search.calibration import with_levels
from longsearch.engine.search.compounds import with_compounds
from longsearch.engine.search.explaining import Parts, with_reasons
from longsearch.engine.search.fusion import both, trust_in_meaning
from longsearch.engine.search.hits import LEAST_SCORE, to_hits
from longsearch.engine.search.metadata_filter import in_order, list_order, listed, sort_hits, sort_keys
from longsearch.engine.search.patterns import MAY_BE_PATTERN, as_lit, with_words_like
from longsearch.engine.search.ranking import PASSAGES_SHOWN, RankedDocument, RankedPassage, group
from longsearch.engine.search.retrieval import (
    Candidates,
    WordScores,
    allowed_documents,
    by_meaning,
    by_own_words,
    by_words,
    candidates,
)
from longsearch.engine.store import files, languages
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.store.vectors import K_MAX
from longsearch.engine.types.results import DocumentHit, SearchMode, SearchResults
from longsearch.engine.unread import NONE_READ, unread

# Candidates per list. KNN at 100k passages takes 0.1 s for 200 and 0.35 s for 4,096. On ten dev sets (39,844 passages)
# 200 candidates by vector find 99 % of the top ten documents that all passages would find, and 50 find 95.5 %.
_N_CANDIDATES = 200
FURNITURE_WEIGHT = 0.4
"""What the score of a passage is multiplied by that is a list of references, a table of contents or an index."""
SLOWLY = "looked up slowly, because a segment of the index is missing: the next indexing makes it again"
_USUAL_IDF = 5.0  # of a content word that one passage in 150 holds


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query to some indexes, with its mode and its limits."""

    query: Query
    mode: SearchMode
    vectors: Sequence[Vectors | None] = ()
    """For each index the query as a unit vector (dim,) of the model that made its vectors; None where there is none."""
    k: int = 10
    """The most documents to find."""
    explain: bool = False
    """Whether each hit gets the reason for its score, which costs a millisecond or two."""
    table: Table | None = None
    """Chooses the sentences that answer; without one, those that share most with the nearest excerpts are lit."""
    fold: bool = False
    """Whether documents that say nearly the same are one hit with its versions."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The search of one index."""

    index: Index
    request: SearchRequest
    mode: SearchMode
    """The mode that can run."""
    asked: Lookup
    """The query's terms as the indexes are asked."""
    vector: Vectors | None
    """None in a search by words."""
    allowed: CandidateFilter | None
    words: QueryWords | None
    """What the index holds of the query's words; None in a search by meaning and for a list without words."""
    named: NDArray[np.int64]
    """The first passages of allowed documents whose title, name or identifier is the query."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A document of one index."""

    plan: Plan
    document: RankedDocument
    copies: list["_Found"] = field(default_factory=list)
    """The same document in other indexes."""


def search(indexes: Sequence[Index], request: SearchRequest) -> SearchResults:
    """Find the best `k` documents of these indexes.

    A query of filters alone lists the documents that they admit, newest first. An index without a vector is left out of
    a search by meaning. In a hybrid search its documents have their score by words alone, as a document that waits for
    its vectors; if no index has one, HYBRID runs as WORDS. A document that several indexes hold is listed once: with
    its best score, then in the innermost folder. Raises ValueError for MEANING without any vector, or for a vector of
    another dimension.
    """
    started = time.perf_counter()
    mode, asked_of = _mode(indexes, request)
    spoken = languages.joined([index.spoken for index, _ in asked_of])
    request = replace(request, query=in_languages(request.query, spoken.codes))
    if has_patterns := MAY_BE_PATTERN.search(request.query.text) is not None:
        request = replace(request, query=with_words_like(request.query, indexes))
    query, asked = request.query, lookup(request.query, spoken)
    if query.words and mode is not SearchMode.MEANING and not COMPOUNDING.isdisjoint(spoken.codes):
        asked = with_compounds(asked, query, indexes, spoken)
    plans = _plans(asked_of, request, mode, asked)
    hits = _hits(plans, _merged(plans)[: request.k])
    if request.fold and not query.is_listing and versions.may_be_among(hits):
        hits = _folded(plans, request, hits)
    if not query.is_listing:
        hits = with_levels(hits, [plan.index.background for plan in plans], mode)
        if query.sort is not None:  # a listing is in its order already
            hits = sort_hits(hits, query.sort, query.is_reversed)
    took_ms = (time.perf_counter() - started) * 1000
    held = plans[0].words.statistics.n_passages_with if plans[0].words else ()
    n_with = {as_typed(term): n for term, n in zip(asked.terms[: asked.n_typed], held, strict=False)}
    note = _note(plans, asked_of)
    found = SearchResults(
        query.text, mode, "", took_ms, hits, note, lit=query.terms, languages=spoken.codes, n_with=n_with
    )
    if query.joined or has_patterns:
        return replace(found, lit=as_lit(query.terms), understood=written(query))
    return found


_Asked = list[tuple[Index, Vectors | None]]


def _mode(indexes: Sequence[Index], request: SearchRequest) -> tuple[SearchMode, _Asked]:
    """The mode that can run, and the indexes to search with their vectors."""
    mode = SearchMode.WORDS if request.query.is_listing else request.mode
    asked_of = list(zip(indexes, request.vectors or [None] * len(indexes), strict=True))
    if mode is SearchMode.WORDS:
        return mode, [(index, None) for index in indexes]
    if mode is SearchMode.MEANING:
        asked_of = [(index, vector) for index, vector in asked_of if vector is not None]
        if not asked_of:
            raise ValueError("a search by meaning needs the query's vector")
    elif not any(vector is not None and index.model for index, vector in asked_of):
        mode = SearchMode.WORDS
    return mode, asked_of


def _plans(asked_of: _Asked, request: SearchRequest, mode: SearchMode, asked: Lookup) -> list[Plan]:
    """The search of each index. Its words are scored by the figures of all indexes.

    What a passage must be is known before passages are ranked: otherwise none of the best 200 might lie in a small
    folder.
    """
    query, has_words = request.query, mode is not SearchMode.MEANING and not request.query.is_listing
    plans = []
    for index, vector in asked_of:
        words = index.backend.words(asked, index.n_documents) if has_words else None
        in_files = allowed_documents(index, query.files, query.conditions)
        holding = index.backend.matching(all_of(asked.phrases)) if asked.phrases else None
        excluded = index.backend.matching(any_of(asked.excluded)) if asked.excluded else None
        is_all = in_files is None and holding is None and excluded is None
        allowed = None if is_all else CandidateFilter(in_files, holding, excluded)
        if query.joined and asked.languages:
            allowed = joined.narrowed(allowed, index, query.joined, asked.languages)
        named = index.backend.matching(asked.named) if asked.named else np.empty(0, np.int64)
        if len(named) and allowed is not None:
            named = allowed.admitted(named, index.backend.documents_of(named))
        vector = None if mode is SearchMode.WORDS else vector
        plans.append(Plan(index, request, mode, asked, vector, allowed, words, named))
    if not has_words or len(plans) < 2:
        return plans
    figures = pooled([plan.words.statistics for plan in plans if plan.words])
    return [replace(plan, words=plan.words and plan.words.pooled_with(figures)) for plan in plans]


def _merged(plans: Sequence[Plan]) -> list[_Found]:
    """The best documents of all indexes, best first, or the first of a list; each once."""
    query, found, keys = plans[0].request.query, list[_Found](), list[str]()
    if len(plans) > 1:
        # of documents that are equally good, those of inner folders come first: sorting keeps their order
        plans = sorted(plans, key=lambda plan: -len(plan.index.root.parts))
    if query.is_listing:
        best = list(map(_listed, plans))
    else:
        scored = list(map(_candidates, plans))
        best_passage = max(words.best_passage for _, words in scored)
        best_document = max(words.best_document for _, words in scored)
        in_meaning = trust_in_meaning(plans[0].asked.n_typed, best_passage, best_document)
        best = list(map(_ranked, plans, scored, repeat(in_meaning)))
    if len(plans) == 1:
        return [_Found(plans[0], document) for document in best[0]]
    sort = list_order(query.sort)
    for plan, documents in zip(plans, best, strict=True):
        own = [_Found(plan, document) for document in documents]
        found += own
        keys += sort_keys(plan.index.db, [one.document.document_id for one in own], sort) if query.is_listing else []
    if query.is_listing:
        found = in_order(found, keys, sort, query.is_reversed)
    else:
        found.sort(key=lambda one: (not one.document.is_named, -one.document.score))
    once: dict[bytes, _Found] = {}
    for one in found:
        first = once.setdefault(one.plan.index.hash_of(one.document.document_id), one)
        if first is not one:
            first.copies.append(one)
    return list(once.values())


def _hits(plans: Sequence[Plan], best: Sequence[_Found]) -> tuple[DocumentHit, ...]:
    asked = _asked(plans[0])
    found: dict[int, Iterator[DocumentHit]] = {}
    for plan in plans:
        ranked = [one.document for one in best if one.plan is plan]
        if plan.words is not None:
            ranked = by_own_words(plan.index, plan.words, plan.asked, ranked)
        own = to_hits(plan.index, plan.request.query.files, ranked, asked)
        found[id(plan)] = iter(own)
    hits = (
        _with_copies(next(found[id(one.plan)]), one.copies) if one.copies else next(found[id(one.plan)]) for one in best
    )
    return tuple(hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def _with_copies(hit: DocumentHit, copies: Sequence[_Found]) -> DocumentHit:
    """The hit with the files of other folders that hold the same document."""
    roots = [(one.plan.index, one.document.document_id) for one in copies]
    paths = (os.path.join(index.root, path) for index, id_ in roots for path in files.paths_of(index.db, id_))  # noqa: PTH118 (hostile names)
    others = dict.fromkeys([*hit.also_at, *paths])  # an inner folder's file is one of the outer folder too
    return replace(hit, also_at=tuple(path for path in others if path != hit.path))


def _folded(plans: Sequence[Plan], request: SearchRequest, hits: Sequence[DocumentHit]) -> tuple[DocumentHit, ...]:
    """The best hits without those that say nearly the same as a better one; at first these `hits`."""
    index_of = {str(plan.index.root): plan.index for plan in plans}

    def more(found: Sequence[DocumentHit], n: int) -> Sequence[DocumentHit]:
        own = [replace(plan, request=replace(request, k=n)) for plan in plans]
        known = {(hit.root, hit.document_id) for hit in found}
        new = [one for one in _merged(own)[:n] if (str(one.plan.index.root), one.document.document_id) not in known]
        return [*found, *(replace(hit, rank=len(found) + hit.rank) for hit in _hits(own, new))]

    return tuple(versions.unlike(hits, more, request.k, lambda hit: index_of[hit.root]))


def _asked(plan: Plan) -> Asked | None:
    """The query as its answers are chosen: its words by the figures of all indexes, or all alike without these."""
    query, table = plan.request.query, plan.request.table
    if table is None or query.is_listing:
        return None
    if plan.words is None:
        idf = dict.fromkeys((word for term in query.terms for word in term.text.casefold().split()), _USUAL_IDF)
    else:
        figures = plan.words.statistics
        rarity = zip(plan.asked.terms, figures.n_passages_with, strict=True)
        idf = {
            word: math.log(1 + figures.n_passages / (1 + n)) for term, n in rarity for word in as_typed(term).split()
        }
    return Asked.of(query.meaning, idf, table)


def _note(plans: Sequence[Plan], asked_of: _Asked) -> str:
    """Why the answer may be incomplete, and what is to be said about the query's fields; or ""."""
    query, indexes = plans[0].request.query, [plan.index for plan in plans]
    by_meaning_in = [index for index, vector in asked_of if vector is not None]
    n_waiting = sum(index.n_waiting for index in by_meaning_in if index.model)
    note = unread(counted(n_waiting, "document"), n_waiting) if n_waiting else ""
    if by_meaning_in and not any(index.model for index in by_meaning_in):
        note = NONE_READ
    left = [plan.allowed.documents if plan.allowed else None for plan in plans]
    if all(own is not None and not len(own) for own in left) and query.filters:
        note = f"No {'document' if query.conditions else 'file'} matches {query.filters}"
    notes = [*query.notes, note]
    if query.conditions and (n := sum(index.n_undescribed for index in indexes)):
        notes.append(f"{counted(n, 'document')} will have authors and dates after the next sweep")
    if plans[0].request.explain and any(index.backend.lacks_segments for index in indexes):
        notes.append(SLOWLY)
    return "; ".join(filter(None, notes))


def _listed(plan: Plan) -> list[RankedDocument]:
    query, left = plan.request.query, plan.allowed.documents if plan.allowed else None
    return listed(plan.index.db, left, list_order(query.sort), query.is_reversed, plan.request.k)


def _candidates(plan: Plan) -> tuple[Candidates, WordScores]:
    """The candidates with their scores by words. More are fetched until `k` documents have one: a book may hold 200.

    Stop early if every document of the index has one: otherwise asking an index of 30 for 50 took 1.5 times as long.
    """
    request = plan.request
    n, is_empty = _N_CANDIDATES, plan.allowed is not None and plan.allowed.is_empty
    while True:
        words = plan.words.best(n, plan.allowed) if plan.words is not None and not is_empty else []
        near = []
        if plan.vector is not None and not is_empty:
            near = plan.index.backend.nearest_passages(plan.vector, n, plan.allowed)
        found = candidates(plan.index, words, near, plan.vector, plan.named)
        n_documents, is_exhausted = len(found.document_ids), max(len(words), len(near)) < n
        if n_documents >= request.k or is_exhausted or n >= K_MAX or n_documents == plan.index.n_documents:
            return found, by_words(plan.words, found)
        n = min(4 * n, K_MAX)


def _ranked(plan: Plan, scored: tuple[Candidates, WordScores], in_meaning: float) -> list[RankedDocument]:
    """The best `k` documents with their final scores, best first; `in_meaning`: see `fusion.trust_in_meaning`."""
    found, words = scored
    nothing = np.zeros(len(found.ids))
    near = None if plan.vector is None else by_meaning(plan.index, plan.vector, found)
    meaning = nothing if near is None else near.scores
    trusted = 1.0 if plan.words is None else plan.words.statistics.trust
    hybrid = both(trusted * words.scores, in_meaning * meaning)
    scores = {SearchMode.WORDS: words.scores, SearchMode.MEANING: meaning}.get(plan.mode, hybrid)
    starts, stops = np.full((2, len(scores)), -1) if near is None else (near.starts, near.stops)
    is_furniture = plan.index.is_furniture(found.document_ids, found.ids, starts)
    weights = np.where(is_furniture, FURNITURE_WEIGHT, 1.0)
    scores = weights * scores
    kept = np.ones(len(scores), np.bool_)
    if plan.mode is not SearchMode.WORDS and not (plan.asked.phrases or plan.request.query.joined):
        # drop what matches neither words nor meaning: in a small index everything is a candidate
        kept = (scores >= LEAST_SCORE) | found.is_by_words | found.is_named[found.documents]
    order = np.lexsort((found.ids, -scores, ~found.is_named[found.documents]))
    order = order[kept[order]]
    worth = weights * (both(trusted * words.worth, nothing) if plan.mode is SearchMode.HYBRID else words.worth)
    says_little = (words.scores == 0) | (trusted < 1) if plan.mode is SearchMode.HYBRID else nothing
    owners = found.document_ids[found.documents]
    columns = (found.ids, owners, scores, worth, starts, stops, says_little, weights * meaning)
    passages = (
        RankedPassage(id_, owner, score, own, (start, stop) if start >= 0 else None, alone if is_little else None)
        for id_, owner, score, own, start, stop, is_little, alone in zip(
            *(column[order].tolist() for column in columns), strict=True
        )
    )
    n_passages = PASSAGES_SHOWN + (plan.words is not None)  # the first may fall behind the others: see `by_own_words`
    ranked = group(passages, plan.request.k, found.document_ids[found.is_named].tolist(), n_passages)
    if not plan.request.explain:
        return ranked
    return with_reasons(ranked, Parts(plan.asked.terms, plan.mode, plan.words, found, near, weights, in_meaning))
