"""Ranks passages by BM25 with the postings of the segments. The slow twin is FTS5: `keywords.best`.

A first pass adds up the BM25 of every passage that holds a word, in float32 and in the order of storage. The best of
them are scored again as FTS5 scores them, in float64 and in the order of the query: the two agree to the last bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.segments.candidate_filter import CandidateFilter, places_among
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.segments.term_counts import K1, half_count
from longsearch.engine.store.segments.word_parts import Part, forms_cut, parts_of

_ROUNDING = 1e-5  # float32 sums of at most 128 terms are off by less, as a share
_FEW = 4  # a term that fewer than a quarter of the passages hold is added up without more ado
_MORE = 8  # so many times as many passages as are wanted are scored without looking at the terms that are left
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
        self.n_passages_with = tuple(sum(part.held[i].n_passages for part in parts) for i in range(n_terms))
        """For each term the number of passages that hold it."""
        self.n_documents_with = tuple(sum(part.held[i].n_documents for part in parts) for i in range(n_terms))
        """For each term the number of documents that hold it."""

    @classmethod
    def open(cls, segments: Segments, terms: Sequence[Sequence[str]]) -> "WordSearch | None":
        """Look up the forms of each term, FTS5 expressions of a word, prefix or phrase; None without segments."""
        parts = parts_of(segments, forms_cut(segments.db, terms))
        return None if parts is None else cls(parts, len(terms))

    def best(
        self, idfs: Sequence[float], mean_length: float, limit: int, allowed: CandidateFilter | None = None
    ) -> Ranked:
        """The `limit` best passages. `idfs`: the weight of each term; `mean_length`: words of a passage."""
        weights = np.array(idfs)
        found = [_best_of(part, weights, mean_length, limit, allowed) for part in self._parts]
        ids = np.concatenate([one.ids for one in found])
        scores = np.concatenate([one.scores for one in found])
        order = np.lexsort((ids, -scores))[:limit]
        return Ranked(ids[order], scores[order])

    def occurrences(self, passage_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(n_terms, n): how often each of these passages (ascending) holds each term; (n,): its words."""
        counts = np.zeros((len(self.n_passages_with), len(passage_ids)), np.int64)
        lengths = np.zeros(len(passage_ids), np.int64)
        for part in self._parts:
            places, wanted = places_among(part.passage_ids, passage_ids)
            lengths[wanted] = part.lengths[places]
            for term, held in enumerate(part.held):
                counts[term, wanted] = held.at(places)
        return counts, lengths

    def in_documents(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_terms, n): how many passages of each of these documents (ascending) hold each term."""
        counts = np.zeros((len(self.n_passages_with), len(document_ids)), np.int64)
        for part in self._parts:
            own = np.searchsorted(part.document_ids, document_ids)
            known = own < len(part.document_ids)
            known[known] = part.document_ids[own[known]] == document_ids[known]
            starts, stops = part.first_of[own[known]], part.first_of[own[known] + 1]
            for term, held in enumerate(part.held):
                counts[term, known] += held.n_between(starts, stops)
        return counts


def _best_of(part: Part, weights: Floats, mean_length: float, limit: int, allowed: CandidateFilter | None) -> Ranked:
    """The best passages of one part."""
    places = _candidates(part, weights, mean_length, limit, None if allowed is None else part.mask(allowed))
    scores = np.zeros(len(places))
    for own in _by_term(part, places, weights, mean_length):  # as FTS5 adds them up
        scores += own
    return Ranked(part.passage_ids[places], scores)


def _candidates(
    part: Part, weights: Floats, mean_length: float, limit: int, mask: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Places, ascending, of all passages that may be among the `limit` best; `mask` (n,): which are allowed.

    Rare terms come first. If all terms that are left cannot lift another passage among the best, the passages that hold
    only these are not looked at: "with" beside two rarer words (MaxScore; Turtle and Flood, "Query Evaluation:
    Strategies and Optimizations", 1995).
    """
    sums = np.zeros(len(part.passage_ids), np.float32)
    order = np.argsort(-weights, kind="stable")
    highest_left = np.cumsum((weights[order] * (K1 + 1))[::-1])[::-1]  # what each term and those after it may add
    for term, most in zip(order.tolist(), highest_left.tolist(), strict=True):
        if term != order[0] and part.held[term].n_passages * _FEW > len(sums):
            if mask is not None:
                sums *= mask
            least = _reached(sums, limit) * (1 - 2 * _ROUNDING) - most
            near = sums >= np.float32(least)
            if least > 0 and np.count_nonzero(near) <= _MORE * limit:
                return np.flatnonzero(near)
        part.held[term].add_scores(sums, part.lengths, float(weights[term]), mean_length)
    if mask is not None:
        sums *= mask
    return _highest(sums, limit)


def _reached(sums: NDArray[np.float32], limit: int) -> float:
    """A sum that at least `limit` passages reach; 0 if that would have to be counted passage by passage."""
    n_blocks = len(sums) // _BLOCK
    if n_blocks <= limit:
        return 0.0
    of_blocks = sums[: n_blocks * _BLOCK].reshape(n_blocks, _BLOCK).max(axis=1)
    return float(np.partition(of_blocks, n_blocks - limit)[n_blocks - limit])


def _highest(sums: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Places, ascending, of all sums above 0 that may be among the `limit` highest."""
    least = np.float32(_reached(sums, limit))
    places = np.flatnonzero(sums >= least * np.float32(1 - _ROUNDING)) if least > 0 else np.flatnonzero(sums > 0)
    if len(places) > limit:
        own = sums[places]
        least = np.partition(own, len(own) - limit)[len(own) - limit]
        places = places[own >= least * np.float32(1 - _ROUNDING)]
    return places


def _by_term(part: Part, places: NDArray[np.int64], weights: Floats, mean_length: float) -> Iterator[Floats]:
    """Yield (p,) for each term: what it gives to the BM25 of the passages at these places."""
    half = half_count(part.lengths[places].astype(np.float64), mean_length)
    for held, weight in zip(part.held, weights.tolist(), strict=True):
        counts = held.at(places).astype(np.float64)
        yield weight * (counts * (K1 + 1) / (counts + half))
