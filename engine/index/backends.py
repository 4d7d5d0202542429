"""The Protocols that an engine fulfils for the indexes that it holds.

`sqlite` fulfils them with FTS5, sqlite-vec and segments, `lance.backend` with the tables of LanceDB. Both have the
small tables of an index (files, documents, metadata) in SQLite: these are read by SQL, and no Protocol has them.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.bm25 import WordStatistics
from longsearch.engine.index.lookup import Lookup
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.candidate_filter import CandidateFilter

Found = list[tuple[int, float]]
"""(id, score), highest first."""


class QueryWords(Protocol):
    """A query's words in one index, and the figures by which they are scored."""

    @property
    def statistics(self) -> WordStatistics:
        """The figures by which passages and documents are scored."""

    def pooled_with(self, statistics: WordStatistics) -> Self:
        """The same words, to be scored by the figures of several indexes."""

    def best(self, limit: int, allowed: CandidateFilter | None) -> Found:
        """The `limit` best passages that hold any word or phrase."""

    def in_documents(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_terms, n): how many passages of each of these documents (n,), ascending, hold each term."""

    def occurrences(self, passage_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(n_terms, n): how often each of these passages (n,), ascending, holds each term; (n,): its words.

        A word of title and names, which stand with a document's first passage, counts `TITLE_WEIGHT` times. The words
        of a passage that holds no term may be told as 0.
        """


class VectorIndex(Protocol):
    """What an engine knows of vectors. Before a model is in use nothing has one."""

    def nearest_passages(self, query: Vectors, k: int, allowed: CandidateFilter | None = None) -> Found:
        """The `k` (at most `vectors.K_MAX`) passages nearest to `query` (dim,), as (id, cosine), highest first."""

    def nearest_documents(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> Found:
        """The same for documents; if `allowed` is given, only these ids."""

    def cosines(self, kind: Kind, ids: Sequence[int], query: Vectors) -> dict[int, float]:
        """The cosine of `query` (dim,) with each of these passages or documents; ids without a vector are missing."""

    def vectors_of(self, kind: Kind, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vector (dim,) of each of these passages or documents; ids without a vector are missing."""

    def vectors_of_passages(self, document_id: int) -> Vectors:
        """(n, dim): the vectors of a document's passages, in order; only its first n may have theirs yet."""

    def vector_of_document(self, document_id: int) -> Vectors | None:
        """The vector (dim,) of a whole document, or None while its embedding is not complete."""


class IndexBackend(VectorIndex, Protocol):
    """All that a search asks of the engine of an index."""

    def words(self, asked: Lookup, n_documents: int) -> QueryWords:
        """What the index, which has so many documents, holds of a query's terms."""

    def matching(self, match: str) -> NDArray[np.int64]:
        """Ids of all passages that match an expression of `index.lookup`, ascending."""

    def first_matching(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> list[int]:
        """The first `limit` of them; if `allowed` is given, only among these ids, ascending."""

    def best(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> Found:
        """The `limit` best matching passages as (id, BM25), highest first; if `allowed` is given, only these ids."""

    def words_near(self, typed: str, most: int, least: int) -> dict[str, int]:
        """Words of the documents that differ from `typed` by 1 to `most` typing errors, with the number of errors.

        At least `least` passages hold each in one form or another.
        """

    def words_like(self, pattern: str) -> list[str]:
        """Words of the documents that are like `pattern`, in which a star stands for any letters.

        Those that begin with the letters before a star at the end need not be among them: they are found by these.
        """

    def terms_around(self, parts: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
        """For each of these stems the longer ones that begin or end with it, with the passages that hold each.

        Of words that are not English; without the mark of such words.
        """

    def counts_of(self, stems: Sequence[str]) -> Mapping[str, int]:
        """How many passages hold each of these stems of words that are not English; those that none holds may lack."""

    def documents_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,): the document of each of these passages (n,), ascending."""

    def lengths(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,): the number of passages of each of these documents (n,), ascending."""

    @property
    def lacks_segments(self) -> bool:
        """Whether a segment that the index should have cannot be read, so that a slow twin answers for it."""

    def expect(self, passage_ids: Sequence[int]) -> None:
        """Prepare for the places and texts of these passages to be read next."""
