"""What SQLite answers: by segments where an index has them, else by FTS5 and sqlite-vec."""

from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.search.answering.answers import AnsweringConnection, Answers, Found, QueryWords
from longsearch.engine.search.answering.query_words import words_of
from longsearch.engine.search.lookup import Lookup
from longsearch.engine.store import keywords, vectors
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments import nearest, owners
from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.vec0 import storage_chunks

_TABLES = {Kind.VECTORS: storage_chunks.PASSAGES, Kind.DOCUMENTS: storage_chunks.DOCUMENTS}


def answers_of(db: apsw.Connection) -> Answers:
    """What answers for an index: SQLite, unless its connection brings another engine."""
    return db.answers if isinstance(db, AnsweringConnection) else SqliteAnswers(db)


@dataclass(frozen=True, slots=True)
class SqliteAnswers:
    """`Answers` by an ordinary index file. Each method says what it does in the function that it calls."""

    db: apsw.Connection

    def words(self, asked: Lookup) -> QueryWords:
        """See `Answers`."""
        return words_of(self.db, asked)

    def matching(self, match: str) -> NDArray[np.int64]:
        """See `Answers`."""
        return keywords.matching(self.db, match)

    def first_matching(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> list[int]:
        """See `Answers`."""
        return keywords.first_matching(self.db, match, limit, allowed)

    def best(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> Found:
        """See `Answers`."""
        return keywords.best(self.db, match, limit, allowed)

    def nearest_passages(self, query: Vectors, k: int, allowed: Allowed | None = None) -> Found:
        """See `Answers`."""
        return nearest.nearest_passages(self.db, query, k, allowed)

    def nearest_documents(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> Found:
        """See `Answers`."""
        return nearest.nearest_documents(self.db, query, k, allowed)

    def cosines(self, kind: Kind, ids: Sequence[int], query: Vectors) -> dict[int, float]:
        """See `Answers`."""
        return nearest.cosines(self.db, kind, ids, query)

    def vectors_of(self, kind: Kind, ids: Sequence[int]) -> dict[int, Vectors]:
        """See `Answers`."""
        return vectors.of_ids(self.db, _TABLES[kind], ids)

    def vectors_of_passages(self, document_id: int) -> Vectors:
        """See `Answers`."""
        return vectors.of_passages(self.db, document_id)

    def vector_of_document(self, document_id: int) -> Vectors | None:
        """See `Answers`."""
        return vectors.of_document(self.db, document_id)

    def lengths(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Answers`."""
        return owners.lengths(self.db, document_ids)

    def expect(self, passage_ids: Sequence[int]) -> None:
        """Do nothing: SQLite reads each as it is asked for."""
