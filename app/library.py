"""One root's index, open for writing: the lock, the store, the extractor and the pipeline that uses them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.paths import index_path
from engine.errors import LongsearchError, StoreError
from engine.store.store import Store
from indexer.extract.reader import ExtractorProcess
from indexer.pipeline import DocumentEncoder, Pipeline


class IndexLockedError(LongsearchError):
    """Another process is writing this index."""


@contextmanager
def open_pipeline(
    root: Path, encoder: DocumentEncoder, should_stop: Callable[[], bool]
) -> Iterator[tuple[Pipeline, Store]]:
    """The pipeline of `root`, for one thread; only one process at a time has it.

    Raises IndexLockedError at once where another has it, StoreError where the index cannot be written.
    """
    path = index_path(root)
    lock = FileLock(path.with_suffix(".lock"), timeout=0, mode=0o600)
    try:
        held = lock.acquire()
    except Timeout as error:
        raise IndexLockedError(f"another longsearch is indexing {root}") from error
    except OSError as error:
        raise StoreError(f"the index cannot be written: {error.strerror}", f"check {path.parent}") from error
    with held, Store.open(path, root=root) as store, ExtractorProcess() as extractor:
        yield Pipeline(root, store, extractor, encoder, should_stop), store
        store.checkpoint()
