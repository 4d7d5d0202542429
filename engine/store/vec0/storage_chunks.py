"""Reads sqlite-vec's tables directly, without sqlite-vec: 200 scattered vectors take 3 ms, not 44.

vec0 keeps vectors in storage chunks of 1,024 rows. One table is the directory: which rowid lies where, and a bitmap of
the live rows. Another table has one blob of float32 per storage chunk. This is the layout of sqlite-vec 0.1; a test
compares these functions with sqlite-vec's own SQL. Knows no query.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors

SIZE = 1024
"""Rows per storage chunk; vec0's default."""
PASSAGES, DOCUMENTS = "passage_vectors", "document_vectors"
"""The two vec0 tables of an index."""
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Directory:
    """Where every passage vector lies."""

    chunk_ids: NDArray[np.int64]
    """(n,), ascending."""
    rowids: NDArray[np.int64]
    """(n, 1024); meaningless where not `live`."""
    live: NDArray[np.bool_]
    """(n, 1024)."""


def directory(db: apsw.Connection) -> Directory:
    """Read the directory: 8 kB for 1,024 vectors."""
    rows = list(db.execute("SELECT chunk_id, validity, rowids FROM passage_vectors_chunks ORDER BY chunk_id"))
    validity = np.frombuffer(b"".join(row[1] for row in rows), np.uint8)
    rowids = np.frombuffer(b"".join(row[2] for row in rows), np.int64)
    live = np.unpackbits(validity, bitorder="little").astype(np.bool_)
    chunk_ids = np.array([row[0] for row in rows], dtype=np.int64)
    return Directory(chunk_ids, rowids.reshape(-1, SIZE), live.reshape(-1, SIZE))


def places_of(db: apsw.Connection, table: str, rowids: Sequence[int]) -> NDArray[np.int64]:
    """(n, 3): rowid, storage chunk id and offset of those of these rows that have a vector, in the order of storage."""
    sql = (
        f"SELECT rowid, chunk_id, chunk_offset FROM {table}_rowids"  # noqa: S608
        " WHERE rowid IN (SELECT value FROM json_each(?)) ORDER BY chunk_id, chunk_offset"
    )
    return np.array(db.execute(sql, (json.dumps(list(rowids)),)).fetchall(), dtype=np.int64).reshape(-1, 3)


def read_rows(
    db: apsw.Connection, table: str, dim: int, chunk_ids: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Vectors:
    """The vectors (n, dim) at these places. Reading is fastest in the order of storage."""
    vectors = np.empty((len(chunk_ids), dim), np.float32)
    if not len(chunk_ids):
        return vectors
    row_bytes = dim * _FLOAT_BYTES
    current = int(chunk_ids[0])
    with db.blob_open("main", _blobs(table), "vectors", current, False) as blob:
        for row, (chunk_id, offset) in enumerate(zip(chunk_ids.tolist(), offsets.tolist(), strict=True)):
            if chunk_id != current:
                blob.reopen(chunk_id)
                current = chunk_id
            blob.seek(offset * row_bytes)
            vectors[row] = np.frombuffer(blob.read(row_bytes), np.float32)
    return vectors


def read_chunk(db: apsw.Connection, dim: int, chunk_id: int) -> Vectors:
    """All vectors (1024, dim) in a storage chunk of passages; rows that are not live hold zeros or old vectors."""
    with db.blob_open("main", _blobs(PASSAGES), "vectors", chunk_id, False) as blob:
        whole = blob.read()
    return np.frombuffer(whole, np.float32).reshape(SIZE, dim)


def _blobs(table: str) -> str:
    return f"{table}_vector_chunks00"
