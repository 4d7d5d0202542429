"""Notes which files are being read, so that one that ends the process is not read again at each start.

A file beside the index names them meanwhile. If the process dies, or fails by a defect, the next reads each of them
alone: then it is known which one does it. Reading by child processes has limits of its own; this is for their parent.
"""

import json
import os
from collections.abc import Iterable, Set
from pathlib import Path
from types import TracebackType
from typing import Self

from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object

MOST_ENDS = 3
"""Once among others and twice alone: somebody may have killed the process by chance."""


class Suspects:
    """The files of one index that may have ended a process, and those that are read now. For one thread."""

    def __init__(self, index: Path) -> None:
        self._path = index.with_suffix(".reading")
        known = load_object(self._path)
        self._n_ends = {path: n for path, n in known.items() if isinstance(n, int)}
        self._file = -1

    def n_ends(self, path: str) -> int:
        """Return how often a process ended while it read this file."""
        return self._n_ends.get(path, 0)

    def reading(self, paths: Iterable[str]) -> None:
        """Note that these files are being read, and no others."""
        if self._file < 0:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        noted = json.dumps(self._n_ends | {path: self.n_ends(path) + 1 for path in paths}).encode()
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, noted)  # not synced: only this process is to be outlived

    def was_read(self, path: str) -> None:
        """Note that this file ended no process, or has a reason from now on."""
        self._n_ends.pop(path, None)

    def among(self, paths: Set[str]) -> Self:
        """Forget the suspects that are not to be read: gone, or stored already."""
        self._n_ends = {path: n for path, n in self._n_ends.items() if path in paths}
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Forget what was being read, unless a defect ended it. Suspects that were not read again stay."""
        is_defect = isinstance(error, Exception) and not isinstance(error, LongsearchError | OSError)
        if self._n_ends and not is_defect:
            self.reading(())
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if not self._n_ends and not is_defect:
            self._path.unlink(missing_ok=True)
