"""Makes segments of vectors: from the index's vectors, or from two segments.

The arrays of a segment of vectors:

    ids (n,)              passages or documents, ascending
    document_ids (m,)     of passages: their documents, ascending; the passages of a document follow one another
    first_of (m + 1,)     where the passages of each document begin
    signs (words, n)      one bit for each coordinate, set if it is not negative; 64 coordinates of all vectors together
    codes (n, dim)        int8, as the index has them
    scales (n,)           a unit vector is codes * scale
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store import documents
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.files import Arrays, Shapes, writing
from longsearch.engine.store.segments.postings import document_starts, documents_of, type_of_ids
from longsearch.engine.store.segments.sign_scan import packed
from longsearch.engine.store.vec0 import storage_chunks

TABLES = {Kind.VECTORS: storage_chunks.PASSAGES, Kind.DOCUMENTS: storage_chunks.DOCUMENTS}
"""The index's own vectors, by kind."""
_ROWS = 8192  # written at once

Alive = tuple[NDArray[np.bool_], NDArray[np.bool_]]


class VectorMaker:
    """Makes segments of the vectors of passages or of documents."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def count(self, db: apsw.Connection) -> int:
        """The number of vectors."""
        column = "n_passages_done" if self.kind is Kind.VECTORS else "done"
        return int(db.execute(f"SELECT coalesce(sum({column}), 0) FROM embeddings").get)  # noqa: S608 - constants

    def all_ids(self, db: apsw.Connection) -> NDArray[np.int64]:
        """All passages or documents with a vector, ascending."""
        if not db.table_exists("main", f"{TABLES[self.kind]}_rowids"):
            return np.empty(0, np.int64)
        rows = db.execute(f"SELECT rowid FROM {TABLES[self.kind]}_rowids ORDER BY rowid")  # noqa: S608 - constants
        return np.fromiter((row[0] for row in rows), np.int64)

    def write(self, db: apsw.Connection, index: Path, ids: NDArray[np.int64]) -> str:
        """Write a segment of these ids (ascending); return its token. Raises OSError on a full disk."""
        owners = None
        if self.kind is Kind.VECTORS:
            document_of = documents.documents_of(db, ids.tolist())
            owners = np.array([document_of[id_] for id_ in ids.tolist()], np.int64)
        dim = int(db.execute("SELECT value FROM meta WHERE key = 'dim'").get)
        places = storage_chunks.places_of(db, TABLES[self.kind], ids.tolist())
        codes = storage_chunks.read_codes(db, TABLES[self.kind], dim, places[:, 1], places[:, 2])
        codes = codes[np.argsort(places[:, 0], kind="stable")]
        made = {
            "ids": [ids],
            "signs": [packed(codes >= 0)],
            "codes": [codes],
            "scales": [storage_chunks.scales_of(codes)],
        }
        return _write(index, self.kind, dim, len(ids), owners, made)

    def merge(self, index: Path, segments: tuple[Arrays, Arrays], alive: Alive) -> str:
        """Write a segment of the living rows ((n,) of each) of two others; return its token. Raises OSError."""
        own = [np.flatnonzero(living) for living in alive]
        held = [segment["ids"][rows] for segment, rows in zip(segments, own, strict=True)]
        ids = np.concatenate(held).astype(np.int64)
        order = np.argsort(ids, kind="stable")
        owners = None
        if self.kind is Kind.VECTORS:
            of_each = [documents_of(segment)[rows] for segment, rows in zip(segments, own, strict=True)]
            owners = np.concatenate(of_each)[order]

        def rows_of(arrays: Sequence[NDArray[Any]]) -> Iterator[NDArray[Any]]:
            """The rows of both segments' arrays, in their new order."""
            for start in range(0, len(order), _ROWS):
                rows = order[start : start + _ROWS]
                is_second = rows >= len(own[0])
                block = np.empty((len(rows), *arrays[0].shape[1:]), arrays[0].dtype)
                block[~is_second] = arrays[0][own[0][rows[~is_second]]]
                block[is_second] = arrays[1][own[1][rows[is_second] - len(own[0])]]
                yield block

        made: dict[str, Any] = {name: rows_of([one[name] for one in segments]) for name in ("codes", "scales")}
        made["ids"] = [ids[order]]
        planes = range(len(segments[0]["signs"]))
        made["signs"] = (block for p in planes for block in rows_of([one["signs"][p] for one in segments]))
        return _write(index, self.kind, segments[0]["codes"].shape[1], len(order), owners, made)


def _write(index: Path, kind: Kind, dim: int, n: int, owners: NDArray[np.int64] | None, made: dict[str, Any]) -> str:
    """Write `made`, the blocks of each array; `owners` (n,) are the documents of passages."""
    if owners is not None:
        document_ids, first_of = document_starts(owners)
        made |= {"document_ids": [document_ids], "first_of": [first_of]}
    shapes: Shapes = {
        "ids": (type_of_ids(made["ids"][0]), (n,)),
        **({} if owners is None else {name: (np.int64, made[name][0].shape) for name in ("document_ids", "first_of")}),
        "signs": ("<u8", (-(-dim // 64), n)),
        "codes": (np.int8, (n, dim)),
        "scales": (np.float32, (n,)),
    }
    with writing(index, kind, shapes) as (token, writer):
        for name in shapes:
            writer.write(name, made[name])
    return token
