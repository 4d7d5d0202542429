"""What is to be done so that the index says what the disk says: listing + catalogue -> actions. Pure.

Knows names and stamps, never content: that two files hold the same text is found out when they are read.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from engine.errors import LongsearchError
from engine.store.records import FileStamp, KnownFile
from indexer.drives import lies_in
from indexer.retries import is_due


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
    """The file has another name; nothing is to be read. Of files that change names with each other, all at one moment:
    a move may lead to where another comes from.
    """

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


def plan(
    listing: Mapping[str, FileStamp],
    catalogue: Mapping[str, KnownFile],
    unlisted: Collection[str] = (),
    now_s: float = 0.0,
) -> list[Action]:
    """The actions in their order: likely copies of what is to go, moves (all at one moment), the rest by name.

    Both mappings are by path. `unlisted` names what the walk could not look at: what is known there stays, unless it
    is found elsewhere. A file that failed is read again once it has changed, or its time to be tried again has come
    (`now_s`, seconds since 1970). A change that leaves the stamp as it was is not noticed. Raises `RootOffline` where
    nothing is listed but something known that is not unlisted.
    """
    gone = {path for path in catalogue if path not in listing}
    forgotten = {path for path in gone if not _is_under(path, unlisted)}
    if forgotten and not listing:
        raise RootOffline(len(gone))
    new = {path for path in listing if path not in catalogue}
    both = catalogue.keys() & listing.keys()
    replaced = {path for path in both if identity(catalogue[path].stamp) != identity(listing[path])}
    moves = _moves(
        [catalogue[path].stamp for path in sorted(gone | replaced)], [listing[path] for path in sorted(new | replaced)]
    )
    moved_from, moved_to = {move.old for move in moves}, {move.new.path for move in moves}
    forgets = [Forget(path) for path in sorted(forgotten - moved_from)]
    changed = {path for path in both if _is_stale(catalogue[path], listing[path], now_s)}
    reads = [Read(listing[path]) for path in sorted((new | changed) - moved_to)]
    # of a copy, or a file moved over a file system's border, only the size is the same: read before that content goes,
    # it is free. A new path takes nothing's place, so it comes before all that does
    last_sizes = {catalogue[path].stamp.size for path in (forgotten | replaced) - moved_from}
    likely = [read for read in reads if read.stamp.size in last_sizes]
    others = [read for read in reads if read.stamp.size not in last_sizes]
    copies = [read for read in likely if read.stamp.path in new]
    overwritten = [read for read in likely if read.stamp.path not in new]
    return [*copies, *moves, *overwritten, *forgets, *others]


def identity(stamp: FileStamp) -> tuple[int | str, int, int]:
    """The same for two stamps of one file that has got another name; without inodes, only a file of that name is it."""
    return stamp.inode or stamp.path, stamp.size, stamp.mtime_ns


def _moves(left: Iterable[FileStamp], come: Iterable[FileStamp]) -> list[Move]:
    """Pairs each file that has come to its path with one that has left its own and was the same; each at most once."""
    by_identity: defaultdict[tuple[int | str, int, int], deque[str]] = defaultdict(deque)
    for stamp in left:
        by_identity[identity(stamp)].append(stamp.path)
    return [Move(by_identity[identity(stamp)].popleft(), stamp) for stamp in come if by_identity[identity(stamp)]]


def _is_stale(known: KnownFile, stamp: FileStamp, now_s: float) -> bool:
    return known.stamp != stamp or is_due(known.retry_at, now_s)


def _is_under(path: str, folders: Collection[str]) -> bool:
    return any(path == folder or lies_in(path, folder) for folder in folders)
