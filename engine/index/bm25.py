"""The highest BM25 that a query can reach, and the BM25 of a whole document: FTS5 has neither. Pure arithmetic.

Also the BM25 of a passage by the figures of several indexes: FTS5 knows only those of its own. Figures add up, and with
pooled ones a score means the same in each index.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, equation 3.15, with FTS5's k1
and b. A document's term frequency is the number of its passages that hold the term. Documents are scored,
and not only passages, because a report may name its company on every tenth page but not beside the wanted figure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.segments.term_counts import K1, half_count, mean_length
from longsearch.engine.store.segments.term_counts import idf as idf

Counts = NDArray[np.integer[Any]]
# mean nDCG@10 of 20 hybrid sets with questions in another language than their documents, for 0 (words always count in
# full), .4, .5, .6, .7: .849 .850 .852 .853 .852; of 22 sets in one language .932 throughout
_KNOWN_FOR_FULL_WEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """The figures of a collection for the terms of one query."""

    n_documents: int
    n_passages: int
    n_words: int
    """The words of all passages, titles included, as FTS5 counts them."""
    n_passages_with: tuple[int, ...]
    """For each term the number of passages that hold it."""
    n_documents_with: tuple[int, ...]
    """For each term the number of documents that hold it."""
    weights: tuple[float, ...] = ()
    """For each term what it counts; () if all count in full. A term that counts less comes after those that do not."""

    @property
    def trust(self) -> float:
        """How much of its weight a score by words keeps in a hybrid search, from 0 to 1.

        Where the index lacks most of the query's words, the question may be in another language than the documents, and
        the few words that match are seldom those it is about.
        """
        typed = self.n_passages_with[: self.weights.count(1.0)] if self.weights else self.n_passages_with
        return min(1.0, sum(n > 0 for n in typed) / len(typed) / _KNOWN_FOR_FULL_WEIGHT) if typed else 1.0


def pooled(parts: Sequence[WordStatistics]) -> WordStatistics:
    """The figures of several indexes together; a document that two of them hold counts twice.

    All must be figures for the same terms. Raises ValueError if there are no parts, or for different numbers of terms.
    """
    if not parts:
        raise ValueError("nothing to pool")
    return WordStatistics(
        sum(part.n_documents for part in parts),
        sum(part.n_passages for part in parts),
        sum(part.n_words for part in parts),
        tuple(map(sum, zip(*(part.n_passages_with for part in parts), strict=True))),
        tuple(map(sum, zip(*(part.n_documents_with for part in parts), strict=True))),
        parts[0].weights,
    )


def highest(statistics: WordStatistics) -> float:
    """The upper bound of a passage's BM25 for an OR of terms: the sum of idf * (k1 + 1).

    A term with the weighted count f contributes idf * f (k1 + 1) / (f + k1 (...)), which approaches idf * (k1 + 1) for
    any column weights; idf as FTS5 computes it. A term that no passage holds counts too, because every answer lacks it.
    """
    return sum(idfs(statistics)) * (K1 + 1)


def idfs(statistics: WordStatistics) -> list[float]:
    """The weight of each term, as FTS5 computes it in an index with these figures."""
    found = [idf(n, statistics.n_passages) for n in statistics.n_passages_with]
    return (
        [own * weight for own, weight in zip(found, statistics.weights, strict=True)] if statistics.weights else found
    )


def parts_of_passages(counts: Counts, lengths: Counts, statistics: WordStatistics) -> NDArray[np.float64]:
    """(n_terms, n): what each term gives to the BM25 of each passage, as FTS5 computes it in one index of such figures.

    `counts` (n_terms, n) and `lengths` (n,) are those of `QueryWords.occurrences`.
    """
    half = half_count(lengths, mean_length(statistics.n_words, statistics.n_passages))
    parts: NDArray[np.float64] = np.array(idfs(statistics))[:, None] * (counts * (K1 + 1) / (counts + half))
    return parts


def of_passages(counts: Counts, lengths: Counts, statistics: WordStatistics) -> NDArray[np.float64]:
    """(n,): the BM25 of each passage, to the last bit as FTS5 computes it: it adds the terms up in their order."""
    return reduce(np.add, parts_of_passages(counts, lengths, statistics), np.zeros(len(lengths)))


def of_documents(
    holding: Sequence[Mapping[int, int]], lengths: Mapping[int, int], statistics: WordStatistics
) -> dict[int, float]:
    """The BM25 of each document in `lengths`, from 0 to 1, as a share of the highest possible.

    `holding`: for each term, the documents that hold it, each with the number of its passages that do.
    `lengths`: the number of passages of a document. `statistics` may be those of more documents than these.
    """
    counts = np.array([[own.get(document, 0) for document in lengths] for own in holding], np.int64)
    given = np.array(list(lengths.values()), np.int64)
    parts = parts_of_documents(counts.reshape(len(holding), len(lengths)), given, statistics)
    return dict(zip(lengths, parts.sum(axis=0).tolist(), strict=True))


def parts_of_documents(counts: Counts, lengths: Counts, statistics: WordStatistics) -> NDArray[np.float64]:
    """(n_terms, n): what each term gives to the BM25 of each document, from 0 to 1, as a share of the highest possible.

    counts[i, j] passages of document j, which has lengths[j], hold term i.
    """
    n_documents = statistics.n_documents
    # FTS5's idf is nearly 0 for frequent terms; this one never is: a term in one of two documents must tell them apart
    weights = [math.log(1 + (n_documents - n + 0.5) / (n + 0.5)) for n in statistics.n_documents_with]
    if statistics.weights:
        weights = [own * weight for own, weight in zip(weights, statistics.weights, strict=True)]
    # with so many passages a term gets half its weight
    half = half_count(lengths, mean_length(statistics.n_passages, n_documents))
    total = sum(weights) or 1.0  # 1.0 for a query without words
    parts: NDArray[np.float64] = np.array(weights)[:, None] * counts / (counts + half) / total
    return parts
