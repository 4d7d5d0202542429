"""The passages and documents nearest to a query: by their segments, or by sqlite-vec, the slow twin."""

from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import vectors
from longsearch.engine.store.documents import bindable
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.segments.vector_search import VectorSearch, read
from longsearch.engine.store.vec0 import storage_chunks


def nearest_passages(
    segments: Segments, query: Vectors, k: int, allowed: Allowed | None = None
) -> list[tuple[int, float]]:
    """The `k` (at most 4,096) passages nearest to `query` (dim,), as (id, cosine), highest first.

    If `allowed` is given, only these passages are ranked. In a large index the segments pick the candidates; they may
    miss one that barely beats the last, and their cosines are off by less than 0.0001.
    """
    if allowed is not None and allowed.is_empty:
        return []
    search = VectorSearch.open(segments, Kind.VECTORS, len(query))
    found = None if search is None else search.nearest(query, min(k, vectors.K_MAX), allowed)
    if found is not None:
        return found
    ids = None if allowed is None else allowed.ids(segments.db)
    return nearest_by_sqlite_vec(segments.db, storage_chunks.PASSAGES, query, k, ids)


def cosines(segments: Segments, kind: Kind, ids: Sequence[int], query: Vectors) -> dict[int, float]:
    """The cosine of `query` (dim,) with each of these passages or documents; ids without a vector are missing."""
    if not ids:
        return {}
    wanted = np.array(sorted(ids), np.int64)
    search = VectorSearch.open(segments, kind, len(query))
    found, scores = read(segments.db, kind, wanted, query) if search is None else search.cosines(wanted, query)
    return dict(zip(found.tolist(), scores.tolist(), strict=True))


def nearest_documents(
    segments: Segments, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[int, float]]:
    """The `k` (at most 4,096) documents nearest to `query` (dim,), as (id, cosine), highest first.

    If `allowed` is given, only these ids are ranked.
    """
    search = VectorSearch.open(segments, Kind.DOCUMENTS, len(query)) if allowed is None else None
    found = None if search is None else search.nearest(query, min(k, vectors.K_MAX))
    if found is not None:
        return found
    return nearest_by_sqlite_vec(segments.db, storage_chunks.DOCUMENTS, query, k, allowed)


def nearest_by_sqlite_vec(
    db: apsw.Connection, table: str, query: Vectors, k: int, allowed: NDArray[np.int64] | None
) -> list[tuple[int, float]]:
    """The slow twin of `nearest_passages`: compare every vector in float32.

    For unit vectors |a - b|^2 = 2 - 2 cos, so L2 gives the same ranking; it is faster in sqlite-vec.
    """
    if allowed is not None and not len(allowed):
        return []
    condition, bindings = ("", ()) if allowed is None else (" AND rowid IN carray(?)", (bindable(allowed),))
    sql = f"SELECT rowid, distance FROM {table} WHERE embedding MATCH ? AND k = ?{condition}"  # noqa: S608
    rows = db.execute(sql, (query.tobytes(), min(k, vectors.K_MAX), *bindings))
    return sorted(((int(row[0]), 1 - float(row[1]) ** 2 / 2) for row in rows), key=lambda row: (-row[1], row[0]))
