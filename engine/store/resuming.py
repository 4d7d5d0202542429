"""States of finished documents, to go on from when a file has grown: what was embedded before is not embedded again.

Of all that were kept the newest stay, `KEPT_BYTES` in sum. Stored as they come: zlib would take 70 ms to save 13 % of
the bundled model's 1.2 MB, and reading 700 tokens anew takes no longer. Knows no model: a state is bytes.
"""

import apsw

from engine.store import documents, excerpts, files, vectors
from engine.store.records import SavedState

KEPT_BYTES = 64 * 2**20


def keep(db: apsw.Connection, point: SavedState) -> None:
    """Keep the state for its content, in place of what was kept before, and drop the oldest that are too many."""
    remove(db, point.document_id)
    db.execute(
        "INSERT INTO resume_points (content_id, n_passages_done, n_tokens_done, state) VALUES (?, ?, ?, ?)",
        (point.document_id, point.n_passages_done, point.n_tokens_done, point.state),
    )
    db.execute(
        "DELETE FROM resume_points WHERE id IN (SELECT id FROM"
        " (SELECT id, sum(length(state)) OVER (ORDER BY id DESC) AS n_bytes FROM resume_points) WHERE n_bytes > ?)",
        (KEPT_BYTES,),
    )


def remove(db: apsw.Connection, document_id: int) -> None:
    """Forget the state that is kept for a content."""
    db.execute("DELETE FROM resume_points WHERE content_id = ?", (document_id,))


def remove_all(db: apsw.Connection) -> None:
    """Forget all states: they are another model's."""
    db.execute("DELETE FROM resume_points")


def of_file(db: apsw.Connection, path: str) -> SavedState | None:
    """The state of what the file held when it was indexed last; of one that is not finished, where it stopped."""
    sql = """
        SELECT content_id, n_passages_done, n_tokens_done, state FROM embeddings
        WHERE content_id = :id AND state IS NOT NULL
        UNION ALL SELECT content_id, n_passages_done, n_tokens_done, state FROM resume_points WHERE content_id = :id
    """
    row = db.execute(sql, {"id": files.document_of(db, path)}).fetchone()
    return None if row is None else SavedState(*row)


def inherit(db: apsw.Connection, point: SavedState, document_id: int) -> None:
    """Let a new content begin with the vectors that the point's content has up to it, and go on from its state."""
    done = vectors.of_passages(db, point.document_id)[: point.n_passages_done]
    if len(done) == point.n_passages_done:  # else it was dropped since
        vectors.add(db, document_id, 0, done, point.n_tokens_done, point.state)
        old, new = (documents.passage_ids(db, id_)[: len(done)] for id_ in (point.document_id, document_id))
        excerpts.inherit(db, old, new)
