"""The progress of the index and the activity of its writer, for any process to read."""

import json
import os
import time

import apsw

from longsearch.engine.platforms.processes import is_running
from longsearch.engine.store import vectors
from longsearch.engine.store.documents import storable
from longsearch.engine.types.progress import FileReport, FileStatus, IndexProgress

_STALE_S = 900.0  # no step takes longer than the 120 s of an extraction; an older row may name a pid that was reused


def set_activity(db: apsw.Connection, text: str, tokens_per_s: float) -> None:
    """Record what this process is doing; "" for nothing."""
    row = (storable(text), tokens_per_s, time.time(), os.getpid())
    db.execute("INSERT OR REPLACE INTO activity VALUES (1, ?, ?, ?, ?)", row)


def updated_at(db: apsw.Connection) -> float | None:
    """When a writer last recorded what it does, in seconds since 1970; None: never."""
    found = db.execute("SELECT updated_at FROM activity").get
    return None if found is None else float(found)


def progress(db: apsw.Connection) -> IndexProgress:
    """Count files by status and tokens by document (a copy is embedded once); add the activity of a living writer."""
    counts = dict(db.execute("SELECT state, count(*) FROM file_states GROUP BY state"))
    sql = "SELECT coalesce(sum(n_tokens), 0), coalesce(sum(n_tokens_embedded), 0) FROM content_progress"
    ((n_tokens, n_tokens_embedded),) = db.execute(sql)
    activity, tokens_per_s = _activity(db)
    n_narrow, n_tokens_narrow = _narrow_left(db)
    sql = "SELECT coalesce(sum(n_scanned), 0), count(*) FILTER (WHERE content_id IS NULL AND (n_scanned OR NOT size))"
    ((n_scanned, n_without_text),) = db.execute(f"{sql} FROM files")
    return IndexProgress(
        n_files=sum(counts.values()),
        n_current=counts.get(FileStatus.CURRENT.value, 0),
        n_waiting=counts.get(FileStatus.WAITING.value, 0),
        n_partial=counts.get(FileStatus.PARTIAL.value, 0),
        n_failed=counts.get(FileStatus.FAILED.value, 0),
        n_tokens=n_tokens,
        n_tokens_embedded=n_tokens_embedded,
        activity=activity,
        tokens_per_s=tokens_per_s,
        n_narrow=n_narrow,
        n_tokens_narrow=n_tokens_narrow,
        n_scanned=n_scanned,
        n_without_text=n_without_text,
    )


def files(db: apsw.Connection) -> list[FileReport]:
    """Every file and its status, by path. A partial file is WAITING until it has its vectors, then PARTIAL."""
    rows = db.execute(
        "SELECT path, state, file_states.reason, file_states.hint, n_pages, n_tokens, n_tokens_embedded, n_failures,"
        " retry_at, '', '', n_scanned FROM file_states JOIN files USING (path) ORDER BY 1"
    )
    statuses = {status.value: status for status in FileStatus}
    return [FileReport(os.fsdecode(path), statuses[state], *rest) for path, state, *rest in rows]


def _activity(db: apsw.Connection) -> tuple[str, float]:
    row = db.execute("SELECT text, tokens_per_s, updated_at, pid FROM activity").fetchone()
    if row is None or abs(time.time() - row[2]) > _STALE_S or not is_running(row[3]):  # abs: a clock may be set back
        return "", 0.0
    return row[0], row[1]


def _narrow_left(db: apsw.Connection) -> tuple[int, int]:
    """The number of narrow documents, and of their tokens that have not been read again yet."""
    sql = f"""
        SELECT count(*), coalesce(sum(max(n_tokens - coalesce(begun.n_tokens_done, 0), 0)), 0)
        FROM embeddings JOIN contents ON contents.id = embeddings.content_id
        LEFT JOIN deepenings AS begun ON begun.content_id = contents.id WHERE {vectors.IS_NARROW}
    """  # noqa: S608 - a constant
    ((n_documents, n_tokens),) = db.execute(sql)
    return n_documents, n_tokens


def newest_headings(db: apsw.Connection, n_documents: int) -> list[list[str]]:
    """The headings of the documents that were added last, as texts, without the document's title."""
    sql = "SELECT title, headings FROM contents WHERE headings != '[]' ORDER BY id DESC LIMIT ?"
    rows = db.execute(sql, (n_documents,))
    return [[text for _, text, _ in json.loads(packed) if text != title] for title, packed in rows]
