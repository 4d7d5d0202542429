"""Connects to a store of LanceDB. A session opens it like any other index, by a file: the *pointer*, which names it."""

import os
from pathlib import Path

import apsw

from longsearch.engine.errors import StoreError
from longsearch.engine.json_files import load_object
from longsearch.engine.lance.address import PREFIX, uri_of
from longsearch.engine.lance.answers import LanceAnswers
from longsearch.engine.lance.snapshot import newest
from longsearch.engine.lance.virtual import add_tables
from longsearch.engine.search.answering.answers import AnsweringConnection


def connection_of(pointer: Path, read_only: bool) -> AnsweringConnection:
    """Connect to the newest publication of the store that a pointer names, for `Session.open`.

    Raises StoreError for writing: the working file is written.
    """
    address = address_of(pointer)
    if not read_only:
        raise StoreError(f"{address} is written by longsearch index", "Run: longsearch index FOLDER")
    snapshot = newest(uri_of(address))
    db = AnsweringConnection(":memory:")
    try:
        db.deserialize("main", snapshot.image)
        add_tables(db, snapshot)
        db.answers = LanceAnswers(db, snapshot)
    except BaseException:
        db.close()
        raise
    return db


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
