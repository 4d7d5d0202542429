"""Files that one process at a time holds. `filelock` is imported only where one is wanted: most searches want none."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longsearch.engine.errors import LongsearchError


class LockBusyError(LongsearchError):
    """Another process holds the lock."""


@contextmanager
def held(path: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock file `path`, private to the user.

    Raises LockBusyError if another process holds it longer than `timeout_s`, OSError if it cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=0o600)
    try:
        lock.acquire(timeout=timeout_s)
    except Timeout as error:
        raise LockBusyError(f"another longsearch holds {path}", "try again in a minute") from error
    try:
        yield
    finally:
        lock.release()
