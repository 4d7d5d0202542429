"""Read the pages of a PDF: each with pdfium, or with pypdf if pdfium fails or returns garbage.

This module knows no time limits: the parent, which waits for each page, enforces them.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import has_words
from longsearch.indexer.extract.pdf.ocr import OcrFailedError, Picture, is_blank, recognise
from longsearch.indexer.extract.pdf.pdfium import PdfiumDocument, PdfiumFailedError
from longsearch.indexer.extract.pdf.quality import (
    AMONG_UNREADABLE_PAGES,
    AMONG_UNREADABLE_SHARE,
    DOUBTFUL_SHARE,
    UNREADABLE_SHARE,
    PasswordNeededError,
    ReadPage,
)
from longsearch.indexer.extract.pdf.recognition import key_of, known_lines
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import (
    DAMAGED,
    NO_LETTERS,
    NO_OCR_TOOL,
    Inside,
    Message,
    Opened,
    Outline,
    Page,
)
from longsearch.indexer.extract.wire.values import MarkApart, RawMetadata

_HEAD_BYTES, _TAIL_BYTES = 1024, 65_536
_MAX_UNREADABLE_IN_A_ROW = 5
"""Pages in a row that neither library could read. After these, pypdf (ten times slower) is no longer tried."""
_HEAD_PAGES = 8
"""Pages that show a document's title: a running head is one that returns on four left or four right pages."""
_LINEARIZED_LENGTH = re.compile(rb"/Linearized\b[^>]{0,200}?/L\s+(\d{1,15})\b")


@dataclass(frozen=True, slots=True)
class OcrWish:
    """How pages without text are read. The fields are those of `Request`."""

    languages: str
    cache: str
    known_only: bool


ReadInside = Callable[[PdfiumDocument], Iterator[Inside]]
"""Reads the files and the form of XML that lie in a PDF: see `readers.attachments`."""


class _Document(Protocol):
    n_pages: int
    title: str
    metadata: RawMetadata

    def page(self, index: int) -> ReadPage | None: ...

    def outline(self) -> list[tuple[int, str, int]]: ...

    def close(self) -> None: ...


def read(
    path: Source,
    first_page: int,
    pdfium: bool,
    ocr: "OcrWish | None" = None,
    head_only: bool = False,
    read_inside: ReadInside | None = None,
    apart: Sequence[MarkApart] = (),
) -> Iterator[Message]:
    """Yield `Opened`, each `Page` from `first_page` (0-based) on, the `Outline`, and what `read_inside` reads.

    `pdfium`, `head_only` and `apart` have the meaning of the same fields of `Request`. Raises `ExtractionError`.
    """
    warning = _check(path)
    try:
        reader = _PageReader(path, pdfium, apart)
    except PasswordNeededError:
        raise
    except ExtractionError as error:
        message = f"{warning}, and no page can be found without it" if warning else error.message
        raise ExtractionError(message, error.hint) from error
    document = reader.document
    yield Opened(document.n_pages, document.title, warning, document.metadata)
    for index in range(first_page, min(document.n_pages, _HEAD_PAGES) if head_only else document.n_pages):
        page = reader.page(index)
        is_empty = not head_only and not any(map(has_words, page.lines))
        yield reader.page_without_words(page, ocr) if is_empty else page
    if not head_only:
        yield Outline(tuple(document.outline()))
        if read_inside is not None:
            yield from reader.inside(read_inside)
    reader.close()


def _check(path: Source) -> str:
    """Return why the file seems to be cut off, or "". Raises `ExtractionError` if it is no PDF."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read()
    if not head:
        raise ExtractionError("empty file")
    if b"%PDF-" not in head:
        raise ExtractionError("not a PDF: it does not begin like one", "a broken download, or the wrong suffix?")
    linearized = _LINEARIZED_LENGTH.search(head)
    cut_off = b"%%EOF" not in tail or (linearized is not None and int(linearized[1]) > size)
    return "the file seems to be cut off: its end is missing" if cut_off else ""


class _PageReader:
    """Keeps the document open in one library, and also in the other as soon as a page needs it."""

    def __init__(self, path: Source, pdfium: bool, apart: Sequence[MarkApart]) -> None:
        self._path = path
        self._pdfium: PdfiumDocument | None = None
        self._pypdf: _Document | None = None
        self._n_unreadable_in_a_row = 0
        if pdfium:
            with suppress(PdfiumFailedError):
                self._pdfium = PdfiumDocument(path, apart)
        self.document: _Document = self._pdfium or self._open_pypdf()

    def page(self, index: int) -> Page:
        """Return page `index` from the library that reads it better."""
        tried = [self._pdfium.page(index)] if self._pdfium else []
        if not any(page and page.garbage < DOUBTFUL_SHARE for page in tried):
            tried.append(self._pypdf_page(index))
        best = min((page for page in tried if page), key=lambda page: page.garbage, default=None)
        is_among_unreadable = self._n_unreadable_in_a_row >= AMONG_UNREADABLE_PAGES
        if best is None or best.garbage >= (AMONG_UNREADABLE_SHARE if is_among_unreadable else UNREADABLE_SHARE):
            self._n_unreadable_in_a_row += 1
            return Page(index, (), problem=DAMAGED if best is None else NO_LETTERS)
        self._n_unreadable_in_a_row = 0
        return Page(index, best.lines, best.large_text, beside=best.beside, label=best.label, marks=best.marks)

    def inside(self, read_inside: ReadInside) -> Iterator[Inside]:
        """Yield what lies in the file and on no page."""
        if self._pdfium is not None:
            yield from read_inside(self._pdfium)

    def page_without_words(self, page: Page, ocr: OcrWish | None) -> Page:
        """Return a page in which no library found words, with the words that OCR finds in its picture.

        A page that OCR could read and does not says so. One that shows nothing stays as it is.
        """
        if self._pdfium is None or not self._pdfium.shows_something(page.index):
            return page
        if ocr is None:
            return replace(page, scanned=True)
        picture = self._pdfium.picture(page.index)
        if picture is None or is_blank(picture):
            return page
        return self._recognised(page, picture, ocr)

    def _recognised(self, page: Page, picture: Picture, ocr: OcrWish) -> Page:
        key = key_of(picture, ocr.languages)
        if (lines := known_lines(ocr.cache, key)) is not None:
            return replace(page, lines=lines, ocr_key=key)
        if ocr.known_only:
            return replace(page, scanned=True)
        began_at = time.monotonic()
        try:
            lines = recognise(picture, ocr.languages)
        except OcrFailedError as error:
            return Page(page.index, (), problem=str(error), scanned=str(error) == NO_OCR_TOOL)
        return replace(page, lines=lines, ocr_key=key, ocr_s=max(time.monotonic() - began_at, 1e-6))

    def _pypdf_page(self, index: int) -> ReadPage | None:
        if self._n_unreadable_in_a_row >= _MAX_UNREADABLE_IN_A_ROW:
            return None
        try:
            document = self._pypdf or self._open_pypdf()
        except ExtractionError:
            self._n_unreadable_in_a_row = _MAX_UNREADABLE_IN_A_ROW
            return None
        return document.page(index) if index < document.n_pages else None

    def _open_pypdf(self) -> _Document:
        from longsearch.indexer.extract.pdf.pypdf_fallback import PypdfDocument

        self._pypdf = PypdfDocument(self._path)
        return self._pypdf

    def close(self) -> None:
        """Close the file."""
        for document in (self._pdfium, self._pypdf):
            if document is not None:
                document.close()
