"""Reads the documents inside an office document: those that stand in its text, and those that open with a click."""

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.formats import Format, format_of
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Held
from longsearch.indexer.extract.wire.protocol import FileText

_MAX_DEPTH = 3
"""Documents inside one another that are read."""
_MAX_DOCUMENTS = 500
_CHUNK_SUFFIXES = {".htm": ".html", ".xht": ".html", ".mht": ".mhtml", ".dat": ".html", "": ".html"}
_depth = 0


@contextmanager
def _deeper() -> Iterator[None]:
    """Count how deep documents lie in one another. The process that reads has one thread."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def chunk_of(archive: Archive, name: str) -> FileText | None:
    """Return the text of a part in another format, such as HTML or RTF; None if it cannot be read."""
    stem, suffix = posixpath.splitext(posixpath.basename(name))
    return _text_of(archive, name, stem + _CHUNK_SUFFIXES.get(suffix.lower(), suffix))


class Embedded:
    """Collects the documents inside one document. Their text follows it, each under its name."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._names: dict[str, None] = {}
        self._failed: list[str] = []

    def note(self, name: str) -> None:
        """The document holds this one."""
        if len(self._names) < _MAX_DOCUMENTS:
            self._names[name] = None

    def add_to(self, builder: TextBuilder) -> None:
        """Append the text of those that longsearch reads."""
        for name in self._names:
            file_name = posixpath.basename(name)
            found = _text_of(self._archive, name, file_name) if _depth < _MAX_DEPTH else None
            if found is not None and found.text:
                builder.add_heading(1, f"Embedded document: {file_name}")
                builder.include(found.text, ((level + 1, title, start) for level, title, start in found.headings))
            elif found is None and format_of(file_name) is not None:
                self._failed.append(file_name)

    @property
    def warning(self) -> str:
        """Which of them could not be read, or ""."""
        named = ", ".join(self._failed[:3]) + (f" and {len(self._failed) - 3} more" if self._failed[3:] else "")
        return f"embedded documents that cannot be read: {named}" if named else ""


def _text_of(archive: Archive, name: str, file_name: str) -> FileText | None:
    from longsearch.indexer.extract.dispatch import read_text  # which imports the readers that use this module

    file_format = format_of(file_name)
    if file_format in (None, Format.PDF, Format.ADAPTED) or not (data := archive.read(name)):
        return None
    try:
        with _deeper():
            return read_text(Held(file_name, data), file_format)
    except (ExtractionError, OSError):
        return None
