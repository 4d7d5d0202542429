"""Reads sqlite-vec's tables directly, without sqlite-vec: 200 scattered vectors take 3 ms, not 44. Writes by it.

vec0 keeps vectors in storage chunks of 1,024 rows. One table is the directory: which rowid lies where, and a bitmap of
the live rows. Another table has one blob of int8 per storage chunk. This is the layout of sqlite-vec 0.1; a test
compares these functions with sqlite-vec's own SQL. Knows no query.

A vector is kept as its *codes*: its coordinates by the largest of them, from -127 to 127. It has length 1, so the codes
need no scale. A cosine is off by .0004 (standard deviation, 384 coordinates). Before schema 18 the blobs were of
float32. The length of a blob tells so, and each reader makes the codes of it. The blob itself is written anew when one
of its rows changes, or in an idle time; no answer changes then.
"""

import json
from collections.abc import Iterable, Sequence
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
_LARGEST = 127

Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Directory:
    """Where every vector of a table lies."""

    chunk_ids: NDArray[np.int64]
    """(n,), ascending."""
    rowids: NDArray[np.int64]
    """(n, 1024); meaningless where not `live`."""
    live: NDArray[np.bool_]
    """(n, 1024)."""


def directory(db: apsw.Connection, table: str = PASSAGES) -> Directory:
    """Read the directory: 8 kB for 1,024 vectors."""
    rows = list(db.execute(f"SELECT chunk_id, validity, rowids FROM {table}_chunks ORDER BY chunk_id"))  # noqa: S608
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


def codes_of(vectors: Vectors) -> Codes:
    """(n, dim): the codes of vectors (n, dim). Rows of zeros stay zeros."""
    largest = np.maximum(np.abs(vectors).max(axis=1, initial=0), np.finfo(np.float32).tiny)
    codes: Codes = np.rint(vectors / largest[:, None] * _LARGEST).astype(np.int8)
    return codes


def scales_of(codes: Codes) -> Vectors:
    """(n,): what makes unit vectors of codes (n, dim)."""
    wide = codes.astype(np.float32)
    scales: Vectors = 1 / np.sqrt(np.maximum(np.einsum("nd,nd->n", wide, wide), 1))
    return scales


def are_whole(codes: Codes) -> bool:
    """Whether each row can be the codes of a vector: its largest is 127."""
    return bool((np.maximum(codes.max(axis=1), -codes.min(axis=1).astype(np.int16)) == _LARGEST).all())


def read_rows(
    db: apsw.Connection, table: str, dim: int, chunk_ids: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Vectors:
    """The unit vectors (n, dim) at these places."""
    codes = read_codes(db, table, dim, chunk_ids, offsets)
    return codes * scales_of(codes)[:, None]


def read_codes(
    db: apsw.Connection, table: str, dim: int, chunk_ids: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Codes:
    """The codes (n, dim) at these places. Reading is fastest in the order of storage."""
    codes = np.empty((len(chunk_ids), dim), np.int8)
    if not len(chunk_ids):
        return codes
    current = int(chunk_ids[0])
    with db.blob_open("main", _blobs(table), "vectors", current, False) as blob:
        for row, (chunk_id, offset) in enumerate(zip(chunk_ids.tolist(), offsets.tolist(), strict=True)):
            if chunk_id != current:
                blob.reopen(chunk_id)
                current = chunk_id
            n_bytes = blob.length() // SIZE
            blob.seek(offset * n_bytes)
            codes[row] = _codes_in(blob.read(n_bytes), dim)
    return codes


def read_chunk(db: apsw.Connection, table: str, dim: int, chunk_id: int) -> Codes:
    """All codes (1024, dim) in a storage chunk; rows that are not live hold zeros or old vectors."""
    with db.blob_open("main", _blobs(table), "vectors", chunk_id, False) as blob:
        whole = blob.read()
    return _codes_in(whole, dim)


def put(db: apsw.Connection, table: str, rowids: Iterable[int], vectors: Vectors) -> None:
    """Add unit vectors (n, dim)."""
    dim = vectors.shape[1]
    newest = db.execute(f"SELECT max(rowid) FROM {_blobs(table)}").get  # noqa: S608 - constants
    if newest is not None:  # sqlite-vec adds to it
        to_int8(db, table, dim, [newest])
    rows = zip(rowids, map(bytes, codes_of(vectors)), strict=True)
    db.executemany(f"INSERT INTO {table} (rowid, embedding) VALUES (?, vec_int8(?))", rows)  # noqa: S608 - constants


def replace(db: apsw.Connection, table: str, rowids: Sequence[int], vectors: Vectors) -> None:
    """Put unit vectors (n, dim) in place of those of these rows."""
    places, dim = places_of(db, table, rowids), vectors.shape[1]
    to_int8(db, table, dim, places[:, 1].tolist())
    code_of = dict(zip(rowids, map(bytes, codes_of(vectors)), strict=True))
    for rowid, chunk_id, offset in places.tolist():  # an UPDATE by sqlite-vec takes no int8
        with db.blob_open("main", _blobs(table), "vectors", chunk_id, True) as blob:
            blob.seek(offset * dim)
            blob.write(code_of[rowid])


def remove(db: apsw.Connection, table: str, dim: int, rowids: Sequence[int]) -> None:
    """Delete the vectors of these rows."""
    to_int8(db, table, dim, places_of(db, table, rowids)[:, 1].tolist())  # sqlite-vec writes zeros there
    db.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((id_,) for id_ in rowids))  # noqa: S608 - constants


def of_float32(db: apsw.Connection, table: str, dim: int) -> list[int]:
    """The storage chunks that are still of float32."""
    sql = f"SELECT rowid FROM {_blobs(table)} WHERE length(vectors) = ?"  # noqa: S608 - constants
    return [row[0] for row in db.execute(sql, (SIZE * dim * _FLOAT_BYTES,))]


def to_int8(db: apsw.Connection, table: str, dim: int, chunk_ids: Iterable[int]) -> None:
    """Make int8 of those of these storage chunks that are of float32."""
    for chunk_id in set(chunk_ids):
        length = db.execute(f"SELECT length(vectors) FROM {_blobs(table)} WHERE rowid = ?", (chunk_id,)).get  # noqa: S608
        if length == SIZE * dim * _FLOAT_BYTES:
            codes = read_chunk(db, table, dim, chunk_id).tobytes()
            db.execute(f"UPDATE {_blobs(table)} SET vectors = ? WHERE rowid = ?", (codes, chunk_id))  # noqa: S608


def _codes_in(packed: bytes, dim: int) -> Codes:
    """(n, dim): the codes of a row or of a storage chunk."""
    if len(packed) in (dim, SIZE * dim):
        return np.frombuffer(packed, np.int8).reshape(-1, dim)
    return codes_of(np.frombuffer(packed, np.float32).reshape(-1, dim))


def _blobs(table: str) -> str:
    return f"{table}_vector_chunks00"
