"""Closes the holes that deleted vectors leave. Knows sqlite-vec's storage chunks, no document.

sqlite-vec fills holes only in its newest storage chunk, and frees a storage chunk (1,024 rows) when its last row is
deleted. So this module deletes the rows of half-empty storage chunks and inserts them again at the end, in one
transaction per storage chunk: a kill loses nothing. The alternative, to build a new table and swap it for the old one,
needs twice the disk space. Its transaction needs a log of 154 MB at 100,000 passages; the limit is 64 MB.
"""

import apsw
import numpy as np

from longsearch.engine.store.vec0 import storage_chunks

_MIN_HALF_EMPTY = 8  # fewer half-empty storage chunks cost a search less than 3 ms


def half_empty(db: apsw.Connection) -> list[int]:
    """Ids of the storage chunks to empty: at most half full and not the newest. [] if there are fewer than 8."""
    directory = storage_chunks.directory(db)
    n_live = directory.live.sum(axis=1)
    found = directory.chunk_ids[:-1][n_live[:-1] * 2 <= storage_chunks.SIZE]
    return found.tolist() if len(found) >= _MIN_HALF_EMPTY else []


def empty(db: apsw.Connection, dim: int, chunk_id: int) -> None:
    """Move the rows of one storage chunk to the end, which frees it. Runs in the caller's transaction."""
    directory = storage_chunks.directory(db)
    (row,) = np.flatnonzero(directory.chunk_ids == chunk_id)
    live = directory.live[row]
    codes = storage_chunks.read_chunk(db, storage_chunks.PASSAGES, dim, chunk_id)[live]
    rowids = directory.rowids[row, live].tolist()
    storage_chunks.remove(db, storage_chunks.PASSAGES, dim, rowids)
    storage_chunks.put(db, storage_chunks.PASSAGES, rowids, codes.astype(np.float32))
