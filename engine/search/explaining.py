"""The points that each word and each vector gave to the score of a hit. They add up to the score.

A score is linear in its parts: BM25 is a sum over words, and `fusion` weighs sums. So the points of a part are what
`fusion` makes of that part where all others are 0. The parts are the arrays of the search itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index import bm25
from longsearch.engine.index.backends import QueryWords
from longsearch.engine.index.lookup import as_typed
from longsearch.engine.search.fusion import WEIGHT_OF_DOCUMENT, WEIGHT_OF_DOCUMENT_WORDS, both, mixed
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.search.retrieval import Candidates, MeaningScores
from longsearch.engine.types.results import MeaningShare, Reason, SearchMode, WordShare

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the scores of a search were made of."""

    terms: Sequence[str]
    """The expressions that were looked up, in the order of `words`."""
    mode: SearchMode
    words: QueryWords | None
    """None in a search by meaning."""
    found: Candidates
    near: MeaningScores | None
    """None in a search by words."""
    weights: Points
    """(n,): what the score of each candidate is multiplied by."""
    in_meaning: float
    """See `fusion.trust_in_meaning`."""


def with_reasons(ranked: Sequence[RankedDocument], parts: Parts) -> list[RankedDocument]:
    """Give each document the reason for its score, which is that of its best passage."""
    if not ranked:
        return []
    best = np.array([document.passages[0].id for document in ranked], np.int64)
    places = np.searchsorted(parts.found.ids, best)
    words: list[tuple[WordShare, ...]] = [()] * len(ranked) if parts.words is None else _by_words(parts, places)
    meaning = [() if parts.near is None else _by_meaning(parts, parts.near, place) for place in places.tolist()]
    return [
        replace(document, reason=Reason(by_words, near, weight=weight))
        for document, by_words, near, weight in zip(ranked, words, meaning, parts.weights[places].tolist(), strict=True)
    ]


def _by_words(parts: Parts, places: NDArray[np.intp]) -> list[tuple[WordShare, ...]]:
    """The points of each word for each of the passages at these places."""
    if parts.words is None:
        return []
    of_passages, of_documents = _of_passages(parts, parts.words, places), _of_documents(parts, parts.words, places)
    if parts.mode is SearchMode.HYBRID:
        weight = both(parts.words.statistics.trust, 0.0)
        of_passages, of_documents = weight * of_passages, weight * of_documents
    of_passages, of_documents = parts.weights[places] * of_passages, parts.weights[places] * of_documents
    names = list(map(as_typed, parts.terms))
    n_with = parts.words.statistics.n_passages_with
    return [
        tuple(map(WordShare, names, own.tolist(), whole.tolist(), n_with))
        for own, whole in zip(of_passages.T, of_documents.T, strict=True)
    ]


def _of_passages(parts: Parts, words: QueryWords, places: NDArray[np.intp]) -> Points:
    """(n_terms, p): as `retrieval.by_words` counts a passage. One that is not among the best by words has none."""
    figures = words.statistics
    ids, own = np.unique(parts.found.ids[places], return_inverse=True)
    each = bm25.parts_of_passages(*words.occurrences(ids), figures)[:, own] * parts.found.is_by_words[places]
    total = each.sum(axis=0)
    highest = bm25.highest(figures) or 1.0
    counted = np.clip(parts.found.bm25[places] / highest, 0.0, 1.0)
    shares = each * (counted / np.where(total > 0, total, 1.0))
    return (1 - WEIGHT_OF_DOCUMENT_WORDS) * shares


def _of_documents(parts: Parts, words: QueryWords, places: NDArray[np.intp]) -> Points:
    """(n_terms, p): the same for the documents of these passages."""
    numbers, own = np.unique(parts.found.documents[places], return_inverse=True)
    ids = parts.found.document_ids[numbers]
    lengths = parts.found.lengths[numbers]
    each = bm25.parts_of_documents(words.in_documents(ids), lengths, words.statistics)[:, own]
    return WEIGHT_OF_DOCUMENT_WORDS * each


def _by_meaning(parts: Parts, near: MeaningScores, place: int) -> tuple[MeaningShare, ...]:
    """The points of each vector, as `retrieval.by_meaning` weighs them; () for a passage without a vector."""
    passage, excerpt, document = (float(part[place]) for part in (near.passages, near.excerpts, near.documents))
    if np.isnan(passage):
        return ()
    own = {"passage": passage}
    if not np.isnan(excerpt):
        weight = near.excerpt_weight
        own = {"passage": mixed(passage, 0.0, weight), "excerpt": mixed(0.0, excerpt, weight)}
    if not np.isnan(document):
        own = {name: mixed(part, 0.0, WEIGHT_OF_DOCUMENT) for name, part in own.items()}
        own["document"] = mixed(0.0, document, WEIGHT_OF_DOCUMENT)
    total = sum(own.values())
    scale = 0.0 if total <= 0 else min(1.0, 1 / total) * parts.weights[place]  # a score is between 0 and 1
    cosines = {"passage": passage, "excerpt": excerpt, "document": document}
    is_hybrid = parts.mode is SearchMode.HYBRID
    weighed = {name: both(0.0, parts.in_meaning * part) if is_hybrid else part for name, part in own.items()}
    return tuple(MeaningShare(name, cosines[name], scale * points) for name, points in weighed.items())
