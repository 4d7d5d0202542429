"""Lists the indexes, and opens one for writing: its lock, store, extractor and the pipeline that uses them.

What only a writer needs is imported when one is opened: every search lists the indexes.
"""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from longsearch.app.paths import base_index_path, index_paths, url_of, working_path
from longsearch.app.settings.reading import current, require_sound
from longsearch.app.stores.working import prepare, publish_changes
from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store.connection import CorruptIndexError
from longsearch.engine.store.store import Store

if TYPE_CHECKING:
    from longsearch.indexer.describing import Extractor
    from longsearch.indexer.encoders import DocumentEncoder
    from longsearch.indexer.extract.pdf.recognition import Recognition
    from longsearch.indexer.extract.pool import ExtractorPool
    from longsearch.indexer.pipeline import Pipeline
    from longsearch.indexer.sources.source import Source

log = logging.getLogger("longsearch.library")

_LOOK_S = 0.2
"""Who only asks whether an index is being written holds its lock for less time than this."""


class IndexLockedError(LongsearchError):
    """Another process is writing this index."""


def known_roots() -> list[Path]:
    """Return the folders that have an index, whether or not they exist. An index that cannot be read is logged."""
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
    """Return the folders that a daemon watches which stays: those with an index, and those of the config file.

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
        with Store.open(path) as store:
            return store.root


@contextmanager
def open_pipeline(
    root: Path,
    encoder: "DocumentEncoder",
    should_stop: Callable[[], bool],
    ocr: str | None = None,
    path: Path | None = None,
    extractor: "Callable[[Source, Recognition | None], Extractor] | None" = None,
) -> Iterator[tuple["Pipeline", Store]]:
    """Open the pipeline of `root`, for one thread. Only one process at a time can have it open.

    `ocr`: languages for OCR of pages without text, from the settings; None: only of pages that are known.
    `path`: the index file, if it is not the one in use. `extractor` makes what reads texts in place of child processes
    here. Raises IndexLockedError at once if another process has it open, StoreError if the index cannot be written,
    LongsearchError if the config file holds a mistake.
    """
    from longsearch.app.ocr.scans import recognition
    from longsearch.indexer.extract.formats import use_adapters
    from longsearch.indexer.extract.pool import ExtractorPool
    from longsearch.indexer.pipeline import Pipeline

    require_sound()
    use_adapters(current().adapters)
    wanted = recognition(root, ocr)
    with locked(root):
        if path is None:
            prepare(root)
        opened = Store.open(path or working_path(root), root=root)
        with opened as store, ExtractorPool(ocr=wanted, should_stop=should_stop) as own:
            source, at_home = _source_of(root, own)
            chosen = at_home if extractor is None else extractor(source, wanted)
            yield Pipeline(root, store, chosen, encoder, should_stop, source), store
            store.tidy()
            if path is None:
                publish_changes(root, store)


def _source_of(root: Path, own: "ExtractorPool") -> "tuple[Source, Extractor]":
    """Return where the files of a root lie, and what reads them on this machine."""
    from longsearch.indexer.sources.source import Folder

    if not (url := url_of(root)):
        return Folder(root), own
    from longsearch.indexer.sources.fetching import FetchingExtractor
    from longsearch.indexer.sources.objects import ObjectStore

    store = ObjectStore(url, root)
    return store, FetchingExtractor(store, own)


@contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold the lock of the index of a folder. Raises IndexLockedError if another process has it."""
    path = base_index_path(root)
    try:
        held = _lock(root).acquire(timeout=_LOOK_S)
    except Timeout as error:
        raise IndexLockedError(f"another longsearch is indexing {root}") from error
    except OSError as error:
        raise StoreError(f"the index cannot be written: {error.strerror}", f"check {path.parent}") from error
    with held:
        yield


def is_being_indexed(root: Path) -> bool:
    """Whether a process has the index of a folder open for writing."""
    lock = _lock(root)
    if not Path(lock.lock_file).exists():
        return False
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # nobody can write here
        return False


def _lock(root: Path) -> FileLock:
    return FileLock(base_index_path(root).with_suffix(".lock"), mode=0o600)
