"""Lists the indexes of this machine, and locks one for whoever writes it."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from longsearch.app.folders import relocating
from longsearch.app.locks import LockBusyError, held
from longsearch.app.paths import base_index_path, index_paths, url_of
from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store.connection import CorruptIndexError

log = logging.getLogger("longsearch.library")

_LOOK_S = 0.2
"""Who only asks whether an index is being written holds its lock for less time than this."""


class IndexLockedError(LongsearchError):
    """Another process is writing this index."""


def known_roots() -> list[Path]:
    """Return the folders that have an index, whether or not they exist. An index that cannot be read is logged."""
    relocating.finish()
    roots = []
    for path in index_paths():
        try:
            roots.append(root_of(path))
        except NoIndexError:
            continue
        except StoreError as error:
            log.warning("%s: %s (%s)", path, error.message, error.hint)
    return roots


def roots_to_keep() -> list[Path]:
    """Return the folders that a lasting daemon watches: those with an index, and those of the config file.

    It never reads an object store: every look at one is a call over the network, and may cost money.
    """
    there = [folder.resolve() for folder in current().folders if os.path.isdir(folder)]  # noqa: PTH112
    return list(dict.fromkeys([*(root for root in known_roots() if not url_of(root)), *there]))


def root_of(path: Path) -> Path:
    """Return the folder of this index. Raises StoreError if the index cannot be read."""
    try:
        with open_index(path) as index:
            return index.root
    except (NoIndexError, CorruptIndexError):
        raise
    except StoreError:  # made by an older longsearch: opening it for writing migrates it
        from longsearch.engine.store.store import Store

        with Store.open(path) as store:
            return store.root


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the lock of the index of a folder. Raises IndexLockedError if another process has it."""
    path = _lock_path(root)
    with ExitStack() as stack:
        try:
            stack.enter_context(held(path, _LOOK_S))
        except LockBusyError as error:
            raise IndexLockedError(f"another longsearch is indexing {root}") from error
        except OSError as error:
            raise StoreError(f"the index cannot be written: {error.strerror}", f"check {path.parent}") from error
        yield


def is_being_indexed(root: Path) -> bool:
    """Whether a process has the index of a folder open for writing."""
    path = _lock_path(root)
    if not path.exists():
        return False
    try:
        with held(path, 0):
            return False
    except LockBusyError:
        return True
    except OSError:  # nobody can write here
        return False


def _lock_path(root: Path) -> Path:
    return base_index_path(root).with_suffix(".lock")
