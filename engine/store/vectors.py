"""Passage vectors and document vectors (sqlite-vec), and the progress of each document's embedding.

All vectors are unit vectors from one model, identified by its fingerprint. Knows no model: callers pass the fingerprint
and the dimension.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.passages import EXCERPT_WEIGHT
from longsearch.engine.store import excerpts, manifest
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.records import PendingDocument
from longsearch.engine.store.vec0 import storage_chunks

K_MAX = 4096
"""At most so many neighbours are wanted."""
_NORM_TOLERANCE = 1e-3
TABLES = (storage_chunks.PASSAGES, storage_chunks.DOCUMENTS)

IS_NARROW = "done AND embeddings.width < 1 AND embeddings.n_passages_done > 0"
"""The SQL condition that a document is complete and has a width below 1."""


def model_in_use(db: apsw.Connection) -> tuple[str, int] | None:
    """Fingerprint and dimension of the vectors, or None before the first `use_model`."""
    return model_of(dict(db.execute("SELECT key, value FROM meta WHERE key IN ('fingerprint', 'dim')")))


def model_of(meta: Mapping[str, Any]) -> tuple[str, int] | None:
    """The same, of an index with these rows of `meta`."""
    return (str(meta["fingerprint"]), int(meta["dim"])) if {"fingerprint", "dim"} <= meta.keys() else None


def use_model(db: apsw.Connection, fingerprint: str, dim: int, excerpt_weight: float = EXCERPT_WEIGHT) -> bool:
    """Create this model's vector tables in place of another model's; return False if they exist already."""
    known = db.execute("SELECT value FROM meta WHERE key = 'excerpt_weight'").get
    if (EXCERPT_WEIGHT if known is None else known) != excerpt_weight:
        db.execute("INSERT OR REPLACE INTO meta VALUES ('excerpt_weight', ?)", (excerpt_weight,))
    if model_in_use(db) == (fingerprint, dim):
        return False
    for table in TABLES:
        db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute(f"CREATE VIRTUAL TABLE {table} USING vec0(embedding int8[{int(dim)}])")
    for kind in (Kind.VECTORS, Kind.DOCUMENTS):
        manifest.forget(db, kind)
    excerpts.remove_all(db)
    db.execute("DELETE FROM deepenings")
    db.execute("DELETE FROM embeddings")
    db.execute(
        "INSERT INTO embeddings (content_id, n_passages_done, n_tokens_done, done) SELECT id, 0, 0, 1 FROM contents"
        " WHERE NOT EXISTS (SELECT 1 FROM passages WHERE content_id = contents.id)"
    )
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", (("fingerprint", fingerprint), ("dim", dim)))
    return True


def begin(db: apsw.Connection, document_id: int, n_passages: int) -> None:
    """Begin the embedding of a new document. A document without passages is complete at once."""
    if not n_passages:
        sql = "INSERT INTO embeddings (content_id, n_passages_done, n_tokens_done, done) VALUES (?, 0, 0, 1)"
        db.execute(sql, (document_id,))


def remove(db: apsw.Connection, document_id: int, passage_ids: list[int]) -> None:
    """Delete all vectors of a document."""
    n_done = db.execute("SELECT n_passages_done FROM embeddings WHERE content_id = ?", (document_id,)).get
    db.execute("DELETE FROM deepenings WHERE content_id = ?", (document_id,))
    db.execute("DELETE FROM embeddings WHERE content_id = ?", (document_id,))
    if model := model_in_use(db):
        done = passage_ids[: n_done or 0]
        storage_chunks.remove(db, storage_chunks.PASSAGES, model[1], done)
        manifest.note_removed(db, Kind.VECTORS, done)
        excerpts.remove(db, done)
        storage_chunks.remove(db, storage_chunks.DOCUMENTS, model[1], [document_id])
        manifest.note_removed(db, Kind.DOCUMENTS, [document_id])


def pending(db: apsw.Connection, limit: int) -> list[PendingDocument]:
    """Documents whose vectors are not complete: first those begun, then the shortest.

    Begun documents are nearest to being searchable. Then shortest first makes the most files searchable soonest.
    """
    sql = """
        SELECT contents.id, coalesce(n_passages_done, 0), coalesce(n_tokens_done, 0), state, n_tokens,
        iif(state IS NULL, NULL, width)
        FROM contents LEFT JOIN embeddings ON content_id = contents.id
        WHERE NOT coalesce(done, 0) ORDER BY content_id IS NULL, n_tokens, contents.id LIMIT ?
    """
    return [PendingDocument(*row) for row in db.execute(sql, (limit,))]


def add(
    db: apsw.Connection,
    document_id: int,
    first_ordinal: int,
    vectors: Vectors,
    n_tokens_done: int,
    state: bytes | None,
    packed_excerpts: Sequence[bytes] = (),
    width: float = 1.0,
) -> None:
    """Add the vectors (n, dim) of the passages from `first_ordinal` on, and the model's state after `n_tokens_done`.

    `packed_excerpts`: for each passage its excerpts as `excerpts.packed` gives them; empty if no passage has any.
    `width` is that of the model which made them. Raises ValueError if the vectors do not follow the stored ones.
    """
    checked = unit_vectors(vectors, dim_in_use(db))
    n_done, done = _counters(db, document_id)
    if done or first_ordinal != n_done:
        raise ValueError(f"passage {n_done} is next{' (none: it is done)' if done else ''}, not {first_ordinal}")
    ids = passage_ids(db, document_id, first_ordinal, len(checked))
    storage_chunks.put(db, storage_chunks.PASSAGES, ids, checked)
    manifest.note_added(db, Kind.VECTORS, ids)
    if packed_excerpts:
        excerpts.add(db, ids, packed_excerpts)
    db.execute(
        "INSERT OR REPLACE INTO embeddings (content_id, n_passages_done, n_tokens_done, done, state, width)"
        " VALUES (?, ?, ?, 0, ?, ?)",
        (document_id, first_ordinal + len(ids), n_tokens_done, state, width),
    )


def finish(db: apsw.Connection, document_id: int, document_vector: Vectors, n_tokens_done: int) -> None:
    """Add the document vector (dim,) and drop the state. Raises ValueError while passages lack their vectors."""
    checked = unit_vectors(np.atleast_2d(document_vector), dim_in_use(db))
    n_done, done = _counters(db, document_id)
    n_passages = db.execute("SELECT count(*) FROM passages WHERE content_id = ?", (document_id,)).get
    if done or n_done != n_passages or len(checked) != 1:
        raise ValueError(f"{n_done} of {n_passages} passages have vectors{' and the document too' if done else ''}")
    storage_chunks.put(db, storage_chunks.DOCUMENTS, [document_id], checked)
    manifest.note_added(db, Kind.DOCUMENTS, [document_id])
    db.execute(
        "UPDATE embeddings SET done = 1, state = NULL, n_tokens_done = ? WHERE content_id = ?",
        (n_tokens_done, document_id),
    )


def of_passages(db: apsw.Connection, document_id: int) -> Vectors:
    """(n_passages_done, dim) vectors of a document's passages, in order."""
    if (model := model_in_use(db)) is None:
        return np.empty((0, 0), np.float32)
    sql = (
        "SELECT chunk_id, chunk_offset FROM passages"
        " JOIN passage_vectors_rowids ON passage_vectors_rowids.rowid = passages.id"
        " WHERE content_id = ? ORDER BY ordinal"
    )
    places = np.array(db.execute(sql, (document_id,)).fetchall(), dtype=np.int64).reshape(-1, 2)
    return storage_chunks.read_rows(db, storage_chunks.PASSAGES, model[1], places[:, 0], places[:, 1])


def of_ids(db: apsw.Connection, table: str, rowids: Sequence[int]) -> dict[int, Vectors]:
    """The vector (dim,) of each of these passages or documents; ids without a vector are missing."""
    if (model := model_in_use(db)) is None:
        return {}
    places = storage_chunks.places_of(db, table, rowids)
    found = storage_chunks.read_rows(db, table, model[1], places[:, 1], places[:, 2])
    return dict(zip(places[:, 0].tolist(), found, strict=True))


def of_document(db: apsw.Connection, document_id: int) -> Vectors | None:
    """The vector (dim,) of a whole document, or None while its embedding is not complete."""
    return of_ids(db, storage_chunks.DOCUMENTS, [document_id]).get(document_id)


def dim_in_use(db: apsw.Connection) -> int:
    """The dimension of the vectors. Raises ValueError before the first `use_model`."""
    model = model_in_use(db)
    if model is None:
        raise ValueError("no model is in use yet: call use_model first")
    return model[1]


def _counters(db: apsw.Connection, document_id: int) -> tuple[int, bool]:
    row = db.execute("SELECT n_passages_done, done FROM embeddings WHERE content_id = ?", (document_id,)).fetchone()
    return (0, False) if row is None else (int(row[0]), bool(row[1]))


def passage_ids(db: apsw.Connection, document_id: int, first_ordinal: int, n: int) -> list[int]:
    """Ids of `n` passages of a document from `first_ordinal` on. Raises ValueError if it has fewer."""
    sql = "SELECT id FROM passages WHERE content_id = ? AND ordinal >= ? ORDER BY ordinal LIMIT ?"
    ids = [row[0] for row in db.execute(sql, (document_id, first_ordinal, n))]
    if len(ids) != n:
        raise ValueError(f"{n} vectors for {len(ids)} passages from {first_ordinal} on")
    return ids


def unit_vectors(vectors: Vectors, dim: int) -> Vectors:
    """Check `vectors` (n, dim) and return them as contiguous float32: sqlite-vec accepts NaN and any length."""
    checked = np.ascontiguousarray(vectors, dtype=np.float32)
    if checked.ndim != 2 or checked.shape[1] != dim:
        raise ValueError(f"vectors of shape {checked.shape}, not (n, {dim})")
    norms = np.linalg.norm(checked, axis=1)
    if not np.all(np.abs(norms - 1) <= _NORM_TOLERANCE):  # False for NaN too
        raise ValueError("vectors must be finite and of length 1")
    return checked


def nearest_of_all(
    db: apsw.Connection, table: str, query: Vectors, k: int, allowed: NDArray[np.int64] | None
) -> list[tuple[int, float]]:
    """The `k` nearest rows of a table, as (id, cosine), highest first: every vector is compared."""
    found: list[tuple[int, float]] = []
    directory = storage_chunks.directory(db, table)
    for chunk_id, rowids, live in zip(directory.chunk_ids.tolist(), directory.rowids, directory.live, strict=True):
        wanted = live if allowed is None else live & np.isin(rowids, allowed)
        if wanted.any():
            codes = storage_chunks.read_chunk(db, table, len(query), chunk_id)[wanted]
            cosines = (codes @ query) * storage_chunks.scales_of(codes)
            found += zip(rowids[wanted].tolist(), cosines.tolist(), strict=True)
    return sorted(found, key=lambda row: (-row[1], row[0]))[: min(k, K_MAX)]
