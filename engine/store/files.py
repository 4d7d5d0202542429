"""The files of a root, by path: which content each holds, or why none. Knows no text."""

import os
from collections.abc import Callable, Collection, Sequence

import apsw

from engine.store.documents import storable
from engine.store.records import FileStamp, KnownFile


def catalogue(db: apsw.Connection) -> dict[str, KnownFile]:
    """Every known file, by path."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, inode, content_id IS NULL, n_failures, retry_at FROM files ORDER BY path"
    )
    known = (
        KnownFile(FileStamp(os.fsdecode(path), size, mtime_ns, _unsigned(inode)), bool(failed), *retry)
        for path, size, mtime_ns, inode, failed, *retry in rows
    )
    return {file.stamp.path: file for file in known}


def drives(db: apsw.Connection) -> frozenset[str]:
    """The folders that `set_drives` noted."""
    packed = db.execute("SELECT value FROM meta WHERE key = 'drives'").get
    return frozenset(map(os.fsdecode, packed.removesuffix(b"\0").split(b"\0"))) if packed else frozenset()


def set_drives(db: apsw.Connection, folders: Collection[str]) -> None:
    """Note the folders, in place of those that were."""
    # no path holds a NUL; one ends each, or the root, "", would be as no folder
    packed = b"".join(folder + b"\0" for folder in sorted(map(os.fsencode, folders)))
    db.execute("INSERT OR REPLACE INTO meta VALUES ('drives', ?)", (packed,))


def put(db: apsw.Connection, file: FileStamp, document_id: int | None, reason: str = "", hint: str = "") -> int | None:
    """Note what the file holds now: `content_id`, or nothing for `reason`. The content it held before, or None."""
    before = document_of(db, file.path)
    db.execute(
        "INSERT OR REPLACE INTO files (path, size, mtime_ns, inode, content_id, reason, hint)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (os.fsencode(file.path), *_stat(file), document_id, storable(reason), storable(hint)),
    )
    return before


def set_retry(db: apsw.Connection, path: str, n_failures: int, retry_at: float | None) -> None:
    """Note how often in a row the file could not be read, and when to try again."""
    sql = "UPDATE files SET n_failures = ?, retry_at = ? WHERE path = ?"
    db.execute(sql, (n_failures, retry_at, os.fsencode(path)))


def next_retry(db: apsw.Connection, after: float) -> float | None:
    """The first time later than `after` when a file is to be read again, seconds since 1970; None where none is."""
    found = db.execute("SELECT min(retry_at) FROM files WHERE retry_at > ?", (after,)).get
    return None if found is None else float(found)


def read_again(db: apsw.Connection, paths: Collection[str]) -> None:
    """Let these files be read again at the next sweep, whatever they hold."""
    db.executemany("UPDATE files SET retry_at = 0 WHERE path = ?", ((os.fsencode(path),) for path in paths))


def touch(db: apsw.Connection, file: FileStamp) -> bool:
    """Note a new size, time or inode of a file whose bytes are the same; False where it is not known."""
    sql = "UPDATE files SET size = ?, mtime_ns = ?, inode = ? WHERE path = ?"
    db.execute(sql, (*_stat(file), os.fsencode(file.path)))
    return db.changes() > 0


def move(db: apsw.Connection, moves: Sequence[tuple[str, FileStamp]]) -> tuple[int, set[int]]:
    """Give known files their new paths, all at one moment; how many were known, and what those paths held before."""
    rename = "UPDATE files SET path = ? WHERE path = ?"
    under_way = []
    for number, (old_path, file) in enumerate(moves):
        name = b"\0%d" % number  # no path of a file: they hold no NUL
        db.execute(rename, (name, os.fsencode(old_path)))
        if db.changes():
            under_way.append((name, file))
    let_go = {document_id for _, file in under_way if (document_id := forget(db, file.path)) is not None}
    for name, file in under_way:
        db.execute(rename, (os.fsencode(file.path), name))
        touch(db, file)
    return len(under_way), let_go


def forget(db: apsw.Connection, path: str) -> int | None:
    """Forget the file; the content it held, or None."""
    before = document_of(db, path)
    db.execute("DELETE FROM files WHERE path = ?", (os.fsencode(path),))
    return before


def document_of(db: apsw.Connection, path: str) -> int | None:
    """The content that the file holds, or None."""
    found = db.execute("SELECT content_id FROM files WHERE path = ?", (os.fsencode(path),)).get
    return None if found is None else int(found)


def held_alone(db: apsw.Connection, path: str) -> int | None:
    """The content that this file holds and no other does, or None."""
    document_id, name = document_of(db, path), os.fsencode(path)
    sql = "SELECT 1 FROM files WHERE content_id = ? AND path <> ? LIMIT 1"
    return document_id if db.execute(sql, (document_id, name)).get is None else None


def paths_of(db: apsw.Connection, document_id: int, under: str = "") -> list[str]:
    """Paths of the files that hold this content and lie under the folder `under` ("" for all), in order."""
    low, high = folder_range(under)
    sql = "SELECT path FROM files WHERE content_id = ? AND path >= ? AND path < ? ORDER BY path"
    return [os.fsdecode(row[0]) for row in db.execute(sql, (document_id, low, high))]


def documents_where(db: apsw.Connection, low: bytes, high: bytes, admits: Callable[[str], bool]) -> set[int]:
    """The contents of files with low <= path < high whose path, relative to the root, `admits` takes."""
    sql = "SELECT path, content_id FROM files WHERE path >= ? AND path < ? AND content_id IS NOT NULL"
    return {document_id for path, document_id in db.execute(sql, (low, high)) if admits(os.fsdecode(path))}


def first_path_of(db: apsw.Connection, document_id: int) -> str | None:
    """The first path in order of the files that hold this content; None where none does."""
    path = db.execute("SELECT path FROM files WHERE content_id = ? ORDER BY path LIMIT 1", (document_id,)).get
    return None if path is None else os.fsdecode(path)


def give_to(db: apsw.Connection, old_content_id: int, document_id: int) -> None:
    """Let all files of one content hold another."""
    db.execute("UPDATE files SET content_id = ? WHERE content_id = ?", (document_id, old_content_id))


def folder_range(under: str) -> tuple[bytes, bytes]:
    """(low, high) such that low <= path < high, as bytes, for exactly the paths under this relative folder."""
    folder = os.fsencode(under).strip(b"/")
    # "0" follows "/"; SQLite compares blobs as memcmp does, and no path is as high as 4,096 bytes of 0xff (PATH_MAX)
    return (folder + b"/", folder + b"0") if folder not in (b"", b".") else (b"", b"\xff" * 4096)


def _stat(file: FileStamp) -> tuple[int, int, int]:
    return file.size, file.mtime_ns, _signed(file.inode)


def _signed(inode: int) -> int:
    return inode - 2**64 if inode >= 2**63 else inode


def _unsigned(inode: int) -> int:
    return inode + 2**64 if inode < 0 else inode
