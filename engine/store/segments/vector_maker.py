"""Makes segments of vectors: from the index's vectors in float32, or from two segments.

The arrays of a segment of vectors:

    passage_ids (n,)      ascending
    document_ids (m,)     ascending; the passages of a document follow one another
    first_of (m + 1,)     where the passages of each document begin
    signs (words, n)      one bit for each coordinate, set if it is not negative; 64 coordinates of all vectors together
    codes (n, dim)        int8
    scales (n,)           a vector is about codes * scale
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import documents
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.files import Arrays, Shapes, writing
from longsearch.engine.store.segments.postings import document_starts, documents_of
from longsearch.engine.store.vec0 import storage_chunks

KIND = Kind.VECTORS
_ROWS = 8192  # written at once


def count(db: apsw.Connection) -> int:
    """The number of passages with a vector, without rounding: a document's vectors come in order."""
    return int(db.execute("SELECT coalesce(sum(n_passages_done), 0) FROM embeddings").get)


def all_ids(db: apsw.Connection) -> NDArray[np.int64]:
    """All passages with a vector, ascending."""
    rows = db.execute("SELECT rowid FROM passage_vectors_rowids ORDER BY rowid")
    return np.fromiter((row[0] for row in rows), np.int64)


def write(db: apsw.Connection, index: Path, ids: NDArray[np.int64]) -> str:
    """Write a segment of these passages (ascending); return its token. Raises OSError on a full disk."""
    document_of = documents.documents_of(db, ids.tolist())
    document_ids, first_of = document_starts(np.array([document_of[id_] for id_ in ids.tolist()], np.int64))
    dim = int(db.execute("SELECT value FROM meta WHERE key = 'dim'").get)
    places = storage_chunks.places_of(db, storage_chunks.PASSAGES, ids.tolist())
    vectors = storage_chunks.read_rows(db, storage_chunks.PASSAGES, dim, places[:, 1], places[:, 2])
    vectors = vectors[np.argsort(places[:, 0], kind="stable")]
    codes, scales = quantized(vectors)
    with writing(index, KIND, _shapes(len(ids), len(document_ids), dim)) as (token, writer):
        writer.write("passage_ids", [ids])
        writer.write("document_ids", [document_ids])
        writer.write("first_of", [first_of])
        writer.write("signs", [signs(vectors)])
        writer.write("codes", [codes])
        writer.write("scales", [scales])
    return token


def merge(index: Path, segments: tuple[Arrays, Arrays], alive: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> str:
    """Write a segment of the living passages ((n,) of each) of two others; return its token. Raises OSError."""
    own = [np.flatnonzero(living) for living in alive]
    ids = np.concatenate([segment["passage_ids"][rows] for segment, rows in zip(segments, own, strict=True)])
    of_passage = [documents_of(segment)[rows] for segment, rows in zip(segments, own, strict=True)]
    order = np.argsort(ids, kind="stable")
    document_ids, first_of = document_starts(np.concatenate(of_passage)[order])
    dim = segments[0]["codes"].shape[1]

    def rows_of(arrays: list[NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """The rows of both segments' arrays, in their new order."""
        for start in range(0, len(order), _ROWS):
            rows = order[start : start + _ROWS]
            is_second = rows >= len(own[0])
            block = np.empty((len(rows), *arrays[0].shape[1:]), arrays[0].dtype)
            block[~is_second] = arrays[0][own[0][rows[~is_second]]]
            block[is_second] = arrays[1][own[1][rows[is_second] - len(own[0])]]
            yield block

    with writing(index, KIND, _shapes(len(ids), len(document_ids), dim)) as (token, writer):
        writer.write("passage_ids", [ids[order]])
        writer.write("document_ids", [document_ids])
        writer.write("first_of", [first_of])
        planes = range(len(segments[0]["signs"]))
        writer.write("signs", (rows for p in planes for rows in rows_of([one["signs"][p] for one in segments])))
        writer.write("codes", rows_of([one["codes"] for one in segments]))
        writer.write("scales", rows_of([one["scales"] for one in segments]))
    return token


def quantized(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """(codes (n, dim), scales (n,)); vectors = codes * scales to within half a scale. Rows of zeros stay zeros."""
    scales = np.abs(vectors).max(axis=1, initial=0) / 127
    codes = np.rint(vectors / np.maximum(scales, np.finfo(np.float32).tiny)[:, None])
    return codes.astype(np.int8), scales.astype(np.float32)


def signs(vectors: Vectors) -> NDArray[np.uint64]:
    """(words, n): the signs of vectors (n, dim), 64 coordinates to a word; the last word is filled up with zeros."""
    bits = np.packbits(vectors >= 0, axis=1, bitorder="little")
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    return np.ascontiguousarray(padded.view("<u8").T)


def _shapes(n: int, n_documents: int, dim: int) -> Shapes:
    return {
        "passage_ids": (np.int64, (n,)),
        "document_ids": (np.int64, (n_documents,)),
        "first_of": (np.int64, (n_documents + 1,)),
        "signs": ("<u8", (-(-dim // 64), n)),
        "codes": (np.int8, (n, dim)),
        "scales": (np.float32, (n,)),
    }
