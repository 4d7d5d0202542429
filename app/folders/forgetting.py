"""Forgets an indexed folder, and takes it back. The files of the folder are never touched.

A forgotten index lies aside for 30 days: to move it costs nothing, and to read thousands of documents again costs
hours. After that, or at once if the person wants it so, it is deleted: it holds the text of the documents.
"""

import contextlib
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longsearch.app import rpc
from longsearch.app.folders.names import drop_name, first_name, rename
from longsearch.app.folders.relocating import locked
from longsearch.app.paths import base_index_path, socket_path, url_of
from longsearch.app.user_data.user_file import forget_folder
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object, replace_object
from longsearch.engine.query_language.file_filter import folded
from longsearch.engine.types.results import Folder

KEPT_DAYS = 30
_DAY_S = 86_400.0
_CALL_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A folder whose index lies aside."""

    name: str
    root: str
    at_s: float
    """When it was forgotten, in seconds since 1970."""

    @property
    def stem(self) -> str:
        """The name that the files of its index begin with."""
        return base_index_path(Path(self.root)).stem


def forget(folder: Folder, keep: bool = True, now_s: float | None = None) -> None:
    """Forget a folder: the daemon no longer watches it, and its index is moved aside or, unless `keep`, deleted.

    Nothing in the data folder names a deleted one any more but the basket and saved searches. Raises LongsearchError if
    another process goes on writing the index.
    """
    path = base_index_path(Path(folder.root))
    with contextlib.suppress(rpc.DaemonUnreachableError):
        rpc.call(socket_path(), "forget", _CALL_TIMEOUT_S, root=folder.root)
    with locked(Path(folder.root)):
        aside = _aside()
        _delete(aside, path.stem)  # it may have been forgotten before
        _move(path.parent, aside, path.stem)
        name = drop_name(Path(folder.root)) or folder.name
    path.with_suffix(".lock").unlink(missing_ok=True)  # its name is the folder's
    rest = [one for one in forgotten() if one.root != folder.root]
    if keep:
        _save([*rest, Forgotten(name, folder.root, time.time() if now_s is None else now_s)])
    else:
        _delete(aside, path.stem)
        _save(rest)
        forget_folder(folder.root)
        if url_of(folder.root):  # only copies lie in it
            shutil.rmtree(folder.root, ignore_errors=True)


def forgotten() -> list[Forgotten]:
    """Return the folders that can be taken back."""
    listed: Any = load_object(_list_path()).get("forgotten")
    found = []
    for row in listed if isinstance(listed, list) else ():
        with contextlib.suppress(KeyError, TypeError, ValueError):
            found.append(Forgotten(str(row["name"]), str(row["root"]), float(row["at_s"])))
    return found


def take_back(text: str, taken: list[str]) -> str:
    """Take back the forgotten folder with this name or path, and return its name. `taken`: the names of the others.

    It gets its old name, unless another folder has that name now. Raises LongsearchError if there is no such folder, or
    if it was indexed again.
    """
    rows = forgotten()
    meant = [one for one in rows if folded(one.name) == folded(text)] or [one for one in rows if one.root == text]
    if not meant:
        known = ", ".join(one.name for one in rows)
        hint = f"these can be taken back: {known}" if known else f"an index is kept for {KEPT_DAYS} days"
        raise LongsearchError(f"no forgotten folder is called {text}", hint)
    (one, *_) = meant
    path = base_index_path(Path(one.root))
    if path.exists():
        raise LongsearchError(f"{one.root} was indexed again", "nothing is to be taken back")
    with locked(Path(one.root)):
        _move(_aside(), path.parent, path.stem)
    _save([row for row in rows if row is not one])
    is_free = folded(one.name) not in map(folded, taken)
    return rename(Path(one.root), one.name, taken) if is_free else first_name(Path(one.root), taken)


def delete_old(now_s: float | None = None) -> int:
    """Delete the indexes that were forgotten more than 30 days ago, and return their number."""
    now_s = time.time() if now_s is None else now_s
    rows = forgotten()
    old = [one for one in rows if now_s - one.at_s > KEPT_DAYS * _DAY_S]
    for one in old:
        _delete(_aside(), one.stem)
    if old:
        _save([one for one in rows if one not in old])
    return len(old)


def n_bytes(root: Path) -> int:
    """Return the size of the index of a folder, with the files beside it."""
    path = base_index_path(root)
    total = 0
    for file in path.parent.glob(f"{path.stem}.*"):
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def _aside() -> Path:
    folder = base_index_path(Path("/")).parent / "forgotten"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _list_path() -> Path:
    return _aside() / "forgotten.json"


def _save(rows: list[Forgotten]) -> None:
    listed = [{"name": one.name, "root": one.root, "at_s": one.at_s} for one in rows]
    replace_object(_list_path(), {"forgotten": listed})


def _move(source: Path, target: Path, stem: str) -> None:
    """Move the files of an index. SQLite's own log is moved with it, before the index: it belongs to that file."""
    for file in sorted(source.glob(f"{stem}.*"), key=lambda file: file.suffix == ".sqlite"):
        if file.suffix != ".lock":
            file.rename(target / file.name)


def _delete(folder: Path, stem: str) -> None:
    for file in folder.glob(f"{stem}.*"):
        file.unlink(missing_ok=True)
