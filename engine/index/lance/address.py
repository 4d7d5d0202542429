"""The address of a store, `lance:URI`, and the door to LanceDB. Imports it only when a store is opened."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError, install_hint

PREFIX = "lance:"
"""What a text begins with that names a store of LanceDB rather than a folder."""
_ASIDE = (LongsearchError, KeyboardInterrupt)


def uri_of(address: str) -> str:
    """The URI of an address: an absolute path, or the URI of an object store as it is given.

    Raises LongsearchError for an address without a URI.
    """
    uri = address.removeprefix(PREFIX)
    if not address.startswith(PREFIX) or not uri:
        raise LongsearchError(f"{address or 'an empty text'} names no store", "write lance:/a/folder, or lance:s3://…")
    return uri if "://" in uri else str(Path(os.path.expanduser(uri)).absolute())  # noqa: PTH111


def connected(uri: str) -> Any:
    """A connection to the store at `uri`, which need not exist. Raises LongsearchError without the extra."""
    os.environ.setdefault("LANCEDB_LOG", "error")  # else it tells on stderr that a new table is new
    try:
        import lancedb
    except ImportError as error:
        raise LongsearchError(
            f"the store {PREFIX}{uri} needs LanceDB, which is not installed", install_hint("lance")
        ) from error
    with errors_explained(uri):
        return lancedb.connect(uri)


def missing(uri: str) -> NoIndexError:
    """The error that there is no store at `uri`."""
    hint = "check the address, that its disk is mounted or its bucket can be read; longsearch move makes a store"
    return NoIndexError(f"There is no store at {PREFIX}{uri}", hint)


@contextmanager
def errors_explained(uri: str) -> Iterator[None]:
    """Turn LanceDB's errors into `StoreError` with a hint."""
    try:
        yield
    except _ASIDE:
        raise
    except (RuntimeError, OSError, ValueError) as error:
        first = (str(error).strip() or repr(error)).splitlines()[0][:300]
        hint = "check that its disk is mounted, or the network and the credentials of the object store"
        raise StoreError(f"The store {PREFIX}{uri} cannot be read or written: {first}", hint) from error
