"""Closes the holes that deleted vectors leave. Knows sqlite-vec's storage chunks, no document.

sqlite-vec fills holes in its newest storage chunk only, and frees a storage chunk (1,024 rows) when its last row goes.
So the rows of one that is half empty are taken out and put in again, at the end, one storage chunk a transaction: a
kill between two loses nothing. The road not taken is a new table built aside and exchanged for the old: it needs the
disk twice, and at 100,000 passages a log of 154 MB for its transaction, where 64 MB is the most that is allowed.
"""

import apsw
import numpy as np

from engine.store import storage_chunks

_FROM_CHUNKS = 8  # fewer half-empty ones cost a search less than 3 ms


def half_empty(db: apsw.Connection) -> list[int]:
    """Ids of the storage chunks worth closing: at most half full and not the newest; none where they are few."""
    directory = storage_chunks.directory(db)
    n_live = directory.live.sum(axis=1)
    found = directory.chunk_ids[:-1][n_live[:-1] * 2 <= storage_chunks.SIZE]
    return found.tolist() if len(found) >= _FROM_CHUNKS else []


def empty(db: apsw.Connection, dim: int, chunk_id: int) -> None:
    """Move the rows of one storage chunk to the end, which frees it. Runs in the caller's transaction."""
    directory = storage_chunks.directory(db)
    (row,) = np.flatnonzero(directory.chunk_ids == chunk_id)
    live = directory.live[row]
    vectors = storage_chunks.read_chunk(db, dim, chunk_id)[live]
    rowids = directory.rowids[row, live].tolist()
    db.executemany("DELETE FROM passage_vectors WHERE rowid = ?", ((rowid,) for rowid in rowids))
    rows = ((rowid, vector.tobytes()) for rowid, vector in zip(rowids, vectors, strict=True))
    db.executemany("INSERT INTO passage_vectors (rowid, embedding) VALUES (?, ?)", rows)
