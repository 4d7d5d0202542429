"""Scores rankings: the gains of documents or, in sets with spans, of passages at each rank."""

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.evaluation.datasets import Dataset, EvalQuery
from longsearch.engine.evaluation.metrics import METRICS, Gains, score
from longsearch.engine.evaluation.ranked_spans import Ranked, Spans

_HELD_SHARE = 0.5  # a passage holds an answer if it contains at least half of its characters


def score_system(dataset: Dataset, ranked: Ranked) -> dict[str, NDArray[np.float64]] | None:
    """Return each metric's values, (n_queries,); None if the set scores passages and the system ranks documents."""
    if dataset.has_spans and ranked.spans.are_documents:
        return None
    pairs = [
        span_gains(dataset, query, ranked.spans, rows)
        if dataset.has_spans
        else document_gains(dataset, query, ranked.spans, rows)
        for query, rows in zip(dataset.queries, ranked.rows, strict=True)
    ]
    scores = [score(gains, ideal) for gains, ideal in pairs]
    return {metric: np.array([values[metric] for values in scores]) for metric in METRICS}


def document_gains(dataset: Dataset, query: EvalQuery, spans: Spans, rows: NDArray[np.int64]) -> tuple[Gains, Gains]:
    """Return the gain at each rank of documents, each at the rank of its best span, and all gains of the query."""
    judged = dataset.qrels[query.id]
    documents = dict.fromkeys(spans.documents[rows].tolist())
    gains = [judged.get(dataset.documents[row].id, 0) for row in documents]
    return np.array(gains, np.float64), np.array(list(judged.values()), np.float64)


def span_gains(dataset: Dataset, query: EvalQuery, spans: Spans, rows: NDArray[np.int64]) -> tuple[Gains, Gains]:
    """Return the gain at each rank, 1 if its passage holds an answer, else 0; and a 1 for each such passage."""
    judged = dataset.qrels[query.id]
    right_document = np.array([document.id in judged for document in dataset.documents])[spans.documents]
    holds = np.zeros(len(spans.documents), bool)
    for start, stop in query.spans:
        overlap = np.minimum(spans.borders[:, 1], stop) - np.maximum(spans.borders[:, 0], start)
        holds |= right_document & (overlap >= max(_HELD_SHARE * (stop - start), 1))
    return holds[rows].astype(np.float64), np.ones(int(holds.sum()))
