"""Read files that lie inside other files with the readers of their formats, within limits of number, size and time.

Attachments of mail, of PDFs and of what is attached to these, documents inside office documents, and the members of
archives. All that lie in one file, at any depth, share its limits: a reader that is called for an attachment gets the
same `Attachments` from `of_this_file`.
"""

import faulthandler
import mimetypes
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from longsearch.engine.amounts import counted
from longsearch.engine.errors import ExtractionError
from longsearch.engine.places import place_of
from longsearch.engine.types.documents import DocumentPlace, DocumentText
from longsearch.indexer.extract.assembly import GiveUpError, PdfParts, assemble_pdf, assemble_text
from longsearch.indexer.extract.clean import clean_block, one_line
from longsearch.indexer.extract.dispatch import read_text
from longsearch.indexer.extract.formats import Format, format_of
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
from longsearch.indexer.extract.wire.protocol import SCANNED, Inside

if TYPE_CHECKING:
    from longsearch.indexer.extract.pdf.pdfium import PdfiumDocument

MAILBOX_ATTACHMENTS_S = ATTACHMENTS_TIME_S * MAILBOX_TIMES
"""Time for all attachments of a mailbox."""
MAX_DEPTH = 4
"""Files inside files inside files …"""
_PAGED = frozenset({Format.PDF, Format.SLIDES})
"""Formats whose pages are named, instead of their headings."""
_MAX_NAME_CHARACTERS = 150
_NAMED = 3
_BEGINNINGS = (
    (re.compile(rb"%PDF-"), Format.PDF),
    (re.compile(rb"\{\\rtf"), Format.RTF),
    (re.compile(rb"\x78\x9f\x3e\x22"), Format.TNEF),
    (re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE), Format.HTML),
    (re.compile(rb"(?:Return-Path|Received|From|Date|Subject|Message-ID|MIME-Version):", re.IGNORECASE), Format.MAIL),
)
"""How files begin whose names and types do not say what they are."""
_FORMAT_OF_TYPE = {"message/rfc822": Format.MAIL, "application/ms-tnef": Format.TNEF, "text/html": Format.HTML}
_UNKNOWN_TYPES = frozenset({"application/octet-stream", "application/binary", "binary/octet-stream", ""})
are_read = True
"""False if the files inside the one that is being read are only named, because one of them ended a child."""
_being_read: list["Attachments"] = []
"""The attachments of the file that this process reads, if one of them is being read."""


def of_this_file(time_s: float = ATTACHMENTS_TIME_S) -> "Attachments":
    """Return the attachments of the file that is being read: those of the outer one, if it lies in another file.

    `time_s`: for all of them.
    """
    return _being_read[-1] if _being_read else Attachments(time_s)


class Attachments:
    """Reads the attachments of one file, and counts those that it did not read."""

    def __init__(self, time_s: float) -> None:
        self._n_read = 0
        self._n_characters = 0
        self._ends_at = time.monotonic() + time_s
        self._n_over_limit = 0
        self._failed: list[str] = []
        self._depth = 0

    def add(
        self,
        builder: TextBuilder,
        name: str,
        content_type: str,
        load: Callable[[], bytes],
        level: int,
        kind: str = "Attachment",
    ) -> None:
        """Add an attachment: its name as a heading of this level, and its text if longsearch reads its format.

        `load` returns its bytes. `kind` is the word before its name.
        """
        name = one_line(name, _MAX_NAME_CHARACTERS) or "attachment" + (mimetypes.guess_extension(content_type) or "")
        file_format = _format(name, content_type)
        builder.add_heading(level, f"{kind}: {name}")
        if file_format is None and content_type not in _UNKNOWN_TYPES:
            return
        data = load()
        file_format = file_format or _format_by_content(name, data)
        if document := self.document(name, file_format, data):
            places = _places(name, document, has_pages=file_format in _PAGED)
            builder.include(document.text, ((level + 1, title, start) for title, start in places))

    def document(self, name: str, file_format: Format | None, data: bytes) -> DocumentText | None:
        """Return the text of a file of these bytes; None if it is not read, which `warning` then says."""
        if file_format is None or not data:
            return None
        if not self._may_read(len(data)):
            self._n_over_limit += 1
            return None
        self._n_read += 1
        try:
            with self._deeper(), nullcontext() if self._depth > 1 else _ending_what_hangs():
                document = _read(Held(name, data), file_format)
        except ExtractionError as error:
            self._failed.append(f"{name}: {'no text' if SCANNED in error.message else error.message}")
            return None
        self._n_characters += len(document.text)
        return document

    def add_embedded(self, builder: TextBuilder, files: Iterable[tuple[str, bytes]]) -> None:
        """Add the files that lie in an office document: the name of each, and its bytes."""
        for name, data in dict.fromkeys(files):
            self.add(builder, name, "", partial(bytes, data), 1, kind="Embedded document")

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        _being_read.append(self)
        try:
            yield
        finally:
            _being_read.pop()
            self._depth -= 1

    def _may_read(self, n_bytes: int) -> bool:
        return (
            are_read
            and self._depth < MAX_DEPTH
            and n_bytes <= MAX_ATTACHMENT_BYTES
            and self._n_read < MAX_ATTACHMENTS
            and self._n_characters < MAX_ATTACHMENTS_CHARACTERS
            and time.monotonic() < self._ends_at
        )

    @property
    def warning(self) -> str:
        """Which attachments were not read and why, or "". The outermost file says it."""
        return "" if self._depth else "; ".join(self._reasons())

    def _reasons(self) -> Iterator[str]:
        if self._n_over_limit:
            why = "too large, too many or too slow" if are_read else "one of them ended the reader"
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
    """Return the format of an attachment by its name, or else by its type; None if neither says one that is read."""
    found = format_of(name) or _FORMAT_OF_TYPE.get(content_type)
    found = found or format_of("x" + (mimetypes.guess_extension(content_type) or ""))
    return found or (Format.PLAIN if content_type.startswith("text/") else None)


def _format_by_content(name: str, data: bytes) -> Format | None:
    """Return the format of a file whose name and type do not say it: README and its like are plain text."""
    found = next((found for beginning, found in _BEGINNINGS if beginning.match(data)), None)
    if found is None and not PurePath(name).suffix and b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return Format.PLAIN if data.decode("utf-8").strip() else None
    return found


def inside_pdf(document: "PdfiumDocument") -> Iterator[Inside]:
    """Yield a form of XML, and each file that lies in a PDF, with its text."""
    if packets := document.packets_of_form():
        from longsearch.indexer.extract.readers.xfa import lines_of

        yield Inside(0, clean_block("\n".join(lines_of(packets))))
    attachments = of_this_file()
    for file in document.files_inside():
        builder = TextBuilder()
        attachments.add(builder, file.name, file.content_type, partial(bytes, file.data), 1)
        read = builder.file_text()
        yield Inside(file.page, read.text, read.headings)
    if attachments.warning:
        yield Inside(0, "", warning=attachments.warning)


def _read(source: Held, file_format: Format) -> DocumentText:
    if file_format is Format.PDF:
        from longsearch.indexer.extract.pdf import document as pdf

        parts = PdfParts()
        try:
            for message in pdf.read(source, 0, pdfium=True, read_inside=inside_pdf):
                parts.take(message)
        except GiveUpError as error:
            parts.give_up(str(error))
        return assemble_pdf(parts).document
    return assemble_text(read_text(source, file_format)).document


def _places(name: str, document: DocumentText, has_pages: bool) -> Iterator[tuple[str, int]]:
    """Yield (title, start) of each heading of an attachment, or of its pages. The title says in which one it stands."""
    if has_pages:
        for page, start in enumerate(document.page_starts, start=1):
            yield f"{name}: {place_of(name, DocumentPlace(page))}", start
    else:
        for heading in document.headings:
            yield f"{name}: {heading.title}", heading.start
