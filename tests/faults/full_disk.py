"""A disk that fills up on demand. SQLite writes through it, and its writes fail while the disk is full."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import apsw

from longsearch.engine.store import connection


class _File(apsw.VFSFile):
    def __init__(self, disk: "FullDisk", base: str, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's name)
        self._disk.write()
        super().xWrite(data, offset)


class FullDisk(apsw.VFS):
    """A virtual file system for SQLite, on top of the one that keeps checksums; `installed` has indexes use it."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.n_left = -1
        """Writes until the disk is full; negative: it never becomes full."""
        super().__init__("full", base)

    def write(self) -> None:
        """Count a write. Raises SQLITE_FULL if the disk is full."""
        if self.n_left == 0:
            raise apsw.FullError("no space left")
        self.n_left -= 1

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> _File:  # noqa: N802 (SQLite's name)
        return _File(self, self._base, name, flags)


@contextmanager
def installed() -> Iterator[FullDisk]:
    """Use this disk for all connections that are opened inside the `with` block."""
    disk = FullDisk(connection._with_checksums())
    try:
        with patch.object(connection, "_with_checksums", lambda: "full"):
            yield disk
    finally:
        disk.unregister()
