"""Copies an index into one file, and checks a file that says that it is such a copy. Knows no folder."""

import re
from pathlib import Path

import apsw

from longsearch.engine.errors import StoreError
from longsearch.engine.store.connection import errors_explained, open_for_writing
from longsearch.engine.store.schema import MIGRATIONS

_PAGES_AT_ONCE = 4_096
_VECTORS = re.compile(r"CREATE VIRTUAL TABLE \w+ USING vec0\(embedding int8\[\d+\]\)")


def copy_to(db: apsw.Connection, target: Path) -> None:
    """Write the index, as it is at this moment, into a new file, without its segments: they are made again."""
    with errors_explained(target):
        copy = apsw.Connection(str(target))
        try:
            with copy.backup("main", db, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES_AT_ONCE)
            copy.pragma("journal_mode", "delete")  # all of it lies in the one file
        finally:
            copy.close()


def check(path: Path, scratch: Path) -> None:
    """Raise StoreError unless the file is an undamaged index with today's schema.

    It comes from elsewhere, so it may hold no trigger, view or virtual table but those of an index: SQLite would run
    them. `scratch`: a file that may be made, and is removed.
    """
    with errors_explained(path):
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            if int(db.pragma("user_version")) != len(MIGRATIONS):
                raise StoreError(
                    "The file is no index of this version", "Export it with the same version of longsearch"
                )
            if db.pragma("quick_check") != "ok":
                raise StoreError("The file is damaged", "Export the index again")
            foreign = _programs(db) - _own_programs(scratch)
        except apsw.NotADBError as error:
            raise StoreError(
                "The file is no index of longsearch", "Name a file of: longsearch folders export"
            ) from error
        finally:
            db.close()
    if foreign:
        raise StoreError(f"The file holds what no index has: {sorted(foreign)[0]}", "Export the index again")


def _programs(db: apsw.Connection) -> set[str]:
    """The SQL of the triggers, views and virtual tables."""
    sql = "SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%'"
    found = {" ".join(str(row[0]).split()) for row in db.execute(sql)}
    return {one for one in found if not _VECTORS.fullmatch(one)}


def _own_programs(scratch: Path) -> set[str]:
    db, _ = open_for_writing(scratch)
    try:
        return _programs(db)
    finally:
        db.close()
        for file in scratch.parent.glob(f"{scratch.name}*"):
            file.unlink()
