"""Draws batches of pairs: from one source, of similar length, some near each other so that negatives are hard.

A seed and a step number give the same rows on every machine, so a resumed run draws what an unbroken one would draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.training.data.pairs import held_out_hash
from longsearch.engine.training.data.shards import PairSet

_POOL_BATCHES = 8  # batches: a batch is drawn from so many batches of passages of similar length


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often a source is drawn, and which of its pairs share a batch."""

    source_power: float = 0.6
    """A source of n pairs is drawn as n ** source_power: one of 55k pairs 4 times as often as one of 5k, not 11."""
    question_weight: float = 2.0
    """Sources of questions, 5 % of the corpus, are drawn so many times as often."""
    similar_lengths: bool = True
    """Whether the passages of a batch have similar lengths, for less padding. If not, they are drawn from the whole
    source, and the source's longest passage decides how many fit into a batch."""


DEFAULT_SAMPLING = Sampling()
_HELD_OUT_SHARE = 0.01


class Batches:
    """Draws batches from the pairs that are not held out."""

    def __init__(self, pairs: PairSet, seed: int, sampling: Sampling = DEFAULT_SAMPLING) -> None:
        """Set up the draw."""
        self._pairs, self._sampling = pairs, sampling
        self._seed = seed
        held = held_out_hash(pairs.documents, _HELD_OUT_SHARE)
        self.held_out: NDArray[np.int64] = np.flatnonzero(held)
        """Rows that are never drawn."""
        lengths = pairs.passages.lengths
        groups: dict[int, NDArray[np.int64]] = {}
        for source in range(len(pairs.source_names)):
            rows = np.flatnonzero((pairs.sources == source) & ~held & ~_has_empty_text(pairs))
            if len(rows) > 1:
                groups[source] = rows[np.argsort(lengths[rows], kind="stable")]
        self._groups = list(groups.values())
        questions = np.array([name.startswith("question") for name in pairs.kind_names])
        more = [sampling.question_weight if questions[pairs.kinds[rows[0]]] else 1.0 for rows in self._groups]
        weights = [len(rows) ** sampling.source_power * factor for rows, factor in zip(self._groups, more, strict=True)]
        self._probabilities = np.array(weights) / np.sum(weights)

    def draw(self, step: int, batch_tokens: int, max_pairs: int, hard_share: float = 0.0) -> NDArray[np.int64]:
        """Return the rows of one batch: about `batch_tokens` passage tokens with padding, at most `max_pairs` pairs.

        A share `hard_share` of them are hard: by the teacher, their passages are the nearest to one drawn at random.
        """
        random = np.random.default_rng([self._seed, step])
        rows = self._groups[int(random.choice(len(self._groups), p=self._probabilities))]
        lengths = self._pairs.passages.lengths
        place = int(random.integers(len(rows)))
        similar = self._sampling.similar_lengths
        length = int(lengths[rows[place if similar else -1]])  # rows are sorted by length
        size = int(np.clip(batch_tokens // length, 2, min(max_pairs, len(rows))))
        half = min(size * _POOL_BATCHES // 2, len(rows))
        pool = rows[max(0, place - half) : place + half] if similar else rows
        size = min(size, len(pool))
        n_near = int(size * hard_share) if self._pairs.passage_vectors is not None else 0
        near = self._nearest(rows[place], pool, n_near)
        rest = random.permutation(np.setdiff1d(pool, near))[: size - len(near)]
        return np.concatenate((near, rest))

    def _nearest(self, row: int, pool: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        vectors = self._pairs.passage_vectors
        if not n or vectors is None:
            return np.empty(0, np.int64)
        similarity = vectors[pool].astype(np.float32) @ vectors[row].astype(np.float32)
        return pool[np.argsort(-similarity, kind="stable")[:n]]


def _has_empty_text(pairs: PairSet) -> NDArray[np.bool_]:
    """Return which pairs have an empty query, passage or hard negative (arXiv 2604.18199, F.1, leaves these out)."""
    empty: NDArray[np.bool_] = (pairs.passages.lengths == 0) | (pairs.queries.lengths == 0)
    owners = np.searchsorted(pairs.hard_negatives.stops, np.arange(len(pairs.hard_negatives.texts)), side="right")
    empty[owners[pairs.hard_negatives.texts.lengths == 0]] = True
    return empty


def pick(weights: Sequence[float], seed: int, step: int) -> int:
    """Draw an index by weight, such as that of a step's width; deterministic in `seed` and `step`."""
    probabilities = np.array(weights) / np.sum(weights)
    return int(np.random.default_rng([seed, step, 1]).choice(len(weights), p=probabilities))
