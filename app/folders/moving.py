"""Gives the index of a folder to the place where the folder lies now, or to another computer. Nothing is read again."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from longsearch.app import rpc
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.folders.relocating import locked, relocate
from longsearch.app.folders.store_refs import address_of
from longsearch.app.paths import base_index_path, index_path, remove_index, socket_path, working_path
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import copying, files
from longsearch.engine.store.session import Session
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import Folder

_LOCK_TIMEOUT_S = 15.0  # the daemon ends its current step first
_CALL_TIMEOUT_S = 5.0
_N_COMPARED = 64  # files of a folder by which it is known again
_ENOUGH = 0.5  # the share of them that must be there, with their sizes


def move(folder: Folder, new: Path) -> None:
    """Let the index of a folder be that of `new`, where its files lie now.

    Raises LongsearchError if the folder has other files, if it is indexed already, or if a process writes the index.
    """
    old = Path(folder.root)
    if address_of(old):
        raise LongsearchError(
            f"the index of {old} is in a store", "move it back first: longsearch move FOLDER --to sqlite"
        )
    if new == old:
        raise LongsearchError(f"{folder.name} is at {new} already", "nothing is to be moved")
    if _share_there(old, new) == 0.0:
        raise LongsearchError(f"none of the files of {folder.name} is in {new}", "name the folder that has them now")
    _make_room(new)
    with contextlib.suppress(rpc.DaemonUnreachableError):
        rpc.call(socket_path(), "forget", _CALL_TIMEOUT_S, root=folder.root)
    relocate(old, new)


def moved_from(*places: Path) -> Iterator[tuple[Folder, Path]]:
    """Yield each indexed folder that is away and whose files are in one of these folders, which is not indexed."""
    here = [place for place in places if place.is_dir() and not index_path(place).exists()]
    away = [folder for folder in indexed_folders() if folder.away and not folder.problem] if here else []
    for folder in away:
        for place in here:
            if folder.n_documents and _share_there(Path(folder.root), place) >= _ENOUGH:
                yield folder, place


def _share_there(old: Path, new: Path) -> float:
    """The share of some files of an index that are in `new` with the sizes that they had; 1 for an empty index."""
    with open_index(index_path(old)) as index:
        paths = files.first_paths(index.db, _N_COMPARED)
        known = [(path, stamp[0]) for path in paths if (stamp := files.stamp_of(index.db, path))]

    def is_there(path: str, size: int) -> bool:
        try:
            return os.stat(os.path.join(new, path)).st_size == size  # noqa: PTH116, PTH118 (hostile names)
        except (OSError, ValueError):
            return False

    return sum(is_there(*one) for one in known) / len(known) if known else 1.0


def _make_room(new: Path) -> None:
    """Remove an index of `new` that has no files yet. Raises LongsearchError if it has some."""
    if not index_path(new).exists():
        return
    with open_index(index_path(new)) as index:
        if index.n_documents or files.first_paths(index.db, 1):
            raise LongsearchError(
                f"{new} is indexed already", "to forget that index: longsearch folders forget --delete"
            )
    with locked(new):
        remove_index(working_path(new))


def exported(folder: Folder, target: Path) -> None:
    """Write the index of a folder, as it is at this moment, into one file. Raises LongsearchError."""
    root = Path(folder.root)
    if address_of(root):
        raise LongsearchError(f"the index of {root} is in a store", "other computers read the store itself")
    if target.exists():
        raise LongsearchError(f"{target} is there already", "name a file that is not")
    half = target.with_name(f"{target.name}.half")
    half.unlink(missing_ok=True)
    try:
        with open_index(working_path(root)) as index:
            copying.copy_to(index.db, half)
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)


def imported(source: Path, root: Path) -> None:
    """Let a file that `exported` wrote be the index of a folder, which has none. Raises LongsearchError."""
    if not source.is_file():
        raise LongsearchError(f"there is no file {source}", "write one: longsearch folders export FOLDER FILE")
    _make_room(root)
    path = base_index_path(root)
    half = path.with_suffix(".half")
    with locked(root):
        try:
            shutil.copyfile(source, half)
            half.chmod(0o600)
            copying.check(half, path.with_suffix(".check"))
            Session.open(half, root=root).close()
            half.replace(path)
        except OSError as error:
            raise LongsearchError(f"the index cannot be written: {error.strerror}", f"check {path.parent}") from error
        finally:
            for file in path.parent.glob(f"{half.name}*"):
                file.unlink(missing_ok=True)
    with Store.open(path) as store:
        store.tidy()
