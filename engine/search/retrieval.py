"""Finds candidates: passages by words and passages by vector, each ranked and scored.

Words and vectors are two SQL statements, never a join: a join of sqlite-vec's MATCH with FTS5's took 26.7 s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors, distinct
from longsearch.engine.index import bm25
from longsearch.engine.index.backends import Found, QueryWords
from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import Lookup, forms_of
from longsearch.engine.query_language.fields import Condition
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.fusion import WEIGHT_OF_DOCUMENT, WEIGHT_OF_DOCUMENT_WORDS, mixed
from longsearch.engine.search.metadata_filter import narrowed
from longsearch.engine.search.ranking import PASSAGES_SHOWN, RankedDocument
from longsearch.engine.store import excerpts, keywords, languages
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.records import Outline
from longsearch.engine.store.segments.word_parts import forms_cut

Scores = NDArray[np.float64]


def allowed_documents(
    index: Index, file_filter: FileFilter, conditions: Sequence[Condition] = ()
) -> NDArray[np.int64] | None:
    """Ids of the documents in files that the filter admits and of which the conditions hold, ascending; None: all."""
    if not (conditions or file_filter != FileFilter()):
        return None
    return index.kept((file_filter, tuple(conditions)), lambda: _admitted(index, file_filter, conditions))


def _admitted(index: Index, file_filter: FileFilter, conditions: Sequence[Condition]) -> NDArray[np.int64] | None:
    allowed = None
    if file_filter != FileFilter():
        found = index.documents_where(file_filter)
        if file_filter.languages:
            spoken = list(languages.documents_in(index.db, file_filter.languages))
            found = found[np.isin(found, spoken, assume_unique=True)]
        if file_filter.languages_excluded:
            left_out = list(languages.documents_in(index.db, file_filter.languages_excluded))
            found = found[np.isin(found, left_out, assume_unique=True, invert=True)]
        is_all = 0 < index.n_documents == len(found)  # of an empty index no document is admitted
        allowed = None if is_all else found
    return narrowed(index, allowed, conditions)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages that may answer a query."""

    ids: NDArray[np.int64]
    """(n,), ascending."""
    bm25: NDArray[np.float64]
    """(n,): BM25; 0 if it is not among the best by words."""
    cosines: NDArray[np.float64]
    """(n,): the cosine of the passage's own vector; NaN if it has none, or in a search by words."""
    is_by_words: NDArray[np.bool_]
    """(n,): whether it is among the best by words."""
    document_ids: NDArray[np.int64]
    """(m,): the documents of all these passages, ascending."""
    documents: NDArray[np.intp]
    """(n,): where in `document_ids` the passage's document is."""
    lengths: NDArray[np.int64]
    """(m,): the number of passages of each of these documents."""
    is_named: NDArray[np.bool_]
    """(m,): whether the query is the title, the name or an identifier of each of these documents."""


def candidates(
    index: Index, by_words: Found, by_vector: Found, vector: Vectors | None, named: NDArray[np.int64]
) -> Candidates:
    """Join the best passages by words (id, BM25) and by their own vectors (id, cosine) with those that are `named`."""
    tables = (np.array(found, np.float64).reshape(-1, 2).T for found in (by_words, by_vector))
    (word_ids, word_scores), (near_ids, near_scores) = ((ids.astype(np.int64), scores) for ids, scores in tables)
    ids, _ = distinct(np.concatenate([word_ids, near_ids, named]))
    bm25_scores, cosines = np.zeros(len(ids)), np.full(len(ids), np.nan)
    is_by_words = np.zeros(len(ids), np.bool_)
    own = np.searchsorted(ids, word_ids)
    bm25_scores[own], is_by_words[own] = word_scores, True
    cosines[np.searchsorted(ids, near_ids)] = near_scores
    if vector is not None:
        left = ids[np.isnan(cosines)]
        found = index.backend.cosines(Kind.VECTORS, left.tolist(), vector)
        cosines[np.searchsorted(ids, list(found))] = list(found.values())
    document_ids, places = np.unique(index.backend.documents_of(ids), return_inverse=True)
    lengths = index.backend.lengths(document_ids)
    of_named = np.isin(document_ids, document_ids[places[np.searchsorted(ids, named)]])
    return Candidates(ids, bm25_scores, cosines, is_by_words, document_ids, places, lengths, of_named)


@dataclass(frozen=True, slots=True)
class WordScores:
    """The scores by words of the candidates."""

    scores: Scores
    """(n,)"""
    worth: Scores
    """(n,): what a point of a passage's BM25 gives to its score."""
    best_passage: float = 0.0
    """The highest BM25 of a passage, as a share of the highest that the query can reach."""
    best_document: float = 0.0
    """The same of a document."""


def by_words(words: QueryWords | None, found: Candidates) -> WordScores:
    """The scores by words; all are 0 without words.

    A score is 0.6 of the passage's BM25 and 0.4 of its document's, each as a share of the highest that the query can
    reach. Passages that are not among the best by words get their document's part alone.
    """
    if words is None:
        return WordScores(np.zeros(len(found.ids)), np.zeros(len(found.ids)))
    figures = words.statistics
    highest = bm25.highest(figures) or 1.0
    parts = bm25.parts_of_documents(words.in_documents(found.document_ids), found.lengths, figures)
    own = np.clip(found.bm25 / highest, 0.0, 1.0)
    of_documents = parts.sum(axis=0)
    scores = mixed(own, of_documents[found.documents], WEIGHT_OF_DOCUMENT_WORDS)
    worth = found.is_by_words.astype(np.float64) * ((1 - WEIGHT_OF_DOCUMENT_WORDS) / highest)
    return WordScores(scores, worth, own.max(initial=0.0), of_documents.max(initial=0.0))


@dataclass(frozen=True, slots=True)
class MeaningScores:
    """The scores by meaning of the candidates, and the cosines of which they are made.

    A cosine is NaN where there is no vector, or where it does not count.
    """

    scores: Scores
    """(n,); 0 without a vector."""
    passages: Scores
    """(n,): the cosines of the passages."""
    excerpts: Scores
    """(n,): those of the nearest excerpt of each passage."""
    documents: Scores
    """(n,): those of each passage's document; NaN if it has one passage only (see `fusion.WEIGHT_OF_DOCUMENT`)."""
    excerpt_weight: float
    """See `fusion.mixed`."""
    starts: NDArray[np.int64]
    """(n,): where the nearest excerpt begins, in characters from the start of the passage; -1 without excerpts."""
    stops: NDArray[np.int64]
    """(n,): where the next excerpt begins; -1 if there is none."""


def by_meaning(index: Index, vector: Vectors, found: Candidates) -> MeaningScores:
    """The scores by meaning, from the cosines of passages, nearest excerpts and documents.

    Without the document's cosine, the passage's own score takes its place.
    """
    of_excerpts: Scores = np.full(len(found.ids), np.nan)
    starts, stops = np.full((2, len(found.ids)), -1)
    nearest = excerpts.nearest(index.db, vector, found.ids, found.cosines)
    places = np.searchsorted(found.ids, nearest.passage_ids)
    of_excerpts[places], starts[places], stops[places] = nearest.cosines, nearest.starts, nearest.stops
    whole: Scores = np.full(len(found.document_ids), np.nan)
    longer = found.document_ids[found.lengths > 1]
    known = index.backend.cosines(Kind.DOCUMENTS, longer.tolist(), vector)
    whole[np.searchsorted(found.document_ids, list(known))] = list(known.values())
    of_documents, weight = whole[found.documents], index.excerpt_weight
    with_excerpts = mixed(found.cosines, of_excerpts, weight)
    own: Scores = np.where(np.isnan(of_excerpts), found.cosines, with_excerpts)
    mixture: Scores = mixed(own, np.where(np.isnan(of_documents), own, of_documents), WEIGHT_OF_DOCUMENT)
    scores = np.nan_to_num(np.clip(mixture, 0.0, 1.0))
    return MeaningScores(scores, found.cosines, of_excerpts, of_documents, weight, starts, stops)


def by_own_words(
    index: Index, words: QueryWords, asked: Lookup, ranked: Sequence[RankedDocument]
) -> list[RankedDocument]:
    """The documents, each with its passages ranked by their own words: in its first, title and names do not count.

    They tell a document from others, not its passages from one another. No passage gets more than its document has.
    """
    outlines = index.outlines([one.document_id for one in ranked])
    rows = index.passage_rows([passage.id for one in ranked for passage in one.passages])
    several = [passage for one in ranked if len(one.passages) > 1 for passage in one.passages]
    firsts = {one.id: outlines[one.document_id] for one in several if one.worth and rows[one.id].is_first}
    given = _given_by_titles(index.db, words, asked, firsts) if firsts else {}
    found = []
    for one in ranked:
        scored = [(passage.score - passage.worth * given.get(passage.id, 0.0), passage) for passage in one.passages]
        scored.sort(key=lambda row: -row[0])
        own = (passage._replace(score=min(score, one.score)) for score, passage in scored[:PASSAGES_SHOWN])
        found.append(replace(one, passages=tuple(own)))
    return found


def _given_by_titles(
    db: apsw.Connection, words: QueryWords, asked: Lookup, titles: Mapping[int, Outline]
) -> dict[int, float]:
    """The BM25 that title and names give to the first passages of documents, of which the outlines are given."""
    ids = np.array(sorted(titles), np.int64)
    forms, cut = forms_cut(db, list(map(forms_of, asked.terms))), keywords.tokenizer(db)
    of_titles = [[token.encode() for token in cut(keywords.title_words(titles[id_]).encode())] for id_ in ids.tolist()]
    held = np.array([[sum(form.times_in(own) for form in term) for own in of_titles] for term in forms], np.int64)
    counts, lengths = words.occurrences(ids)
    own = np.maximum(counts - keywords.TITLE_WEIGHT * held, 0)
    left = np.maximum(lengths - list(map(len, of_titles)), 0)
    with_titles = bm25.of_passages(counts, lengths, words.statistics)
    given = with_titles - bm25.of_passages(own, left, words.statistics)
    return dict(zip(ids.tolist(), given.tolist(), strict=True))
