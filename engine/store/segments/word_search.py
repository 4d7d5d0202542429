"""Ranks passages by BM25 with the postings of the segments. The slow twin is FTS5: `keywords.best`.

A first pass adds up the BM25 of every passage that holds a word, in float32 and in the order of storage. The best of
them are scored again as FTS5 scores them, in float64 and in the order of the query: the two agree to the last bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.segments.word_parts import Part, Term, parts_of, terms_of

_K1, _B = 1.2, 0.75  # FTS5's constants; do not change them
_ROUNDING = 1e-5  # float32 sums of at most 128 terms are off by less, as a share
_AT_ONCE = 16_384  # postings: what is computed of them stays in a core's own cache, which is three times as fast
_BLOCK = 256  # passages of which the best stands for all when the limit is looked for

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Passages, best first."""

    ids: NDArray[np.int64]
    """(n,)"""
    scores: NDArray[np.float64]
    """(n,): their BM25."""


class WordSearch:
    """What an index holds of a query's words, at one moment."""

    def __init__(self, parts: Sequence[Part], n_terms: int) -> None:
        self._parts = parts
        self.n_passages_with = tuple(sum(len(part.postings[i].places) for part in parts) for i in range(n_terms))
        """For each term the number of passages that hold it."""
        self.n_documents_with = tuple(sum(part.postings[i].n_documents for part in parts) for i in range(n_terms))
        """For each term the number of documents that hold it."""

    @classmethod
    def open(cls, db: apsw.Connection, expressions: Sequence[str]) -> "WordSearch | None":
        """Look up a word, prefix or phrase in each FTS5 expression; None if only FTS5 can."""
        terms: list[Term] | None = terms_of(db, expressions)
        parts = None if terms is None else parts_of(db, terms)
        return None if parts is None else cls(parts, len(expressions))

    def best(self, idfs: Sequence[float], mean_length: float, limit: int, allowed: Allowed | None = None) -> Ranked:
        """The `limit` best passages. `idfs`: the weight of each term; `mean_length`: words of a passage."""
        weights = np.array(idfs)
        found = [_best_of(part, weights, mean_length, limit, allowed) for part in self._parts]
        ids = np.concatenate([one.ids for one in found])
        scores = np.concatenate([one.scores for one in found])
        order = np.lexsort((ids, -scores))[:limit]
        return Ranked(ids[order], scores[order])

    def by_term(self, passage_ids: NDArray[np.int64], idfs: Sequence[float], mean_length: float) -> NDArray[np.float64]:
        """(n_terms, n): what each term gives to the BM25 of each of these passages."""
        found, weights = np.zeros((len(idfs), len(passage_ids))), np.array(idfs)
        for part in self._parts:
            places = np.searchsorted(part.passage_ids, passage_ids)
            own = places < len(part.passage_ids)
            own[own] = part.passage_ids[places[own]] == passage_ids[own]
            found[:, own] = list(_by_term(part, places[own].astype(np.int64), weights, mean_length))
        return found

    def in_documents(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_terms, n): how many passages of each of these documents (ascending) hold each term."""
        counts = np.zeros((len(self.n_passages_with), len(document_ids)), np.int64)
        for part in self._parts:
            own = np.searchsorted(part.document_ids, document_ids)
            known = own < len(part.document_ids)
            known[known] = part.document_ids[own[known]] == document_ids[known]
            borders = np.stack([part.first_of[own[known]], part.first_of[own[known] + 1]])
            for term, postings in enumerate(part.postings):
                # of the same type: otherwise numpy converts all places first
                starts, stops = np.searchsorted(postings.places, borders.astype(postings.places.dtype))
                counts[term, known] += stops - starts
        return counts


def _best_of(part: Part, weights: Floats, mean_length: float, limit: int, allowed: Allowed | None) -> Ranked:
    """The best passages of one part."""
    sums = _summed(part, weights, mean_length)
    if allowed is not None:
        sums *= part.mask(allowed)
    places = _highest(sums, limit)
    scores = _exact(part, places, weights, mean_length)
    return Ranked(part.passage_ids[places], scores)


def _summed(part: Part, weights: Floats, mean_length: float) -> NDArray[np.float32]:
    """(n,): about the BM25 of every passage; 0 where it holds no term."""
    sums = np.zeros(len(part.passage_ids), np.float32)
    scale, offset = np.float32(_K1 * _B / max(mean_length, 1e-9)), np.float32(_K1 * (1 - _B))
    for postings, weight in zip(part.postings, weights.tolist(), strict=True):
        factor = np.float32(weight * (_K1 + 1))
        for start in range(0, len(postings.places), _AT_ONCE):
            places = postings.places[start : start + _AT_ONCE].astype(np.int64)
            counts = postings.counts[start : start + _AT_ONCE].astype(np.float32)
            half = part.lengths[places].astype(np.float32)
            half *= scale
            half += offset
            half += counts
            counts *= factor
            counts /= half
            sums[places] += counts
    return sums


def _highest(sums: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Places, ascending, of all sums above 0 that may be among the `limit` highest."""
    least = np.float32(0)
    n_blocks = len(sums) // _BLOCK
    if n_blocks > limit:
        of_blocks = sums[: n_blocks * _BLOCK].reshape(n_blocks, _BLOCK).max(axis=1)
        least = np.partition(of_blocks, n_blocks - limit)[n_blocks - limit]  # so many passages are at least this good
    places = np.flatnonzero(sums >= least * np.float32(1 - _ROUNDING)) if least > 0 else np.flatnonzero(sums > 0)
    if len(places) > limit:
        own = sums[places]
        least = np.partition(own, len(own) - limit)[len(own) - limit]
        places = places[own >= least * np.float32(1 - _ROUNDING)]
    return places


def _exact(part: Part, places: NDArray[np.int64], weights: Floats, mean_length: float) -> NDArray[np.float64]:
    """(p,): the BM25 of the passages at these places, as FTS5 computes it."""
    scores = np.zeros(len(places))
    for own in _by_term(part, places, weights, mean_length):
        scores += own
    return scores


def _by_term(part: Part, places: NDArray[np.int64], weights: Floats, mean_length: float) -> Iterator[Floats]:
    """Yield (p,) for each term: what it gives to the BM25 of the passages at these places."""
    half = _K1 * (1 - _B + _B * part.lengths[places].astype(np.float64) / max(mean_length, 1e-9))
    for postings, weight in zip(part.postings, weights.tolist(), strict=True):
        own = np.searchsorted(postings.places, places.astype(postings.places.dtype))
        held = own < len(postings.places)
        held[held] = postings.places[own[held]] == places[held]
        counts = np.zeros(len(places))
        counts[held] = postings.counts[own[held]]
        yield weight * (counts * (_K1 + 1) / (counts + half))
