"""The working file of a folder whose index is in a store: fetched if it is missing, published when it has changed."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.folders.store_refs import address_of, base_of, is_writer, point
from longsearch.app.paths import remove_index, working_path
from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store.session import Session

if TYPE_CHECKING:
    from longsearch.engine.index.lance.tables import Publication


def prepare(root: Path, report: Callable[[str], None] = lambda _: None) -> None:
    """Make sure that the working file of a folder holds what its store holds. Nothing happens without a store.

    The caller has the lock of the index. Raises LongsearchError if this machine only reads the store.
    """
    address = address_of(root)
    if not address:
        return None
    if not is_writer(root):
        raise LongsearchError(
            f"{address} is kept current by another machine",
            f"to write it from here: longsearch index --store {address}",
        )
    from longsearch.engine.index.lance.address import uri_of
    from longsearch.engine.index.lance.fetching import fetch
    from longsearch.engine.index.lance.tables import Tables

    uri, path, base = uri_of(address), working_path(root), base_of(root)
    last = Tables(uri).last()
    if last is None or (path.exists() and base == last.number):
        return None
    if path.exists() and _is_published(path, last):  # a run was killed before it could note what it had published
        return point(root, address, base=last.number)
    if path.exists() and not base:
        raise StoreError(
            f"there is an index of {root} here and another one in {address}",
            f"read the store: longsearch search QUERY {address}, or name an empty one",
        )
    remove_index(path)
    point(root, address, base=fetch(uri, path, report).number)
    return None


def _is_published(path: Path, last: "Publication") -> bool:
    from longsearch.engine.index.lance.publishing import is_published

    with suppress(StoreError), open_index(path) as index:
        return is_published(index.db, last)
    return False


def publish_changes(root: Path, session: Session) -> None:
    """Publish what the working file of a folder has and its store has not. Nothing happens without a store."""
    address = address_of(root)
    if address:
        from longsearch.engine.index.lance.address import uri_of
        from longsearch.engine.index.lance.publishing import publish

        made = publish(session, uri_of(address), base_of(root))
        if made.number != base_of(root):
            point(root, address, base=made.number)
