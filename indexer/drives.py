"""Which drives, a root or inside it, are away: what was indexed of them is kept until they are back. Pure.

A drive is seen by its folder's device, which is not that of the folder around it. That such a folder was one is
remembered from sweep to sweep, for when the drive is away it is an empty folder like any other, or none. Not known is
which drive it was: of another one on the same folder the files are taken for what has become of the first one's.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import accumulate

from indexer.walk import FolderStamp, WalkProblem


@dataclass(frozen=True, slots=True)
class Drives:
    """The drives of a root, as a sweep finds them."""

    folders: frozenset[str]
    """Where there is one, or was and something of it is missing: to be remembered. Relative to the root ("")."""
    away: tuple[WalkProblem, ...]
    """Where there was one and is none: nothing is known of what lies there."""


def find_drives(
    remembered: Collection[str],
    folders: Mapping[str, FolderStamp],
    missing: Collection[str],
    is_there: Callable[[str], bool],
    device_around: int,
) -> Drives:
    """The drives of a root.

    `remembered`: `Drives.folders` of the sweep before. `folders`: what the walk went into, by path. `missing`: paths of
    known files that it did not find. `is_there`: whether there is anything at a path, for folders that the walk did not
    go into: those it was told to pass over, and those that are gone with their drive. `device_around`: of the folder
    that the root lies in.
    """
    around = {path: folders[_around(path)].device if path else device_around for path in folders}
    mounted = {path for path, stamp in folders.items() if stamp.device != around[path]}
    n_missing = {folder: sum(lies_in(path, folder) for path in missing) for folder in remembered}
    bereft = {folder for folder, n in n_missing.items() if n}
    away = {folder for folder in bereft - mounted if not _is_passed_over(folder, folders, is_there)}
    outermost = sorted(folder for folder in away if not any(lies_in(folder, outer) for outer in away - {folder}))
    return Drives(frozenset(mounted | bereft), tuple(_problem(folder, n_missing[folder]) for folder in outermost))


def lies_in(path: str, folder: str) -> bool:
    """Whether `path` lies under `folder`, both relative to a root; all does under the root, which is ""."""
    return not folder or path.startswith(folder + "/")


def _is_passed_over(folder: str, folders: Mapping[str, FolderStamp], is_there: Callable[[str], bool]) -> bool:
    """Whether the walk left out a folder that is there, or one that this lies in."""
    way = accumulate(folder.split("/"), "{}/{}".format)
    not_gone_into = next((path for path in way if path not in folders), None)
    return not_gone_into is not None and is_there(not_gone_into)


def _problem(folder: str, n_files: int) -> WalkProblem:
    files = "the 1 file" if n_files == 1 else f"the {n_files} files"
    return WalkProblem(folder, f"its drive is away; {files} known of it are kept")


def _around(folder: str) -> str:
    return folder.rpartition("/")[0]
