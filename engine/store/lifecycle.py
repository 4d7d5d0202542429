"""Adds, names and removes a document across all tables. Runs in the caller's transaction."""

from collections.abc import Sequence

import apsw

from longsearch.engine.languages.detection import language_of
from longsearch.engine.store import documents, files, furniture, keywords, languages, metadata, texts, vectors
from longsearch.engine.store.embedding import resuming
from longsearch.engine.store.records import FileStamp, SavedState
from longsearch.engine.types.documents import DocumentText, MetadataValue, Passage

_MOST_NAMES = 8
"""Files of a document by whose names it is found: of a thousand copies of an empty form, eight are enough."""


def put_document(
    db: apsw.Connection,
    file: FileStamp,
    content_hash: bytes,
    document: DocumentText,
    passages: Sequence[Passage],
    partial_reason: str,
    hint: str,
    saved: SavedState | None,
) -> int:
    """Let the file hold this document, and return its id. Replaces the file's old document and one with the same hash.

    A document with unchanged text and passages keeps all its vectors, whether or not its bytes, title or metadata
    changed: a highlight in a PDF adds no word. Otherwise, if `saved` is given, the document takes over the vectors from
    before the saved state.
    """
    same = documents.find(db, content_hash)
    before = files.held_alone(db, file.path) if same is None else same
    if before is not None and documents.has_text(db, before, document, passages):
        documents.renew(db, before, content_hash, partial_reason, hint, document)
        describe(db, before, document.title, document.metadata)
        put_file(db, file, before, n_scanned=document.n_scanned)
        return before
    if same is not None:  # hashes are unique: the old document gets a random one until it is removed
        db.execute("UPDATE contents SET hash = randomblob(32) WHERE id = ?", (same,))
    language = language_of(document.text)
    document_id = documents.insert(db, content_hash, document, passages, partial_reason, hint, language)
    metadata.put(db, document_id, document.metadata)
    if same is not None:
        files.give_to(db, same, document_id)
    released = files.put(db, file, document_id, n_scanned=document.n_scanned)
    _name(db, document_id, files.best_paths_of(db, document_id, _MOST_NAMES))
    keywords.add(db, document_id, document.text, passages)
    furniture.put(db, document_id, document.text, passages)
    vectors.begin(db, document_id, len(passages))
    if saved is not None:
        resuming.inherit(db, saved, document_id)
    for old in (same, released):
        settle(db, old)
    return document_id


def put_file(
    db: apsw.Connection, file: FileStamp, document_id: int | None, reason: str = "", hint: str = "", n_scanned: int = 0
) -> None:
    """Record which document the file holds, or why it holds none; remove its old document if no file holds it now."""
    settle(db, files.put(db, file, document_id, reason, hint, n_scanned))
    settle(db, document_id)


def move(db: apsw.Connection, moves: Sequence[tuple[str, FileStamp]]) -> int:
    """Give files their new paths, all at once, and return how many were known. Remove documents that no file holds."""
    n_known, released = files.move(db, moves)
    moved = (files.document_of(db, file.path) for _, file in moves)
    for document_id in released.union(moved):
        settle(db, document_id)
    return n_known


def settle(db: apsw.Connection, document_id: int | None) -> None:
    """Bring a document in step after the files that hold it have changed.

    If no file holds the document any more, remove it from every table. Otherwise, if it has no title of its own, name
    it after the first of its files. It is found by the names of the first few.
    """
    if document_id is None:
        return
    paths = files.best_paths_of(db, document_id, _MOST_NAMES)
    if not paths:
        _remove(db, document_id)
        return
    if _name(db, document_id, paths):
        _index_title(db, document_id)


def _name(db: apsw.Connection, document_id: int, paths: Sequence[str]) -> bool:
    """Name a document after its files, best first; return whether words by which it is found have changed."""
    title = documents.title_of(paths[0])
    has_title = documents.name_after(db, document_id, title)
    metadata.follow_file(db, document_id, paths[0], title)
    return documents.set_names(db, document_id, paths, metadata.identifiers(db, document_id)) or has_title


def describe(db: apsw.Connection, document_id: int, title: str, values: Sequence[MetadataValue]) -> None:
    """Give a document another title ("": that of its file) and other metadata; call `settle` afterwards."""
    if title != metadata.own_title(db, document_id):
        metadata.retitle(db, document_id, title)
        if title:
            _index_title(db, document_id)
    metadata.put(db, document_id, values)


def _index_title(db: apsw.Connection, document_id: int) -> None:
    first = documents.first_passage(db, document_id)
    if first is not None:
        (text,) = texts.spans(db, document_id, [(first.start, first.stop)])
        keywords.retitle(db, document_id, first.passage_id, text)


def index_words_again(db: apsw.Connection, document_id: int) -> None:
    """Index the words of a document by its language, which is found again, and by today's rules.

    An older longsearch knew no languages, did not split names, or knew no other forms of a number. The vectors stay.
    """
    text = texts.whole(db, document_id)
    languages.put(db, document_id, language_of(text))
    paths = files.best_paths_of(db, document_id, _MOST_NAMES)
    documents.set_names(db, document_id, paths, metadata.identifiers(db, document_id))
    keywords.remove(db, documents.passage_ids(db, document_id))
    keywords.add(db, document_id, text, documents.passages(db, document_id))


def find_furniture(db: apsw.Connection, document_id: int) -> None:
    """Look for lists of references and the like in a document that an older longsearch stored."""
    furniture.put(db, document_id, documents.text(db, document_id).text, documents.passages(db, document_id))


def _remove(db: apsw.Connection, document_id: int) -> None:
    passage_ids = documents.passage_ids(db, document_id)
    vectors.remove(db, document_id, passage_ids)
    resuming.remove(db, document_id)
    metadata.remove(db, document_id)
    keywords.remove(db, passage_ids)
    documents.remove(db, document_id)
