"""Documents in the index: titles, outlines, passages. Knows no file, word index or vector.

The table of documents is called `contents`; see `schema`.
"""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import astuple, replace
from itertools import pairwise, starmap
from pathlib import PurePosixPath

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.errors import StoreError
from longsearch.engine.printable import printable
from longsearch.engine.store import languages, texts
from longsearch.engine.store.records import FurniturePart, Outline, PassageRow
from longsearch.engine.types.documents import DocumentText, Heading, Mark, Passage


def storable(text: str) -> str:
    """`text` as SQLite can store it: lone surrogates, which UTF-8 cannot encode, become "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def bindable(ids: NDArray[np.int64]) -> "apsw.CArrayBinding":  # only the type stubs define this name
    """Ids as a binding for `rowid IN carray(?)`."""
    return apsw.carray(np.ascontiguousarray(ids, dtype=np.int64))


def find(db: apsw.Connection, content_hash: bytes) -> int | None:
    """The id of the document with this hash, or None."""
    found = db.execute("SELECT id FROM contents WHERE hash = ?", (content_hash,)).get
    return None if found is None else int(found)


def title_of(path: str) -> str:
    """The title of a document without one of its own: its file's name, printable and on one line."""
    return " ".join(unicodedata.normalize("NFC", printable(PurePosixPath(path).stem)).split()) or "untitled"


def name_after(db: apsw.Connection, document_id: int, title: str) -> bool:
    """Set the title of a document that has none of its own; return whether it changed."""
    sql = "UPDATE contents SET title = ?1 WHERE id = ?2 AND title_is_name AND title <> ?1"
    db.execute(sql, (title, document_id))
    return db.changes() > 0


def set_names(db: apsw.Connection, document_id: int, paths: Sequence[str], identifiers: Sequence[str]) -> bool:
    """Record by which names a document is found beside its title; return whether they changed."""
    packed = json.dumps([list(map(storable, paths)), list(identifiers)])
    db.execute("UPDATE contents SET names = ?1 WHERE id = ?2 AND names <> ?1", (packed, document_id))
    return db.changes() > 0


def has_text(db: apsw.Connection, document_id: int, document: DocumentText, new: Sequence[Passage]) -> bool:
    """Whether the stored document has the text of `document` and the passages `new`; the title does not matter."""
    stored = replace(text(db, document_id), title=document.title)
    return stored == document and passages(db, document_id) == list(new)


def renew(
    db: apsw.Connection, document_id: int, content_hash: bytes, partial_reason: str, hint: str, document: DocumentText
) -> None:
    """Record the new hash, why the file was read only in part ("" if it was read whole), and facts about its pages."""
    sql = "UPDATE contents SET hash = ?, partial_reason = ?, hint = ?, ocr_pages = ?, page_labels = ?, marks = ?"
    about = (json.dumps(list(pages)) for pages in (document.ocr_pages, document.page_labels, _rows(document)))
    db.execute(f"{sql} WHERE id = ?", (content_hash, storable(partial_reason), storable(hint), *about, document_id))


def exists(db: apsw.Connection, document_id: int) -> bool:
    """Whether the index holds this document."""
    return db.execute("SELECT 1 FROM contents WHERE id = ?", (document_id,)).get is not None


def count(db: apsw.Connection) -> int:
    """The number of documents."""
    return int(db.execute("SELECT count(*) FROM contents").get)


def insert(
    db: apsw.Connection,
    content_hash: bytes,
    document: DocumentText,
    passages: Sequence[Passage],
    partial_reason: str,
    hint: str,
    language: str,
) -> int:
    """Add a document with its text and passages, and return its id. If it has no title, `name_after` gives it one."""
    headings = [[heading.level, heading.title, heading.start] for heading in document.headings]
    db.execute(
        "INSERT INTO contents"
        " (hash, title, title_is_name, n_chars, n_pages, n_tokens, partial_reason, hint, headings, page_starts,"
        " language, ocr_pages, page_labels, words_version, marks)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            content_hash,
            storable(document.title),
            not document.title,
            len(document.text),
            len(document.page_starts),
            sum(passage.n_tokens for passage in passages),
            storable(partial_reason),
            storable(hint),
            json.dumps(headings),
            json.dumps(document.page_starts),
            language,
            json.dumps(document.ocr_pages),
            json.dumps(document.page_labels),
            languages.WORDS_VERSION,
            json.dumps(_rows(document)),
        ),
    )
    document_id = db.last_insert_rowid()
    texts.insert(db, document_id, document.text)
    _insert_passages(db, document_id, document, passages)
    return document_id


def _insert_passages(
    db: apsw.Connection, document_id: int, document: DocumentText, passages: Sequence[Passage]
) -> None:
    db.executemany(
        "INSERT INTO passages (content_id, ordinal, start, stop, n_tokens, page) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                document_id,
                ordinal,
                passage.start,
                passage.stop,
                passage.n_tokens,
                document.page_at((passage.start + passage.stop) // 2),
            )
            for ordinal, passage in enumerate(passages)
        ),
    )


def remove(db: apsw.Connection, document_id: int) -> None:
    """Delete a document, its text and its passages."""
    db.execute("DELETE FROM passages WHERE content_id = ?", (document_id,))
    texts.remove(db, document_id)
    db.execute("DELETE FROM contents WHERE id = ?", (document_id,))


def passage_ids(db: apsw.Connection, document_id: int) -> list[int]:
    """Ids of a document's passages, in order."""
    rows = db.execute("SELECT id FROM passages WHERE content_id = ? ORDER BY ordinal", (document_id,))
    return [row[0] for row in rows]


def passages(db: apsw.Connection, document_id: int) -> list[Passage]:
    """A document's passages, in order; [] if the document is unknown."""
    rows = db.execute(
        "SELECT start, stop, n_tokens FROM passages WHERE content_id = ? ORDER BY ordinal", (document_id,)
    )
    return [Passage(*row) for row in rows]


def first_passage(db: apsw.Connection, document_id: int) -> PassageRow | None:
    """Where a document's first passage lies; None if it has no passages."""
    sql = "SELECT id, content_id, start, stop, page FROM passages WHERE content_id = ? AND ordinal = 0"
    row = db.execute(sql, (document_id,)).fetchone()
    return None if row is None else PassageRow(*row)


def n_passages(db: apsw.Connection) -> int:
    """The number of passages in all documents."""
    return int(db.execute("SELECT count(*) FROM passages").get)


def all_ids(db: apsw.Connection) -> NDArray[np.int64]:
    """Ids of all documents, ascending."""
    return np.fromiter((row[0] for row in db.execute("SELECT id FROM contents ORDER BY id")), dtype=np.int64)


def first_passages(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, int]:
    """The id of each document's first passage; documents without passages are missing."""
    sql = "SELECT content_id, id FROM passages WHERE ordinal = 0 AND content_id IN (SELECT value FROM json_each(?))"
    return dict(db.execute(sql, (json.dumps(list(document_ids)),)))


def documents_of(db: apsw.Connection, passage_ids: Sequence[int]) -> dict[int, int]:
    """The document that each of these passages belongs to."""
    sql = "SELECT id, content_id FROM passages WHERE id IN (SELECT value FROM json_each(?))"
    return dict(db.execute(sql, (json.dumps(list(passage_ids)),))) if passage_ids else {}


def hashes_of(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, bytes]:
    """The hash of the bytes of each of these documents."""
    sql = "SELECT id, hash FROM contents WHERE id IN (SELECT value FROM json_each(?))"
    return dict(db.execute(sql, (json.dumps(list(document_ids)),)))


def passages_of(db: apsw.Connection, document_ids: Sequence[int]) -> NDArray[np.int64]:
    """Ids of the passages of these documents, ascending."""
    sql = "SELECT id FROM passages WHERE content_id IN (SELECT value FROM json_each(?)) ORDER BY id"
    return np.fromiter((row[0] for row in db.execute(sql, (json.dumps(list(document_ids)),))), dtype=np.int64)


def all_passages(db: apsw.Connection) -> NDArray[np.int64]:
    """Ids of all passages, ascending."""
    return np.fromiter((row[0] for row in db.execute("SELECT id FROM passages ORDER BY id")), dtype=np.int64)


def last_passage_id(db: apsw.Connection) -> int:
    """The highest id that a passage ever had, also one that is gone; 0 if there never was any."""
    return int(db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").get or 0)


def passage_at(db: apsw.Connection, document_id: int, offset: int) -> int | None:
    """The passage of a document that holds the character at this offset, or the last one before it."""
    sql = "SELECT id FROM passages WHERE content_id = ? AND start <= ? ORDER BY start DESC LIMIT 1"
    found = db.execute(sql, (document_id, offset)).get
    return None if found is None else int(found)


def text(db: apsw.Connection, document_id: int) -> DocumentText:
    """The whole document."""
    sql = "SELECT title, headings, page_starts, ocr_pages, page_labels, marks FROM contents WHERE id = ?"
    title, headings, *packed = _row(db, sql, document_id)
    starts, ocr_pages, labels, marks = (tuple(json.loads(part)) for part in packed)
    found = DocumentText(texts.whole(db, document_id), starts, title, tuple(starmap(Heading, json.loads(headings))))
    return replace(found, ocr_pages=ocr_pages, page_labels=labels, marks=tuple(Mark(*mark) for mark in marks))


def outline(db: apsw.Connection, document_id: int) -> Outline:
    """A document's title, headings, language and pages."""
    found = outlines(db, [document_id])
    if document_id not in found:
        raise StoreError(*_GONE)
    return found[document_id]


def outlines(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, Outline]:
    """The title, headings, language and pages of each of these documents."""
    sql = (
        "SELECT id, title, headings, coalesce(language, ''), page_starts, page_labels, ocr_pages,"
        " coalesce(furniture, '[]'), names, n_chars FROM contents WHERE id IN (SELECT value FROM json_each(?))"
    )
    found: dict[int, Outline] = {}
    for id_, title, headings, language, *pages, end in db.execute(sql, (json.dumps(list(document_ids)),)):
        starts, labels, from_ocr, parts, names = map(json.loads, pages)
        spans = tuple(pairwise([*starts, end]))
        ocr_spans = tuple(spans[page - 1] for page in from_ocr)
        places = tuple(starmap(Heading, json.loads(headings))), language, tuple(starts), tuple(labels), ocr_spans
        found[id_] = Outline(title, *places, tuple(FurniturePart(*part) for part in parts), tuple(names))
    return found


def missing(db: apsw.Connection, document_id: int) -> tuple[str, str]:
    """Why a document was read only in part, and what to do; ("", "") if it was read whole."""
    reason, hint = _row(db, "SELECT partial_reason, hint FROM contents WHERE id = ?", document_id)
    return str(reason), str(hint)


def _rows(document: DocumentText) -> list[tuple[object, ...]]:
    return list(map(astuple, document.marks))


_GONE = "The document is no longer in the index", "Search again: its file has changed or gone"


def _row(db: apsw.Connection, sql: str, document_id: int) -> tuple[str, ...]:
    row = db.execute(sql, (document_id,)).fetchone()
    if row is None:
        raise StoreError(*_GONE)
    return tuple(row)


def lengths(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, int]:
    """The number of passages of each of these documents."""
    n = "(SELECT max(ordinal) + 1 FROM passages WHERE content_id = contents.id)"
    sql = f"SELECT id, {n} FROM contents WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
    return dict(db.execute(sql, (json.dumps(list(document_ids)),)))
