"""What a collection holds of a query's words: the figures that BM25 needs. Figures of several indexes add up.

A collection is one index, or several that are searched as one. With pooled figures a score means the same in each of
them. Pure: knows no index.
"""

from collections.abc import Sequence
from dataclasses import dataclass


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

    @property
    def known_words(self) -> float:
        """The share of the query's terms that any passage holds; 1 for a query without terms."""
        n_terms = len(self.n_passages_with)
        return sum(n > 0 for n in self.n_passages_with) / n_terms if n_terms else 1.0


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
    )
