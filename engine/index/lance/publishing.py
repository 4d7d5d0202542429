"""Brings the tables of a store in step with a working file, and publishes them at once.

Only what has changed since the last publication is written: passages by document, postings by bucket, small tables as
wholes. Until `publications` has its new row, readers see the old versions; a writer that died is undone by the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from longsearch.engine.errors import StoreError
from longsearch.engine.index.lance import postings, rows
from longsearch.engine.index.lance.address import PREFIX
from longsearch.engine.index.lance.indexes import keep_indexes
from longsearch.engine.index.lance.snapshot import forget
from longsearch.engine.index.lance.tables import Publication, Tables, batches_of, schema_of, schema_of_small, to_arrow
from longsearch.engine.store import keywords, vectors
from longsearch.engine.store.schema import MIGRATIONS
from longsearch.engine.store.session import Session

OF_DOCUMENT = (("first_passage", "INTEGER"), ("n_passages", "INTEGER"), ("words_key", "TEXT"), ("vectors_key", "TEXT"))
"""Columns that `contents` has in a store and not in SQLite: where the passages are, and what decides their rows."""
_IDS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class _Document:
    """What decides a document's rows in the large tables."""

    first_passage: int
    n_passages: int
    words_key: str
    vectors_key: str

    @property
    def buckets(self) -> range:
        """The buckets of its passages."""
        last = self.first_passage + self.n_passages - 1
        return range(postings.bucket_of(self.first_passage), postings.bucket_of(last) + 1 if self.n_passages else 0)


def publish(session: Session, store: str | Tables, base: int | None = None) -> Publication:
    """Publish the index in SQLite as the newest state of a store, given by its URI or open; return the publication.

    If nothing has changed, it is the last one. `base`: the number of the publication from which the working file comes;
    None: whatever the store holds is replaced. Raises StoreError if somebody has published after `base`.
    """
    tables = Tables(store) if isinstance(store, str) else store
    last = tables.last()
    if base is not None and (last.number if last else 0) != base:
        hint = "delete the working file, and index again: longsearch fetches the store first"
        raise StoreError(f"Another machine has written to {PREFIX}{tables.uri} meanwhile", hint)
    with session.reading() as db:
        small, sums = _small(db)
        if last is not None and last.sums == sums:
            return last
        tables.go_back(last)
        made = _written(db, tables, last, small, sums)
    tables.publish(made)
    forget(tables.uri)
    return made


def is_published(db: apsw.Connection, publication: Publication) -> bool:
    """Return whether a publication holds what the index in SQLite holds."""
    return _small(db)[1] == publication.sums


def _small(db: apsw.Connection) -> tuple[dict[str, list[rows.Row]], dict[str, str]]:
    """The rows of the small tables, and their hashes: every change of a document changes one of them."""
    small = {table: rows.small(db, table) for table in rows.SMALL}
    touched = [name for name, _ in rows.columns_of(db, "files")].index("ctime_ns")
    # to look at a file a second time notes when it was touched, and no reader of the store asks for that
    told = small | {"files": [row[:touched] + row[touched + 1 :] for row in small["files"]]}
    return small, {table: _hash(own) for table, own in told.items()}


def _written(
    db: apsw.Connection,
    tables: Tables,
    last: Publication | None,
    small: dict[str, list[rows.Row]],
    sums: dict[str, str],
) -> Publication:
    model = vectors.model_in_use(db)
    dim = model[1] if model else 0
    is_new = last is None or last.dim != dim
    before = {} if is_new or last is None else _published(tables, last)
    now = _documents(db, model[0] if model else "")
    _write_documents(db, tables, before, now, dim, is_new)
    _write_postings(db, tables, before, now, is_new)
    for table, own in small.items():
        columns = rows.columns_of(db, table)
        if table != "contents":
            schema = schema_of_small(columns)
            tables.write(table, [to_arrow(own, schema)], schema, is_new=True)
            continue
        place = [name for name, _ in columns].index("id")
        extended = [(*row, *_extra(now[row[place]])) for row in own]
        schema = schema_of_small(columns, OF_DOCUMENT)
        tables.write(table, [to_arrow(extended, schema)], schema, is_new=True)
    n_passages, n_words = keywords.totals(db)
    keep_indexes(tables, n_passages, dim)
    number = last.number + 1 if last else 1
    return Publication(number, tables.versions(), len(MIGRATIONS), dim, n_passages, n_words, sums)


def _documents(db: apsw.Connection, fingerprint: str) -> dict[int, _Document]:
    sql = """
        SELECT contents.id, coalesce(own.first, 0), coalesce(own.n, 0),
        coalesce(language, '?') || ' ' || words_version || ' ' || title || names,
        coalesce(embeddings.n_passages_done, 0) || ' ' || coalesce(done, 0) || ' ' || coalesce(width, 1.0) || ' '
        || coalesce(deepenings.n_passages_done, 0)
        FROM contents LEFT JOIN embeddings ON embeddings.content_id = contents.id
        LEFT JOIN deepenings ON deepenings.content_id = contents.id
        LEFT JOIN (SELECT content_id, min(id) AS first, count(*) AS n FROM passages GROUP BY content_id) AS own
        ON own.content_id = contents.id
    """
    return {
        id_: _Document(first, n, words_key, f"{fingerprint} {vectors_key}")
        for id_, first, n, words_key, vectors_key in db.execute(sql)
    }


def _published(tables: Tables, last: Publication) -> dict[int, _Document]:
    table = tables.open("contents", last.versions["contents"])
    columns = ["id", *(name for name, _ in OF_DOCUMENT)]
    found = {}
    for batch in batches_of(table, columns):
        for row in batch.to_pylist():
            found[row["id"]] = _Document(*(row[name] for name, _ in OF_DOCUMENT))
    return found


def _write_documents(
    db: apsw.Connection, tables: Tables, before: dict[int, _Document], now: dict[int, _Document], dim: int, is_new: bool
) -> None:
    """Write the large tables, of the documents that are new or have other vectors."""
    gone = [id_ for id_ in before if id_ not in now]
    new = sorted(id_ for id_ in now if id_ not in before)
    changed = sorted(id_ for id_ in now if id_ in before and before[id_].vectors_key != now[id_].vectors_key)
    for table, read in rows.READERS.items():
        again = [] if table == "text_parts" else changed  # a document's text never changes
        schema = schema_of(table, dim)
        if is_new or gone or again or new:
            _delete(tables, table, "content_id", [*gone, *again] if not is_new else [])
            batches = (to_arrow(batch, schema) for batch in read(db, sorted([*again, *new])))
            tables.write(table, _never_empty(batches, schema), schema, is_new)


def _write_postings(
    db: apsw.Connection, tables: Tables, before: dict[int, _Document], now: dict[int, _Document], is_new: bool
) -> None:
    """Write the postings anew of every bucket in which a passage has come, gone or got another title."""
    touched: set[int] = set()
    for id_ in before.keys() | now.keys():
        old, new = before.get(id_), now.get(id_)
        if old is None or new is None or (old.words_key, old.n_passages) != (new.words_key, new.n_passages):
            touched.update(*(one.buckets for one in (old, new) if one is not None))
    schema = schema_of("postings", 0)
    if is_new or touched:
        _delete(tables, "postings", "bucket", sorted(touched) if not is_new else [])
        made = (to_arrow(postings.rows_of(db, bucket), schema) for bucket in sorted(touched))
        tables.write("postings", _never_empty(made, schema), schema, is_new)


def _delete(tables: Tables, table: str, column: str, ids: Sequence[int]) -> None:
    for start in range(0, len(ids), _IDS_AT_ONCE):
        listed = ", ".join(map(str, ids[start : start + _IDS_AT_ONCE]))
        tables.open(table).delete(f"{column} IN ({listed})")


def _never_empty(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """The batches, or one without rows: a table needs one to be made of."""
    first = next(batches, None)
    yield to_arrow([], schema) if first is None else first
    yield from batches


def _extra(document: _Document) -> tuple[int, int, str, str]:
    return document.first_passage, document.n_passages, document.words_key, document.vectors_key


def _hash(own: Sequence[rows.Row]) -> str:
    found = rows.Sum()
    found.add(own)
    return f"{found.n}:{found.hash}"
