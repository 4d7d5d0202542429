"""What an index in SQLite answers: by its segments where it has them, else by FTS5 and sqlite-vec."""

from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.backends import Found, QueryWords
from longsearch.engine.index.lookup import Lookup
from longsearch.engine.index.query_words import words_of
from longsearch.engine.store import keywords, vectors
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments import nearest, owners
from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.vec0 import storage_chunks

_TABLES = {Kind.VECTORS: storage_chunks.PASSAGES, Kind.DOCUMENTS: storage_chunks.DOCUMENTS}


class SqliteBackend:
    """`IndexBackend` by an ordinary index file, at one moment."""

    def __init__(self, db: apsw.Connection, dim: int) -> None:
        """`dim`: the dimension of the vectors; 0 before a model is in use."""
        self._db, self._dim = db, dim
        self._segments = Segments(db)

    def words(self, asked: Lookup, n_documents: int) -> QueryWords:
        """See `IndexBackend`."""
        return words_of(self._segments, asked, n_documents)

    def matching(self, match: str) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        return keywords.matching(self._db, match)

    def first_matching(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> list[int]:
        """See `IndexBackend`."""
        return keywords.first_matching(self._db, match, limit, allowed)

    def best(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> Found:
        """See `IndexBackend`."""
        return keywords.best(self._db, match, limit, allowed)

    def nearest_passages(self, query: Vectors, k: int, allowed: Allowed | None = None) -> Found:
        """See `VectorIndex`."""
        return nearest.nearest_passages(self._segments, self._checked(query), k, allowed) if self._dim else []

    def nearest_documents(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> Found:
        """See `VectorIndex`."""
        return nearest.nearest_documents(self._segments, self._checked(query), k, allowed) if self._dim else []

    def cosines(self, kind: Kind, ids: Sequence[int], query: Vectors) -> dict[int, float]:
        """See `VectorIndex`."""
        return nearest.cosines(self._segments, kind, ids, query) if self._dim else {}

    def vectors_of(self, kind: Kind, ids: Sequence[int]) -> dict[int, Vectors]:
        """See `VectorIndex`."""
        return vectors.of_ids(self._db, _TABLES[kind], ids)

    def vectors_of_passages(self, document_id: int) -> Vectors:
        """See `VectorIndex`."""
        return vectors.of_passages(self._db, document_id)

    def vector_of_document(self, document_id: int) -> Vectors | None:
        """See `VectorIndex`."""
        return vectors.of_document(self._db, document_id)

    def documents_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        return owners.documents_of(self._segments, passage_ids)

    def lengths(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        return owners.lengths(self._segments, document_ids)

    def expect(self, passage_ids: Sequence[int]) -> None:
        """Do nothing: SQLite reads each as it is asked for."""

    def _checked(self, query: Vectors) -> Vectors:
        checked: Vectors = vectors.unit_vectors(np.atleast_2d(query), self._dim)[0]
        return checked
