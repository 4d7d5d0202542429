"""Vectors of excerpts, which tell the part of a passage nearest to a query. A search reads those of its candidates.

A coordinate takes four bits and a vector of the bundled model 200 bytes, so the five or six excerpts of a passage take
two thirds of the space of the passage's own vector. Rounding costs next to nothing: nDCG@10 by meaning is .805 with
rounded and .806 with whole vectors (mean of eight dev sets).
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors

_LARGEST = 7  # codes are -7 to 7; 8 is added to each, and two codes share a byte


class Nearest(NamedTuple):
    """The excerpt nearest to a query in each of some passages."""

    passage_ids: NDArray[np.int64]
    """(n,): those that have excerpts, ascending."""
    starts: NDArray[np.int64]
    """(n,): in characters from the passage's start."""
    stops: NDArray[np.int64]
    """(n,): where the next excerpt begins; -1 for the last excerpt."""
    cosines: Vectors
    """(n,)"""


def packed(starts: NDArray[np.int64], vectors: Vectors) -> bytes:
    """Pack a passage's excerpts for storage: `starts` (n,) in characters from its start, `vectors` (n, dim).

    Raises ValueError if a vector is not finite.
    """
    if not np.isfinite(vectors).all():
        raise ValueError("vectors must be finite")
    if not len(vectors):
        return b""
    scales = np.abs(vectors).max(axis=1) / _LARGEST
    codes = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None]).astype(np.int8) + 8
    codes = codes.astype(np.uint8)
    if vectors.shape[1] % 2:
        codes = np.pad(codes, ((0, 0), (0, 1)))
    records = np.zeros(len(vectors), _record(vectors.shape[1]))
    records["start"], records["scale"], records["codes"] = starts, scales, codes[:, ::2] << 4 | codes[:, 1::2]
    return records.tobytes()


def add(db: apsw.Connection, passage_ids: Sequence[int], excerpts: Sequence[bytes]) -> None:
    """Add each passage's excerpts as `packed` gives them; b"" means no excerpts."""
    rows = ((id_, own) for id_, own in zip(passage_ids, excerpts, strict=True) if own)
    db.executemany("INSERT INTO excerpt_vectors (passage_id, vectors) VALUES (?, ?)", rows)


def remove(db: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Delete the excerpts of these passages."""
    db.executemany("DELETE FROM excerpt_vectors WHERE passage_id = ?", ((id_,) for id_ in passage_ids))


def remove_all(db: apsw.Connection) -> None:
    """Delete all excerpts: they belong to another model."""
    db.execute("DELETE FROM excerpt_vectors")


def inherit(db: apsw.Connection, old: Sequence[int], new: Sequence[int]) -> None:
    """Copy the excerpts of old passages to new passages with the same text."""
    sql = "INSERT INTO excerpt_vectors SELECT ?, vectors FROM excerpt_vectors WHERE passage_id = ?"
    db.executemany(sql, zip(new, old, strict=True))


def nearest(db: apsw.Connection, query: Vectors, passage_ids: Sequence[int]) -> Nearest:
    """The excerpts nearest to `query` (dim,) in these passages."""
    sql = (
        "SELECT passage_id, vectors FROM excerpt_vectors"
        " WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id"
    )
    rows: list[tuple[int, bytes]] = list(db.execute(sql, (json.dumps(list(passage_ids)),))) if len(passage_ids) else []
    if not rows:
        none = np.empty(0, np.int64)
        return Nearest(none, none, none, np.empty(0, np.float32))
    record = _record(len(query))
    sizes = np.array([len(own) // record.itemsize for _, own in rows])
    records = np.frombuffer(b"".join(own for _, own in rows), record)
    firsts, cosines = np.cumsum(sizes) - sizes, _cosines(records, query)
    highest = np.maximum.reduceat(cosines, firsts)
    equal = np.flatnonzero(cosines == np.repeat(highest, sizes))
    best = equal[np.searchsorted(equal, firsts)]  # in each passage, the first of those with the highest cosine
    following = np.append(records["start"][1:].astype(np.int64), -1)
    following[firsts + sizes - 1] = -1
    ids = np.array([id_ for id_, _ in rows], np.int64)
    return Nearest(ids, records["start"][best].astype(np.int64), following[best], highest)


def _record(dim: int) -> np.dtype[np.void]:
    """The layout of an excerpt's vector."""
    return np.dtype([("start", "<u4"), ("scale", "<f4"), ("codes", "u1", ((dim + 1) // 2,))])


def _cosines(records: NDArray[np.void], query: Vectors) -> Vectors:
    """(n,): the cosine of each record with `query` (dim,)."""
    codes = records["codes"]
    pairs = np.pad(query, (0, len(query) % 2)).reshape(-1, 2)
    of_codes = (codes >> 4).astype(np.float32) @ pairs[:, 0] + (codes & 15).astype(np.float32) @ pairs[:, 1]
    cosines: Vectors = (of_codes - 8 * query.sum()) * records["scale"]
    return cosines
