"""The folder of a worker for copies of objects and for pages of OCR. A killed worker's is removed by the next one."""

import shutil
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

_PREFIX = "longsearch-worker-"
_LOCK = "lock"


class Scratch:
    """A private folder that is locked while its worker lives."""

    def __init__(self) -> None:
        """Remove the folders of workers that are dead, and make one."""
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            _remove_if_free(left)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = FileLock(self.path / _LOCK, timeout=0, mode=0o600)
        self._lock.acquire()

    def close(self) -> None:
        """Remove the folder."""
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_if_free(folder: Path) -> None:
    try:
        with FileLock(folder / _LOCK, timeout=0, mode=0o600):
            shutil.rmtree(folder, ignore_errors=True)
    except (OSError, Timeout):  # another person's, or in use
        return
