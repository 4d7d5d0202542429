"""The tables of a store: their Arrow schemas, their versions, and rows in and out of Arrow.

`publications` says which versions of the other tables belong together. Only its last row counts for a new reader.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from longsearch.engine.errors import StoreError
from longsearch.engine.index.lance.address import PREFIX, connected, errors_explained, missing
from longsearch.engine.index.lance.rows import Row, Sum

FORMAT = 1
"""The layout of the tables. A store of another format is refused."""
PUBLICATIONS = "publications"
BUCKET_BITS = 15
"""The postings of 32,768 neighbouring passage ids stand together."""
_MISSING = "null"  # LanceDB takes a missing vector for a bad one; bad ones never reach the working file
_KEPT = timedelta(days=1)  # a reader may go on reading a version for so long
_SQL_ARROW = {"INTEGER": "int64", "TEXT": "string", "REAL": "float64", "BLOB": "large_binary", "ANY": "large_binary"}


@dataclass(frozen=True, slots=True)
class Publication:
    """The versions of the tables that belong together, and what they hold."""

    number: int
    versions: dict[str, int]
    schema: int
    """The number of migrations of the SQLite schema whose rows the small tables hold."""
    dim: int
    """The dimension of the vectors; 0 if there are none."""
    n_passages: int
    n_words: int
    """The words of all passages, titles included, as FTS5 counts them."""
    sums: dict[str, str]
    """The hash of each small table."""


def schema_of(table: str, dim: int) -> Any:
    """The Arrow schema of a large table, of the postings or of the publications."""
    import pyarrow as pa

    whole, raw, vector = pa.int64(), pa.large_binary(), pa.list_(pa.float32(), max(dim, 1))
    return {
        "passages": pa.schema(
            [
                *((name, whole) for name in ("id", "content_id", "ordinal", "start", "stop", "n_tokens", "page")),
                ("vector", vector),
                ("excerpts", raw),
            ]
        ),
        "text_parts": pa.schema([("content_id", whole), ("ordinal", whole), ("body", raw)]),
        "document_vectors": pa.schema([("content_id", whole), ("vector", vector)]),
        "postings": pa.schema(
            [("bucket", whole), ("term", pa.string()), ("places", raw), ("counts", raw), ("keys", raw)]
        ),
        PUBLICATIONS: pa.schema([("number", whole), ("made_at", pa.float64()), ("body", pa.string())]),
    }[table]


def schema_of_small(columns: Sequence[tuple[str, str]], extra: Sequence[tuple[str, str]] = ()) -> Any:
    """The Arrow schema of a small table with these columns of SQLite."""
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(_SQL_ARROW[kind])) for name, kind in (*columns, *extra)])


def to_arrow(rows: Sequence[Row], schema: Any) -> Any:
    """Rows as a record batch. A vector is given as its bytes, or None."""
    import pyarrow as pa

    arrays = []
    for place, one in enumerate(schema):
        values = [row[place] for row in rows]
        arrays.append(_vectors(values, one.type) if one.name == "vector" else pa.array(values, one.type))
    return pa.record_batch(arrays, schema=schema)


def from_arrow(batch: Any) -> list[Row]:
    """The rows of a record batch; the opposite of `to_arrow`."""
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        columns.append(_bytes_of(column) if name == "vector" else column.to_pylist())
    return list(zip(*columns, strict=True))


class Tables:
    """A store that is there, or that a writer begins."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._connection = connected(uri)
        with errors_explained(uri):
            self.names = frozenset(self._connection.list_tables(limit=1_000).tables)

    def last(self) -> Publication | None:
        """The newest publication; None if there is none. Raises StoreError for one of another format."""
        if PUBLICATIONS not in self.names:
            return None
        with errors_explained(self.uri):
            rows = self._connection.open_table(PUBLICATIONS).to_arrow().to_pylist()
        if not rows:
            return None
        body = json.loads(max(rows, key=lambda row: row["number"])["body"])
        if body.pop("format") != FORMAT:
            hint = "update longsearch on this machine, or move the index again with the version that is here"
            raise StoreError(f"The store {PREFIX}{self.uri} has another format than this longsearch reads", hint)
        return Publication(**body)

    def newest(self) -> Publication:
        """The newest publication. Raises NoIndexError if there is none."""
        found = self.last()
        if found is None:
            raise missing(self.uri)
        return found

    def open(self, name: str, version: int | None = None) -> Any:
        """A table, at a version if one is given."""
        with errors_explained(self.uri):
            table = self._connection.open_table(name)
            if version is not None:
                table.checkout(version)
            return table

    def write(self, name: str, batches: Iterable[Any], schema: Any, is_new: bool) -> None:
        """Add record batches to a table, or make it anew of them."""
        import pyarrow as pa

        with errors_explained(self.uri):
            reader = pa.RecordBatchReader.from_batches(schema, batches)
            if is_new or name not in self.names:
                self._connection.create_table(name, reader, mode="overwrite", on_bad_vectors=_MISSING)
                self.names |= {name}
            else:
                self._connection.open_table(name).add(reader, on_bad_vectors=_MISSING)

    def go_back(self, to: Publication | None) -> None:
        """Undo what a writer did after this publication without publishing it."""
        for name, version in (to.versions if to else {}).items():
            table = self.open(name)
            if table.version != version:
                with errors_explained(self.uri):
                    table.checkout(version)
                    table.restore()

    def publish(self, made: Publication) -> None:
        """Let new readers see these versions."""
        body = json.dumps({"format": FORMAT, **{name: getattr(made, name) for name in Publication.__slots__}})
        schema = schema_of(PUBLICATIONS, 0)
        self.write(PUBLICATIONS, [to_arrow([(made.number, time.time(), body)], schema)], schema, is_new=False)

    def versions(self) -> dict[str, int]:
        """The version of every table as it is now."""
        return {name: int(self.open(name).version) for name in sorted(self.names - {PUBLICATIONS})}

    def tidy(self, name: str) -> None:
        """Join small files of a table, bring its indexes up to date, and drop versions older than a day."""
        with errors_explained(self.uri):
            self.open(name).optimize(cleanup_older_than=_KEPT)


def batches_of(table: Any, columns: Sequence[str], where: str = "") -> Iterator[Any]:
    """The record batches of a table's rows, of these columns."""
    query = table.search().select(list(columns))
    yield from (query.where(where) if where else query).to_batches()


def sums_of(tables: Tables, at: Publication, columns: dict[str, list[str]]) -> dict[str, Sum]:
    """The count and hash of the rows of each table of a publication, of these columns."""
    found = {}
    for name, own in columns.items():
        found[name] = Sum()
        for batch in batches_of(tables.open(name, at.versions[name]), own):
            found[name].add(from_arrow(batch))
    return found


def _vectors(values: Sequence[bytes | None], kind: Any) -> Any:
    """Vectors as Arrow keeps them; a missing one is null."""
    import pyarrow as pa

    nothing = bytes(4 * kind.list_size)
    flat = np.frombuffer(b"".join(nothing if one is None else one for one in values), np.float32)
    mask = pa.array([one is None for one in values], pa.bool_())
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), kind.list_size, mask=mask)


def _bytes_of(column: Any) -> list[bytes | None]:
    size = column.type.list_size
    flat = column.values.to_numpy(zero_copy_only=False)[column.offset * size : (column.offset + len(column)) * size]
    rows = np.ascontiguousarray(flat, np.float32).reshape(-1, size)
    is_null = column.is_null().to_pylist()
    return [None if gone else row.tobytes() for row, gone in zip(rows, is_null, strict=True)]
