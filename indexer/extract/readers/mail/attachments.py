"""Read the attachments of messages with the readers of their formats, within limits of number, size and time."""

import faulthandler
import mimetypes
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from longsearch.engine.amounts import counted
from longsearch.engine.errors import ExtractionError
from longsearch.engine.places import place_name
from longsearch.indexer.extract.assembly import PdfParts, TextTooLongError, assemble_pdf, assemble_text
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.dispatch import read_text
from longsearch.indexer.extract.formats import Format, format_of
from longsearch.indexer.extract.pdf import document as pdf
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Held
from longsearch.indexer.extract.wire.limits import (
    ATTACHMENT_TIME_S,
    ATTACHMENTS_TIME_S,
    MAILBOX_TIMES,
    MAX_ATTACHMENT_BYTES,
    MAX_ATTACHMENTS,
    MAX_ATTACHMENTS_CHARACTERS,
)
from longsearch.indexer.extract.wire.protocol import SCANNED

MAILBOX_ATTACHMENTS_S = ATTACHMENTS_TIME_S * MAILBOX_TIMES
"""Time for all attachments of a mailbox."""
_MAIL = frozenset({Format.MAIL, Format.MAILBOX})
_PAGED = frozenset({Format.PDF, Format.SLIDES})
"""Formats whose pages are named, instead of their headings."""
_MAX_NAME_CHARACTERS = 150
_NAMED = 3


class Attachments:
    """Reads the attachments of one file, and counts those that it did not read."""

    def __init__(self, are_read: bool = True, time_s: float = ATTACHMENTS_TIME_S) -> None:
        """`are_read`: if False, they are named only, because one of them ended the child. `time_s`: for all of them."""
        self._are_read = are_read
        self._n_read = 0
        self._n_characters = 0
        self._ends_at = time.monotonic() + time_s
        self._n_over_limit = 0
        self._failed: list[str] = []

    def add(self, builder: TextBuilder, name: str, content_type: str, load: Callable[[], bytes], level: int) -> None:
        """Add an attachment: its name as a heading of this level, and its text if longsearch reads its format.

        `load` returns its bytes.
        """
        name = one_line(name, _MAX_NAME_CHARACTERS) or "attachment" + (mimetypes.guess_extension(content_type) or "")
        file_format = _format(name, content_type)
        builder.add_heading(level, f"Attachment: {name}")
        data = load() if file_format else b""
        if file_format is None or not data:
            return
        if not self._may_read(len(data)):
            self._n_over_limit += 1
            return
        self._n_read += 1
        try:
            with _ending_what_hangs():
                text, headings = _read(Held(name, data), file_format)
        except ExtractionError as error:
            self._failed.append(f"{name}: {'no text' if SCANNED in error.message else error.message}")
            return
        self._n_characters += len(text)
        builder.include(text, ((level + 1, title, start) for title, start in headings))

    def _may_read(self, n_bytes: int) -> bool:
        return (
            self._are_read
            and n_bytes <= MAX_ATTACHMENT_BYTES
            and self._n_read < MAX_ATTACHMENTS
            and self._n_characters < MAX_ATTACHMENTS_CHARACTERS
            and time.monotonic() < self._ends_at
        )

    @property
    def warning(self) -> str:
        """Which attachments were not read and why, or ""."""
        return "; ".join(self._reasons())

    def _reasons(self) -> Iterator[str]:
        if self._n_over_limit:
            why = "too large, too many or too slow" if self._are_read else "one of them ended the reader"
            yield f"{counted(self._n_over_limit, 'attachment')} not read: {why}"
        if self._failed:
            more = f" and {len(self._failed) - _NAMED} more" if len(self._failed) > _NAMED else ""
            yield f"attachments that cannot be read: {'; '.join(self._failed[:_NAMED])}{more}"


@contextmanager
def _ending_what_hangs() -> Iterator[None]:
    """End this process if the block takes too long: a library in C cannot be interrupted. The parent starts another."""
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(ATTACHMENT_TIME_S, file=nowhere, exit=True)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _format(name: str, content_type: str) -> Format | None:
    """Return the format of an attachment by its name, or else by its type; None if it is not read."""
    found = format_of(name) or format_of("x" + (mimetypes.guess_extension(content_type) or ""))
    return None if found in _MAIL else found


def _read(source: Held, file_format: Format) -> tuple[str, list[tuple[str, int]]]:
    """Return the text, and (title, start) of each heading in it, which says in which attachment it stands."""
    if file_format is Format.PDF:
        parts = PdfParts()
        try:
            for message in pdf.read(source, 0, pdfium=True):
                parts.take(message)
        except TextTooLongError as error:
            parts.give_up(str(error))
        document = assemble_pdf(parts).document
    else:
        document = assemble_text(read_text(source, file_format)).document
    if file_format in _PAGED:
        pages = enumerate(document.page_starts, start=1)
        named = [(place_name(source.name, page, ""), start) for page, start in pages]
    else:
        named = [(heading.title, heading.start) for heading in document.headings]
    return document.text, [(f"{source.name}: {title}", start) for title, start in named]
