"""Where a reader finds bytes: a file, or an attachment that is held in memory, because the child may write no file."""

import errno
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Protocol

_SMALL_BYTES, _HELD_BYTES = 256_000, 32_000_000


class _Status(Protocol):
    @property
    def st_size(self) -> int: ...


class Source(Protocol):
    """The part of a file's interface that readers use. A `Path` is a `Source`."""

    @property
    def name(self) -> str:
        """The file's name, with its suffix."""

    def open(self, mode: Literal["rb"]) -> IO[bytes]:
        """Open it for reading."""

    def read_bytes(self) -> bytes:
        """Return all its bytes."""

    def stat(self) -> _Status:
        """Return its size in bytes, as `st_size`."""


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes in memory, as a `Source`."""

    name: str
    data: bytes

    @property
    def st_size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def open(self, mode: Literal["rb"]) -> IO[bytes]:
        """Return the bytes as a file."""
        return io.BytesIO(self.data)

    def read_bytes(self) -> bytes:
        """Return the bytes."""
        return self.data

    def stat(self) -> "Held":
        """Return what knows the size."""
        return self


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that another process has opened for this one, which cannot open it, as a `Source`."""

    name: str
    descriptor: int

    def open(self, mode: Literal["rb"]) -> IO[bytes]:
        """Return the file, with a place of its own in it."""
        is_small = self.stat().st_size <= _SMALL_BYTES  # most files are, and reading them at once takes half the time
        return io.BytesIO(self.read_bytes()) if is_small else io.BufferedReader(_At(self.descriptor))

    def read_bytes(self) -> bytes:
        """Return all bytes of the file."""
        return _At(self.descriptor).readall()

    def stat(self) -> os.stat_result:
        """Return what the system says of the file."""
        return os.fstat(self.descriptor)


class _At(io.RawIOBase):
    """Reads an open file at a place that no other reader of it moves."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._place = descriptor, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readall(self) -> bytes:
        n_left = os.fstat(self._descriptor).st_size - self._place + 1
        data = os.pread(self._descriptor, max(n_left, 1), self._place)
        self._place += len(data)
        return data + super().readall() if data and len(data) != n_left - 1 else data

    def readinto(self, buffer: Any) -> int:
        n_read = os.preadv(self._descriptor, [buffer], self._place)
        self._place += n_read
        return n_read

    def seek(self, offset: int, whence: int = 0) -> int:
        place = offset + (0, self._place, os.fstat(self._descriptor).st_size)[whence]
        if place < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._place = place
        return place


def for_library(source: Source) -> Path | bytes | IO[bytes]:
    """Return what a library takes that opens files itself: bytes, which it reads faster, unless they are many."""
    if isinstance(source, Path | Opened) and source.stat().st_size > _HELD_BYTES:
        return source if isinstance(source, Path) else source.open("rb")
    return source.read_bytes()
