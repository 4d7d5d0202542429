"""Opens an index for reading, and alone knows which engine holds it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw

from longsearch.engine.index.index import Index
from longsearch.engine.index.sqlite import SqliteBackend
from longsearch.engine.store.connection import errors_explained, open_for_reading, transaction
from longsearch.engine.store.segments.files import Segments

POINTER = ".lance"
"""The ending of a file that names the store of an index instead of being one."""


@contextmanager
def open_index(path: Path) -> Iterator[Index]:
    """Yield the index at `path`, as it is at this moment; use it briefly, for its log cannot shrink meanwhile.

    A file that ends in `POINTER` names a store in LanceDB, whose newest publication is opened. Raises `StoreError` if
    the index is missing or corrupt, or has another schema.
    """
    if path.suffix == POINTER:
        from longsearch.engine.index.lance.opening import opened  # LanceDB is an extra

        with opened(path) as index:
            yield index
        return
    with ExitStack() as stack:
        with errors_explained(path):
            db = stack.enter_context(open_for_reading(path))
        with errors_explained(path, apsw.IOError), transaction(db, "DEFERRED"):
            meta = dict(db.execute("SELECT key, value FROM meta"))
            yield Index(path, db, SqliteBackend(Segments(db), int(meta.get("dim", 0))), meta)
