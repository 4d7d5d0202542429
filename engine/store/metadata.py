"""What documents say of themselves: title, authors, dates, tags and their own keys, each with its source.

A document's own values come with its text. Two more follow the first of its files: a title, if the document has none,
and a date, if it gives none: that in the path, else the day on which the document was created, else the file's time.
Knows no query language.
"""

import json
import os
import time
import unicodedata
from collections.abc import Collection, Iterable, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import distinct
from longsearch.engine.dates import date_in_path, first_day, last_day
from longsearch.engine.metadata_lines import FILE_TIME
from longsearch.engine.store.connection import among, note_change
from longsearch.engine.store.documents import storable
from longsearch.engine.types.documents import MARKS, MetadataValue

VERSION = 2
"""The rules by which readers find metadata. Documents with a lower one are described again, without a new vector."""
IDENTIFIERS = ("doi", "arxiv", "isbn")
"""The fields whose value names one publication."""
_FIRST_CJK = "\u2e80"
_LEAST_FILE_TIME_S = 400 * 86_400  # programs that know no time write 0, or some hours more


def put(db: apsw.Connection, document_id: int, values: Iterable[MetadataValue]) -> None:
    """Replace a document's own values; `follow_file` must be called after it."""
    remove(db, document_id)
    _insert(db, document_id, values, first_ordinal=0, of_file=False)
    db.execute("UPDATE contents SET metadata_version = ? WHERE id = ?", (VERSION, document_id))
    note_change(db)


def follow_file(db: apsw.Connection, document_id: int, path: str, title: str) -> None:
    """Renew the values that follow the first of the document's files: its date, and its title unless it has its own."""
    db.execute("DELETE FROM metadata WHERE content_id = ? AND of_file", (document_id,))
    note_change(db)
    sql = "SELECT field, value, source FROM metadata WHERE content_id = ? ORDER BY ordinal"
    own = {field: MetadataValue(field, *rest) for field, *rest in db.execute(sql, (document_id,))}
    values = [] if "title" in own else [MetadataValue("title", title, "file name")]
    if "date" not in own and (found := _date_of_file(db, path, own.get("created"))):
        values.append(found)
    n_own = db.execute("SELECT coalesce(max(ordinal) + 1, 0) FROM metadata WHERE content_id = ?", (document_id,)).get
    _insert(db, document_id, values, int(n_own), of_file=True)


def remove(db: apsw.Connection, document_id: int) -> None:
    """Delete all values of a document."""
    db.execute("DELETE FROM metadata WHERE content_id = ?", (document_id,))


def undescribed(db: apsw.Connection) -> list[tuple[int, str]]:
    """Documents whose metadata older rules have found, or nobody, each with the first path that holds it."""
    sql = (
        "SELECT contents.id, min(path) FROM contents JOIN files ON content_id = contents.id"
        " WHERE metadata_version < ? GROUP BY contents.id ORDER BY 2"
    )
    return [(document_id, os.fsdecode(path)) for document_id, path in db.execute(sql, (VERSION,))]


def n_undescribed(db: apsw.Connection) -> int:
    """The number of documents whose metadata have not been read by today's rules."""
    return int(db.execute("SELECT count(*) FROM contents WHERE metadata_version < ?", (VERSION,)).get)


def of_documents(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, tuple[MetadataValue, ...]]:
    """The values of each of these documents, title and date first, but those of its marks."""
    sql = (
        "SELECT content_id, field, value, source FROM metadata WHERE content_id IN (SELECT value FROM json_each(?1))"
        " AND source <> ?2 ORDER BY content_id, field <> 'title', field <> 'author', field <> 'date', ordinal"
    )
    found: dict[int, list[MetadataValue]] = {}
    for document_id, *value in db.execute(sql, (json.dumps(list(document_ids)), MARKS)):
        found.setdefault(document_id, []).append(MetadataValue(*value))
    return {document_id: tuple(values) for document_id, values in found.items()}


def of_files(db: apsw.Connection) -> dict[str, tuple[MetadataValue, ...]]:
    """The values of the document that each file holds, by path."""
    held = [(os.fsdecode(path), id_) for path, id_ in db.execute("SELECT path, content_id FROM files WHERE content_id")]
    values = of_documents(db, sorted({document_id for _, document_id in held}))
    return {path: values.get(document_id, ()) for path, document_id in held}


def with_words(db: apsw.Connection, field: str, words: str) -> NDArray[np.int64]:
    """Ids of the documents with a value of this field that holds `words`, which `as_words` made; ascending.

    Without its last space, the last word is a prefix.
    """
    return _ids(db, "SELECT content_id FROM metadata WHERE field = ? AND instr(words, ?)", (field, words))


def dated(db: apsw.Connection, first: str, last: str) -> NDArray[np.int64]:
    """Ids of the documents whose date lies between two days, whole: a date of a year only if the year does."""
    sql = "SELECT content_id FROM metadata WHERE field = 'date' AND words >= ? AND substr(words, 13) <= ?"
    return _ids(db, sql, (first, last))


def dates(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, str]:
    """The date of each of these documents; those without one are missing."""
    sql = (
        "SELECT content_id, value FROM metadata WHERE field = 'date' AND content_id IN (SELECT value FROM json_each(?))"
    )
    return dict(db.execute(sql, (json.dumps(list(document_ids)),)))


def titles(db: apsw.Connection, document_ids: Sequence[int]) -> dict[int, str]:
    """The title of each of these documents."""
    sql = "SELECT id, title FROM contents WHERE id IN (SELECT value FROM json_each(?))"
    return dict(db.execute(sql, (json.dumps(list(document_ids)),)))


def identifiers(db: apsw.Connection, document_id: int) -> list[str]:
    """What names a document among all that were ever published: its DOI, its number on arXiv."""
    sql = f"SELECT value FROM metadata WHERE content_id = ? AND field IN ({', '.join('?' * len(IDENTIFIERS))})"  # noqa: S608
    return [row[0] for row in db.execute(sql, (document_id, *IDENTIFIERS))]


def own_title(db: apsw.Connection, document_id: int) -> str:
    """The document's own title, or "" if it has that of a file."""
    return str(db.execute("SELECT iif(title_is_name, '', title) FROM contents WHERE id = ?", (document_id,)).get)


def retitle(db: apsw.Connection, document_id: int, title: str) -> None:
    """Give the document a title of its own; "": that of its file, which `name_after` will give it."""
    sql = "UPDATE contents SET title = iif(?1 = '', title, ?1), title_is_name = ?1 = '' WHERE id = ?2"
    db.execute(sql, (storable(title), document_id))


def n_documents_with(db: apsw.Connection, field: str, allowed: NDArray[np.int64] | None = None) -> int:
    """The number of documents, or of these, that have this field."""
    condition, ids = among("content_id", allowed)
    sql = f"SELECT count(DISTINCT content_id) FROM metadata WHERE field = ?{condition}"  # noqa: S608
    return int(db.execute(sql, (field, *ids)).get)


def values_with_counts(
    db: apsw.Connection, field: str, typed: str, limit: int, allowed: NDArray[np.int64] | None = None
) -> list[tuple[str, int]]:
    """The values of a field in which a word begins with `typed`, each with its number of documents, most first.

    Of dates, the years. `allowed`: count these documents alone.
    """
    condition, ids = among("content_id", allowed)
    value, words = ("substr(value, 1, 4)", f" {typed}") if field == "date" else ("value", as_words(typed).rstrip(" "))
    holds = "instr(' ' || value, ?)" if field == "date" else "instr(words, ?)"
    sql = (
        f"SELECT {value}, count(DISTINCT content_id) FROM metadata WHERE field = ? AND {holds}"  # noqa: S608
        f"{condition} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
    )
    return [(str(text), int(n)) for text, n in db.execute(sql, (field, words or " ", *ids, limit))]


def as_words(text: str) -> str:
    """`text` in the form in which values are compared: " geoffrey hinton ", in lower case and without accents.

    Every sign but letters and digits is a space; each character of Chinese, Japanese or Korean is a word of its own.
    """
    bare = (c for c in unicodedata.normalize("NFKD", storable(text).casefold()) if not unicodedata.combining(c))
    spaced = ((f" {c} " if c >= _FIRST_CJK else c) if c.isalnum() else " " for c in bare)
    words = "".join(spaced).split()
    return f" {' '.join(words)} " if words else f" {' '.join(text.casefold().split())} "


def _date_of_file(db: apsw.Connection, path: str, created: MetadataValue | None) -> MetadataValue | None:
    if found := date_in_path(path):
        return MetadataValue("date", found, "path")
    if created is not None:
        return MetadataValue("date", created.value, created.source)
    mtime_ns = db.execute("SELECT mtime_ns FROM files WHERE path = ?", (os.fsencode(path),)).get or 0
    if not _LEAST_FILE_TIME_S < mtime_ns / 1e9 < time.time() + 86_400:
        return None
    return MetadataValue("date", time.strftime("%Y-%m-%d", time.localtime(mtime_ns / 1e9)), FILE_TIME)


def _insert(
    db: apsw.Connection, document_id: int, values: Iterable[MetadataValue], first_ordinal: int, of_file: bool
) -> None:
    db.executemany(
        "INSERT INTO metadata (content_id, ordinal, field, value, words, source, of_file) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (document_id, ordinal, value.field, storable(value.value), _compared(value), value.source, of_file)
            for ordinal, value in enumerate(values, first_ordinal)
        ),
    )


def _compared(value: MetadataValue) -> str:
    if value.field == "date":
        return f"{first_day(value.value)}..{last_day(value.value)}"
    return as_words(value.value)


def _ids(db: apsw.Connection, sql: str, bindings: Collection[str]) -> NDArray[np.int64]:
    return distinct(np.fromiter((row[0] for row in db.execute(sql, tuple(bindings))), dtype=np.int64))[0]
