"""Vectors of the excerpts of passages: what of a passage is nearest to a query. Read for what a search has found only.

Four bits a coordinate, 196 bytes each of the bundled model's: five or six of a passage take three quarters of what its
own vector does. Rounded so, they found as much as whole (nDCG@10 .859 and .860 by hybrid, mean of eight dev sets).
"""

import json
from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

_LARGEST = 7  # of a code; 8 is added to each, and two are a byte

Vectors = NDArray[np.float32]


def add(db: apsw.Connection, passage_ids: Sequence[int], vectors: Sequence[Vectors]) -> None:
    """Add each passage's vectors (n_excerpts, dim); of none where n_excerpts is 0."""
    rows = ((id_, _packed(own)) for id_, own in zip(passage_ids, vectors, strict=True) if len(own))
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


def nearest(db: apsw.Connection, query: Vectors, passage_ids: Sequence[int]) -> dict[int, tuple[int, float]]:
    """Of each of these passages that has excerpts, the number of the nearest to `query` (dim,), and its cosine."""
    sql = (
        "SELECT passage_id, vectors FROM excerpt_vectors"
        " WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id"
    )
    rows: list[tuple[int, bytes]] = list(db.execute(sql, (json.dumps(list(passage_ids)),)))
    if not rows:
        return {}
    record = _record(len(query))
    firsts = np.cumsum([0, *(len(packed) // record.itemsize for _, packed in rows)])
    cosines = _cosines(np.frombuffer(b"".join(packed for _, packed in rows), record), query)
    own = np.split(cosines, firsts[1:-1])
    return {id_: (int(found.argmax()), float(found.max())) for (id_, _), found in zip(rows, own, strict=True)}


def _record(dim: int) -> np.dtype[np.void]:
    """An excerpt's vector."""
    return np.dtype([("scale", "<f4"), ("codes", "u1", ((dim + 1) // 2,))])


def _packed(vectors: Vectors) -> bytes:
    """As many records as rows. ValueError for what is not finite."""
    if not np.isfinite(vectors).all():
        raise ValueError("vectors must be finite")
    scales = np.abs(vectors).max(axis=1) / _LARGEST
    codes = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None]).astype(np.int8) + 8
    codes = np.pad(codes, ((0, 0), (0, vectors.shape[1] % 2))).astype(np.uint8)
    records = np.zeros(len(vectors), _record(vectors.shape[1]))
    records["scale"], records["codes"] = scales, codes[:, ::2] << 4 | codes[:, 1::2]
    return records.tobytes()


def _cosines(records: NDArray[np.void], query: Vectors) -> Vectors:
    """(n,)"""
    codes = records["codes"]
    pairs = np.pad(query, (0, len(query) % 2)).reshape(-1, 2)
    of_codes = (codes >> 4).astype(np.float32) @ pairs[:, 0] + (codes & 15).astype(np.float32) @ pairs[:, 1]
    cosines: Vectors = (of_codes - 8 * query.sum()) * records["scale"]
    return cosines
