"""The folders of a search: one, or several that are searched as one.

A folder that is away still answers, because its index lies here; the note says so. Where several are searched, one
whose index cannot be read is left out, and the note says that.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from longsearch.app.folders.listing import indexed_folders
from longsearch.app.folders.names import names_of
from longsearch.app.folders.store_refs import read_store
from longsearch.app.paths import expanded, find_index, in_shell, index_path, index_paths
from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.index.index import Index
from longsearch.engine.index.lance.address import PREFIX
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.file_filter import FolderFilter
from longsearch.engine.types.results import Folder, SearchResults


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search."""

    folders: Sequence[Folder]
    under: str = ""
    """The folder inside the one folder to which the search is limited, relative to it; "" for all of it."""
    is_one: bool = False
    """Whether one folder was asked for, so that nothing need be said about folders."""

    @classmethod
    def of(cls, root: Path, under: str = "") -> "Scope":
        """One folder, or the folder `under` inside it."""
        return cls([Folder(names_of([root])[root], os.fspath(root))], under, is_one=True)

    @classmethod
    def chosen(cls, folder: str, everywhere: bool) -> "Scope":
        """What a command is about: the folder that a person names, one inside it, a store, or all folders.

        Without a folder it is the one that the person is in, or all folders outside any. Raises LongsearchError if
        nothing is indexed there.
        """
        if everywhere and folder:
            hint = "leave out one of the two"
            raise LongsearchError("--everywhere is for all folders, and a folder is named too", hint)
        if folder.startswith(PREFIX):
            return cls.of(read_store(folder))
        if not everywhere:
            try:
                return cls.of(*find_index(folder or "."))
            except LongsearchError as error:
                if folder:
                    raise _with_offer(folder, error) from error
                if not index_paths():
                    raise
        elif not index_paths():
            raise LongsearchError("no folder is indexed yet", "index one: longsearch index FOLDER")
        return cls(indexed_folders())

    def admitted(self, named: FolderFilter | None) -> "Scope":
        """The folders that a query names; all if it names none (None). Raises QueryError for an unknown name."""
        if named is None:
            return self
        chosen = named.chosen([folder.name for folder in self.folders])
        return replace(self, folders=[folder for folder in self.folders if folder.name in chosen])


def _with_offer(folder: str, error: LongsearchError) -> LongsearchError:
    """The error or, if the files of a folder that is away are there now, one that says how to take its index over."""
    from longsearch.app.folders.moving import moved_from

    wanted = expanded(folder).resolve()
    for known, place in moved_from(wanted, *wanted.parents):
        hint = f"to take its index over: longsearch folders move {in_shell(known.root)} {in_shell(place)}"
        return LongsearchError(f"{place} has the files of {known.name}, which is away", hint)
    return error


@dataclass(frozen=True, slots=True)
class OpenFolders:
    """Open indexes with their folders."""

    scope: Scope
    parts: Sequence[tuple[Folder, Index]]
    notes: Sequence[str]
    """What a person should know of folders that are away or damaged."""
    indexes: Sequence[Index]
    """Those of `parts`."""

    def named(self, results: SearchResults, notes: Sequence[str] = ()) -> SearchResults:
        """The results with the folder's name in each hit, all notes and, where several were asked, the folders."""
        names = {folder.root: folder.name for folder, _ in self.parts}
        return replace(
            results,
            hits=tuple(replace(hit, folder=names[hit.root]) for hit in results.hits),
            note="; ".join(filter(None, (results.note, *self.notes, *notes))),
            folders=() if self.scope.is_one else tuple(folder for folder, _ in self.parts),
        )


@contextmanager
def opened(scope: Scope) -> Iterator[OpenFolders]:
    """Open the indexes of these folders. Raises LongsearchError if none can be read."""
    parts: list[tuple[Folder, Index]] = []
    notes: list[str] = []
    with ExitStack() as stack:
        for folder in scope.folders:
            try:
                if folder.problem:
                    raise StoreError(folder.problem)
                index = stack.enter_context(open_index(index_path(Path(folder.root))))
            except StoreError as error:
                if scope.is_one:
                    raise
                notes.append(f"{folder.name} is left out: {error.message}")
                continue
            parts.append((folder, index))
            if folder.away:
                notes.append(f"{folder.name} is away ({folder.away}): its documents are found, but cannot be opened")
        if not parts:
            raise LongsearchError("; ".join(notes) or "no folder is indexed", "index one: longsearch index FOLDER")
        yield OpenFolders(scope, parts, notes, [index for _, index in parts])
