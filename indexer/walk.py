"""Lists the readable files under a folder without opening any. Does not know the index: `plan` compares the two.

The walk skips:
- hidden files and folders, and dependency and cache folders;
- what programs leave beside documents: owner files, unfinished downloads, swap and backup files;
- files and folders that a `.longsearchignore` file names (gitignore syntax; it may lie in any folder);
- files of formats that cannot be read, which it counts by suffix;
- folders with what belongs to a saved page: `Tides_files` beside `Tides.html`;
- symbolic links. A linked file is either listed under its own name or lies outside the folder that the person chose. A
  linked folder may lead in circles.
"""

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from longsearch.engine.errors import LongsearchError
from longsearch.engine.store.records import FileStamp
from longsearch.indexer.extract import kept_apart
from longsearch.indexer.extract.formats import is_readable, reader_version
from longsearch.indexer.extract.other_formats import most_frequent, suffix_of
from longsearch.indexer.ignore import (
    IGNORE_FILE,
    IgnoreRules,
    belongs_to_a_page,
    is_leftover,
    is_skipped,
    marks_a_cache,
    read_rules,
)

CLOCK_TICK_NS = 20_000_000
"""Two changes closer together than this may carry the same time: file systems' clocks tick every 1 to 10 ms."""

MAX_WALKS = 3
_LATEST_NS = 2**63 - 1  # the index's 64-bit integers end in the year 2262; file systems allow later years


@dataclass(frozen=True, slots=True)
class FolderStamp:
    """A folder as it was just before it was listed."""

    changed_ns: int
    """When an entry was last added or removed; -1 if that is so recent that a later change could carry the same time.
    """
    device: int
    """The device of its file system. If the folder around it has another device, a file system is mounted here."""


@dataclass(frozen=True, slots=True)
class WalkProblem:
    """A part of the root that the walk could not see. Its contents are unknown."""

    path: str
    """As `FileStamp.path`: a folder that cannot be listed or whose drive is away, or a file that cannot be examined."""
    reason: str

    def __str__(self) -> str:
        return f"{self.path or 'the folder itself'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Listing:
    """The files and folders under a root."""

    files: dict[str, FileStamp]
    """The readable files, by path."""
    folders: dict[str, FolderStamp]
    """The folders that the walk entered, by path ("" for the root)."""
    problems: list[WalkProblem]
    is_steady: bool
    """Whether nothing moved during the walk. If something did, `files` may lack a file that still exists."""
    passed_over: dict[str, int] = field(default_factory=dict)
    """Suffix -> number of the files that longsearch cannot read."""


def take_listing(root: Path) -> Listing:
    """Walk `root`, at most three times, until nothing moves during the walk. Raises as `walk`."""
    for _ in range(MAX_WALKS):
        problems: list[WalkProblem] = []
        folders: dict[str, FolderStamp] = {}
        passed_over: Counter[str] = Counter()
        files = {stamp.path: stamp for stamp in walk(root, problems, folders, passed_over)}
        if is_steady := is_unchanged(root, folders):
            break
        time.sleep(CLOCK_TICK_NS / 1e9)
    return Listing(files, folders, problems, is_steady, most_frequent(passed_over))


def walk(
    root: Path,
    problems: list[WalkProblem],
    folders: dict[str, FolderStamp] | None = None,
    passed_over: Counter[str] | None = None,
) -> Iterator[FileStamp]:
    """Yield the readable files under `root`, sorted by name within each folder.

    Adds each file and folder that it cannot see to `problems`. Adds each folder that it enters to `folders`, by path
    ("" for the root), for `is_unchanged` and `find_drives`. Counts the files that cannot be read in `passed_over`, by
    suffix. Raises `LongsearchError` at once if `root` itself cannot be listed: an empty listing would mean that all
    files were deleted.
    """
    _list_root(root)
    counts: Counter[str] = Counter() if passed_over is None else passed_over
    return _walk(root, problems, {} if folders is None else folders, counts)


def is_unchanged(root: Path, folders: Mapping[str, FolderStamp]) -> bool:
    """Return whether nothing was added, removed, renamed or mounted since these folders were listed.

    Otherwise the listing may lack a file that still exists: it was moved from a folder that was not listed yet into a
    folder that was.
    """
    try:
        return all(
            change_and_device(root / folder) == (stamp.changed_ns, stamp.device) for folder, stamp in folders.items()
        )
    except OSError:
        return False


def _stamp_folder(folder: Path) -> FolderStamp:
    changed_ns, device = change_and_device(folder)
    return FolderStamp(-1 if abs(time.time_ns() - changed_ns) < CLOCK_TICK_NS else changed_ns, device)


def change_and_device(folder: Path) -> tuple[int, int]:
    """Return when an entry of the folder last changed, in nanoseconds since 1970, and the folder's device."""
    status = folder.stat()
    return status.st_mtime_ns, status.st_dev


def device_around(root: Path) -> int:
    """Return the device of the folder that `root` lies in. If `root` has another, a drive is mounted at `root`."""
    return change_and_device(root.parent)[1]


def _list_root(root: Path) -> list[os.DirEntry[str]]:
    try:
        return _entries(root)
    except NotADirectoryError as error:
        raise LongsearchError(f"not a folder: {root}", "name the folder that holds the file") from error
    except FileNotFoundError as error:
        raise LongsearchError(f"the folder is not there: {root}", "connect its drive, or check its name") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise LongsearchError(f"the folder cannot be listed: {root}: {reason}", "check that you may read it") from error


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return sorted(listing, key=lambda entry: entry.name)


def _walk(
    root: Path, problems: list[WalkProblem], folders: dict[str, FolderStamp], passed_over: Counter[str]
) -> Iterator[FileStamp]:
    # a stack, not recursion: folders may nest deeper than Python's calls
    stack: list[tuple[str, IgnoreRules | None]] = [("", None)]
    while stack:
        folder, outer_rules = stack.pop()
        try:
            folders[folder] = _stamp_folder(root / folder)
            entries = _entries(root / folder) if folder else _list_root(root)
        except OSError as error:
            problems.append(WalkProblem(folder, error.strerror or str(error)))
            continue
        names = {entry.name for entry in entries}
        if folder and marks_a_cache(names):
            continue
        rules = _rules(entries, folder, outer_rules, problems)
        kept = [(entry, f"{folder}/{entry.name}" if folder else entry.name) for entry in entries]
        kept = [(entry, path) for entry, path in kept if _is_wanted(entry, path, names, rules)]
        for entry, path in kept:
            if entry.is_dir(follow_symlinks=False):
                continue
            if is_readable(path):
                yield from _stamp(entry, path, problems)
            elif entry.is_file(follow_symlinks=False):
                passed_over[suffix_of(path)] += 1
        stack += [(path, rules) for entry, path in reversed(kept) if entry.is_dir(follow_symlinks=False)]


def _is_wanted(entry: os.DirEntry[str], path: str, names: set[str], rules: IgnoreRules | None) -> bool:
    """Return whether `entry` is a folder to enter, or a file to list if it can be read. `names`: all beside it."""
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_skipped(entry.name) and not (is_folder and _is_mail_folder(entry, names)):
        return False
    if belongs_to_a_page(entry.name, names) if is_folder else is_leftover(entry.name):
        return False
    return rules is None or not rules.ignores(path + "/" if is_folder else path)


def _is_mail_folder(entry: os.DirEntry[str], names: set[str]) -> bool:
    """Return whether a hidden folder is one of a Maildir, as `.Sent` beside `cur`, `new` and `tmp`."""
    return names >= {"cur", "new", "tmp"} and (Path(entry.path) / "cur").is_dir()


def _stamp(entry: os.DirEntry[str], path: str, problems: list[WalkProblem]) -> Iterator[FileStamp]:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted since the folder was listed
        return
    except OSError as error:
        problems.append(WalkProblem(path, error.strerror or str(error)))
        return
    if stat.S_ISREG(status.st_mode):
        changed_ns = min(max(status.st_mtime_ns, -_LATEST_NS), _LATEST_NS)
        ctime_ns = 0 if os.name == "nt" else min(max(status.st_ctime_ns, 0), _LATEST_NS)  # of Windows: its creation
        ctime_ns = max(ctime_ns, min(kept_apart.changed_ns(Path(entry.path), status.st_size), _LATEST_NS))
        yield FileStamp(path, status.st_size, changed_ns, status.st_ino, ctime_ns, reader_version(path))


def _rules(
    entries: list[os.DirEntry[str]], folder: str, outer: IgnoreRules | None, problems: list[WalkProblem]
) -> IgnoreRules | None:
    """Return the ignore rules of `folder`: its own and those of the folders above it."""
    own = next((entry for entry in entries if entry.name == IGNORE_FILE and entry.is_file(follow_symlinks=False)), None)
    if own is None:
        return outer
    try:
        return read_rules(Path(own.path), folder, outer)
    except LongsearchError as error:
        problems.append(WalkProblem(f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE, error.message))
        return outer
