"""How a content comes into all tables, is called, and leaves them all with its last file. Runs in the caller's
transaction.
"""

from collections.abc import Sequence

import apsw

from engine.store import documents, files, keywords, resuming, vectors
from engine.store.records import FileStamp, SavedState
from engine.types import DocumentText, Passage


def put_document(
    db: apsw.Connection,
    file: FileStamp,
    content_hash: bytes,
    document: DocumentText,
    passages: Sequence[Passage],
    partial_reason: str,
    hint: str,
    resume: SavedState | None,
) -> int:
    """Let the file hold this content, replacing what it held and any content of the same hash; the content id.

    Its vectors are those up to `resume`, if one is given, and its embedding goes on from there. What says the same as
    before keeps all vectors, whether the same bytes were read again or others came: a highlight in a PDF is no word.
    """
    same = documents.find(db, content_hash)
    before = files.held_alone(db, file.path) if same is None else same
    if before is not None and documents.says(db, before, document, passages):
        documents.renew(db, before, content_hash, partial_reason, hint)
        put_file(db, file, before)
        return before
    if same is not None:  # two of one hash for a moment: the old one's is made another
        db.execute("UPDATE contents SET hash = randomblob(32) WHERE id = ?", (same,))
    document_id = documents.insert(db, content_hash, document, passages, partial_reason, hint)
    keywords.add(db, documents.passage_ids(db, document_id), document, passages)
    vectors.begin(db, document_id, len(passages))
    if resume is not None:
        resuming.inherit(db, resume, document_id)
    if same is not None:
        files.give_to(db, same, document_id)
        settle(db, same)
    put_file(db, file, document_id)
    return document_id


def put_file(db: apsw.Connection, file: FileStamp, document_id: int | None, reason: str = "", hint: str = "") -> None:
    """Note what the file holds now, a content or nothing for `reason`, and drop what it held if no other file does."""
    settle(db, files.put(db, file, document_id, reason, hint))
    settle(db, document_id)


def move(db: apsw.Connection, moves: Sequence[tuple[str, FileStamp]]) -> int:
    """Give files their new paths, all at one moment, and drop what no file holds now; how many were known."""
    n_known, let_go = files.move(db, moves)
    moved = (files.document_of(db, file.path) for _, file in moves)
    for document_id in let_go.union(moved):
        settle(db, document_id)
    return n_known


def settle(db: apsw.Connection, document_id: int | None) -> None:
    """After the files that hold a content have changed: drop it from every table where none does any more; one without
    a title of its own is called after the first.
    """
    if document_id is None:
        return
    path = files.first_path_of(db, document_id)
    if path is None:
        _remove(db, document_id)
    elif documents.name_after(db, document_id, title := documents.title_of(path)):
        first = documents.first_passage(db, document_id)
        if first is not None:
            (text,) = documents.spans(db, document_id, [(first.start, first.stop)])
            keywords.retitle(db, first.passage_id, text, title)


def _remove(db: apsw.Connection, document_id: int) -> None:
    passage_ids = documents.passage_ids(db, document_id)
    vectors.remove(db, document_id, passage_ids)
    resuming.remove(db, document_id)
    keywords.remove(db, passage_ids)
    documents.remove(db, document_id)
