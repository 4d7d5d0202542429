"""A disk that fills up on demand: SQLite's writes go through it, and fail while it is full."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


class _File(apsw.VFSFile):
    def __init__(self, disk: "FullDisk", base: str, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 (SQLite's name)
        self._disk.write()
        super().xWrite(data, offset)


class FullDisk(apsw.VFS):
    """Made the process's disk by `installed`."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.n_left = -1
        """Writes until it is full; negative: there is room without end."""
        super().__init__("full", base, makedefault=True)

    def write(self) -> None:
        """SQLITE_FULL where there is no room."""
        if self.n_left == 0:
            raise apsw.FullError("no space left")
        self.n_left -= 1

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> _File:  # noqa: N802 (SQLite's name)
        return _File(self, self._base, name, flags)


@contextmanager
def installed() -> Iterator[FullDisk]:
    """A disk for all connections opened within."""
    base = apsw.vfs_names()[0]
    disk = FullDisk(base)
    try:
        yield disk
    finally:
        disk.unregister()
