"""What the pipeline asks of the place where files lie, and how a folder of this machine answers. Knows no index."""

import hashlib
from pathlib import Path
from typing import Protocol

from longsearch.indexer.extract import kept_apart
from longsearch.indexer.walk import Listing, take_listing


class Source(Protocol):
    """The files of one root. A path is absolute, and lies under the root."""

    def listing(self) -> Listing:
        """List the readable files. Raises LongsearchError if the root cannot be listed."""

    def size_of(self, path: Path) -> int:
        """The size of a file in bytes. Raises OSError."""

    def hash_of(self, path: Path) -> bytes | None:
        """The hash by which the store knows a file's bytes. None: it comes with their text. Raises OSError."""


class Folder:
    """A `Source` on this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def listing(self) -> Listing:
        """See `Source`."""
        return take_listing(self._root)

    def size_of(self, path: Path) -> int:
        """See `Source`."""
        return path.stat().st_size

    def hash_of(self, path: Path) -> bytes | None:
        """See `Source`."""
        found = hash_file(path)
        if marks := kept_apart.as_bytes(path):
            return hashlib.blake2b(found + marks, digest_size=32).digest()
        return found


def hash_file(path: Path) -> bytes:
    """Return the hash by which the store knows the bytes of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).digest()
