"""Where a reader finds bytes: a file, or an attachment that is held in memory, because the child may write no file."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Protocol


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


def path_or_bytes(source: Source) -> Path | bytes:
    """Return what a library takes that opens files itself."""
    return source if isinstance(source, Path) else source.read_bytes()
