"""What a system answers: spans of documents, ranked for each query. Knows no model and no metric."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Vectors

DEPTH = 1000
"""Spans a system ranks for a query, at most."""


@dataclass(frozen=True, slots=True)
class Spans:
    """What a system ranks: spans of the documents' full texts."""

    documents: NDArray[np.int64]
    """(n_spans,) row of each span's document in the dataset."""
    borders: NDArray[np.int64]
    """(n_spans, 2) characters."""
    are_documents: bool = False
    """Whether each is a whole document, of which no passage can be told."""

    @classmethod
    def of_passages(cls, passages: list[tuple[int, int, int]]) -> "Spans":
        """From (document, start, stop) of each."""
        table = np.array(passages, np.int64).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1:])


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a system answered."""

    spans: Spans
    rows: list[NDArray[np.int64]]
    """For each query, rows of `spans`, best first."""
    scores: list[NDArray[np.floating]]
    """For each query, the scores of those rows."""


def by_vectors(spans: Spans, vectors: Vectors, queries: Vectors, depth: int = DEPTH) -> Ranked:
    """Spans by the scalar product of vectors (n_spans, dim) and queries (n_queries, dim); ties by row."""
    return by_scores(spans, queries @ vectors.T, depth)


def by_scores(spans: Spans, similarities: Vectors, depth: int = DEPTH) -> Ranked:
    """Spans by their scores (n_queries, n_spans); ties by row."""
    rows, scores = [], []
    for similarity in similarities:
        best = np.argpartition(-similarity, min(depth, len(similarity)) - 1)[:depth]
        best = best[np.lexsort((best, -similarity[best]))]
        rows.append(best)
        scores.append(similarity[best])
    return Ranked(spans, rows, scores)
