"""Takes over into a new index what a damaged one still holds whole.

A document is taken over with its text, passages, vectors and excerpts, or not at all. Its words are made again from its
text. Files whose documents are lost are missing in the new index, so that the next sweep reads them again.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw
import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import StoreError
from longsearch.engine.passages import EXCERPT_WEIGHT
from longsearch.engine.store import documents, examination, lifecycle, manifest, vectors
from longsearch.engine.store.connection import errors_explained, note_damage, open_for_reading
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.schema import MIGRATIONS
from longsearch.engine.store.vec0 import storage_chunks

_NOT_TAKEN_OVER = frozenset({"writer", "files_version", "fingerprint", "dim", "excerpt_weight"})
_KEYS = {
    "contents": "id",
    **dict.fromkeys(("text_parts", "passages", "metadata", "files", "resume_points"), "content_id"),
}
"""Table -> the column that says to which document a row belongs."""
_OF_DOCUMENT = "passage_id IN (SELECT id FROM passages WHERE content_id = ?)"


def damage_in(db: apsw.Connection) -> str:
    """Return what is wrong with an open index: its pages, documents and counts, not its segments; "" if it is whole."""
    return "; ".join(one.what for one in examination.of_pages(db))


def look_for_damage(index: Path) -> None:
    """Compare the sizes and counts of an index, if there is one; the next writer then reads all of a damaged one."""
    if index.exists():
        with suppress(StoreError), errors_explained(index), open_for_reading(index) as db:
            if any(not one.is_of_segment for one in examination.quick(db, index)):
                note_damage(index)


def take_over(db: apsw.Connection, damaged: apsw.Connection) -> tuple[int, int]:
    """Copy what is whole in `damaged` into `db`, a new index. Return how many documents were kept, and lost.

    Of an index with an older schema nothing is taken over.
    """
    kept: list[bool] = []
    try:
        if int(damaged.pragma("user_version")) == len(MIGRATIONS):
            _take_over_meta(db, damaged)
            for document_id in _ids(damaged):
                kept.append(_takes_over(db, damaged, document_id))
    except examination.BROKEN:
        pass  # what was copied until then is whole
    return sum(kept), len(kept) - sum(kept)


def _take_over_meta(db: apsw.Connection, damaged: apsw.Connection) -> None:
    known = dict(damaged.execute("SELECT key, value FROM meta"))
    if (model := vectors.model_of(known)) is not None:
        vectors.use_model(db, *model, float(known.get("excerpt_weight", EXCERPT_WEIGHT)))
    left_out = _NOT_TAKEN_OVER | examination.unreadable(known)
    rows = ((key, value) for key, value in known.items() if key not in left_out)
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _ids(damaged: apsw.Connection) -> list[int]:
    """Return the ids of all documents; if not even these can be read, all that may have been given."""
    try:
        return [row[0] for row in damaged.execute("SELECT id FROM contents ORDER BY id")]
    except apsw.Error:
        last = damaged.execute("SELECT seq FROM sqlite_sequence WHERE name = 'contents'").get
        return list(range(1, int(last or 0) + 1))


def _takes_over(db: apsw.Connection, damaged: apsw.Connection, document_id: int) -> bool:
    """Copy one document; return whether it was whole."""
    try:
        with db:  # a transaction of its own: all of the document or nothing
            for table, key in _KEYS.items():
                _copy(db, damaged, table, f"{key} = ?", document_id)
            if not documents.exists(db, document_id) or examination.wrong_in(db, document_id) == "the texts":
                raise ValueError("its texts are not whole")  # which takes back what was copied
            _take_over_vectors(db, damaged, document_id)
            lifecycle.index_words_again(db, document_id)
    except examination.BROKEN:
        return False
    return True


def _copy(db: apsw.Connection, damaged: apsw.Connection, table: str, condition: str, document_id: int) -> None:
    rows = damaged.execute(f"SELECT * FROM {table} WHERE {condition}", (document_id,)).fetchall()  # noqa: S608
    if rows:
        places = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608


def _take_over_vectors(db: apsw.Connection, damaged: apsw.Connection, document_id: int) -> None:
    """Copy the vectors of a complete document. Raises ValueError if one is missing or no unit vector."""
    is_complete = damaged.execute("SELECT done FROM embeddings WHERE content_id = ?", (document_id,)).get
    if not is_complete:
        return  # its vectors are made anew from its text
    _copy(db, damaged, "embeddings", "content_id = ?", document_id)
    if ids := documents.passage_ids(db, document_id):
        of_document = np.atleast_2d(np.asarray(vectors.of_document(damaged, document_id), np.float32))
        _put(db, storage_chunks.PASSAGES, Kind.VECTORS, ids, vectors.of_passages(damaged, document_id))
        _put(db, storage_chunks.DOCUMENTS, Kind.DOCUMENTS, [document_id], of_document)
        _copy(db, damaged, "excerpt_vectors", _OF_DOCUMENT, document_id)


def _put(db: apsw.Connection, table: str, kind: Kind, rowids: Sequence[int], found: Vectors) -> None:
    checked = vectors.unit_vectors(found, vectors.dim_in_use(db))
    storage_chunks.put(db, table, rowids, checked)
    manifest.note_added(db, kind, rowids)
