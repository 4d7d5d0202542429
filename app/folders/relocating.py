"""Carries out the move of an index to another folder: a few renames, a row in the index, lines in the person's files.

What is to be done is written down first; so a move that was interrupted is completed by whoever lists the folders next.
"""

import contextlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from longsearch.app.folders import names
from longsearch.app.locks import LockBusyError, held
from longsearch.app.paths import base_index_path, choice_path, working_path
from longsearch.app.user_data import user_file
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object, replace_object

_LOCK_TIMEOUT_S = 15.0  # the daemon ends its current step first


def in_progress_path() -> Path:
    """Return the file that says which index is being moved to another folder; it exists only meanwhile."""
    return base_index_path(Path("/")).with_name("moving.json")


def relocate(old: Path, new: Path) -> None:
    """Move the index of a folder. Raises LongsearchError if a process writes it; then it stays where it was."""
    from longsearch.engine.store.session import Session

    with locked(old, new):
        Session.open(working_path(old)).close()  # its log is written into the index, so that no reader misses it
        replace_object(in_progress_path(), {"old": os.fspath(old), "new": os.fspath(new)})
        _carry_out(old, new)


def finish() -> None:
    """Complete a move that was interrupted; does nothing without one."""
    plan = load_object(in_progress_path()) if in_progress_path().exists() else {}
    if plan:
        old, new = Path(str(plan["old"])), Path(str(plan["new"]))
        with locked(old, new):
            _carry_out(old, new)


@contextlib.contextmanager
def locked(*roots: Path) -> Iterator[None]:
    """Hold the locks of these indexes."""
    try:
        with ExitStack() as stack:
            for lock in sorted(base_index_path(root).with_suffix(".lock") for root in roots):
                stack.enter_context(held(lock, _LOCK_TIMEOUT_S))
            yield
    except LockBusyError as error:
        raise LongsearchError("another longsearch is writing this index", "try again in a minute") from error


def _carry_out(old: Path, new: Path) -> None:
    """Do all steps of a move. Each may be done already."""
    from longsearch.engine.store.session import Session

    before, after = base_index_path(old), base_index_path(new)
    if choice := load_object(choice_path(old)):
        known: dict[str, Any] = {
            key: value.replace(before.stem, after.stem, 1) if key in ("index", "next_index") and value else value
            for key, value in choice.items()
        }
        replace_object(choice_path(new), known)
    kept = {before.with_suffix(".lock"), before.with_suffix(".model-lock"), choice_path(old)}
    # the index itself goes last: its segments and its log belong to it
    for file in sorted(set(before.parent.glob(f"{before.stem}.*")) - kept, key=lambda file: file.suffix == ".sqlite"):
        file.rename(file.with_name(after.stem + file.name.removeprefix(before.stem)))
    for file in after.parent.glob(f"{after.stem}.*"):
        if file.suffix == ".sqlite":  # another one is being filled while the folder gets another model
            Session.open(file, root=new).close()
    names.move(old, new)
    user_file.move_all(os.fspath(old), os.fspath(new))
    for file in kept:
        file.unlink(missing_ok=True)
    in_progress_path().unlink(missing_ok=True)
