"""Finds the drives of a root that are away, so that the index keeps their files until they are back. Pure.

A root may be a drive, or hold drives. A folder is taken for a drive if its device differs from that of the folder
around it. The store remembers these folders from sweep to sweep: while the drive is away, its folder is empty or
missing and looks like any other. Drives are not told apart: files of another drive mounted at the same place count as
changed versions of the first one's.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import accumulate

from longsearch.indexer.walk import FolderStamp, WalkProblem


@dataclass(frozen=True, slots=True)
class Drives:
    """The drives of a root, as one sweep finds them."""

    folders: frozenset[str]
    """Folders to remember, relative to the root (""): a drive is mounted there now, or was, and some of its files are
    missing."""
    away: tuple[WalkProblem, ...]
    """Folders whose drive was there before and is not there now. The files on these drives are unknown."""


def find_drives(
    remembered: Collection[str],
    folders: Mapping[str, FolderStamp],
    missing: Collection[str],
    is_there: Callable[[str], bool],
    device_around: int,
) -> Drives:
    """Find the drives of a root.

    `remembered`: `Drives.folders` of the last sweep. `folders`: the folders that the walk entered, by path. `missing`:
    paths of known files that the walk did not find. `is_there` tells whether anything exists at a path; it is asked
    about folders that the walk did not enter, which are ignored or gone with their drive. `device_around`: the device
    of the folder that the root lies in.
    """
    around = {path: folders[_around(path)].device if path else device_around for path in folders}
    mounted = {path for path, stamp in folders.items() if stamp.device != around[path]}
    n_missing = {folder: sum(lies_in(path, folder) for path in missing) for folder in remembered}
    incomplete = {folder for folder, n in n_missing.items() if n}
    away = {folder for folder in incomplete - mounted if not _was_skipped(folder, folders, is_there)}
    outermost = sorted(folder for folder in away if not any(lies_in(folder, outer) for outer in away - {folder}))
    return Drives(frozenset(mounted | incomplete), tuple(_problem(folder, n_missing[folder]) for folder in outermost))


def lies_in(path: str, folder: str) -> bool:
    """Return whether `path` lies under `folder`. Both are relative to a root; "" is the root and holds everything."""
    return not folder or path.startswith(folder + "/")


def _was_skipped(folder: str, folders: Mapping[str, FolderStamp], is_there: Callable[[str], bool]) -> bool:
    """Return whether `folder`, or a folder around it, exists and was skipped by the walk."""
    from_root_down = accumulate(folder.split("/"), "{}/{}".format)
    not_entered = next((path for path in from_root_down if path not in folders), None)
    return not_entered is not None and is_there(not_entered)


def _problem(folder: str, n_files: int) -> WalkProblem:
    files = "1 file stays" if n_files == 1 else f"{n_files} files stay"
    return WalkProblem(folder, f"its drive is away; its {files} in the index")


def _around(folder: str) -> str:
    return folder.rpartition("/")[0]
