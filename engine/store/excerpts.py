"""Vectors of excerpts, which tell the part of a passage nearest to a query. A search reads those of its candidates.

From 256 dimensions on a coordinate takes two bits, so a vector of the bundled model has 100 bytes. A cosine is off by
.019 (standard deviation), and in 92 of 100 passages the nearest excerpt is that of whole vectors; in the others it is
.015 farther. Shorter vectors take four bits a coordinate, because the error falls with the root of the dimension, and
so do those of an older index until an idle time makes them smaller.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors

_LARGEST = 7  # of four bits: codes are -7 to 7; 8 is added to each, and two codes share a byte
_STEP = 0.9957  # of two bits, in root mean squares: four equal steps are nearest to a normal distribution so
_LEAST_DIM = 256  # that has two bits
_FARTHEST = 2**16 - 1  # start that two bytes hold; a passage with a later one has four bits
_OLD = "old_excerpts"
"""The row of `meta` that says, until all excerpts have two bits, up to which passage they have."""


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
    if vectors.shape[1] < _LEAST_DIM or starts.max() > _FARTHEST:
        scales = np.abs(vectors).max(axis=1) / _LARGEST
        codes = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None]).astype(np.int8) + 8
        return _records(starts, scales, codes.astype(np.uint8), 4)
    return _in_two_bits(starts, vectors)


def _in_two_bits(starts: NDArray[np.int64], vectors: Vectors) -> bytes:
    """The scale is such that the cosine of a vector with itself stays: nDCG@10 falls by .017 with that of the step."""
    squares = np.einsum("nd,nd->n", vectors, vectors)
    steps = _STEP * np.sqrt(squares / vectors.shape[1])[:, None]
    codes = (vectors >= -steps).view(np.uint8) + (vectors >= 0) + (vectors >= steps)
    products = np.einsum("nd,nd->n", vectors, codes * np.float32(2) - np.float32(3))
    return _records(starts, squares / np.maximum(products, np.finfo(np.float32).tiny), codes, 2)


def _records(starts: NDArray[np.int64], scales: Vectors, codes: NDArray[np.uint8], n_bits: int) -> bytes:
    """Records of codes (n, dim). Two bits have a byte or two more, so that their length tells them from four."""
    dim, each = codes.shape[1], 8 // n_bits
    wide = np.pad(codes, ((0, 0), (0, -dim % each))) if dim % each else codes
    records = np.zeros(len(codes), _record(dim, n_bits))
    records["start"], records["scale"] = starts, scales
    for place in range(each):
        records["codes"] |= wide[:, place::each] << np.uint8(8 - n_bits * (place + 1))
    if n_bits == 4:
        return records.tobytes()
    return records.tobytes() + (b"\0" if (records.nbytes + 1) % _record(dim, 4).itemsize else b"\0\0")


def are_old(db: apsw.Connection) -> bool:
    """Whether an older index has excerpts to which `make_smaller` did not come yet."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (_OLD,)).get is not None


def make_smaller(db: apsw.Connection, dim: int, n: int) -> bool:
    """Give two bits to the excerpts of `n` more passages of an older index; return False if all have them."""
    last = db.execute("SELECT value FROM meta WHERE key = ?", (_OLD,)).get
    if last is None:
        return False
    sql = "SELECT passage_id, vectors FROM excerpt_vectors WHERE passage_id > ? ORDER BY passage_id LIMIT ?"
    rows: list[tuple[int, bytes]] = list(db.execute(sql, (last, n)))
    long, made = _record(dim, 4), []
    for id_, own in rows if dim >= _LEAST_DIM else ():
        if len(own) % long.itemsize == 0:
            old = np.frombuffer(own, long)
            codes = np.stack([old["codes"] >> 4, old["codes"] & 15], axis=2).reshape(len(old), -1)[:, :dim]
            vectors = (codes.astype(np.float32) - 8) * old["scale"][:, None]
            made.append((packed(old["start"].astype(np.int64), vectors), id_))
    db.executemany("UPDATE excerpt_vectors SET vectors = ? WHERE passage_id = ?", made)
    if rows:
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (rows[-1][0], _OLD))
    else:
        db.execute("DELETE FROM meta WHERE key = ?", (_OLD,))
    return bool(rows)


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
    long, found = _record(len(query), 4).itemsize, []
    for n_bits in (2, 4):
        if not (own := [row for row in rows if bool(len(row[1]) % long) == (n_bits == 2)]):
            continue
        record = _record(len(query), n_bits)
        sizes = np.array([len(packed) // record.itemsize for _, packed in own])
        whole = b"".join(packed[: len(packed) // record.itemsize * record.itemsize] for _, packed in own)
        records = np.frombuffer(whole, record)
        firsts, each = np.cumsum(sizes) - sizes, 8 // n_bits
        parts = np.pad(query, (0, -len(query) % each)).reshape(-1, each)
        cosines = np.zeros(len(records), np.float32)
        for place in range(each):
            codes = records["codes"] >> (8 - n_bits * (place + 1)) & (2**n_bits - 1)
            cosines += codes.astype(np.float32) @ parts[:, place]
        cosines = 2 * cosines - 3 * query.sum() if n_bits == 2 else cosines - 8 * query.sum()
        cosines *= records["scale"].astype(np.float32)
        highest = np.maximum.reduceat(cosines, firsts)
        equal = np.flatnonzero(cosines == np.repeat(highest, sizes))
        best = equal[np.searchsorted(equal, firsts)]  # in each passage, the first of those with the highest cosine
        following = np.append(records["start"][1:].astype(np.int64), -1)
        following[firsts + sizes - 1] = -1
        ids = np.array([id_ for id_, _ in own], np.int64)
        found.append((ids, records["start"][best].astype(np.int64), following[best], highest))
    ids, starts, stops, cosines = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(ids)
    return Nearest(ids[order], starts[order], stops[order], cosines[order])


def _record(dim: int, n_bits: int) -> np.dtype[np.void]:
    """The layout of an excerpt's vector."""
    start, scale = ("<u2", "<f2") if n_bits == 2 else ("<u4", "<f4")
    return np.dtype([("start", start), ("scale", scale), ("codes", "u1", (-(-dim * n_bits // 8),))])
