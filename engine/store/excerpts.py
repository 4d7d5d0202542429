"""Vectors of excerpts, which tell the part of a passage nearest to a query. A search reads those of its candidates.

From 256 dimensions on a vector is kept as a share of its passage's vector and what is left, in three levels a
coordinate, five to a byte: an excerpt of the bundled model has 82 bytes. A cosine is off by .017 (standard deviation).
An older longsearch gave what is left two bits and no share, 100 bytes; its rows stay as they are, because to code them
once more would cost half as much again. Shorter vectors have four bits a coordinate, as all of a still older index have
until an idle time gives them two.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.store.vec0 import storage_chunks

_LARGEST = 7  # of four bits: codes are -7 to 7
_STEP = 0.9957  # of two bits, in root mean squares: four equal steps are nearest to a normal distribution so
_BORDER = 0.612  # of three levels, in root mean squares: what is nearer to 0 is 0
_WHOLE_SHARE = 127
_LEAST_DIM = 256  # that has fewer than four bits: the error falls with the root of the dimension
_FARTHEST = 2**16 - 1  # start that two bytes hold; a passage with a later one has four bits
_OLD = "old_excerpts"
"""The row of `meta` that says, until no excerpt of more dimensions has four bits, up to which passage they are gone."""


class _Code(NamedTuple):
    """How coordinates become bytes: each is a digit, and the digits of a byte are those of a number, highest first."""

    head: tuple[tuple[str, str], ...]
    """The fields before the bytes of a vector. `share`: how much of the passage's vector is in it."""
    places: NDArray[np.uint8]
    """(each,): what each digit of a byte counts."""
    numbers: Vectors
    """(256, each): what the digits of each byte stand for."""

    @classmethod
    def of(cls, base: int, each: int, step: int, zero: int, **head: str) -> "_Code":
        """The code with `each` digits to a byte, of which each stands for `step * digit - zero`."""
        places = base ** np.arange(each - 1, -1, -1)
        numbers = step * (np.arange(256)[:, None] // places % base) - zero
        return cls(tuple(head.items()), places.astype(np.uint8), numbers.astype(np.float32))

    def record(self, dim: int) -> np.dtype[np.void]:
        """The layout of an excerpt's vector."""
        return np.dtype([*self.head, ("codes", "u1", (-(-dim // len(self.places)),))])

    def in_bytes(self, digits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(n, bytes) of digits (n, dim)."""
        (n, dim), each = digits.shape, len(self.places)
        wide = np.zeros((n, -(-dim // each) * each), np.uint8)  # np.pad takes longer
        wide[:, :dim] = digits
        made: NDArray[np.uint8] = wide.reshape(n, -1, each) @ self.places
        return made


_FOUR_BITS = _Code.of(16, 2, 1, 8, start="<u4", scale="<f4")
_TWO_BITS = _Code.of(4, 4, 2, 3, start="<u2", scale="<f2")
_DIFFERENCE = _Code.of(3, 5, 1, 1, start="<u2", scale="<f2", share="i1")


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


def packed(starts: NDArray[np.int64], vectors: Vectors, of_passage: Vectors) -> bytes:
    """Pack a passage's excerpts for storage: `starts` (n,) in characters from its start, `vectors` (n, dim).

    `of_passage` (dim,): the passage's own vector. Raises ValueError if a vector is not finite.
    """
    if not (np.isfinite(vectors).all() and np.isfinite(of_passage).all()):
        raise ValueError("vectors must be finite")
    if not len(vectors):
        return b""
    if vectors.shape[1] < _LEAST_DIM or starts.max() > _FARTHEST:
        scales = np.abs(vectors).max(axis=1) / _LARGEST
        codes = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None]).astype(np.int8) + 8
        return _records(_FOUR_BITS, codes.astype(np.uint8), start=starts, scale=scales)
    kept = storage_chunks.codes_of(of_passage[None])
    whole = (kept * storage_chunks.scales_of(kept)[:, None])[0]
    shares = np.rint(np.clip(vectors @ whole, -1, 1) * _WHOLE_SHARE).astype(np.int8)
    left = vectors - shares[:, None] * (whole / np.float32(_WHOLE_SHARE))
    borders = _BORDER * np.sqrt(np.einsum("nd,nd->n", left, left) / left.shape[1])[:, None]
    codes = (left >= -borders).view(np.uint8) + (left > borders)
    return _records(_DIFFERENCE, codes, start=starts, scale=_scales(left, codes - np.float32(1)), share=shares)


def _in_two_bits(starts: NDArray[np.int64], vectors: Vectors) -> bytes:
    steps = _STEP * np.sqrt(np.einsum("nd,nd->n", vectors, vectors) / vectors.shape[1])[:, None]
    codes = (vectors >= -steps).view(np.uint8) + (vectors >= 0) + (vectors >= steps)
    return _records(_TWO_BITS, codes, start=starts, scale=_scales(vectors, codes * np.float32(2) - np.float32(3)))


def _scales(vectors: Vectors, numbers: Vectors) -> Vectors:
    """(n,): such that the cosine of a vector with itself stays: nDCG@10 falls by .017 with those of equal steps."""
    squares, products = (np.einsum("nd,nd->n", vectors, own) for own in (vectors, numbers))
    scales: Vectors = squares / np.maximum(products, np.finfo(np.float32).tiny)
    return scales


def _records(code: _Code, digits: NDArray[np.uint8], **heads: NDArray[Any]) -> bytes:
    """Records of digits (n, dim), and bytes behind them until the length tells the code."""
    dim = digits.shape[1]
    records = np.zeros(len(digits), code.record(dim))
    for name, values in heads.items():
        records[name] = values
    records["codes"] = code.in_bytes(digits)
    n_bytes = records.nbytes
    while _code_of(n_bytes, dim) is not code:
        n_bytes += 1
    return records.tobytes().ljust(n_bytes, b"\0")


@cache
def _code_of(n_bytes: int, dim: int) -> _Code:
    """The code of a row of this length: four bits have nothing behind them, two bits a byte, or two for the former."""
    four, two = _FOUR_BITS.record(dim).itemsize, _TWO_BITS.record(dim).itemsize
    if n_bytes % four == 0:
        return _FOUR_BITS
    rest = n_bytes % two
    return _TWO_BITS if rest == 1 or (rest == 2 and (n_bytes - 1) % four == 0) else _DIFFERENCE


def are_old(db: apsw.Connection) -> bool:
    """Whether an older index has excerpts to which `make_smaller` did not come yet."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (_OLD,)).get is not None


def make_smaller(db: apsw.Connection, dim: int, n: int) -> bool:
    """Give two bits to the excerpts of `n` more passages of an older index; return False if none has four."""
    last = db.execute("SELECT value FROM meta WHERE key = ?", (_OLD,)).get
    if last is None:
        return False
    sql = "SELECT passage_id, vectors FROM excerpt_vectors WHERE passage_id > ? ORDER BY passage_id LIMIT ?"
    rows: list[tuple[int, bytes]] = list(db.execute(sql, (last, n)))
    made, numbers = [], _FOUR_BITS.numbers
    for id_, own in rows if dim >= _LEAST_DIM else ():
        if _code_of(len(own), dim) is _FOUR_BITS:
            old = np.frombuffer(own, _FOUR_BITS.record(dim))
            vectors = numbers[old["codes"]].reshape(len(old), -1)[:, :dim] * old["scale"][:, None]
            made.append((_in_two_bits(old["start"].astype(np.int64), vectors), id_))
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
    """Copy the excerpts of old passages to new passages with the same text and the same vectors."""
    sql = "INSERT INTO excerpt_vectors SELECT ?, vectors FROM excerpt_vectors WHERE passage_id = ?"
    db.executemany(sql, zip(new, old, strict=True))


def nearest(
    db: apsw.Connection, query: Vectors, passage_ids: NDArray[np.int64], cosines: NDArray[np.floating[Any]]
) -> Nearest:
    """The excerpts nearest to `query` (dim,) in these passages (n,), ascending, whose own `cosines` (n,) are known."""
    sql = (
        "SELECT passage_id, vectors FROM excerpt_vectors"
        " WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id"
    )
    listed = json.dumps(passage_ids.tolist())
    rows: list[tuple[int, bytes]] = list(db.execute(sql, (listed,))) if len(passage_ids) else []
    found, of_codes = [], [_code_of(len(own), len(query)) for _, own in rows]
    for code in (_DIFFERENCE, _TWO_BITS, _FOUR_BITS):
        if not (own_rows := [row for row, of_row in zip(rows, of_codes, strict=True) if of_row is code]):
            continue
        record, ids = code.record(len(query)), np.array([id_ for id_, _ in own_rows], np.int64)
        sizes = np.array([len(own) // record.itemsize for _, own in own_rows])
        whole = b"".join(own[: size * record.itemsize] for (_, own), size in zip(own_rows, sizes.tolist(), strict=True))
        records = np.frombuffer(whole, record)
        parts = np.pad(query, (0, -len(query) % len(code.places))).reshape(-1, len(code.places))
        of_bytes = (parts @ code.numbers.T).ravel()  # (bytes * 256,): what each byte adds to a product
        near = of_bytes.take(records["codes"] + np.arange(0, len(of_bytes), 256)).sum(axis=1)
        near *= records["scale"].astype(np.float32)
        if code is _DIFFERENCE:
            of_passages = np.nan_to_num(cosines[np.searchsorted(passage_ids, ids)] / _WHOLE_SHARE)
            near += records["share"] * np.repeat(of_passages, sizes).astype(np.float32)
        firsts = np.cumsum(sizes) - sizes
        highest = np.maximum.reduceat(near, firsts)
        equal = np.flatnonzero(near == np.repeat(highest, sizes))
        best = equal[np.searchsorted(equal, firsts)]  # in each passage, the first of those with the highest cosine
        following = np.append(records["start"][1:].astype(np.int64), -1)
        following[firsts + sizes - 1] = -1
        found.append((ids, records["start"][best].astype(np.int64), following[best], highest))
    if not found:
        none = np.empty(0, np.int64)
        return Nearest(none, none, none, np.empty(0, np.float32))
    ids, starts, stops, highest = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(ids)
    return Nearest(ids[order], starts[order], stops[order], highest[order])
