"""Metrics of rankings, and their confidence intervals.

A ranking is given by `gains` (n_ranked,), the gain at each rank, and `ideal` (n_relevant,), all gains above 0 in any
order. Definitions are trec_eval's: linear gains, logarithmic discount.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_N_SAMPLES = 1000
Gains = NDArray[np.float64]
METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "hit@1")
ACCURACY = "hit@1"
"""Acc@1: the share of queries whose first document is right. LongEmbed reports it for passkey and needle."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over queries with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def ndcg(gains: Gains, ideal: Gains, k: int = 10) -> float:
    """Return normalised discounted cumulative gain at k (Järvelin and Kekäläinen 2002); 0 if nothing is relevant."""
    best = _dcg(np.sort(ideal)[::-1][:k])
    return _dcg(gains[:k]) / best if best else 0.0


def recall(gains: Gains, ideal: Gains, k: int) -> float:
    """Return the share of the relevant items that are among the first k."""
    n_relevant = int((ideal > 0).sum())
    return int((gains[:k] > 0).sum()) / n_relevant if n_relevant else 0.0


def reciprocal_rank(gains: Gains, k: int = 10) -> float:
    """Return 1 / rank of the first relevant item, or 0 if none is among the first k."""
    hits = np.flatnonzero(gains[:k] > 0)
    return 1.0 / (int(hits[0]) + 1) if len(hits) else 0.0


def hit(gains: Gains, k: int = 1) -> float:
    """Return 1 if a relevant item is among the first k, else 0."""
    return float((gains[:k] > 0).any())


def score(gains: Gains, ideal: Gains) -> dict[str, float]:
    """Return all of METRICS for one query."""
    recalls = (recall(gains, ideal, 10), recall(gains, ideal, 100))
    return dict(zip(METRICS, (ndcg(gains, ideal), *recalls, reciprocal_rank(gains), hit(gains)), strict=True))


def bootstrap(values: NDArray[np.float64]) -> Interval:
    """Return the mean of values (n_queries,) and the middle 95 % of resampled means. Raises ValueError for none."""
    if not len(values):
        raise ValueError("no values to resample")
    random = np.random.default_rng(0)
    means = np.array([values[random.integers(0, len(values), len(values))].mean() for _ in range(_N_SAMPLES)])
    low, high = np.percentile(means, (2.5, 97.5))
    return Interval(float(values.mean()), float(low), float(high))


def _dcg(gains: Gains) -> float:
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum())
