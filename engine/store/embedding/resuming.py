"""Saved states of finished documents. When text is added to a file, its embedding resumes from the saved state.

The newest saved states are kept, up to `KEPT_BYTES` in total. They are stored uncompressed: zlib would take 70 ms to
save 13 % of the bundled model's 1.2 MB, and the model reads 700 tokens in that time. Knows no model: a state is bytes.
"""

import apsw

from longsearch.engine.store import documents, excerpts, files, vectors
from longsearch.engine.store.records import SavedState

KEPT_BYTES = 64 * 2**20


def keep(db: apsw.Connection, saved: SavedState) -> None:
    """Replace the saved state of the document, and delete the oldest saved states beyond `KEPT_BYTES`."""
    remove(db, saved.document_id)
    db.execute(
        "INSERT INTO resume_points (content_id, n_passages_done, n_tokens_done, state, width) VALUES (?, ?, ?, ?, ?)",
        (saved.document_id, saved.n_passages_done, saved.n_tokens_done, saved.state, saved.width),
    )
    db.execute(
        "DELETE FROM resume_points WHERE id IN (SELECT id FROM"
        " (SELECT id, sum(length(state)) OVER (ORDER BY id DESC) AS n_bytes FROM resume_points) WHERE n_bytes > ?)",
        (KEPT_BYTES,),
    )


def remove(db: apsw.Connection, document_id: int) -> None:
    """Delete the document's saved state."""
    db.execute("DELETE FROM resume_points WHERE content_id = ?", (document_id,))


def remove_all(db: apsw.Connection) -> None:
    """Delete all saved states: they belong to another model."""
    db.execute("DELETE FROM resume_points")


def of_file(db: apsw.Connection, path: str) -> SavedState | None:
    """The saved state of the document that the file holds; for an unfinished document, the state where it stopped."""
    sql = """
        SELECT content_id, n_passages_done, n_tokens_done, state, width FROM embeddings
        WHERE content_id = :id AND state IS NOT NULL
        UNION ALL
        SELECT content_id, n_passages_done, n_tokens_done, state, width FROM resume_points WHERE content_id = :id
    """
    row = db.execute(sql, {"id": files.document_of(db, path)}).fetchone()
    return None if row is None else SavedState(*row)


def inherit(db: apsw.Connection, saved: SavedState, document_id: int) -> None:
    """Give a new document the vectors of all passages before the saved state, and let it resume from this state."""
    done = vectors.of_passages(db, saved.document_id)[: saved.n_passages_done]
    if len(done) < saved.n_passages_done:
        return  # the vectors have been dropped since
    vectors.add(db, document_id, 0, done, saved.n_tokens_done, saved.state, width=saved.width)
    old, new = (documents.passage_ids(db, id_)[: len(done)] for id_ in (saved.document_id, document_id))
    excerpts.inherit(db, old, new)
