"""Which readable files lie under a folder, without opening any. Does not know what was there before: `plan` does.

Skipped: hidden files and folders, dependency and cache folders, what a `.longsearchignore` in any folder names
(gitignore syntax), names of formats that are not read, and symbolic links: a linked file is either listed under its own
name or lies outside the folder that the person chose, and a linked folder may lead in circles.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LongsearchError
from engine.store.records import FileStamp
from indexer.extract.formats import is_readable
from indexer.ignore import IGNORE_FILE, IgnoreRules, is_passed_over, marks_a_cache, read_rules

CLOCK_TICK_NS = 20_000_000
"""Changes closer together than this may bear one time: file systems stamp with a clock of 1 to 10 ms."""

_LATEST_NS = 2**63 - 1  # the index's integers end in the year 2262; file systems know later ones


@dataclass(frozen=True, slots=True)
class FolderStamp:
    """A folder as it was before it was listed."""

    changed_ns: int
    """When something last came or went; -1, which is no time, where that is so recent that a change after it could bear
    the same time."""
    device: int
    """The file system it lies on; where it is not that of the folder around it, something is mounted here."""


@dataclass(frozen=True, slots=True)
class WalkProblem:
    """A part of the root that could not be looked at, so nothing is known of what lies there."""

    path: str
    """As `FileStamp.path`: a folder that cannot be listed or whose drive is away, or a file not to be looked at."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path or 'the folder itself'}: {self.reason}"


def walk(root: Path, problems: list[WalkProblem], folders: dict[str, FolderStamp] | None = None) -> Iterator[FileStamp]:
    """The readable files under `root`, by name within each folder; what cannot be looked at goes into `problems`.

    `folders` gets each folder that is gone into, by path ("" for the root), for `is_unchanged` and `find_drives`.
    Raises `LongsearchError` at once where `root` itself cannot be listed: an empty answer would mean "all deleted".
    """
    _list_root(root)
    return _walk(root, problems, {} if folders is None else folders)


def is_unchanged(root: Path, folders: Mapping[str, FolderStamp]) -> bool:
    """Whether nothing came, went, was renamed or mounted since these folders were listed.

    If something did, what was moved from a folder not yet listed to one that was is missing from the listing, though
    it is not gone.
    """
    try:
        return all(
            _change_and_device(root / folder) == (stamp.changed_ns, stamp.device) for folder, stamp in folders.items()
        )
    except OSError:
        return False


def _stamp_folder(folder: Path) -> FolderStamp:
    changed_ns, device = _change_and_device(folder)
    return FolderStamp(-1 if abs(time.time_ns() - changed_ns) < CLOCK_TICK_NS else changed_ns, device)


def _change_and_device(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_mtime_ns, status.st_dev


def device_around(root: Path) -> int:
    """The file system of the folder that `root` lies in; where it is not that of `root`, a drive is mounted there."""
    return _change_and_device(root.parent)[1]


def _list_root(root: Path) -> list[os.DirEntry[str]]:
    try:
        return _entries(root)
    except NotADirectoryError as error:
        raise LongsearchError(f"not a folder: {root}", "name the folder that the file lies in") from error
    except FileNotFoundError as error:
        raise LongsearchError(f"the folder is not there: {root}", "connect its drive, or check its name") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise LongsearchError(f"the folder cannot be listed: {root}: {reason}", "check that you may read it") from error


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return sorted(listing, key=lambda entry: entry.name)


def _walk(root: Path, problems: list[WalkProblem], folders: dict[str, FolderStamp]) -> Iterator[FileStamp]:
    # A stack and not recursion: folders may nest deeper than Python's calls.
    stack: list[tuple[str, IgnoreRules | None]] = [("", None)]
    while stack:
        folder, outer_rules = stack.pop()
        try:
            folders[folder] = _stamp_folder(root / folder)
            entries = _entries(root / folder) if folder else _list_root(root)
        except OSError as error:
            problems.append(WalkProblem(folder, error.strerror or str(error)))
            continue
        if folder and marks_a_cache(entry.name for entry in entries):
            continue
        rules = _rules(entries, folder, outer_rules, problems)
        kept = [(entry, f"{folder}/{entry.name}" if folder else entry.name) for entry in entries]
        kept = [(entry, path) for entry, path in kept if _is_wanted(entry, path, rules)]
        for entry, path in kept:
            if not entry.is_dir(follow_symlinks=False):
                yield from _stamp(entry, path, problems)
        stack += [(path, rules) for entry, path in reversed(kept) if entry.is_dir(follow_symlinks=False)]


def _is_wanted(entry: os.DirEntry[str], path: str, rules: IgnoreRules | None) -> bool:
    """Whether `entry` is a folder to go into or a file to list."""
    if is_passed_over(entry.name):
        return False
    is_folder = entry.is_dir(follow_symlinks=False)
    if not is_folder and not is_readable(entry.name):
        return False
    return rules is None or not rules.ignores(path + "/" if is_folder else path)


def _stamp(entry: os.DirEntry[str], path: str, problems: list[WalkProblem]) -> Iterator[FileStamp]:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted since it was listed
        return
    except OSError as error:
        problems.append(WalkProblem(path, error.strerror or str(error)))
        return
    if stat.S_ISREG(status.st_mode):
        changed_ns = min(max(status.st_mtime_ns, -_LATEST_NS), _LATEST_NS)
        yield FileStamp(path, status.st_size, changed_ns, status.st_ino)


def _rules(
    entries: list[os.DirEntry[str]], folder: str, outer: IgnoreRules | None, problems: list[WalkProblem]
) -> IgnoreRules | None:
    """The rules that hold in `folder`: those of the folders above, and its own."""
    own = next((entry for entry in entries if entry.name == IGNORE_FILE and entry.is_file(follow_symlinks=False)), None)
    if own is None:
        return outer
    try:
        return read_rules(Path(own.path), folder, outer)
    except LongsearchError as error:
        problems.append(WalkProblem(f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE, error.message))
        return outer
