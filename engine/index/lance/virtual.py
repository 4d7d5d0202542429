"""Three tables of LanceDB as SQLite sees them, so that the store's own SQL reads places, texts and excerpts there.

`passages`, `text_parts` and `excerpt_vectors` are virtual tables in the schema `temp`, which hides the empty tables of
the same names. A condition `id = ?` or `id IN (…)` becomes one read of LanceDB, with all ids at once.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import apsw

from longsearch.engine.index.lance.snapshot import PLACES, Snapshot

_Where = dict[str, list[int]]


class _Table:
    """A virtual table; each subclass reads its rows."""

    columns: ClassVar[tuple[str, ...]]
    keys: ClassVar[tuple[str, ...]]
    """Columns that a condition may name, the most selective first."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def rows(self, where: _Where, used: set[str]) -> Iterator[tuple[Any, ...]]:
        """The rows that satisfy the conditions, and perhaps others; columns that are not used may be None."""
        raise NotImplementedError

    # ---- what SQLite calls

    def Connect(self, *_: Any) -> tuple[str, "_Table"]:  # noqa: N802
        return f"CREATE TABLE ignored ({', '.join(self.columns)})", self

    Create = Connect

    def BestIndexObject(self, index: apsw.IndexInfo) -> bool:  # noqa: N802
        chosen = []
        for number in range(index.nConstraint):
            column = index.get_aConstraint_iColumn(number)
            name = self.columns[column] if column >= 0 else ""
            is_equal = index.get_aConstraint_op(number) == apsw.SQLITE_INDEX_CONSTRAINT_EQ
            if name in self.keys and is_equal and index.get_aConstraint_usable(number) and name not in chosen:
                chosen.append(name)
                index.set_aConstraintUsage_argvIndex(number, len(chosen))
                if index.get_aConstraintUsage_in(number):
                    index.set_aConstraintUsage_in(number, True)
        used = [name for number, name in enumerate(self.columns) if number in index.colUsed]
        index.idxStr = f"{','.join(chosen)};{','.join(used)}"
        index.estimatedCost = 10.0 if chosen else 1e9
        index.estimatedRows = 10 if chosen else 1_000_000
        return True

    def Open(self) -> "_Cursor":  # noqa: N802
        return _Cursor(self)

    def Disconnect(self) -> None:  # noqa: N802
        pass

    Destroy = Disconnect


class _Cursor:
    def __init__(self, table: _Table) -> None:
        self._table = table
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self._row: tuple[Any, ...] | None = None
        self._number = 0

    def Filter(self, _: int, asked: Any, values: tuple[Any, ...]) -> None:  # noqa: N802
        names, _, used = asked.partition(";")
        where = {
            name: sorted(value) if isinstance(value, set) else [value]
            for name, value in zip(filter(None, names.split(",")), values, strict=True)
        }
        self._rows = self._table.rows(where, set(used.split(",")))
        self._number = 0
        self.Next()

    def Eof(self) -> bool:  # noqa: N802
        return self._row is None

    def Column(self, number: int) -> Any:  # noqa: N802
        if self._row is None:
            return None
        return self._number if number < 0 else self._row[number]

    def Rowid(self) -> int:  # noqa: N802
        return self._number

    def Next(self) -> None:  # noqa: N802
        self._row = next(self._rows, None)
        self._number += 1

    def Close(self) -> None:  # noqa: N802
        pass


class _Passages(_Table):
    columns = PLACES
    keys = ("id", "content_id")

    def rows(self, where: _Where, used: set[str]) -> Iterator[tuple[Any, ...]]:
        snapshot = self.snapshot
        if not used & {"start", "stop", "n_tokens", "page"}:  # the snapshot knows the rest by heart
            if "id" in where:
                found = snapshot.document_of(where["id"])
                return ((id_, *place, None, None, None, None) for id_, place in found.items())
            owners = where["content_id"] if "content_id" in where else snapshot.document_ids.tolist()
            return ((*place, None, None, None, None) for place in snapshot.passages_of(owners))
        if "id" in where:
            return iter(snapshot.places(where["id"]))
        if "content_id" in where:
            return iter(snapshot.rows_by("passages", self.columns, "content_id", where["content_id"]))
        return iter(snapshot.rows("passages", self.columns, ""))


class _TextParts(_Table):
    columns = ("content_id", "ordinal", "body")
    keys = ("content_id", "ordinal")

    def rows(self, where: _Where, used: set[str]) -> Iterator[tuple[Any, ...]]:
        if "content_id" not in where:
            return iter(self.snapshot.rows("text_parts", self.columns, ""))
        return iter(self.snapshot.text_parts(where["content_id"], where.get("ordinal")))


class _Excerpts(_Table):
    columns = ("passage_id", "vectors")
    keys = ("passage_id",)

    def rows(self, where: _Where, used: set[str]) -> Iterator[tuple[Any, ...]]:
        names = ("id", "excerpts")
        if "passage_id" in where:
            found = self.snapshot.rows_by("passages", names, "id", where["passage_id"])
        else:
            found = self.snapshot.rows("passages", names, "excerpts IS NOT NULL")
        return (row for row in found if row[1] is not None)


def add_tables(db: apsw.Connection, snapshot: Snapshot) -> None:
    """Add the virtual tables to a connection."""
    for name, kind in (("passages", _Passages), ("text_parts", _TextParts), ("excerpt_vectors", _Excerpts)):
        module = f"lance_{name}"
        db.create_module(module, kind(snapshot), use_bestindex_object=True, read_only=True)  # type: ignore[arg-type]
        db.execute(f"CREATE VIRTUAL TABLE temp.{name} USING {module}")
