"""How a content comes into all tables, and leaves all of them with its last file. Runs in the caller's transaction."""

from collections.abc import Sequence

import apsw

from engine.store import documents, files, keywords, resuming, vectors
from engine.store.records import FileRecord, ResumePoint
from engine.types import DocumentText, Passage


def put_document(
    db: apsw.Connection,
    file: FileRecord,
    content_hash: bytes,
    document: DocumentText,
    passages: Sequence[Passage],
    partial_reason: str,
    hint: str,
    resume: ResumePoint | None,
) -> int:
    """Let the file hold this content, replacing what it held and any content of the same hash; the content id.

    Its vectors are those up to `resume`, if one is given, and its embedding goes on from there.
    """
    same = documents.find(db, content_hash)
    if same is not None:  # two of one hash for a moment: the old one's is made another
        db.execute("UPDATE contents SET hash = randomblob(32) WHERE id = ?", (same,))
    content_id = documents.insert(db, content_hash, document, passages, partial_reason, hint)
    keywords.add(db, documents.passage_ids(db, content_id), document, passages)
    vectors.begin(db, content_id, len(passages))
    if resume is not None:
        resuming.inherit(db, resume, content_id)
    if same is not None:
        files.give_to(db, same, content_id)
        drop_if_orphan(db, same)
    put_file(db, file, content_id)
    return content_id


def put_file(db: apsw.Connection, file: FileRecord, content_id: int | None, reason: str = "", hint: str = "") -> None:
    """Note what the file holds now, a content or nothing for `reason`, and drop what it held if no other file does."""
    drop_if_orphan(db, files.put(db, file, content_id, reason, hint))


def drop_if_orphan(db: apsw.Connection, content_id: int | None) -> None:
    """Remove a content that no file holds any more from every table."""
    if content_id is None or files.is_held(db, content_id):
        return
    passage_ids = documents.passage_ids(db, content_id)
    vectors.remove(db, content_id, passage_ids)
    resuming.remove(db, content_id)
    keywords.remove(db, passage_ids)
    documents.remove(db, content_id)
