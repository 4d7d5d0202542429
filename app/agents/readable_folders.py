"""Which documents an agent may read: those of the indexes it was given, and nothing else on this machine.

Text comes out of an index, never out of a file, so no path, symbolic link or `..` leads anywhere else. The one thing
asked of the disk is whether a file is still as it was read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from longsearch.app.agents import addresses
from longsearch.app.folders.listing import find_folder, indexed_folders
from longsearch.app.paths import index_path
from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.printable import printable
from longsearch.engine.store import files
from longsearch.engine.types.results import Folder


@dataclass(frozen=True, slots=True)
class Place:
    """A document of an indexed folder."""

    folder: Folder
    path: str
    """Relative to the folder."""
    document_id: int


class ReadableFolders:
    """The indexed folders that an agent may read."""

    def __init__(self, only: Sequence[str] = ()) -> None:
        """`only`: names or paths of indexed folders; () for all, also those that are indexed later."""
        self._roots = {find_folder(text, indexed_folders()).root for text in only}

    def folders(self, name: str = "") -> list[Folder]:
        """Return the folders, or the one with this name or path. Raises LongsearchError if there is none."""
        found = [one for one in indexed_folders() if one.root and (not self._roots or one.root in self._roots)]
        if not found:
            raise LongsearchError("no folder is indexed", "the person can index one: longsearch index FOLDER")
        return [find_folder(name, found)] if name else found

    def find(self, document: str) -> Place:
        """Return the place of a document named by its address or its absolute path. Raises LongsearchError."""
        if document.startswith(addresses.PREFIX):
            name, path = addresses.parsed(document)
            candidates = [(folder, path) for folder in self.folders() if folder.name == name]
        else:
            addresses.check_path(document)
            roots = sorted(self.folders(), key=lambda folder: -len(folder.root))
            candidates = [
                (folder, PurePath(document).relative_to(folder.root).as_posix())
                for folder in roots
                if PurePath(document).is_relative_to(folder.root)
            ]
        for folder, relative in candidates:
            with self.reading(folder) as index:
                known = index.document_of(relative)
            if known is not None:
                return Place(folder, relative, known)
        hint = "name a document as a search gives it: its address, or its absolute path"
        raise LongsearchError("no indexed document has this name", hint)

    def first_documents(self, n: int) -> list[tuple[str, str]]:
        """Return the address and the file's name of the first `n` documents, the same number of each folder."""
        folders = [folder for folder in self.folders() if not folder.problem]
        found = []
        for folder in folders:
            with self.reading(folder) as index:
                paths = files.first_paths(index.db, -(-n // len(folders)))
            found += [(addresses.address(folder.name, path), printable(PurePath(path).name)) for path in paths]
        return found[:n]

    @contextmanager
    def reading(self, folder: Folder) -> Iterator[Index]:
        """Yield the index of this folder. Raises StoreError if it cannot be read."""
        if folder.problem:
            raise StoreError(folder.problem)
        with open_index(index_path(Path(folder.root))) as index:
            yield index

    def freshness(self, folder: Folder, path: str) -> str:
        """Say how the file lies on the disk now, beside what was read of it.

        current, changed (since it was read), gone, or away (its folder cannot be reached).
        """
        if folder.away or folder.problem:
            return "away"
        with self.reading(folder) as index:
            stamp = files.stamp_of(index.db, path)
        try:
            status = (Path(folder.root) / path).stat(follow_symlinks=False)
        except OSError:
            return "gone"
        return "current" if stamp == (status.st_size, status.st_mtime_ns) else "changed"
