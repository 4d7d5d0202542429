"""The files of a root, by path: which document each file holds, or why it holds none. Knows no text."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

import apsw

from longsearch.engine.copies import best_first
from longsearch.engine.store.documents import storable
from longsearch.engine.store.records import FileStamp, KnownFile

_MOST_NAMES = 64  # of equal files that are compared for the best one
_HAS_LONG_CHARACTERS = "length(CAST(path AS TEXT)) <> length(path)"  # of more than a byte: not ASCII


class NameTests(Protocol):
    """What a file's path must pass, in lower case: `engine.query_language.file_filter.FileFilter`."""

    @property
    def parts(self) -> tuple[str, ...]:
        """All of these stand in the path."""

    @property
    def parts_excluded(self) -> tuple[str, ...]:
        """None of these does."""

    @property
    def types(self) -> tuple[str, ...]:
        """The path ends with one of these, without the dot; () for any."""

    @property
    def types_excluded(self) -> tuple[str, ...]:
        """The path ends with none of these."""


def catalogue(db: apsw.Connection) -> dict[str, KnownFile]:
    """Every known file, by path."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, inode, ctime_ns, reader_version, content_id IS NULL, n_failures, retry_at"
        " FROM files ORDER BY path"
    )
    known = (
        KnownFile(FileStamp(os.fsdecode(path), size, mtime_ns, _unsigned(inode), ctime, version), bool(failed), *retry)
        for path, size, mtime_ns, inode, ctime, version, failed, *retry in rows
    )
    return {file.stamp.path: file for file in known}


def drives(db: apsw.Connection) -> frozenset[str]:
    """The folders that `set_drives` recorded."""
    packed = db.execute("SELECT value FROM meta WHERE key = 'drives'").get
    return frozenset(map(os.fsdecode, packed.removesuffix(b"\0").split(b"\0"))) if packed else frozenset()


def set_drives(db: apsw.Connection, folders: Collection[str]) -> None:
    """Record the folders where drives are mounted, in place of the old ones."""
    # NUL ends each path, as no path contains it; as a separator it could not tell the root alone, "", from no folder
    packed = b"".join(folder + b"\0" for folder in sorted(map(os.fsencode, folders)))
    db.execute("INSERT OR REPLACE INTO meta VALUES ('drives', ?)", (packed,))


def passed_over(db: apsw.Connection) -> dict[str, int]:
    """Suffix -> number of files under the root that longsearch cannot read, as `set_passed_over` recorded it."""
    packed = db.execute("SELECT value FROM meta WHERE key = 'passed_over'").get
    return dict(json.loads(packed)) if packed else {}


def set_passed_over(db: apsw.Connection, counts: Mapping[str, int]) -> None:
    """Record how many files cannot be read, by suffix, in place of the old numbers."""
    packed = json.dumps(counts, ensure_ascii=True)  # a name may hold any bytes
    db.execute("INSERT OR REPLACE INTO meta VALUES ('passed_over', ?)", (packed,))


def put(
    db: apsw.Connection, file: FileStamp, document_id: int | None, reason: str = "", hint: str = "", n_scanned: int = 0
) -> int | None:
    """Record which document the file holds, or why it holds none; return the document it held before, or None."""
    before = document_of(db, file.path)
    db.execute(
        "INSERT OR REPLACE INTO files (path, size, mtime_ns, inode, ctime_ns, reader_version, content_id, reason,"
        " hint, n_scanned) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            os.fsencode(file.path),
            *_stat(file),
            file.reader_version,
            document_id,
            storable(reason),
            storable(hint),
            n_scanned,
        ),
    )
    return before


def n_scanned(db: apsw.Connection, document_id: int) -> int:
    """The number of pages that OCR could read in the files that hold this document."""
    return int(db.execute("SELECT coalesce(max(n_scanned), 0) FROM files WHERE content_id = ?", (document_id,)).get)


def ask_for_scans(db: apsw.Connection, is_asked: bool) -> int:
    """Have the next sweep read every file again that has scanned pages, or not; return the number of these files."""
    old, new = (None, 0) if is_asked else (0, None)
    db.execute("UPDATE files SET retry_at = ? WHERE n_scanned > 0 AND retry_at IS ?", (new, old))
    return int(db.execute("SELECT count(*) FROM files WHERE n_scanned > 0").get)


def set_retry(db: apsw.Connection, path: str, n_failures: int, retry_at: float | None) -> None:
    """Record how often in a row the file has failed, and when to retry it."""
    sql = "UPDATE files SET n_failures = ?, retry_at = ? WHERE path = ?"
    db.execute(sql, (n_failures, retry_at, os.fsencode(path)))


def set_reader_version(db: apsw.Connection, file: FileStamp) -> None:
    """Record that today's reader of its format has tried the file."""
    db.execute("UPDATE files SET reader_version = ? WHERE path = ?", (file.reader_version, os.fsencode(file.path)))


def next_retry(db: apsw.Connection, after: float) -> float | None:
    """The first time later than `after` at which a file is due for a retry, in seconds since 1970, or None.

    A file that was due before a sweep and still is lies where no sweep can look, such as on an unmounted drive.
    """
    found = db.execute("SELECT min(retry_at) FROM files WHERE retry_at > ?", (after,)).get
    return None if found is None else float(found)


def read_again(db: apsw.Connection, paths: Collection[str]) -> None:
    """Have the next sweep retry these files."""
    db.executemany("UPDATE files SET retry_at = 0 WHERE path = ?", ((os.fsencode(path),) for path in paths))


def reread(db: apsw.Connection) -> None:
    """Have the next sweep compare the bytes of every file; where the system does not say ctime, read it anew."""
    db.execute("UPDATE files SET retry_at = 0 WHERE ctime_ns = 0")
    db.execute("UPDATE files SET ctime_ns = 1 WHERE ctime_ns != 0")  # no file has it, so each counts as touched


def touch(db: apsw.Connection, file: FileStamp) -> bool:
    """Record a new size, time or inode of a file with unchanged bytes; return False if the path is unknown."""
    sql = "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, ctime_ns = ? WHERE path = ?"
    db.execute(sql, (*_stat(file), os.fsencode(file.path)))
    return db.changes() > 0


def move(db: apsw.Connection, moves: Sequence[tuple[str, FileStamp]]) -> tuple[int, set[int]]:
    """Give known files their new paths, all at once; return how many were known and which documents they replaced."""
    rename = "UPDATE files SET path = ? WHERE path = ?"
    under_way = []
    for number, (old_path, file) in enumerate(moves):
        name = b"\0%d" % number  # cannot be a file's path, which never contains NUL
        db.execute(rename, (name, os.fsencode(old_path)))
        if db.changes():
            under_way.append((name, file))
    released = {document_id for _, file in under_way if (document_id := forget(db, file.path)) is not None}
    for name, file in under_way:
        db.execute(rename, (os.fsencode(file.path), name))
        touch(db, file)
    return len(under_way), released


def forget(db: apsw.Connection, path: str) -> int | None:
    """Forget the file; return the document that it held, or None."""
    before = document_of(db, path)
    db.execute("DELETE FROM files WHERE path = ?", (os.fsencode(path),))
    return before


def document_of(db: apsw.Connection, path: str) -> int | None:
    """The document that the file holds, or None."""
    found = db.execute("SELECT content_id FROM files WHERE path = ?", (os.fsencode(path),)).get
    return None if found is None else int(found)


def first_paths(db: apsw.Connection, n: int) -> list[str]:
    """Paths of the first `n` files that hold a document, in order."""
    sql = "SELECT path FROM files WHERE content_id IS NOT NULL ORDER BY path LIMIT ?"
    return [os.fsdecode(row[0]) for row in db.execute(sql, (n,))]


def stamp_of(db: apsw.Connection, path: str) -> tuple[int, int] | None:
    """The size in bytes and the time in ns that the file had when it was read; None if the path is unknown."""
    row = db.execute("SELECT size, mtime_ns FROM files WHERE path = ?", (os.fsencode(path),)).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def held_alone(db: apsw.Connection, path: str) -> int | None:
    """The document that this file alone holds, or None."""
    document_id, name = document_of(db, path), os.fsencode(path)
    sql = "SELECT 1 FROM files WHERE content_id = ? AND path <> ? LIMIT 1"
    return document_id if db.execute(sql, (document_id, name)).get is None else None


def paths_of(db: apsw.Connection, document_id: int, under: str = "") -> list[str]:
    """Paths, the best name first, of the files that hold this document and lie in the folder `under` ("" for all)."""
    low, high = folder_range(under)
    sql = "SELECT path FROM files WHERE content_id = ? AND path >= ? AND path < ? ORDER BY path"
    return best_first(os.fsdecode(row[0]) for row in db.execute(sql, (document_id, low, high)))


def paths_of_each(db: apsw.Connection, document_ids: Sequence[int], under: str = "") -> dict[int, list[str]]:
    """The same for each of these documents; those without such a file are missing."""
    low, high = folder_range(under)
    # "+path": otherwise SQLite reads all files in the order of their paths
    sql = (
        "SELECT content_id, path FROM files WHERE content_id IN (SELECT value FROM json_each(?))"
        " AND +path >= ? AND +path < ? ORDER BY content_id, +path"
    )
    found: dict[int, list[str]] = {}
    for document_id, path in db.execute(sql, (json.dumps(list(document_ids)), low, high)):
        found.setdefault(document_id, []).append(os.fsdecode(path))
    return {id_: best_first(paths) if len(paths) > 1 else paths for id_, paths in found.items()}


def documents_where(db: apsw.Connection, under: str, wanted: NameTests, admits: Callable[[str], bool]) -> set[int]:
    """The documents of the files in the folder `under` that pass `wanted`.

    SQLite looks at plain ASCII names: five thousand of them took Python 30 ms. `admits` says the same of any path
    relative to the root, and decides where a name has other characters.
    """
    low, high = folder_range(under)
    tests, bindings = _sql_of(wanted)
    plain = f"""
        SELECT DISTINCT content_id FROM (SELECT content_id, lower(CAST(path AS TEXT)) AS name FROM files
        WHERE path >= ? AND path < ? AND content_id IS NOT NULL AND NOT {_HAS_LONG_CHARACTERS}) WHERE 1 {tests}
    """  # noqa: S608 - values are bound
    found = {row[0] for row in db.execute(plain, (low, high, *bindings))}
    others = f"""
        SELECT path, content_id FROM files
        WHERE path >= ? AND path < ? AND content_id IS NOT NULL AND {_HAS_LONG_CHARACTERS}
    """  # noqa: S608 - a constant
    found.update(id_ for path, id_ in db.execute(others, (low, high)) if admits(os.fsdecode(path)))
    return found


def _sql_of(wanted: NameTests) -> tuple[str, list[str]]:
    """The tests as conditions on `name`, and the values to bind."""
    bindings: list[str] = []

    def holds(part: str) -> str:
        bindings.append(part)
        return "instr(name, ?) > 0"

    def ends_with(ending: str) -> str:
        """Whether it is the last ending of the file's name; a name that only begins with a dot has none."""
        if "." in ending or "/" in ending:
            return "0"
        bindings.extend([ending] * 3)
        return "(substr(name, -length(?) - 1) = '.' || ? AND substr(name, -length(?) - 2, 1) NOT IN ('', '/'))"

    conditions = [holds(part) for part in wanted.parts]
    conditions += [f"NOT {holds(part)}" for part in wanted.parts_excluded]
    conditions += [f"NOT {ends_with(ending)}" for ending in wanted.types_excluded]
    if wanted.types:
        conditions.append("(" + " OR ".join(map(ends_with, wanted.types)) + ")")
    return "".join(f" AND {condition}" for condition in conditions), bindings


def best_paths_of(db: apsw.Connection, document_id: int, n: int) -> list[str]:
    """The `n` paths with the best names of the files that hold this document. Of many files, the first are asked."""
    rows = db.execute("SELECT path FROM files WHERE content_id = ? ORDER BY path LIMIT ?", (document_id, _MOST_NAMES))
    return best_first(os.fsdecode(row[0]) for row in rows)[:n]


def give_to(db: apsw.Connection, old_id: int, new_id: int) -> None:
    """Let all files of one document hold another document."""
    db.execute("UPDATE files SET content_id = ? WHERE content_id = ?", (new_id, old_id))


def folder_range(under: str) -> tuple[bytes, bytes]:
    """(low, high) such that low <= path < high, as bytes, for exactly the paths under this relative folder."""
    folder = os.fsencode(under).strip(b"/")
    # "0" follows "/" in ASCII. SQLite compares blobs like memcmp; no path sorts above 4,096 bytes (PATH_MAX) of 0xff.
    return (folder + b"/", folder + b"0") if folder not in (b"", b".") else (b"", b"\xff" * 4096)


def _stat(file: FileStamp) -> tuple[int, int, int, int]:
    return file.size, file.mtime_ns, _signed(file.inode), file.ctime_ns


def _signed(inode: int) -> int:
    return inode - 2**64 if inode >= 2**63 else inode


def _unsigned(inode: int) -> int:
    return inode + 2**64 if inode < 0 else inode
