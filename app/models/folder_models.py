"""Which model reads which folder, and which index file holds its vectors. A small file beside the index says so.

A folder without a choice follows the settings: it has the model that they name, or the bundled one. When another
model is chosen, for the folder or in the settings, the folder is read into a second index file; searches go on in the
first until the second is complete. It reads nothing of an index but its fingerprint.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.locks import held
from longsearch.app.models.encoders import chosen_model, resolved
from longsearch.app.paths import POINTER, base_index_path, choice_path, in_shell, index_path, remove_index
from longsearch.app.settings.reading import current, is_from_file
from longsearch.engine.errors import LongsearchError, ModelError, StoreError
from longsearch.engine.json_files import load_kept, replace_object

if TYPE_CHECKING:
    from longsearch.engine.answers.token_table import TokenTable


@dataclass(frozen=True, slots=True)
class FolderModel:
    """The models of one folder."""

    model: str
    """The model that made the vectors of the index in use."""
    is_own: bool
    """Whether it was chosen for this folder, or the settings name another by now; otherwise it is the default."""
    next_model: str = ""
    """The model with which the folder is being read again; "" if no change is under way."""
    next_path: Path | None = None
    """The index file that it fills."""


def folder_model(root: Path) -> FolderModel:
    """Return the models of a root."""
    choice = load_kept(choice_path(root))
    if not choice.get("model") or (choice.get("follows") and _is_in_store(root)):
        return FolderModel(chosen_model(), is_own=False)
    next_index = choice.get("next_index") or ""
    next_path = base_index_path(root).with_name(next_index) if next_index else None
    is_own = not choice.get("follows") or choice["model"] != chosen_model()
    return FolderModel(choice["model"], is_own, choice.get("next_model") or "", next_path)


def own_model(root: Path) -> str | None:
    """Return the model of a root that has one of its own; None: the default. Reads no settings if none was chosen."""
    choice = load_kept(choice_path(root))
    if not choice.get("model") or (choice.get("follows") and _is_in_store(root)):
        return None
    return None if choice.get("follows") and choice["model"] == chosen_model() else str(choice["model"])


def thinking(steps: int | None, roots: Iterable[str | Path] = ()) -> int | None:
    """Return the number of soft tokens of queries: `steps`, or what the settings say, or None for the model's own.

    `roots`: the folders that are searched; without any, the default model counts. Raises LongsearchError if
    LONGSEARCH_THINK is no number, or if the model of no folder can think; a number in the config file does not count
    for models that cannot. Loads no weights (0.1 s).
    """
    asked = current("think").think if steps is None else steps
    if asked is None:
        return None
    from longsearch.engine.models.config import read_config
    from longsearch.engine.models.hub import locate
    from longsearch.engine.models.readout_config import check_thinking

    problem: LongsearchError | None = None
    for model in {own_model(Path(root)) or chosen_model() for root in roots} or {chosen_model()}:
        try:
            check_thinking(read_config(locate(model).folder / "config.json")[1], asked)
        except LongsearchError as error:
            problem = error
        else:
            return asked
    if problem and not (steps is None and is_from_file("think")):
        raise problem
    return None


@lru_cache(maxsize=16)
def token_table(root: Path, fingerprint: str) -> "TokenTable | None":
    """Return the token table of a root's model; None if the model is not here, or if only torch can read it.

    `fingerprint`: that of the index. While it is the same, no file is read again to see which model is in use.
    """
    return _token_table(folder_model(root).model)


@lru_cache(maxsize=2)
def _token_table(model: str) -> "TokenTable | None":
    from longsearch.engine.answers.token_table import TokenTable

    try:
        return TokenTable.open(model)
    except ModelError:
        return None


def choose_model(root: Path, name: str) -> FolderModel:
    """Choose the model of a root. Raises ModelError if it is not on this machine.

    An index that exists stays in use until the next sweeps have read the folder with the new model. Choosing the old
    model again ends that. The vectors of a model that is no longer here cannot answer: nothing waits for them.
    """
    from longsearch.engine.models.identity import identify

    if _is_in_store(root):
        raise LongsearchError(
            f"the index of {root} is in a store", f"move it back first: longsearch move {in_shell(root)} --to sqlite"
        )
    name = resolved(name)
    identify(name)
    with _lock(root):
        _note(root, name, follows=False)
    return folder_model(root)


def follow_settings(root: Path) -> FolderModel:
    """Return the models of a root that is about to be indexed. Where none was chosen, it gets the one of the settings.

    If that is another than the one that made the index, a change begins as with `choose_model`. Raises ModelError if
    the new model is not here.
    """
    from longsearch.engine.models.identity import identify

    choice, name = load_kept(choice_path(root)), chosen_model()
    is_settled = choice.get("model") == name and not choice.get("next_model")
    if is_settled or (choice.get("model") and not choice.get("follows")) or _is_in_store(root):
        return folder_model(root)
    identify(name)
    with _lock(root):
        _note(root, name, follows=True)
    return folder_model(root)


def _note(root: Path, name: str, follows: bool) -> None:
    """Note which model is to read a root, beside the one that made its index. Ends a change to any other model."""
    before, index = folder_model(root), index_path(root)
    choice = {"model": name, "index": index.name, "follows": follows}
    next_path = None
    made_by = _maker(root, (before.model, name, "bundled"))
    if made_by not in ("", name):
        digest = hashlib.blake2b(os.fsencode(name), digest_size=4).hexdigest()
        next_path = base_index_path(root).with_suffix(f".{digest}.sqlite")
        choice = {**choice, "model": made_by, "next_model": name, "next_index": next_path.name}
    if before.next_path not in (None, next_path):
        with contextlib.suppress(OSError):
            remove_index(before.next_path)
    replace_object(choice_path(root), choice)


def _maker(root: Path, names: Iterable[str]) -> str:
    """Return the first of these models that made the vectors of a root; "" if none did, or if there are none."""
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.models.identity import identify

    with contextlib.suppress(StoreError):  # no index, or one of an older longsearch
        with open_index(index_path(root)) as index:
            fingerprint = index.fingerprint
        for name in names:
            with contextlib.suppress(ModelError):
                if identify(name).fingerprint == fingerprint:
                    return name
    return ""


def _is_in_store(root: Path) -> bool:
    return index_path(root).suffix == POINTER


def finish_change(root: Path, finished: FolderModel) -> None:
    """Put the index of the next model in use, and remove the old one. Nothing happens if the choice has changed."""
    with _lock(root):
        if finished.next_path is None or folder_model(root) != finished:
            return
        old = index_path(root)
        follows = bool(load_kept(choice_path(root)).get("follows"))
        done = {"model": finished.next_model, "index": finished.next_path.name, "follows": follows}
        replace_object(choice_path(root), done)
    with contextlib.suppress(OSError):  # on Windows, while a search has it open
        remove_index(old)


def describe_change(root: Path) -> str:
    """Say how far the folder is read again with another model; "" if no change is under way."""
    folder = folder_model(root)
    if folder.next_path is None:
        return ""
    from longsearch.engine.index.opening import open_index

    try:
        with open_index(folder.next_path) as index:
            progress = index.progress()
    except StoreError:  # not begun
        return f"about to be read again with the model {folder.next_model}"
    share = progress.n_tokens_embedded / max(1, progress.n_tokens)
    return f"reading again with the model {folder.next_model}: {share:.0%}"


def _lock(root: Path) -> contextlib.AbstractContextManager[None]:
    return held(choice_path(root).with_suffix(".model-lock"), 10)
