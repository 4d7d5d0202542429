"""Which index a command is about: that of a folder, or those of all folders."""

from pathlib import Path

from longsearch.app.folders.store_refs import read_store
from longsearch.app.paths import expanded, find_index, in_shell, index_paths
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.lance.address import is_address


def chosen_index(folder: str, everywhere: bool) -> tuple[Path, str] | None:
    """Return the root and the folder inside it that a command is about, as `find_index`; None for all folders.

    Without a folder it is the one that the person is in, or all folders outside any. Raises LongsearchError if nothing
    is indexed there.
    """
    if everywhere and folder:
        raise LongsearchError("--everywhere is for all folders, and a folder is named too", "leave out one of the two")
    if everywhere:
        if not index_paths():
            raise LongsearchError("no folder is indexed yet", "index one: longsearch index FOLDER")
        return None
    if is_address(folder):
        return read_store(folder), ""
    try:
        return find_index(folder or ".")
    except LongsearchError as error:
        if folder:
            raise _with_offer(folder, error) from error
        if not index_paths():
            raise
        return None


def _with_offer(folder: str, error: LongsearchError) -> LongsearchError:
    """The error or, if the files of a folder that is away are there now, one that says how to take its index over."""
    from longsearch.app.folders.moving import moved_from

    wanted = expanded(folder).resolve()
    for known, place in moved_from(wanted, *wanted.parents):
        hint = f"to take its index over: longsearch folders move {in_shell(known.root)} {in_shell(place)}"
        return LongsearchError(f"{place} has the files of {known.name}, which is away", hint)
    return error
