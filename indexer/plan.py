"""What is to be done so that the index says what the disk says: listing + catalogue -> actions. Pure.

Knows names and stamps, never content: that two files hold the same text is found out when they are read.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from engine.errors import LongsearchError
from indexer.retries import is_due
from indexer.walk import FileStamp


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the index knows it."""

    stamp: FileStamp
    """As it was when it was read."""
    failed: bool
    """Whether nothing could be read of it."""
    retry_at: float | None = None
    """When it is to be read again although it has not changed, seconds since 1970; None: never."""


@dataclass(frozen=True, slots=True)
class Read:
    """Read the file: it is new, or not what it was."""

    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class Forget:
    """The file is gone."""

    path: str


@dataclass(frozen=True, slots=True)
class Move:
    """The file has another name; nothing is to be read."""

    old: str
    new: FileStamp


class RootOffline(LongsearchError):  # noqa: N818 - a state of the root, not a fault
    """The root lists nothing although files are known. Nothing is to be forgotten."""

    def __init__(self, n_known: int) -> None:
        files = "1 file" if n_known == 1 else f"{n_known} files"
        super().__init__(
            f"the folder is empty, but {files} of it are known: taken to be offline",
            "connect its drive; nothing is lost",
        )


Action = Read | Forget | Move
_Identity = tuple[int, int, int]


def plan(
    listing: Mapping[str, FileStamp],
    catalogue: Mapping[str, KnownFile],
    unlisted: Collection[str] = (),
    now_s: float = 0.0,
) -> list[Action]:
    """The actions in their order: moves, likely copies of what is gone, what is gone, the rest by name.

    Both mappings are by path. `unlisted` names what the walk could not look at: what is known there stays. A file that
    failed is read again once it has changed, or its time to be tried again has come (`now_s`, seconds since 1970). A
    change that leaves the stamp as it was is not noticed. Raises `RootOffline` where nothing is listed but something
    known.
    """
    if catalogue and not listing:
        raise RootOffline(len(catalogue))
    gone = sorted(path for path in catalogue if path not in listing and not _is_under(path, unlisted))
    new = sorted(path for path in listing if path not in catalogue)
    changed = [
        path for path, stamp in listing.items() if path in catalogue and _is_stale(catalogue[path], stamp, now_s)
    ]
    moves = _moves({path: catalogue[path].stamp for path in gone}, [listing[path] for path in new])
    moved_from, moved_to = {move.old for move in moves}, {move.new.path for move in moves}
    forgets = [Forget(path) for path in gone if path not in moved_from]
    reads = [Read(listing[path]) for path in sorted([*new, *changed]) if path not in moved_to]
    # over a file system's border a moved file keeps only its size: read before its content is forgotten, it is free
    gone_sizes = {catalogue[forget.path].stamp.size for forget in forgets}
    likely = [read for read in reads if read.stamp.size in gone_sizes]
    others = [read for read in reads if read.stamp.size not in gone_sizes]
    return [*moves, *likely, *forgets, *others]


def _moves(gone: Mapping[str, FileStamp], new: Collection[FileStamp]) -> list[Move]:
    """Pairs each new file with a vanished one that was the same inode, size and time; each at most once."""
    by_identity: defaultdict[_Identity, list[str]] = defaultdict(list)
    for path, stamp in gone.items():
        by_identity[_identity(stamp)].append(path)
    moves = []
    for stamp in new:
        old_paths = by_identity.get(_identity(stamp)) if stamp.inode else None
        if old_paths:
            moves.append(Move(old_paths.pop(0), stamp))
    return moves


def _identity(stamp: FileStamp) -> _Identity:
    return stamp.inode, stamp.size, stamp.mtime_ns


def _is_stale(known: KnownFile, stamp: FileStamp, now_s: float) -> bool:
    return known.stamp != stamp or is_due(known.retry_at, now_s)


def _is_under(path: str, folders: Collection[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)
