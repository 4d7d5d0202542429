"""Makes an index in SQLite of the tables of a store: the same rows with the same ids, so nothing is embedded again."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from longsearch.engine.errors import StoreError
from longsearch.engine.index.lance import rows
from longsearch.engine.index.lance.address import PREFIX
from longsearch.engine.index.lance.tables import Publication, Tables, batches_of, from_arrow, schema_of
from longsearch.engine.store import keywords, vectors
from longsearch.engine.store.schema import MIGRATIONS, migrate
from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0 import storage_chunks


def fetch(uri: str, path: Path, report: Callable[[str], None] = lambda _: None) -> Publication:
    """Write the newest publication of the store at `uri` to a new index file at `path`, and return it.

    Raises StoreError if there is a file already, or if a newer longsearch wrote the store.
    """
    tables = Tables(uri)
    at = tables.newest()
    check_schema(at, uri)
    if path.exists():
        raise StoreError(f"There is an index at {path} already", "Forget the folder first: longsearch folders forget")
    with Store.open(path) as store:
        report("fetching documents")
        with store.changing() as db:
            _put_small(db, tables, at)
        report("fetching passages")
        for name in rows.LARGE:
            for batch in batches_of(tables.open(name, at.versions[name]), schema_of(name, at.dim).names):
                with store.changing() as db:
                    _PUT[name](db, from_arrow(batch))
        report("indexing words")
        _index_words(store)
        store.tidy()
    return at


def check_schema(at: Publication, uri: str) -> None:
    """Raise StoreError unless this longsearch knows the rows of the store."""
    if at.schema > len(MIGRATIONS):
        raise StoreError(f"{PREFIX}{uri} was written by a newer longsearch", "Update longsearch on this machine")
    if at.schema < len(MIGRATIONS):
        hint = "Publish it again from the machine that indexes it: longsearch index FOLDER"
        raise StoreError(f"{PREFIX}{uri} was written by an older longsearch", hint)


def columns_of_all(dim: int) -> dict[str, list[str]]:
    """The columns of each table that SQLite has too."""
    db = apsw.Connection(":memory:")
    try:
        migrate(db)
        small = {table: [name for name, _ in rows.columns_of(db, table)] for table in rows.SMALL}
    finally:
        db.close()
    return small | {table: schema_of(table, dim).names for table in rows.LARGE}


def small_rows(tables: Tables, at: Publication, table: str, columns: Iterable[str]) -> list[rows.Row]:
    """The rows of a small table of a publication, as `rows.small` gives them."""
    found: list[rows.Row] = []
    for batch in batches_of(tables.open(table, at.versions[table]), list(columns)):
        found += from_arrow(batch)
    return found


def put_small(db: apsw.Connection, tables: Tables, at: Publication) -> None:
    """Fill the small tables of a new index."""
    for table in rows.SMALL:
        names = [name for name, _ in rows.columns_of(db, table)]
        found = small_rows(tables, at, table, names)
        if table == "meta":
            found = [(key, rows.unpacked(value)) for key, value in found]
        if table == "sqlite_sequence":
            db.executemany("DELETE FROM sqlite_sequence WHERE name = ?", ((name,) for name in rows.NUMBERED))
        places = ", ".join("?" * len(names))
        sql = f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - constants
        db.executemany(sql, found)


def _put_small(db: apsw.Connection, tables: Tables, at: Publication) -> None:
    """The same in a working file, with the tables of vectors."""
    meta = {key: rows.unpacked(value) for key, value in small_rows(tables, at, "meta", ("key", "value"))}
    if at.dim:
        vectors.use_model(db, str(meta["fingerprint"]), at.dim)
    put_small(db, tables, at)


def _put_passages(db: apsw.Connection, batch: list[rows.Row]) -> None:
    sql = "INSERT INTO passages (id, content_id, ordinal, start, stop, n_tokens, page) VALUES (?, ?, ?, ?, ?, ?, ?)"
    db.executemany(sql, (row[:7] for row in batch))
    _put_vectors(db, storage_chunks.PASSAGES, [(row[0], row[7]) for row in batch if row[7] is not None])
    packed = ((row[0], row[8]) for row in batch if row[8] is not None)
    db.executemany("INSERT INTO excerpt_vectors (passage_id, vectors) VALUES (?, ?)", packed)


def _put_text_parts(db: apsw.Connection, batch: list[rows.Row]) -> None:
    db.executemany("INSERT INTO text_parts (content_id, ordinal, body) VALUES (?, ?, ?)", batch)


def _put_document_vectors(db: apsw.Connection, batch: list[rows.Row]) -> None:
    _put_vectors(db, storage_chunks.DOCUMENTS, batch)


def _put_vectors(db: apsw.Connection, table: str, own: list[rows.Row]) -> None:
    """Add (id, vector in float32) to a table; an index without a model has none."""
    if own:
        found = np.frombuffer(b"".join(vector for _, vector in own), np.float32).reshape(len(own), -1)
        storage_chunks.put(db, table, [id_ for id_, _ in own], found)


def _index_words(store: Store) -> None:
    with store.reading() as db:
        ids = np.array([row[0] for row in db.execute("SELECT id FROM passages ORDER BY id")], np.int64)
    for start in range(0, len(ids), rows.AT_ONCE):
        own = ids[start : start + rows.AT_ONCE]
        with store.changing() as db:
            texts = keywords.indexed_texts(db, own)
            made = ((id_, text, title) for id_, (_, text, title) in zip(own.tolist(), texts, strict=True))
            db.executemany("INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)", made)


_PUT: dict[str, Callable[[apsw.Connection, list[rows.Row]], Any]] = {
    "passages": _put_passages,
    "text_parts": _put_text_parts,
    "document_vectors": _put_document_vectors,
}
"""The function that writes each large table to SQLite."""
