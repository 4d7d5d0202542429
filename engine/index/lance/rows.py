"""The rows of an index as both engines exchange them: read from SQLite in batches, and counted and hashed.

A *small* table is copied whole. The others are passages (with vector and excerpts), text_parts and document_vectors.
What an index can make again is left out: words and segments are made of the texts, `activity` is of a moment.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store import vectors
from longsearch.engine.store.documents import bindable
from longsearch.engine.store.vec0 import storage_chunks

SMALL = ("meta", "contents", "files", "metadata", "embeddings", "resume_points", "deepenings", "sqlite_sequence")
"""Tables that are copied whole; a table stands after those to which it refers."""
LARGE = ("passages", "text_parts", "document_vectors")
NUMBERED = ("contents", "passages", "resume_points")
"""Tables whose ids are never used again: `sqlite_sequence` knows the last one. Others there belong to sqlite-vec."""
AT_ONCE = 4_096
"""Passages in a batch: 6 MB of vectors of the bundled model."""
_OF_THIS_FILE = ("writer", "files_version")  # keys of meta that say nothing about the documents

Row = tuple[Any, ...]


def columns_of(db: apsw.Connection, table: str) -> list[tuple[str, str]]:
    """(name, declared type) of the columns of a small table."""
    if table == "sqlite_sequence":
        return [("name", "TEXT"), ("seq", "INTEGER")]
    return [(row[1], row[2]) for row in db.execute(f"PRAGMA table_info({table})")]


def small(db: apsw.Connection, table: str) -> list[Row]:
    """All rows of a small table; a value of any type is packed by `packed`."""
    names = [name for name, _ in columns_of(db, table)]
    rows = db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()  # noqa: S608 - constants
    if table == "meta":
        return [(key, packed(value)) for key, value in rows if key not in _OF_THIS_FILE]
    if table == "sqlite_sequence":
        return [(name, last) for name, last in rows if name in NUMBERED]
    return [tuple(row) for row in rows]


def packed(value: Any) -> bytes:
    """A value of any of SQLite's types as bytes that tell its type."""
    if isinstance(value, bytes):
        return b"b" + value
    return b"j" + json.dumps(value).encode()


def unpacked(value: bytes) -> Any:
    """The value of which `packed` made these bytes."""
    return value[1:] if value[:1] == b"b" else json.loads(value[1:])


def passages(db: apsw.Connection, document_ids: Sequence[int]) -> Iterator[list[Row]]:
    """Batches of (id, document, ordinal, start, stop, n_tokens, page, vector or None, excerpts or None)."""
    sql = (
        "SELECT id, content_id, ordinal, start, stop, n_tokens, page, vectors FROM passages"
        " LEFT JOIN excerpt_vectors ON passage_id = id WHERE content_id IN carray(?) ORDER BY id"
    )
    for rows in _batches(db, sql, document_ids):
        found = vectors.of_ids(db, storage_chunks.PASSAGES, [row[0] for row in rows])
        yield [(*row[:7], _bytes(found.get(row[0])), row[7]) for row in rows]


def text_parts(db: apsw.Connection, document_ids: Sequence[int]) -> Iterator[list[Row]]:
    """Batches of (document, ordinal, body)."""
    sql = "SELECT content_id, ordinal, body FROM text_parts WHERE content_id IN carray(?)"
    yield from _batches(db, sql, document_ids)


def document_vectors(db: apsw.Connection, document_ids: Sequence[int]) -> Iterator[list[Row]]:
    """Batches of (document, vector) of the documents that have one."""
    for start in range(0, len(document_ids), AT_ONCE):
        found = vectors.of_ids(db, storage_chunks.DOCUMENTS, document_ids[start : start + AT_ONCE])
        yield [(id_, own.tobytes()) for id_, own in sorted(found.items())]


READERS = {"passages": passages, "text_parts": text_parts, "document_vectors": document_vectors}
"""The function that reads each large table of SQLite."""


@dataclass(slots=True)
class Sum:
    """How many rows a table has, and a hash of them that does not depend on their order."""

    n: int = 0
    _hash: int = field(default=0)

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows. A row's hash is of its values, and the hashes are added up."""
        for row in rows:
            self.n += 1
            digest = hashlib.blake2b(b"\0".join(map(_told, row)), digest_size=16).digest()
            self._hash = (self._hash + int.from_bytes(digest, "big")) % 2**128

    @property
    def hash(self) -> str:
        """The hash as 32 hexadecimal digits."""
        return f"{self._hash:032x}"


def sums(db: apsw.Connection) -> dict[str, Sum]:
    """The count and hash of every table of an index in SQLite."""
    found = {table: Sum() for table in (*SMALL, *LARGE)}
    for table in SMALL:
        found[table].add(small(db, table))
    ids = [row[0] for row in db.execute("SELECT id FROM contents ORDER BY id")]
    for table, read in READERS.items():
        for batch in read(db, ids):
            found[table].add(batch)
    return found


def _told(value: Any) -> bytes:
    """A value as bytes that no other value has; lengths stand before bytes, so that rows cannot run together."""
    if isinstance(value, bytes):
        return b"b%d:" % len(value) + value
    return f"{type(value).__name__}:{value!r}".encode("utf-8", "surrogatepass")


def _bytes(vector: NDArray[np.float32] | None) -> bytes | None:
    return None if vector is None else vector.tobytes()


def _batches(db: apsw.Connection, sql: str, ids: Sequence[int]) -> Iterator[list[Row]]:
    """The rows of a statement about these documents, so many at a time."""
    if not len(ids):
        return
    batch: list[Row] = []
    for row in db.execute(sql, (bindable(np.array(ids, np.int64)),)):
        batch.append(tuple(row))
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
