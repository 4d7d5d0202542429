"""Replaces the vectors of a document that a narrower model made by those of the whole model, while it stays searchable.

All widths of a nested model (MatMamba) share one space, so a document may have vectors of both kinds meanwhile. Knows
no model: callers pass the vectors.
"""

from collections.abc import Sequence

import apsw
import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import excerpts, manifest, vectors
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.records import PendingDocument
from longsearch.engine.store.vec0 import storage_chunks


def narrow(db: apsw.Connection, limit: int) -> list[PendingDocument]:
    """Complete documents of a width below 1: first those that are being read again, then the shortest."""
    sql = f"""
        SELECT contents.id, coalesce(begun.n_passages_done, 0), coalesce(begun.n_tokens_done, 0), begun.state, n_tokens,
        iif(begun.state IS NULL, NULL, 1.0)
        FROM embeddings JOIN contents ON contents.id = embeddings.content_id
        LEFT JOIN deepenings AS begun ON begun.content_id = contents.id
        WHERE {vectors.IS_NARROW} ORDER BY begun.content_id IS NULL, n_tokens, contents.id LIMIT ?
    """  # noqa: S608 - a constant
    return [PendingDocument(*row) for row in db.execute(sql, (limit,))]


def is_narrow(db: apsw.Connection, document_id: int) -> bool:
    """Whether the document exists, is complete and has a width below 1."""
    sql = f"SELECT 1 FROM embeddings WHERE content_id = ? AND {vectors.IS_NARROW}"  # noqa: S608 - a constant
    return db.execute(sql, (document_id,)).get is not None


def replace(
    db: apsw.Connection, document_id: int, first_ordinal: int, new: Vectors, packed_excerpts: Sequence[bytes]
) -> None:
    """Replace the vectors (n, dim) of the passages from `first_ordinal` on, and the excerpts of these passages.

    Raises ValueError if the vectors do not follow those that were replaced before.
    """
    checked = vectors.unit_vectors(new, vectors.dim_in_use(db))
    n_done = _n_passages_done(db, document_id)
    if first_ordinal != n_done:
        raise ValueError(f"passage {n_done} is next, not {first_ordinal}")
    if not len(checked):
        return
    ids = vectors.passage_ids(db, document_id, first_ordinal, len(checked))
    storage_chunks.replace(db, storage_chunks.PASSAGES, ids, checked)
    excerpts.remove(db, ids)
    if packed_excerpts:
        excerpts.add(db, ids, packed_excerpts)
    manifest.note_removed(db, Kind.VECTORS, ids)
    manifest.note_added(db, Kind.VECTORS, ids)


def note(db: apsw.Connection, document_id: int, n_passages_done: int, n_tokens_done: int, state: bytes | None) -> None:
    """Record where the reading stands, and the model's state there; None: at the end, where `finish` follows."""
    db.execute(
        "INSERT OR REPLACE INTO deepenings VALUES (?, ?, ?, ?)",
        (document_id, n_passages_done, n_tokens_done, state or b""),
    )


def finish(db: apsw.Connection, document_id: int, document_vector: Vectors, n_tokens_done: int) -> None:
    """Replace the document vector (dim,) and note the width. Raises ValueError while passages have old vectors."""
    checked = vectors.unit_vectors(np.atleast_2d(document_vector), vectors.dim_in_use(db))
    n_done = _n_passages_done(db, document_id)
    n_passages = db.execute("SELECT n_passages_done FROM embeddings WHERE content_id = ?", (document_id,)).get
    if n_done != n_passages:
        raise ValueError(f"{n_done} of {n_passages} passages have new vectors")
    storage_chunks.replace(db, storage_chunks.DOCUMENTS, [document_id], checked)
    manifest.note_removed(db, Kind.DOCUMENTS, [document_id])
    manifest.note_added(db, Kind.DOCUMENTS, [document_id])
    sql = "UPDATE embeddings SET width = 1.0, n_tokens_done = ? WHERE content_id = ?"
    db.execute(sql, (n_tokens_done, document_id))
    restart(db, document_id)


def restart(db: apsw.Connection, document_id: int) -> None:
    """Forget where the reading stands."""
    db.execute("DELETE FROM deepenings WHERE content_id = ?", (document_id,))


def _n_passages_done(db: apsw.Connection, document_id: int) -> int:
    return db.execute("SELECT n_passages_done FROM deepenings WHERE content_id = ?", (document_id,)).get or 0
