"""Vectors of the excerpts of passages: what of a passage is nearest to a query. Read for what a search has found only.

Four bits a coordinate, 200 bytes each of the bundled model's: five or six of a passage take two thirds of what its
own vector does. Rounded so, they found as much as whole (nDCG@10 .805 and .806 by meaning, mean of eight dev sets).
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from engine.arrays import Vectors

_LARGEST = 7  # of a code; 8 is added to each, and two are a byte


class Nearest(NamedTuple):
    """The excerpt of a passage that is nearest to a query."""

    start: int
    stop: int | None
    """Where the next begins, in characters from the passage's start; None: it is the last."""
    cosine: float


def packed(starts: NDArray[np.int64], vectors: Vectors) -> bytes:
    """A passage's excerpts as they are kept: where they begin, (n,) in characters from its start, and (n, dim).

    ValueError for what is not finite.
    """
    if not np.isfinite(vectors).all():
        raise ValueError("vectors must be finite")
    if not len(vectors):
        return b""
    scales = np.abs(vectors).max(axis=1) / _LARGEST
    codes = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None]).astype(np.int8) + 8
    codes = np.pad(codes, ((0, 0), (0, vectors.shape[1] % 2))).astype(np.uint8)
    records = np.zeros(len(vectors), _record(vectors.shape[1]))
    records["start"], records["scale"], records["codes"] = starts, scales, codes[:, ::2] << 4 | codes[:, 1::2]
    return records.tobytes()


def add(db: apsw.Connection, passage_ids: Sequence[int], excerpts: Sequence[bytes]) -> None:
    """Add each passage's, as `packed` gives them; of b"" there are none."""
    rows = ((id_, own) for id_, own in zip(passage_ids, excerpts, strict=True) if own)
    db.executemany("INSERT INTO excerpt_vectors (passage_id, vectors) VALUES (?, ?)", rows)


def remove(db: apsw.Connection, passage_ids: Sequence[int]) -> None:
    """Forget what these passages have."""
    db.executemany("DELETE FROM excerpt_vectors WHERE passage_id = ?", ((id_,) for id_ in passage_ids))


def remove_all(db: apsw.Connection) -> None:
    """Forget all: they are another model's."""
    db.execute("DELETE FROM excerpt_vectors")


def inherit(db: apsw.Connection, old: Sequence[int], new: Sequence[int]) -> None:
    """Let passages have what others, which say the same, have."""
    sql = "INSERT INTO excerpt_vectors SELECT ?, vectors FROM excerpt_vectors WHERE passage_id = ?"
    db.executemany(sql, zip(new, old, strict=True))


def nearest(db: apsw.Connection, query: Vectors, passage_ids: Sequence[int]) -> dict[int, Nearest]:
    """Of each of these passages that has excerpts, the nearest to `query` (dim,)."""
    sql = (
        "SELECT passage_id, vectors FROM excerpt_vectors"
        " WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id"
    )
    rows: list[tuple[int, bytes]] = list(db.execute(sql, (json.dumps(list(passage_ids)),)))
    if not rows:
        return {}
    record = _record(len(query))
    sizes = np.array([len(own) // record.itemsize for _, own in rows])
    records = np.frombuffer(b"".join(own for _, own in rows), record)
    firsts, cosines = np.cumsum(sizes) - sizes, _cosines(records, query)
    highest = np.maximum.reduceat(cosines, firsts)
    equal = np.flatnonzero(cosines == np.repeat(highest, sizes))
    best = equal[np.searchsorted(equal, firsts)]  # the first of each passage's
    following = np.append(records["start"][1:].astype(np.int64), -1)
    following[firsts + sizes - 1] = -1
    found = zip(records["start"][best].tolist(), following[best].tolist(), highest.tolist(), strict=True)
    return {
        id_: Nearest(start, stop if stop > 0 else None, cosine)
        for (id_, _), (start, stop, cosine) in zip(rows, found, strict=True)
    }


def _record(dim: int) -> np.dtype[np.void]:
    """An excerpt's vector."""
    return np.dtype([("start", "<u4"), ("scale", "<f4"), ("codes", "u1", ((dim + 1) // 2,))])


def _cosines(records: NDArray[np.void], query: Vectors) -> Vectors:
    """(n,)"""
    codes = records["codes"]
    pairs = np.pad(query, (0, len(query) % 2)).reshape(-1, 2)
    of_codes = (codes >> 4).astype(np.float32) @ pairs[:, 0] + (codes & 15).astype(np.float32) @ pairs[:, 1]
    cosines: Vectors = (of_codes - 8 * query.sum()) * records["scale"]
    return cosines
