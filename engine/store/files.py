"""The files of a root, by path: which content each holds, or why none. Knows no text."""

import os

import apsw

from engine.store.documents import storable
from engine.store.records import FileRecord, KnownFile


def catalogue(db: apsw.Connection) -> dict[str, KnownFile]:
    """Every known file, by path."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, inode, content_id IS NULL, n_failures, retry_at FROM files ORDER BY path"
    )
    known = (
        KnownFile(os.fsdecode(path), size, mtime_ns, _unsigned(inode), bool(failed), *retry)
        for path, size, mtime_ns, inode, failed, *retry in rows
    )
    return {file.path: file for file in known}


def put(db: apsw.Connection, file: FileRecord, content_id: int | None, reason: str = "", hint: str = "") -> int | None:
    """Note what the file holds now: `content_id`, or nothing for `reason`. The content it held before, or None."""
    before = content_of(db, file.path)
    db.execute(
        "INSERT OR REPLACE INTO files (path, size, mtime_ns, inode, content_id, reason, hint)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (os.fsencode(file.path), *_stat(file), content_id, storable(reason), storable(hint)),
    )
    return before


def set_retry(db: apsw.Connection, path: str, n_failures: int, retry_at: float | None) -> None:
    """Note how often in a row the file could not be read, and when to try again."""
    sql = "UPDATE files SET n_failures = ?, retry_at = ? WHERE path = ?"
    db.execute(sql, (n_failures, retry_at, os.fsencode(path)))


def next_retry(db: apsw.Connection) -> float | None:
    """When the first file that could not be read is to be read again, seconds since 1970; None where none is."""
    found = db.execute("SELECT min(retry_at) FROM files").get
    return None if found is None else float(found)


def retry_failed(db: apsw.Connection) -> int:
    """Let every file that could not be read be read again at the next sweep; how many these are."""
    db.execute("UPDATE files SET retry_at = 0 WHERE content_id IS NULL")
    return db.changes()


def touch(db: apsw.Connection, file: FileRecord) -> bool:
    """Note a new size, time or inode of a file whose bytes are the same; False where it is not known."""
    sql = "UPDATE files SET size = ?, mtime_ns = ?, inode = ? WHERE path = ?"
    db.execute(sql, (*_stat(file), os.fsencode(file.path)))
    return db.changes() > 0


def move(db: apsw.Connection, old_path: str, file: FileRecord) -> int | None:
    """Give a known file its new path; the content that the new path held before, or None."""
    before = forget(db, file.path) if file.path != old_path else None
    sql = "UPDATE files SET path = ?, size = ?, mtime_ns = ?, inode = ? WHERE path = ?"
    db.execute(sql, (os.fsencode(file.path), *_stat(file), os.fsencode(old_path)))
    return before


def forget(db: apsw.Connection, path: str) -> int | None:
    """Forget the file; the content it held, or None."""
    before = content_of(db, path)
    db.execute("DELETE FROM files WHERE path = ?", (os.fsencode(path),))
    return before


def knows(db: apsw.Connection, path: str) -> bool:
    """Whether there is a row for this path."""
    return db.execute("SELECT 1 FROM files WHERE path = ?", (os.fsencode(path),)).get is not None


def content_of(db: apsw.Connection, path: str) -> int | None:
    """The content that the file holds, or None."""
    found = db.execute("SELECT content_id FROM files WHERE path = ?", (os.fsencode(path),)).get
    return None if found is None else int(found)


def paths_of(db: apsw.Connection, content_id: int, under: str = "") -> list[str]:
    """Paths of the files that hold this content and lie under the folder `under` ("" for all), in order."""
    low, high = folder_range(under)
    sql = "SELECT path FROM files WHERE content_id = ? AND path >= ? AND path < ? ORDER BY path"
    return [os.fsdecode(row[0]) for row in db.execute(sql, (content_id, low, high))]


def is_held(db: apsw.Connection, content_id: int) -> bool:
    """Whether any file holds this content."""
    return db.execute("SELECT 1 FROM files WHERE content_id = ? LIMIT 1", (content_id,)).get is not None


def give_to(db: apsw.Connection, old_content_id: int, content_id: int) -> None:
    """Let all files of one content hold another."""
    db.execute("UPDATE files SET content_id = ? WHERE content_id = ?", (content_id, old_content_id))


def folder_range(under: str) -> tuple[bytes, bytes]:
    """(low, high) such that low <= path < high, as bytes, for exactly the paths under this relative folder."""
    folder = os.fsencode(under).strip(b"/")
    # "0" follows "/"; SQLite compares blobs as memcmp does, and no path is as high as 4,096 bytes of 0xff (PATH_MAX)
    return (folder + b"/", folder + b"0") if folder not in (b"", b".") else (b"", b"\xff" * 4096)


def _stat(file: FileRecord) -> tuple[int, int, int]:
    return file.size, file.mtime_ns, _signed(file.inode)


def _signed(inode: int) -> int:
    return inode - 2**64 if inode >= 2**63 else inode


def _unsigned(inode: int) -> int:
    return inode + 2**64 if inode < 0 else inode
