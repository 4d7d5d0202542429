"""Ranks passages by BM25 with the postings of the segments, and counts in them. The slow twin is `WordsByFts5`.

A first pass adds up the BM25 of every passage that holds a word, in float32 and in the order of storage. The best of
them are scored again as FTS5 scores them, in float64 and in the order of the query: the two agree to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index import bm25
from longsearch.engine.index.backends import Found
from longsearch.engine.index.bm25 import WordStatistics
from longsearch.engine.store.segments.candidate_filter import CandidateFilter, places_among
from longsearch.engine.store.segments.term_counts import K1, mean_length
from longsearch.engine.store.segments.word_parts import Part

_ROUNDING = 1e-5  # float32 sums of at most 128 terms are off by less, as a share
_FEW = 4  # a term that fewer than a quarter of the passages hold is added up without more ado
_MORE = 8  # so many times as many passages as are wanted are scored without looking at the terms that are left
_BLOCK = 256  # passages of which the best stands for all when the limit is looked for

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class WordsBySegments:
    """`QueryWords` by the postings of the segments."""

    parts: Sequence[Part]
    statistics: WordStatistics

    @classmethod
    def of(
        cls, parts: Sequence[Part], weights: tuple[float, ...], n_documents: int, n_passages: int, n_words: int
    ) -> Self:
        """`weights`: of each term, or (); the three numbers are those of the whole index."""
        held = list(zip(*(part.held for part in parts), strict=True))
        n_passages_with = tuple(sum(own.n_passages for own in term) for term in held)
        n_documents_with = tuple(sum(own.n_documents for own in term) for term in held)
        figures = n_documents, n_passages, n_words, n_passages_with, n_documents_with, weights
        return cls(parts, WordStatistics(*figures))

    def pooled_with(self, statistics: WordStatistics) -> Self:
        """See `QueryWords`."""
        return replace(self, statistics=statistics)

    def best(self, limit: int, allowed: CandidateFilter | None) -> Found:
        """See `QueryWords`."""
        figures, weights = self.statistics, np.array(bm25.idfs(self.statistics))
        mean = mean_length(figures.n_words, figures.n_passages)
        ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
        for part in self.parts:
            mask = None if allowed is None else part.mask(allowed)
            places = _candidates(part, weights, mean, limit, mask)
            counts = np.array([held.at(places) for held in part.held]).reshape(len(part.held), len(places))
            ids.append(part.passage_ids[places].astype(np.int64))
            scores.append(bm25.of_passages(counts, part.lengths[places], figures))
        all_ids, all_scores = np.concatenate(ids), np.concatenate(scores)
        order = np.lexsort((all_ids, -all_scores))[:limit]
        return list(zip(all_ids[order].tolist(), all_scores[order].tolist(), strict=True))

    def occurrences(self, passage_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """See `QueryWords`."""
        counts = np.zeros((len(self.statistics.n_passages_with), len(passage_ids)), np.int64)
        lengths = np.zeros(len(passage_ids), np.int64)
        for part in self.parts:
            places, wanted = places_among(part.passage_ids, passage_ids)
            lengths[wanted] = part.lengths[places]
            for term, held in enumerate(part.held):
                counts[term, wanted] = held.at(places)
        return counts, lengths

    def in_documents(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `QueryWords`."""
        counts = np.zeros((len(self.statistics.n_passages_with), len(document_ids)), np.int64)
        for part in self.parts:
            own, wanted = places_among(part.document_ids, document_ids)
            starts, stops = part.first_of[own], part.first_of[own + 1]
            for term, held in enumerate(part.held):
                counts[term, wanted] += held.n_between(starts, stops)
        return counts


def _candidates(
    part: Part, weights: Floats, mean: float, limit: int, mask: NDArray[np.bool_] | None
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
            enough = _reached(sums, limit) * (1 - 2 * _ROUNDING) - most
            near = sums >= np.float32(enough)
            if enough > 0 and np.count_nonzero(near) <= _MORE * limit:
                return np.flatnonzero(near)
        part.held[term].add_scores(sums, part.lengths, float(weights[term]), mean)
    if mask is not None:
        sums *= mask
    least = np.float32(_reached(sums, limit))
    places = np.flatnonzero(sums >= least * np.float32(1 - _ROUNDING)) if least > 0 else np.flatnonzero(sums > 0)
    if len(places) > limit:
        own = sums[places]
        least = np.partition(own, len(own) - limit)[len(own) - limit]
        places = places[own >= least * np.float32(1 - _ROUNDING)]
    return places


def _reached(sums: NDArray[np.float32], limit: int) -> float:
    """A sum that at least `limit` passages reach; 0 if that would have to be counted passage by passage."""
    n_blocks = len(sums) // _BLOCK
    if n_blocks <= limit:
        return 0.0
    of_blocks = sums[: n_blocks * _BLOCK].reshape(n_blocks, _BLOCK).max(axis=1)
    return float(np.partition(of_blocks, n_blocks - limit)[n_blocks - limit])
