"""Lists the indexes, and opens one for writing: its lock, store, extractor and pipeline."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.paths import index_path, index_paths
from engine.errors import LongsearchError, NoIndexError, StoreError
from engine.store.connection import CorruptIndexError
from engine.store.store import Store
from indexer.embedding import DocumentEncoder
from indexer.extract.pool import ExtractorPool
from indexer.pipeline import Pipeline

log = logging.getLogger("longsearch.library")


class IndexLockedError(LongsearchError):
    """Another process is writing this index."""


def known_roots() -> list[Path]:
    """Return the folders that have an index, even if the folder is gone. Skips and logs an index it cannot read."""
    roots = []
    for path in index_paths():
        try:
            roots.append(_root_of(path))
        except NoIndexError:
            continue
        except StoreError as error:
            log.warning("%s: %s (%s)", path, error.message, error.hint)
    return roots


def _root_of(path: Path) -> Path:
    try:
        with Store.open(path, read_only=True) as store:
            return store.root
    except (NoIndexError, CorruptIndexError):
        raise
    except StoreError:  # of an older version: opening it for writing migrates it
        with Store.open(path) as store:
            return store.root


@contextmanager
def open_pipeline(
    root: Path, encoder: DocumentEncoder, should_stop: Callable[[], bool], ocr: str | None = None
) -> Iterator[tuple[Pipeline, Store]]:
    """Open the pipeline of `root` for one thread. Only one process at a time can have it open.

    `ocr` names the languages of pages without text, as `indexer.extract.ocr.ocr_languages` returns them; None for no
    OCR. Raises IndexLockedError at once if another process has the pipeline open, StoreError if the index cannot be
    written.
    """
    path = index_path(root)
    lock = FileLock(path.with_suffix(".lock"), timeout=0, mode=0o600)
    try:
        held = lock.acquire()
    except Timeout as error:
        raise IndexLockedError(f"another longsearch is indexing {root}") from error
    except OSError as error:
        raise StoreError(f"the index cannot be written: {error.strerror}", f"check {path.parent}") from error
    with held, Store.open(path, root=root) as store, ExtractorPool(ocr=ocr) as extractor:
        yield Pipeline(root, store, extractor, encoder, should_stop), store
        store.tidy()
