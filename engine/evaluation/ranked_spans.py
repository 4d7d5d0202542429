"""The answer of a system: spans of documents, ranked for each query."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.datasets import EvalDocument

_WINDOW_WORDS = 120
# runs of letters of a script that does not separate words: 2 characters of Chinese and Japanese and 5 of Thai, Lao,
# Khmer and Burmese are counted as a word, which is about their length
_CJK, _SOUTH_EAST = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff", r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[{_CJK}]{{1,2}}|[{_SOUTH_EAST}]{{1,5}}|[^\s{_CJK}{_SOUTH_EAST}]+")
MAX_RANKED = 1000
"""A system ranks at most so many spans for a query."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans that a system ranks, of the documents' full texts."""

    documents: NDArray[np.int64]
    """(n_spans,): row of each span's document in the dataset."""
    borders: NDArray[np.int64]
    """(n_spans, 2): start and stop in characters."""
    are_documents: bool = False
    """Whether each span is a whole document; then passages cannot be scored."""

    @classmethod
    def of_passages(cls, passages: list[tuple[int, int, int]]) -> "Spans":
        """Build the spans from (document, start, stop) of each passage."""
        table = np.array(passages, np.int64).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1:])

    def texts(self, documents: Sequence[EvalDocument]) -> Iterator[str]:
        """Yield the text of each span of these documents; holds the text of one document at a time."""
        for row, spans in groupby(zip(self.documents.tolist(), self.borders.tolist(), strict=True), itemgetter(0)):
            text = documents[row].full_text
            yield from (text[start:stop] for _, (start, stop) in spans)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranking of a system for every query."""

    spans: Spans
    rows: list[NDArray[np.int64]]
    """Rows of `spans` for each query, best first."""
    scores: list[NDArray[np.floating]]
    """The scores of those rows, for each query."""


def by_vectors(spans: Spans, vectors: Vectors, queries: Vectors, limit: int = MAX_RANKED) -> Ranked:
    """Rank spans by the dot product of vectors (n_spans, dim) and queries (n_queries, dim); ties by row."""
    return by_scores(spans, queries @ vectors.T, limit)


def by_scores(spans: Spans, similarities: Vectors, limit: int = MAX_RANKED) -> Ranked:
    """Rank spans by their scores (n_queries, n_spans); ties by row."""
    rows, scores = [], []
    for similarity in similarities:
        best = np.argpartition(-similarity, min(limit, len(similarity)) - 1)[:limit]
        best = best[np.lexsort((best, -similarity[best]))]
        rows.append(best)
        scores.append(similarity[best])
    return Ranked(spans, rows, scores)


def word_windows(text: str, n_words: int = _WINDOW_WORDS) -> list[tuple[int, int]]:
    """Cut a text into spans of `n_words` words, side by side; none for a text without words."""
    words = [match.span() for match in _WORD.finditer(text)]
    return [(words[i][0], words[min(i + n_words, len(words)) - 1][1]) for i in range(0, len(words), n_words)]


def scores_of(ranked: Ranked) -> list[dict[int, float]]:
    """Return a mapping from row to score, clipped to 0..1, for each query."""
    return [
        dict(zip(rows.tolist(), np.clip(scores, 0, 1).tolist(), strict=True))
        for rows, scores in zip(ranked.rows, ranked.scores, strict=True)
    ]


def ranked_by(spans: Spans, answers: list[list[tuple[int, float]]]) -> Ranked:
    """Return an answer from the (row, score) of each query, best first."""
    rows = [np.array([row for row, _ in answer], np.int64) for answer in answers]
    return Ranked(spans, rows, [np.array([score for _, score in answer]) for answer in answers])
