"""Marks that viewers keep apart from a file: Okular those of a PDF, KOReader those of an e-book beside it."""

from pathlib import Path

from longsearch.indexer.extract import koreader, okular


def changed_ns(path: Path, size: int) -> int:
    """Return when the marks of a file of this size were changed, in nanoseconds since 1970; 0 if there are none."""
    return okular.changed_ns(path, size) or koreader.changed_ns(path)


def as_bytes(path: Path) -> bytes:
    """Return what tells the marks of a file from others; b"" without marks."""
    if not changed_ns(path, path.stat().st_size):
        return b""
    return repr(okular.marks_apart(path) or koreader.marks_apart(path)).encode("utf-8", "replace")
