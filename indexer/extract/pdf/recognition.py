"""How pages without text are read by OCR, and what tesseract has found before: each page costs it seconds only once.

The cache lies beside the index, in a file of its own, and goes where the index goes. The key of a page is the hash of
its picture: a file that has changed costs only its new pages, and a reading that was stopped goes on at its page. The
child, which may write no file, looks pages up; the parent writes them, and when each was last of use. A cache that
cannot be used counts as empty.
"""

import hashlib
import json
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from longsearch.indexer.extract.pdf.ocr import Picture
from longsearch.indexer.extract.wire.protocol import Page

_PAGES_BETWEEN_NOTES = 10
_WAIT_MS = 2000
_MAX_BYTES = 200_000_000
"""Size above which the pages that were not used for longest go: room for more than 100,000 pages of a book."""
_TABLE = "CREATE TABLE IF NOT EXISTS pages (key TEXT PRIMARY KEY, lines BLOB NOT NULL) STRICT, WITHOUT ROWID"
_USED_AT = "ALTER TABLE pages ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0"


class Recognition:
    """The wish that pages without text be read by OCR. Safe to use from any thread."""

    def __init__(
        self,
        languages: str = "",
        cache: Path | None = None,
        known_only: bool = False,
        note_speed: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """`languages`: those of tesseract, such as deu+eng, or "" for its default. `cache`: a file; None: no cache.

        `known_only`: take what the cache holds, and do not call tesseract. `note_speed` gets the mean seconds of a page
        so far, after the first page and then after every tenth.
        """
        self.languages = languages
        self.cache = "" if cache is None else str(cache)
        self.known_only = known_only
        self.n_pages, self.took_s = 0, 0.0
        """The pages that tesseract has read, and its seconds. Pages of the cache do not count."""
        self._note_speed = note_speed
        self._lock = threading.Lock()

    def take(self, page: Page) -> None:
        """Note a page that has arrived."""
        if not page.ocr_key or not (page.ocr_s or self.cache):
            return
        with self._lock:
            if not page.ocr_s:  # from the cache
                _note_use(Path(self.cache), page.ocr_key)
                return
            self.n_pages += 1
            self.took_s += page.ocr_s
            if self.n_pages % _PAGES_BETWEEN_NOTES == 1:
                self._note_speed(self.took_s / self.n_pages)
            if self.cache:
                _keep(Path(self.cache), page.ocr_key, page.lines)


def on_wire(ocr: Recognition | None) -> tuple[str | None, str, bool]:
    """Return the languages, the cache and whether only that counts, as a `Request` has them."""
    if ocr is None:
        return None, "", False
    if ocr.cache and not ocr.known_only:
        with suppress(OSError):  # the child may open what was there when it began
            Path(ocr.cache).touch(mode=0o600)
    return ocr.languages, ocr.cache, ocr.known_only


def calls_tesseract(ocr: Recognition | None) -> bool:
    """Return whether tesseract may be called, so that a page and a file may take longer."""
    return ocr is not None and not ocr.known_only


def key_of(picture: Picture, languages: str) -> str:
    """Return the key of a page: a hash of its picture and of the languages."""
    digest = hashlib.blake2b(picture.gray, digest_size=16, person=b"longsearch ocr")
    digest.update(f"{picture.width} {picture.height} {picture.dpi} {languages}".encode())
    return digest.hexdigest()


def content_of(cache: str) -> bytes:
    """Return the bytes of a cache, for a process that cannot open it; b"" if there is none that can be used."""
    if not cache or not Path(cache).exists():
        return b""
    import apsw

    with suppress(apsw.Error), closing(apsw.Connection(cache, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(_WAIT_MS)
        return connection.serialize("main")
    return b""


def known_lines(cache: str, key: str) -> tuple[str, ...] | None:
    """Return the lines that tesseract found on this page before, or None."""
    if not cache or not Path(cache).exists():
        return None
    import apsw  # not at the top: the child imports it only for a cache

    try:
        connection = apsw.Connection(cache, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(_WAIT_MS)
            packed = connection.execute("SELECT lines FROM pages WHERE key = ?", (key,)).get
        finally:
            connection.close()
        return None if packed is None else tuple(map(str, json.loads(zlib.decompress(packed))))
    except (apsw.Error, OSError, ValueError, zlib.error):
        return None


def _keep(cache: Path, key: str, lines: tuple[str, ...]) -> None:
    """Put the lines of a page into the cache. On a full disk the page is recognised again another time."""
    with suppress(OSError):
        cache.touch(mode=0o600)
        packed = zlib.compress(json.dumps(lines).encode())
        _write(cache, "INSERT OR REPLACE INTO pages (key, lines, used_at) VALUES (?, ?, ?)", (key, packed, _now()))


def _note_use(cache: Path, key: str) -> None:
    """Note that a cached page was used, at most once a day for each page."""
    if cache.exists():
        now = _now()
        _write(cache, "UPDATE pages SET used_at = ? WHERE key = ? AND used_at < ?", (now, key, now - 86_400))


def _now() -> int:
    return int(time.time())


def _write(cache: Path, sql: str, bindings: tuple[str | bytes | int, ...]) -> None:
    import apsw

    with suppress(apsw.Error, OSError), closing(apsw.Connection(str(cache))) as connection:
        connection.set_busy_timeout(_WAIT_MS)
        connection.execute(_TABLE)
        if not connection.execute("SELECT 1 FROM pragma_table_info('pages') WHERE name = 'used_at'").get:
            connection.execute(_USED_AT)  # it was made before uses were noted
        connection.execute(sql, bindings)
        if cache.stat().st_size > _MAX_BYTES:
            oldest = "SELECT key FROM pages ORDER BY used_at, key LIMIT (SELECT count(*) / 4 + 1 FROM pages)"
            connection.execute(f"DELETE FROM pages WHERE key IN ({oldest})")  # noqa: S608
            connection.execute("VACUUM")
