"""References from Zotero's database: keys, collections and links. It is opened read-only, and copied if it is locked.

Zotero locks its database while it runs. Citation keys are those of Zotero's own field, of Better BibTeX's database
beside it, or of a line `Citation Key: …` in the field Extra.
"""

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from longsearch.engine.citing.references import Reference
from longsearch.engine.errors import LongsearchError

_KEY_IN_EXTRA = re.compile(r"^\s*citation key\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_FIELDS = ("title", "DOI", "archiveID", "extra", "citationKey")
_ITEMS = """
    SELECT items.itemID, items.key, fieldName, value FROM items
    JOIN itemData USING (itemID) JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)
    WHERE fieldName IN (SELECT value FROM json_each(?)) AND itemID NOT IN (SELECT itemID FROM deletedItems)
"""
_ATTACHMENTS = """
    SELECT coalesce(parentItemID, itemID), items.key, path, contentType FROM itemAttachments JOIN items USING (itemID)
    WHERE path IS NOT NULL AND itemID NOT IN (SELECT itemID FROM deletedItems)
"""
_COLLECTIONS = "SELECT itemID, collectionName FROM collectionItems JOIN collections USING (collectionID)"
_LIBRARIES = "SELECT itemID, groupID FROM items JOIN groups USING (libraryID)"


def references_in_zotero(path: Path) -> tuple[Reference, ...]:
    """Return the references of `zotero.sqlite`, read again once it has changed. Raises LongsearchError."""
    keys = path.with_name("better-bibtex.sqlite")
    try:
        stamp = [
            (file.stat().st_mtime_ns, file.stat().st_size) for file in (path, keys) if file.exists() or file == path
        ]
        return _read(path, keys, tuple(stamp))
    except OSError as error:
        raise LongsearchError(f"{path} cannot be read: {error.strerror}", "see `zotero` in the settings") from error
    except apsw.Error as error:
        hint = "name the zotero.sqlite of Zotero 5 or later; if Zotero is writing it, try again"
        raise LongsearchError(f"{path} cannot be read: {error}", hint) from error


@lru_cache(maxsize=2)
def _read(path: Path, keys: Path, _stamp: tuple[tuple[int, int], ...]) -> tuple[Reference, ...]:
    fields: dict[int, dict[str, str]] = defaultdict(dict)
    item_keys: dict[int, str] = {}
    files: dict[int, list[tuple[str, str, str]]] = defaultdict(list)
    collections: dict[int, list[str]] = defaultdict(list)
    with _opened(path) as db:
        for item, key, name, value in db.execute(_ITEMS, (str(list(_FIELDS)).replace("'", '"'),)):
            fields[item][name], item_keys[item] = str(value), key
        for item, key, stored, kind in db.execute(_ATTACHMENTS):
            if found := _file(path.parent, key, str(stored)):
                files[item].append((found, key, str(kind)))
        for item, name in db.execute(_COLLECTIONS):
            collections[item].append(str(name))
        groups = dict(db.execute(_LIBRARIES))
    citekeys = _better_bibtex(keys) if keys.exists() else {}
    return tuple(
        _reference(
            fields.get(item, {}), files[item], collections[item], groups.get(item), item_keys.get(item, ""),
            citekeys.get(item, ""),
        )
        for item in sorted({*fields, *files})
    )  # fmt: skip


def _reference(
    fields: dict[str, str],
    files: list[tuple[str, str, str]],
    collections: list[str],
    group: int | None,
    key: str,
    citekey: str,
) -> Reference:
    in_extra = _KEY_IN_EXTRA.search(fields.get("extra", ""))
    library = "library" if group is None else f"groups/{group}"
    archive = fields.get("archiveID", "")
    return Reference(
        citekey=fields.get("citationKey", "") or citekey or (in_extra[1] if in_extra else ""),
        title=fields.get("title", ""),
        doi=fields.get("DOI", ""),
        arxiv=archive.split()[0] if archive.lower().startswith("arxiv:") else "",
        paths=tuple(path for path, _, _ in files),
        collections=tuple(sorted(set(collections))),
        links=tuple(
            (path, f"zotero://open-pdf/{library}/items/{file}?page=")
            for path, file, kind in files
            if kind == "application/pdf"
        ),
        link=f"zotero://select/{library}/items/{key}" if key else "",
    )


def _file(folder: Path, key: str, stored: str) -> str:
    """Return the absolute path of an attachment; "" for one relative to a folder that only Zotero's settings name."""
    kind, colon, name = stored.partition(":")
    if colon and kind == "storage":
        return str(folder / "storage" / key / name)
    return stored if Path(stored).is_absolute() else ""


def _better_bibtex(path: Path) -> dict[int, str]:
    """Return the citation key of each item; {} for a database of another version, which has another table."""
    try:
        with _opened(path) as db:
            return {item: str(key) for item, key in db.execute("SELECT itemID, citationKey FROM citationkey")}
    except apsw.SQLError:
        return {}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Yield a connection that reads the database, or a copy of it if another program has locked it."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(f"file:{quote(str(path))}?mode=ro", flags=flags)
    try:
        db.execute("BEGIN").execute("SELECT 1 FROM sqlite_schema LIMIT 1").get  # noqa: B018 - takes the lock
    except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.CantOpenError):
        db.close()
        with tempfile.TemporaryDirectory(prefix="longsearch-") as folder:  # mode 0700
            copy = Path(folder) / path.name
            for end in ("", "-journal", "-wal"):
                source = path.with_name(path.name + end)
                if not end or source.exists():
                    shutil.copyfile(source, copy.with_name(copy.name + end))
            db = apsw.Connection(str(copy))
            try:
                yield db
            finally:
                db.close()
        return
    try:
        yield db
    finally:
        db.close()
