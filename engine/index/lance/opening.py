"""Opens a store of LanceDB by a file: the *pointer*, which names it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from longsearch.engine.errors import StoreError
from longsearch.engine.index.index import Index
from longsearch.engine.index.lance.address import PREFIX, uri_of
from longsearch.engine.index.lance.backend import LanceBackend
from longsearch.engine.index.lance.snapshot import newest
from longsearch.engine.index.lance.virtual import add_tables
from longsearch.engine.json_files import load_object


@contextmanager
def opened(pointer: Path) -> Iterator[Index]:
    """Yield the newest publication of the store that a pointer names."""
    snapshot = newest(uri_of(address_of(pointer)))
    db = apsw.Connection(":memory:")
    try:
        db.deserialize("main", snapshot.image)
        add_tables(db, snapshot)
        yield Index(pointer, db, LanceBackend(db, snapshot), dict(db.execute("SELECT key, value FROM meta")))
    finally:
        db.close()


def address_of(pointer: Path) -> str:
    """The address of the store that a pointer names. Raises StoreError for a damaged pointer."""
    address = load_object(pointer).get("store")
    if not isinstance(address, str) or not address.startswith(PREFIX):
        raise StoreError(
            f"{pointer} names no store", f"Delete it, and run: longsearch index FOLDER --store {PREFIX}URI"
        )
    return address


def root_of(address: str) -> Path:
    """The folder whose index is in the store with this address."""
    snapshot = newest(uri_of(address))
    db = apsw.Connection(":memory:")
    try:
        db.deserialize("main", snapshot.image)
        return Path(os.fsdecode(db.execute("SELECT value FROM meta WHERE key = 'root'").get))
    finally:
        db.close()
