"""Opens the index file: private permissions, sqlite-vec, WAL, checksums of pages, and recovery from a corrupt file.

Each page has a checksum (SQLite's `cksumvfs`), which is compared whenever the page is read from the disk. Who finds
damage leaves a mark beside the file, and the next writer looks at all of it. The only row it knows is `meta.writer`: if
this row exists at the opening, the last writer died.

Longer than 300 lines because opening, checking, moving aside and explaining errors are one thing.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import sqlite_vec
from numpy.typing import NDArray

from longsearch.engine.errors import NoIndexError, StoreError
from longsearch.engine.store.schema import MIGRATIONS, check_version, migrate

BUSY_TIMEOUT_MS = 5_000
_CHECKPOINT_TIMEOUT_MS = 100
_MOST_IDLE = 8
_CORRUPT = (apsw.CorruptError, apsw.NotADBError, json.JSONDecodeError)
"""What damage raises: a page of zeros has the right checksum, and what is JSON there cannot be read."""
_ASIDE, _KEPT_ASIDE_DAYS = ".corrupt-", 30
_CHECKSUM_BYTES = 8
"""At the end of each page."""


class CorruptIndexError(StoreError):
    """The index file is damaged."""


class BusyIndexError(StoreError):
    """Another process holds the index."""


@dataclass(frozen=True, slots=True)
class _FileState:
    """An index file at a moment: another one if it was replaced or written to since. SQLite watches the log itself."""

    path: Path
    device: int
    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "_FileState | None":
        """The file at `path`; None if there is none."""
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return cls(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


_idle: dict[_FileState, apsw.Connection] = {}
"""Connections for reading that no search uses now."""


def open_for_writing(
    path: Path,
    damage_in: Callable[[apsw.Connection], str] = lambda db: "",
    take_over: Callable[[apsw.Connection, apsw.Connection], tuple[int, int]] = lambda db, damaged: (0, 0),
) -> tuple[apsw.Connection, tuple[str, ...]]:
    """Open and migrate the index at `path`, creating a missing one. Also return notes that a person should read.

    A corrupt index is moved aside and a new one begun: everything in an index can be rebuilt from the files. What is
    still whole is taken over. `damage_in` and `take_over` are those of `store.salvage`.
    """
    _make_private(path)
    _delete_old_aside(path)
    try:
        return _open_writer(path, damage_in), ()
    except apsw.Error as error:
        if not _is_damage(error):
            raise
        aside = _move_aside(path)
        _make_private(path)
        db = _open_writer(path, damage_in)
        damaged = _connect(aside, apsw.SQLITE_OPEN_READONLY)
        n_kept, n_lost = take_over(db, damaged)
        damaged.close()
        of_all = f"{n_kept:,} of {n_kept + n_lost:,} documents were taken over, the others are read again"
        kept = of_all if n_kept else "is being rebuilt"
        note = (
            f"The index was corrupt ({error}); it was moved to {aside.name} ({aside.stat().st_size / 1e6:,.1f} MB, "
            f"deleted after {_KEPT_ASIDE_DAYS} days) and "
        )
        return db, (note + kept,)


def _is_damage(error: BaseException) -> bool:
    """Return whether the file is damaged: it is no database any more, or a page does not have its checksum."""
    is_page = isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
    return is_page or isinstance(error, _CORRUPT)


def note_damage(path: Path) -> None:
    """Have the next writer of the index at `path` look for damage in all of it."""
    with suppress(OSError):
        _mark_of(path).touch(0o600)


def _mark_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-damaged")


@contextmanager
def open_for_reading(path: Path) -> Iterator[apsw.Connection]:
    """Yield the index at `path`, read-only. Raises NoIndexError if there is none, StoreError for another schema.

    The connection is put by for the next search of this very file: opening another one took a third of a search.
    """
    file = _FileState.of(path)
    if file is None:
        raise _missing()
    db = _idle.pop(file, None) or _connect(path, apsw.SQLITE_OPEN_READONLY)
    try:
        version = check_version(db)
        if version == 0:
            raise _missing()
        if version < len(MIGRATIONS):
            raise StoreError("The index was written by an older longsearch", "Run: longsearch index FOLDER")
        yield db
    except BaseException:
        db.close()
        raise
    others = list(_idle)  # close those whose files have changed, and the oldest
    for other in {*others[: 1 - _MOST_IDLE], *(one for one in others if one != _FileState.of(one.path))}:
        if left := _idle.pop(other, None):
            with suppress(apsw.Error):  # its folder or its disk may be gone, which is nothing to this search
                left.close()
    if os.name == "nt" or _idle.setdefault(file, db) is not db:  # Windows cannot remove a file that is open
        db.close()


def _missing() -> NoIndexError:
    return NoIndexError("There is no index yet", "Index the folder first: longsearch index FOLDER")


@contextmanager
def errors_explained(path: Path, of_files: type[Exception] = OSError) -> Iterator[None]:
    """Turn SQLite's errors into `StoreError` with a hint. Errors of our own bugs (SQL, constraints) are not caught.

    `of_files`: the class of other errors that mean that the index cannot be reached.
    """
    try:
        yield
    except (*_CORRUPT, apsw.IOError) as error:
        if isinstance(error, apsw.IOError) and not _is_damage(error):
            raise StoreError(
                f"The index cannot be read or written: {error}", f"Check the permissions of {path}"
            ) from error
        note_damage(path)
        hint = "longsearch index FOLDER, or the daemon, mends it: what is damaged is read again from its files"
        raise CorruptIndexError(f"The index is corrupt: {error}", hint) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BusyIndexError("The index is in use by another process", "Try again in a moment") from error
    except apsw.FullError as error:
        raise StoreError("The disk is full", f"Make room on the disk of {path}") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, of_files) as error:
        raise StoreError(f"The index cannot be read or written: {error}", f"Check the permissions of {path}") from error


@contextmanager
def transaction(db: apsw.Connection, mode: str) -> Iterator[None]:
    """BEGIN `mode` ... COMMIT, or ROLLBACK on any error. Inside another transaction it joins that one."""
    if db.in_transaction:
        yield
        return
    db.execute(f"BEGIN {mode}")
    try:
        yield
        if db.in_transaction or mode != "DEFERRED":  # an error that a reader catches may have ended it: a bad page does
            db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def close_writer(db: apsw.Connection, is_intact: bool) -> None:
    """Close the writer's connection. If the index `is_intact`, the next writer need not check the file."""
    try:
        if is_intact:
            with transaction(db, "IMMEDIATE"):
                db.execute("DELETE FROM meta WHERE key = 'writer'")
    finally:
        db.close()


def log_bytes(path: Path) -> int:
    """Size of the write-ahead log of the index at `path`."""
    try:
        return _log_of(path).stat().st_size
    except FileNotFoundError:
        return 0


def empty_log(db: apsw.Connection) -> None:
    """Move the log into the index and truncate it, as far as readers allow. Wait for them at most 0.1 s.

    TRUNCATE, not RESTART: after RESTART the log keeps its size and would look too large at every commit.
    """
    db.set_busy_timeout(_CHECKPOINT_TIMEOUT_MS)
    try:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except (apsw.BusyError, apsw.LockedError):
        pass  # SQLite has moved all it could; the next commit tries again
    finally:
        db.set_busy_timeout(BUSY_TIMEOUT_MS)


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _connect(path: Path, flags: int) -> apsw.Connection:
    db = apsw.Connection(os.fspath(path), flags=flags, vfs=_with_checksums())
    try:
        db.set_busy_timeout(BUSY_TIMEOUT_MS)
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
        db.enable_load_extension(False)
        db.pragma("foreign_keys", True)
    except BaseException:
        db.close()
        raise
    return db


@cache
def _with_checksums() -> str:
    """Register SQLite's file layer that keeps a checksum for each page, and return its name."""
    memory = apsw.Connection(":memory:")
    memory.enable_load_extension(True)
    memory.load_extension(str(Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"))
    memory.close()
    return "cksmvfs"


def keep_checksums(db: apsw.Connection) -> bool:
    """Make room for a checksum in each page: of a new file at once, of an older one with its next VACUUM.

    Return whether it had room already.
    """
    n_bytes = np.array([_CHECKSUM_BYTES], np.int32)  # SQLite puts the old number in its place
    db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, n_bytes.ctypes.data)
    return int(n_bytes[0]) == _CHECKSUM_BYTES


def _open_writer(path: Path, damage_in: Callable[[apsw.Connection], str]) -> apsw.Connection:
    is_new = not path.stat().st_size
    db = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    try:
        if is_new:
            keep_checksums(db)
        db.pragma("journal_mode", "wal")
        db.pragma("synchronous", "normal")
        migrate(db)
        _check_after_crash(db, path, damage_in)
        with transaction(db, "IMMEDIATE"):
            db.execute("INSERT OR REPLACE INTO meta VALUES ('writer', ?)", (os.getpid(),))
    except BaseException:
        db.close()
        raise
    return db


def _check_after_crash(db: apsw.Connection, path: Path, damage_in: Callable[[apsw.Connection], str]) -> None:
    """Check the file if the last writer did not close it, or if somebody found damage.

    Always checking would cost 0.5 s for 190 MB.
    """
    if (mark := _mark_of(path)).exists():
        if found := damage_in(db):
            raise apsw.CorruptError(found)
        mark.unlink(missing_ok=True)
    if db.execute("SELECT 1 FROM meta WHERE key = 'writer'").get is None:
        return
    found = db.execute("PRAGMA quick_check(1)").get
    if found != "ok":
        raise apsw.CorruptError(str(found))


def _make_private(path: Path) -> None:
    """Create a missing folder with mode 0700, and the file with mode 0600; SQLite gives -wal and -shm the same mode.

    Never open an existing file here: closing it would drop the locks of this process's other connections.
    """
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        path.chmod(0o600)
    else:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _move_aside(path: Path) -> Path:
    """Rename the file and its log to `.corrupt-<time>`; delete the shared memory, which is useless without them."""
    suffix = f"{_ASIDE}{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09d}"
    aside = path.with_name(path.name + suffix)
    path.rename(aside)
    _mark_of(path).unlink(missing_ok=True)
    log = _log_of(path)
    if log.exists():
        log.rename(_log_of(aside))
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    return aside


def _delete_old_aside(path: Path) -> None:
    """Delete damaged indexes that were moved aside long ago; their names say when."""
    least = f"{path.name}{_ASIDE}" + time.strftime("%Y%m%d", time.localtime(time.time() - _KEPT_ASIDE_DAYS * 86_400))
    for aside in path.parent.glob(f"{path.name}{_ASIDE}*"):
        if aside.name < least:
            with suppress(OSError):
                aside.unlink()


def distinct(db: apsw.Connection, table: str, column: str, limit: int = -1) -> list[Any]:
    """The values of a column that begins an index, ascending, each once and without NULL; `limit` of them at most.

    Jumps from value to value in that index: as many steps as values. SELECT DISTINCT takes as many as rows.
    """
    sql = f"""
        WITH RECURSIVE step (reached) AS (
            SELECT min({column}) FROM {table}
            UNION ALL SELECT (SELECT min({column}) FROM {table} WHERE {column} > step.reached) FROM step
            WHERE reached IS NOT NULL
        ) SELECT reached FROM step WHERE reached IS NOT NULL LIMIT ?
    """  # noqa: S608 - names of our own
    return [row[0] for row in db.execute(sql, (limit,))]


def among(column: str, ids: NDArray[np.int64] | None) -> tuple[str, tuple[Any, ...]]:
    """The condition that a column holds one of these ids, and what to bind; nothing for None."""
    if ids is None:
        return "", ()
    return (f" AND {column} IN carray(?)", (apsw.carray(np.ascontiguousarray(ids)),)) if len(ids) else (" AND 0", ())


def note_change(db: apsw.Connection) -> None:
    """Note that filters may admit other documents than before: what searches keep of it is made again.

    A trigger notes a change of the files' names; see `schema`.
    """
    db.execute("UPDATE meta SET value = random() WHERE key = 'files_version'")
