"""Lists the indexed folders, and finds one by its name or its path."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longsearch.app.folders import relocating
from longsearch.app.folders.indexes import root_of
from longsearch.app.folders.names import descriptions, named_roots, names_of
from longsearch.app.folders.presence import reasons_away
from longsearch.app.locks import LockBusyError, held
from longsearch.app.paths import expanded, index_path, index_paths
from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError, in_words
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.file_filter import folded
from longsearch.engine.store import files, reports
from longsearch.engine.store.connection import CorruptIndexError
from longsearch.engine.types.results import Folder


@dataclass(frozen=True, slots=True)
class _Index:
    """The facts that an index holds about its folder."""

    root: Path
    n_documents: int
    was_drive: bool
    """Whether the folder was a drive when it was last indexed."""


def indexed_folders() -> list[Folder]:
    """Return every indexed folder, by name. One that is away or whose index cannot be read says why."""
    relocating.finish()
    read: dict[Path, _Index] = {}
    problems: dict[Path, str] = {}
    nameless: list[Folder] = []
    named = {index_path(root): root for root in named_roots()}
    for path in index_paths():
        try:
            index = _read(path)
            read[index.root] = index
        except NoIndexError:
            continue
        except StoreError as error:
            problem = in_words(error)
            if path in named:
                problems[named[path]] = problem
            else:
                nameless.append(Folder(path.stem, "", problem=problem))
    roots = [*read, *problems]
    names, about = names_of(roots), descriptions()
    away = reasons_away(roots, {root for root, index in read.items() if index.was_drive})
    found = [
        Folder(
            names[root],
            os.fspath(root),
            read[root].n_documents if root in read else 0,
            away[root],
            problems.get(root, ""),
            about.get(os.fspath(root), ""),
        )
        for root in roots
    ]
    return sorted([*found, *nameless], key=lambda folder: folded(folder.name))


def find_folder(text: str, folders: Sequence[Folder]) -> Folder:
    """Return the folder with this name or path. Raises LongsearchError if there is none."""
    path = os.fspath(expanded(text).absolute())
    by_name = [folder for folder in folders if folded(folder.name) == folded(text.strip())]
    by_path = [folder for folder in folders if folder.root in (path, os.path.realpath(path))]
    if found := by_name or by_path:
        return found[0]
    known = ", ".join(folder.name for folder in folders)
    hint = f"there are: {known}" if known else "index one first: longsearch index FOLDER"
    raise LongsearchError(f"no indexed folder is called {text}", hint)


def register(root: Path) -> None:
    """Make an empty index for a folder that has none, so that it is listed before anything is read."""
    from longsearch.engine.store.session import Session

    path = index_path(root)
    with contextlib.suppress(LockBusyError), held(path.with_suffix(".lock"), 0):
        if not path.exists():  # if another process holds the lock, it is making the index
            Session.open(path, root=root).close()


def register_configured() -> None:
    """Make an empty index for each folder of the config file that is there and has none."""
    for folder in current().folders:
        if os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises if a folder above may not be entered
            register(folder.resolve())


def fingerprint_and_time(folder: Folder) -> tuple[str, float | None]:
    """Return the fingerprint of a folder's vectors, "" if it has none, and when it was last worked on.

    The time is in seconds since 1970; None: never.
    """
    with open_index(index_path(Path(folder.root))) as index:
        return index.fingerprint, reports.updated_at(index.db)


def _read(path: Path) -> _Index:
    try:
        return _read_newest(path)
    except (NoIndexError, CorruptIndexError):
        raise
    except StoreError:
        root_of(path)  # migrates the index of an older longsearch
        return _read_newest(path)


def _read_newest(path: Path) -> _Index:
    with open_index(path) as index:
        return _Index(index.root, index.n_documents, "" in files.drives(index.db))
