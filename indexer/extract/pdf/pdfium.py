"""Read PDF pages with pdfium, which is fast and gives each line's position. It may crash or hang: use it in the child.

Measured on 777 pages of 30 papers, on one core, runs alternating: 333 pages/s with layout and cleaning, 507 pages/s for
pdfium alone. Both figures vary by a third from run to run on one machine; their ratio does not.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from ctypes import c_ulong, create_string_buffer
from dataclasses import replace
from functools import partial
from itertools import accumulate, compress, repeat
from operator import add, sub
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.pdf.annotations import Beside, Pinned, Typed, beside, pinned, text_within
from longsearch.indexer.extract.pdf.apart import put_onto
from longsearch.indexer.extract.pdf.associated import associated_files
from longsearch.indexer.extract.pdf.cells import with_cells
from longsearch.indexer.extract.pdf.ciphers import shift_of, unswapped
from longsearch.indexer.extract.pdf.drawn import MAX_ON_A_PAGE, words_drawn
from longsearch.indexer.extract.pdf.fields import named, with_fields
from longsearch.indexer.extract.pdf.frames import title_first
from longsearch.indexer.extract.pdf.gaps import Found, put_right, shifted_lines
from longsearch.indexer.extract.pdf.headings import HeadingsByType
from longsearch.indexer.extract.pdf.info import INFO, INFO_FIELDS
from longsearch.indexer.extract.pdf.layers import Layers
from longsearch.indexer.extract.pdf.layout import Line, title_in, tuples, with_separators
from longsearch.indexer.extract.pdf.ocr import DPI, Picture
from longsearch.indexer.extract.pdf.pages import LINE_END, clean_line, clean_lines
from longsearch.indexer.extract.pdf.places import character_indices, placed, reference_to, text_of
from longsearch.indexer.extract.pdf.quality import ReadPage, garbage_share
from longsearch.indexer.extract.pdf.repair import has_tex_ligatures, with_tex_ligatures
from longsearch.indexer.extract.pdf.rows import arranged
from longsearch.indexer.extract.pdf.tight import with_words_parted
from longsearch.indexer.extract.sources import Source, for_library
from longsearch.indexer.extract.wire.limits import (
    MAX_ATTACHMENTS,
    MAX_HEADINGS,
    MAX_OCR_PIXELS,
    MAX_TEXT_FILE_BYTES,
    MAX_TITLE_CHARACTERS,
)
from longsearch.indexer.extract.wire.values import MarkApart, limited

_MAX_LABEL_BYTES = 100
_MAX_PACKETS = 50
_MAX_DRAWN_CHARACTERS = 2_000


class PdfiumFailedError(Exception):
    """pdfium cannot open this file; another library may be able to."""


class PdfiumDocument:
    """An open PDF. Raises `PdfiumFailedError`."""

    def __init__(self, path: Source, apart: Sequence[MarkApart] = ()) -> None:
        """`apart`: marks that lie beside the file."""
        try:
            self._document = pdfium.PdfDocument(data := for_library(path))
        except pdfium.PdfiumError as error:
            # The error code may stem from the file before, so pypdf decides whether a password is missing.
            raise PdfiumFailedError(str(error)) from error
        self.n_pages = len(self._document)
        self._form = _form_of(self._document)
        self._layers = Layers(path, data if isinstance(data, bytes) else None)
        self._pinned: list[Pinned] = []
        self._n_fields = 0
        self._drawn: set[str] = set()
        self._headings, self._large_text = HeadingsByType(), ""
        self._path = path
        self._apart = defaultdict(list)
        for mark in apart:
            self._apart[mark[0]].append(mark)
        get = self._document.get_metadata_value
        self.title = one_line(get("Title"), MAX_TITLE_CHARACTERS)
        self.metadata = limited((field, get(key), INFO) for key, field in INFO_FIELDS)

    def page(self, index: int) -> ReadPage | None:
        """Return page `index`, or None if pdfium cannot read it."""
        page = pdfium_c.FPDF_LoadPage(self._document, index)  # pypdfium2's own objects take 2 % of the time
        if not page:
            return None
        if self._form is not None:
            pdfium_c.FORM_OnAfterLoadPage(page, self._form)
        text_page = pdfium_c.FPDFText_LoadPage(page)
        try:
            return self._read(page, reference_to(text_page), index) if text_page else None
        finally:  # otherwise the page stays in memory until the document is closed
            pdfium_c.FPDFText_ClosePage(text_page)
            if self._form is not None:
                pdfium_c.FORM_OnBeforeClosePage(page, self._form)
            pdfium_c.FPDF_ClosePage(page)

    def _read(self, page: Any, text_page: Any, index: int) -> ReadPage:
        raw = text_of(text_page)
        put_onto(page, apart := self._apart.pop(index, ()))
        found = Beside()
        if self._layers.may_annotate or apart:
            found = beside(page, index, text_page, self._form, self._layers.unseen_annotations(index))
        if (shown := self._layers.without_hidden(index)) is not None:
            raw, lines = _read_alone(shown)
        else:
            raw, lines = _text_and_lines(text_page, raw)
        self._add_drawn(found, index)
        if lines and found.typed:
            lines = with_fields(lines, found.typed, partial(_left_of, text_page))
        self._pinned += found.pinned
        self._n_fields += sum(bool(value.name) for value in found.typed)
        if index == 0:
            lines = title_first(lines)
        self._headings.add(index, lines)
        title = title_in(lines) if index == 0 else ""
        self._large_text = self._large_text or title
        notes = tuple(found.notes)
        if not lines:  # a scan: what was typed onto it must not pass for its text
            notes = (*map(named, found.typed), *notes)
        return ReadPage(
            with_separators(lines), title, garbage_share(raw), notes, self._label(index), tuple(found.marks)
        )

    def _add_drawn(self, found: Beside, index: int) -> None:
        """Add the words that stamps and their like draw; what many pages bear, such as a watermark, once."""
        for number, kind, place in found.drawn[:MAX_ON_A_PAGE]:
            words = one_line(words_drawn(self._document, index, number), _MAX_DRAWN_CHARACTERS)
            if words and not kind:
                found.typed.append(replace(place, text=words))
            elif words and words not in self._drawn:
                self._drawn.add(words)
                found.notes.append(f"{kind}: {words}")

    def _label(self, index: int) -> str:
        n_bytes = pdfium_c.FPDF_GetPageLabel(self._document, index, None, 0) if self._layers.may_label else 0
        if not 2 < n_bytes <= _MAX_LABEL_BYTES:
            return ""
        buffer = create_string_buffer(n_bytes)
        pdfium_c.FPDF_GetPageLabel(self._document, index, buffer, n_bytes)
        return one_line(buffer.raw.decode("utf-16-le", "replace").rstrip("\0"), _MAX_LABEL_BYTES)

    def files_inside(self) -> Iterator[Pinned]:
        """Yield the files that are pinned to the pages that were read, and those that lie in the document."""
        known = list(self._pinned)
        for number in range(min(pdfium_c.FPDFDoc_GetAttachmentCount(self._document), MAX_ATTACHMENTS)):
            known += pinned(pdfium_c.FPDFDoc_GetAttachment(self._document, number), self.n_pages - 1)
        yield from known
        if self._layers.has_associated_files:
            said = {file.data for file in known}
            yield from (file for file in associated_files(self._path.read_bytes()) if file.data not in said)

    def packets_of_form(self) -> list[tuple[str, bytes]]:
        """Return (name, XML) of each packet of a form whose fields are on no page; [] if there is none."""
        n_packets = pdfium_c.FPDF_GetXFAPacketCount(self._document)
        if self._n_fields or n_packets <= 0:
            return []
        return [_packet(self._document, number) for number in range(min(n_packets, _MAX_PACKETS))]

    def shows_something(self, index: int) -> bool:
        """Return whether page `index` draws anything: text, lines or pictures."""
        try:
            page = self._document[index]
            n_objects = pdfium_c.FPDFPage_CountObjects(page.raw)
        except (pdfium.PdfiumError, AssertionError):
            return False
        page.close()
        return bool(n_objects > 0)

    def picture(self, index: int) -> Picture | None:
        """Return a picture of page `index`, or None if pdfium cannot render it."""
        try:
            page = self._document[index]
            inches = page.get_width() * page.get_height() / 72**2
            dpi = int(min(DPI, (MAX_OCR_PIXELS / max(inches, 1e-6)) ** 0.5))
            bitmap = page.render(scale=max(dpi, 1) / 72, grayscale=True)
        except (pdfium.PdfiumError, AssertionError, ValueError):
            return None
        rows = memoryview(bitmap.buffer).cast("B")
        width, height, stride = bitmap.width, bitmap.height, bitmap.stride
        gray = b"".join(rows[row * stride : row * stride + width] for row in range(height))
        bitmap.close()
        page.close()
        return Picture(width, height, gray, dpi)

    def outline(self) -> list[tuple[int, str, int]]:
        """Return (level from 1, title, 0-based page) for each outline entry that leads to a page.

        A document without such entries has its headings by type size.
        """
        entries = []
        for bookmark in self._document.get_toc():
            title = one_line(bookmark.get_title(), MAX_TITLE_CHARACTERS)
            destination = bookmark.get_dest()
            page = destination.get_index() if destination is not None else None
            if title and page is not None and 0 <= page < self.n_pages:
                entries.append((bookmark.level + 1, title, page))
            if len(entries) == MAX_HEADINGS:
                break
        return entries or self._headings.entries(self._large_text)

    def close(self) -> None:
        """Close the file."""
        self._document.close()


def _form_of(document: Any) -> Any:
    """Return pdfium's handle of the document's form, or None if it has none."""
    if document.get_formtype() == pdfium_c.FORMTYPE_NONE:
        return None
    document.init_forms()
    return document.formenv.raw if document.formenv is not None else None


def _read_alone(data: bytes) -> tuple[str, list[Line]]:
    """Return the text and the lines of the only page of a PDF."""
    document = pdfium.PdfDocument(data)
    text_page = document[0].get_textpage()
    found = _text_and_lines(text_page.raw, text_of(text_page.raw))
    text_page.close()
    document.close()
    return found


def _text_and_lines(text_page: Any, raw: str) -> tuple[str, list[Line]]:
    """Return a page's text and its lines in the order of reading, with letters that its fonts moved put right."""
    raw = unswapped(raw)
    if shift := shift_of(raw):
        cleaned = ((clean_line(text), *place) for text, *place in shifted_lines(text_page, shift))
        shown = [line for line in cleaned if line[0]]
        texts, firsts, lasts = zip(*shown, strict=True) if shown else ((), (), ())
        lines = placed(text_page, texts, firsts, lasts)
        return "\n".join(line.text for line in lines), arranged(lines)
    return raw, arranged(_lines(text_page, raw))


def _left_of(text_page: Any, value: Typed, line: Line) -> str:
    """Return the text of a line that stands left of a field; the whole line if its place is not known."""
    if not line.left < value.left - 1 < line.right:
        return line.text if line.left < value.left else ""
    return text_within(
        text_page, line.left - 1, line.baseline + line.size, value.left - 1, line.baseline - 0.3 * line.size
    )


def _packet(document: Any, number: int) -> tuple[str, bytes]:
    n_bytes = c_ulong()
    name = create_string_buffer(200)
    pdfium_c.FPDF_GetXFAPacketName(document, number, name, len(name))
    if not pdfium_c.FPDF_GetXFAPacketContent(document, number, None, 0, n_bytes) or n_bytes.value > MAX_TEXT_FILE_BYTES:
        return "", b""
    buffer = create_string_buffer(max(1, n_bytes.value))
    pdfium_c.FPDF_GetXFAPacketContent(document, number, buffer, n_bytes.value, n_bytes)
    return name.value.decode("utf-8", "replace"), buffer.raw[: n_bytes.value]


def _lines(text_page: Any, raw: str) -> list[Line]:
    found = _found_lines(text_page, raw)
    return with_cells(text_page, with_words_parted(text_page, put_right(text_page, found))) if found else []


def _found_lines(text_page: Any, raw: str) -> list[Found]:
    raws = raw.split(LINE_END)
    texts = [clean_line(with_tex_ligatures(line)) for line in raws] if has_tex_ligatures(raw) else clean_lines(raw)
    lengths = list(map(len, raws))
    if not raw.isascii() and len(raw.encode("utf-16-le", "surrogatepass")) > 2 * len(raw):
        lengths = [len(line.encode("utf-16-le", "surrogatepass")) // 2 for line in raws]  # as pdfium counts
        raws = [line if length == len(line) else "" for line, length in zip(raws, lengths, strict=True)]
    firsts = list(accumulate(map(add, lengths[:-1], repeat(len(LINE_END))), initial=0))
    # The text may lack some of the page's characters and adds none: if the counts are equal, so are all indices.
    same_indices = pdfium_c.FPDFText_CountChars(text_page) == firsts[-1] + lengths[-1]
    lasts = list(map(sub, map(add, firsts, lengths), repeat(1)))
    raws = list(compress(raws, texts))
    firsts, lasts = (list(compress(column, texts)) for column in (firsts, lasts))
    texts = list(filter(None, texts))
    if same_indices:
        return tuples(Found, zip(placed(text_page, texts, firsts, lasts), raws, firsts, strict=True))
    ends = (character_indices(text_page, indices) for indices in (firsts, lasts))
    return [Found(line, "", first) for line, first in zip(placed(text_page, texts, *ends), firsts, strict=True)]
