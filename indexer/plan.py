"""Plans how to bring the index in step with the disk: listing + catalogue -> actions. Pure.

Knows names and stamps, not the bytes of files: only reading shows that two files are the same document.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from longsearch.engine.errors import LongsearchError
from longsearch.engine.store.records import FileStamp, KnownFile
from longsearch.indexer.drives import lies_in
from longsearch.indexer.retries import is_due

_LONGEST_TICK_NS, _UNSETTLED = 2_000_000_000, 1


@dataclass(frozen=True, slots=True)
class Read:
    """Read the file: it is new, it has changed, or a retry is due."""

    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget the file: it is gone."""

    path: str


@dataclass(frozen=True, slots=True)
class Move:
    """Give the file its new name; nothing needs to be read.

    All moves of a plan happen at one moment: files may exchange their names, so one move may end where another begins.
    """

    old: str
    new: FileStamp


class RootOffline(LongsearchError):  # noqa: N818 - a state of the root, not a fault
    """The root holds no files although the index knows some. The caller must forget nothing."""

    def __init__(self, n_known: int) -> None:
        files = "1 file" if n_known == 1 else f"{n_known} files"
        super().__init__(
            f"the folder is empty, but the index has {files} of it: treated as offline",
            "connect its drive; nothing is lost",
        )


Action = Read | Forget | Move


def plan(
    listing: Mapping[str, FileStamp],
    catalogue: Mapping[str, KnownFile],
    unlisted: Collection[str] = (),
    now_s: float = 0.0,
) -> list[Action]:
    """Return the actions in the order in which to carry them out.

    First come new files that may be copies of files about to go, then the moves (all at one moment), then the rest by
    name. Both mappings are by path. `unlisted` holds the files and folders that the walk could not see: known files
    there stay, unless they are found elsewhere. A failed file is read again when it has changed or its retry is due
    (`now_s`, seconds since 1970), and any file if its format has a newer reader than that which read it. A change that
    changes neither the stamp nor `ctime_ns` goes unnoticed. Raises `RootOffline` if nothing is listed although files
    outside `unlisted` are known.
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
    # A copy, or a file moved from another file system, shares only its size with the original. If it is read before
    # the original's document goes, it is not embedded again. A new path replaces no file, so new paths come first.
    last_sizes = {catalogue[path].stamp.size for path in (forgotten | replaced) - moved_from}
    likely = [read for read in reads if read.stamp.size in last_sizes]
    others = [read for read in reads if read.stamp.size not in last_sizes]
    others.sort(key=lambda read: _is_second_look(catalogue.get(read.stamp.path), read.stamp))  # new ones come first
    copies = [read for read in likely if read.stamp.path in new]
    overwritten = [read for read in likely if read.stamp.path not in new]
    return [*copies, *moves, *overwritten, *forgets, *others]


def chosen(
    listing: Mapping[str, FileStamp], catalogue: Mapping[str, KnownFile], only: Collection[str] | None
) -> tuple[Mapping[str, FileStamp], Mapping[str, KnownFile], tuple[str, ...]]:
    """Return the part of listing and catalogue that `plan` is to see, and a line for chosen paths that are not listed.

    `only` holds the chosen paths; None: all. A chosen file that is gone is not forgotten: a whole sweep does that.
    """
    if only is None:
        return listing, catalogue, ()
    found = {path: listing[path] for path in only if path in listing}
    missing = sorted(path for path in only if path not in listing)
    more = f" and {len(missing) - 1:,} more" if missing[1:] else ""
    reason = "of the list, but not among the files that are read here: gone, ignored, or of another format"
    notes = (f"{missing[0]}{more}: {reason}",) if missing else ()
    return found, {path: catalogue[path] for path in found if path in catalogue}, notes


def identity(stamp: FileStamp) -> tuple[int | str, int, int]:
    """Return a key that stays the same when a file is renamed; without inodes the key changes with the path."""
    return stamp.inode or stamp.path, stamp.size, stamp.mtime_ns


def as_read(stamp: FileStamp, listed_ns: int) -> FileStamp:
    """Return the stamp to keep of a file that was read after it was listed, at `listed_ns`.

    A file system's clock may tick every two seconds. A file that had just changed can change again in the same tick,
    with the same size; so its time is kept as unknown, and the next sweep compares its bytes.
    """
    may_change = stamp.ctime_ns > 0 and abs(listed_ns - stamp.ctime_ns) < _LONGEST_TICK_NS
    return replace(stamp, ctime_ns=_UNSETTLED) if may_change else stamp


def _moves(gone: Iterable[FileStamp], found: Iterable[FileStamp]) -> list[Move]:
    """Pair each file in `found` (new at its path) with the same file in `gone` (it left its path), at most once."""
    by_identity: defaultdict[tuple[int | str, int, int], deque[str]] = defaultdict(deque)
    for stamp in gone:
        by_identity[identity(stamp)].append(stamp.path)
    return [Move(by_identity[identity(stamp)].popleft(), stamp) for stamp in found if by_identity[identity(stamp)]]


def _is_second_look(known: KnownFile | None, stamp: FileStamp) -> bool:
    return known is not None and known.stamp == stamp and known.stamp.ctime_ns == _UNSETTLED


def _is_stale(known: KnownFile, stamp: FileStamp, now_s: float) -> bool:
    is_outdated = known.stamp.reader_version < stamp.reader_version
    is_touched = 0 != known.stamp.ctime_ns != stamp.ctime_ns != 0
    return known.stamp != stamp or is_touched or is_outdated or is_due(known.retry_at, now_s)


def _is_under(path: str, folders: Collection[str]) -> bool:
    return any(path == folder or lies_in(path, folder) for folder in folders)
