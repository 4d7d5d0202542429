"""Which model reads which folder, and which index file holds its vectors. A small file beside the index says so.

A folder without a choice has the model that the settings name, or the bundled one. When another model is chosen,
the folder is read into a second index file; searches go on in the first until the second is complete. Knows no index.
"""

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from longsearch.app.encoders import chosen_model, resolved
from longsearch.app.paths import POINTER, base_index_path, choice_path, in_shell, index_path
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object, replace_object


@dataclass(frozen=True, slots=True)
class FolderModel:
    """The models of one folder."""

    model: str
    """The model that made the vectors of the index in use."""
    is_chosen: bool
    """Whether it was chosen for this folder; otherwise it is the default."""
    next_model: str = ""
    """The model with which the folder is being read again; "" if no change is under way."""
    next_path: Path | None = None
    """The index file that it fills."""


def folder_model(root: Path) -> FolderModel:
    """Return the models of a root."""
    choice = load_object(choice_path(root))
    if not choice.get("model"):
        return FolderModel(chosen_model(), is_chosen=False)
    next_index = choice.get("next_index") or ""
    next_path = base_index_path(root).with_name(next_index) if next_index else None
    return FolderModel(choice["model"], True, choice.get("next_model") or "", next_path)


def choose_model(root: Path, name: str) -> FolderModel:
    """Choose the model of a root. Raises ModelError if it is not on this machine.

    An index that exists stays in use until the next sweeps have read the folder with the new model. Choosing the old
    model again ends that.
    """
    from longsearch.engine.models.identity import identify

    if index_path(root).suffix == POINTER:
        raise LongsearchError(
            f"the index of {root} is in a store", f"move it back first: longsearch move {in_shell(root)} --to sqlite"
        )
    name = resolved(name)
    identify(name)
    with _lock(root):
        before = folder_model(root)
        if name == before.next_model:
            return before
        if before.next_path is not None:
            _remove(before.next_path)
        index = index_path(root)
        choice = {"model": name, "index": index.name}
        if index.exists() and name != before.model:
            digest = hashlib.blake2b(os.fsencode(name), digest_size=4).hexdigest()
            next_index = f"{base_index_path(root).stem}.{digest}.sqlite"
            choice = {**choice, "model": before.model, "next_model": name, "next_index": next_index}
        replace_object(choice_path(root), choice)
    return folder_model(root)


def finish_change(root: Path, finished: FolderModel) -> None:
    """Put the index of the next model in use, and remove the old one. Nothing happens if the choice has changed."""
    with _lock(root):
        if finished.next_path is None or folder_model(root) != finished:
            return
        old = index_path(root)
        replace_object(choice_path(root), {"model": finished.next_model, "index": finished.next_path.name})
    _remove(old)


def _lock(root: Path) -> FileLock:
    return FileLock(choice_path(root).with_suffix(".model-lock"), timeout=10, mode=0o600)


def _remove(index: Path) -> None:
    """Remove an index file, its log and its segments. A search that has them open ends undisturbed."""
    for file in index.parent.glob(f"{index.name}*"):
        with contextlib.suppress(OSError):
            file.unlink()
