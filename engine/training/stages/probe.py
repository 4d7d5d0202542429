"""Measures during training how well held-out queries find their passages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.evaluation.metrics import reciprocal_rank
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.student.student import Trainable, read_all

_MAX_PAIRS = 256


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Pairs of documents that are never trained on."""

    pairs: PairSet
    rows: NDArray[np.int64]
    """Rows of `pairs`; the first 256 are used."""

    def __call__(self, student: Trainable, widths: tuple[float, ...]) -> dict[str, float]:
        """Return MRR@10 of each query's own passage among all of them, for each width; {} if no row is held out."""
        rows = self.rows[:_MAX_PAIRS]
        if not len(rows):
            return {}
        scores = {}
        for width in widths:
            queries = read_all(student, [self.pairs.queries[row] for row in rows], width)
            passages = read_all(student, [self.pairs.passages[row] for row in rows], width)
            order = (-queries @ passages.T).argsort(axis=1, kind="stable")
            is_answer = order == np.arange(len(rows))[:, None]
            scores[f"held_out_mrr@{width:g}"] = float(
                np.mean([reciprocal_rank(row.astype(float)) for row in is_answer])
            )
        return scores
