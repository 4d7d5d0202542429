"""PDF pages through pdfium: fast, and it knows where each line stands. Crashes and hangs on hostile files: child only.

Measured on 1,394 pages of 46 papers, CPU of one core: 330 pages/s with layout and cleaning, of which a fifth goes into
the places of the lines.
"""

from collections.abc import Iterator
from ctypes import c_double
from math import hypot
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from indexer.extract.clean import clean_characters, one_line
from indexer.extract.layout import Line, separated, title_in
from indexer.extract.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS
from indexer.extract.pdf_repair import has_tex_ligatures, with_tex_ligatures
from indexer.extract.quality import ReadPage, garbage_share

_LINE_END = "\r\n"


class PdfiumFailedError(Exception):
    """pdfium cannot open this file; another library may."""


class PdfiumDocument:
    """An open PDF. Raises `PdfiumFailedError`."""

    def __init__(self, path: Path) -> None:
        try:
            self._document = pdfium.PdfDocument(path)
        except pdfium.PdfiumError as error:
            # a wanted password too: the code may be that of the file before, so the other library decides
            raise PdfiumFailedError(str(error)) from error
        self.n_pages = len(self._document)
        self.title = one_line(self._document.get_metadata_value("Title"), MAX_TITLE_CHARACTERS)

    def page(self, index: int) -> ReadPage | None:
        """Page `index`, or None where pdfium cannot read it."""
        try:
            page = self._document[index]
            text_page = page.get_textpage()
            # Lone surrogates stay until the places of the lines are found: they count as characters there.
            raw = text_page.get_text_range(errors="surrogatepass")
        except (pdfium.PdfiumError, AssertionError):
            return None
        lines = list(_lines(text_page, raw))
        text_page.close()  # or every page would stay in memory until the document is closed
        page.close()
        return ReadPage(separated(lines), title_in(lines) if index == 0 else "", garbage_share(raw))

    def outline(self) -> list[tuple[int, str, int]]:
        """(level from 1, title, 0-based page) of each entry that leads to a page."""
        entries = []
        for bookmark in self._document.get_toc():
            title = one_line(bookmark.get_title(), MAX_TITLE_CHARACTERS)
            destination = bookmark.get_dest()
            page = destination.get_index() if destination is not None else None
            if title and page is not None and 0 <= page < self.n_pages:
                entries.append((bookmark.level + 1, title, page))
            if len(entries) == MAX_HEADINGS:
                break
        return entries

    def close(self) -> None:
        """Close the file."""
        self._document.close()


def _lines(text_page: Any, raw: str) -> Iterator[Line]:
    repaired = has_tex_ligatures(raw)
    beyond_bmp = max(raw, default="") > "\uffff"
    first = 0
    for raw_line in raw.split(_LINE_END):
        # pdfium counts UTF-16 units
        n_units = len(raw_line.encode("utf-16-le", "surrogatepass")) // 2 if beyond_bmp else len(raw_line)
        text = " ".join(clean_characters(with_tex_ligatures(raw_line) if repaired else raw_line).split())
        if text:
            yield _placed(text_page, text, first, first + n_units - 1)
        first += n_units + len(_LINE_END)


def _placed(text_page: Any, text: str, first: int, last: int) -> Line:
    """The line `text`, whose characters are `first` to `last` of the page's text."""
    start, end = (pdfium_c.FPDFText_GetCharIndexFromTextIndex(text_page, index) for index in (first, last))
    x, y, end_x, end_y = (c_double() for _ in range(4))
    box, matrix = pdfium_c.FS_RECTF(), pdfium_c.FS_MATRIX()
    known = (
        pdfium_c.FPDFText_GetCharOrigin(text_page, start, x, y)
        and pdfium_c.FPDFText_GetCharOrigin(text_page, end, end_x, end_y)
        and pdfium_c.FPDFText_GetLooseCharBox(text_page, end, box)
        and pdfium_c.FPDFText_GetMatrix(text_page, start, matrix)
    )
    if not known:
        return Line(text)
    size = pdfium_c.FPDFText_GetFontSize(text_page, start) * hypot(matrix.c, matrix.d)
    return Line(text, x.value, box.right, y.value, end_y.value, size)
