"""The narrow Protocol that another engine fulfils so that searches run on it unchanged: see `engine.lance`.

A connection to such an index has its small tables in memory (files, documents, metadata). An engine holds the rest.
The functions of the store that ask FTS5 or sqlite-vec ask `elsewhere` first. Knows no engine.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.store.manifest import Kind

Scored = list[tuple[int, float]]
"""(id, score), highest first."""


class Answers(Protocol):
    """What an engine answers; each method does what the function of this name in the store does."""

    def nearest_passages(self, query: Vectors, k: int, allowed: Any) -> Scored:
        """See `segments.nearest`; `allowed` is a `segments.allowed.Allowed` or None."""

    def nearest_documents(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None) -> Scored:
        """See `segments.nearest`."""

    def vectors_of(self, kind: Kind, ids: Sequence[int]) -> dict[int, Vectors]:
        """The vector (dim,) of each of these passages or documents; ids without a vector are missing."""

    def vectors_of_document(self, document_id: int) -> Vectors:
        """(n, dim): the vectors of a document's passages, in their order."""

    def lengths(self, document_ids: Sequence[int]) -> dict[int, int]:
        """See `documents`."""

    def words(self, expressions: Sequence[str]) -> Any:
        """What the index holds of a query's terms: a `search.query_words.QueryWords`."""

    def matching(self, match: str) -> NDArray[np.int64]:
        """See `keywords`."""

    def best(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> Scored:
        """See `keywords`."""

    def totals(self) -> tuple[int, int]:
        """See `keywords`."""

    def expect(self, passage_ids: Sequence[int]) -> None:
        """The places and texts of these passages will be read next: fetch them at once."""


class ElsewhereConnection(apsw.Connection):
    """A connection to the small tables of an index, with the engine that holds the rest."""

    engine: Answers


def elsewhere(db: apsw.Connection) -> Answers | None:
    """The engine that holds the passages of this index; None if SQLite does."""
    return db.engine if isinstance(db, ElsewhereConnection) else None
