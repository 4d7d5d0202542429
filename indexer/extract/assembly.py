"""Turn the child's messages about a file into an `Extraction`: text, headings, title, and what is missing.

Pure functions. This module knows neither processes nor time limits: the caller says why a page is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from longsearch.engine.amounts import counted
from longsearch.engine.errors import BeingWrittenError, ExtractionError
from longsearch.engine.types.documents import DocumentText, Heading, MetadataValue
from longsearch.indexer.extract.clean import has_words
from longsearch.indexer.extract.marks import of_pages, of_text, with_marks
from longsearch.indexer.extract.metadata import from_first_page, gathered, with_title
from longsearch.indexer.extract.pdf.info import INFO
from longsearch.indexer.extract.pdf.ocr import INSTALL_HINT
from longsearch.indexer.extract.pdf.pages import join_pages, without_running_lines
from longsearch.indexer.extract.pdf.recognition import Recognition, calls_tesseract
from longsearch.indexer.extract.titles import (
    LARGEST_TYPE,
    choose_title,
    is_cut_short,
    is_title_of_paper,
    page_confirms,
    title_of_text,
)
from longsearch.indexer.extract.wire.limits import LATE_PAGES, MAX_BARE_PAGES, MAX_TEXT_CHARACTERS
from longsearch.indexer.extract.wire.protocol import (
    NO_LETTERS,
    NO_OCR_TOOL,
    SCANNED,
    Described,
    FileText,
    Inside,
    Message,
    Opened,
    Outline,
    Page,
)
from longsearch.indexer.extract.wire.values import RawMark, RawMetadata

_OCR = "read it with OCR: s in the list of files, or longsearch index FOLDER --ocr; or make a copy: ocrmypdf "
_SCAN_HINT = f"{_OCR}in.pdf out.pdf"
_FONT_HINT = f"{_OCR}--force-ocr in.pdf out.pdf"
_OCR_HINT = (
    "list its languages: tesseract --list-langs; choose another one: ocr in the config file, or LONGSEARCH_OCR=deu"
)
_LOST_HINT = "look at these pages yourself, or try a repaired copy: qpdf in.pdf out.pdf"
_BROKEN_HINT = "open it in its own program and save a copy"
_NAMED_RANGES = 5


@dataclass(frozen=True, slots=True)
class Extraction:
    """The text of one file, and what is missing from it."""

    document: DocumentText
    partial_reason: str
    """Which part could not be read and why, or "" if the whole file was read."""
    hint: str
    """Advice for the person, or ""."""
    content_hash: bytes = b""
    """The hash of the file's bytes, if only who read them knows it."""


class GiveUpError(Exception):
    """The rest of a PDF is not worth reading, or too much; the error's text says why."""


@dataclass(slots=True)
class PdfParts:
    """The parts of a PDF that have arrived so far. Pages arrive in order; each page is read or lost."""

    n_pages: int = 0
    """0 until the child has opened the file."""
    title: str = ""
    warning: str = ""
    pages: dict[int, Page] = field(default_factory=dict)
    """Pages that were read, by 0-based index."""
    lost: dict[int, str] = field(default_factory=dict)
    """0-based index of each page that could not be read -> the reason."""
    outline: Outline = field(default_factory=lambda: Outline(()))
    n_characters: int = 0
    info: RawMetadata = ()
    """The fields of the information dictionary."""
    xmp: RawMetadata = ()
    """The fields of XMP."""
    ocr: Recognition | None = None
    """How OCR reads the pages without text; None: not at all."""
    scanned: set[int] = field(default_factory=set)
    """0-based index of each page that OCR could read."""
    inside: list[Inside] = field(default_factory=list)
    """The parts of the file that lie on no page."""
    lost_inside: str = ""
    """Why the rest of that could not be read, or ""."""
    _n_bare: int = 0
    """Pages with nothing on them, or just what stood on the page before, that came last."""
    _n_late: int = 0
    """Pages that took too long, since the last one that came."""

    @property
    def next_page(self) -> int:
        """The first page (0-based) that has neither arrived nor been lost."""
        return len(self.pages) + len(self.lost)

    @property
    def complete(self) -> bool:
        """Whether every page has arrived or been lost."""
        return 0 < self.n_pages <= self.next_page

    def take(self, message: Message) -> None:
        """Keep `message`. Raises `GiveUpError`, and `ExtractionError` if it contradicts an earlier message."""
        match message:
            case Opened(n_pages) if n_pages and self.n_pages in (0, n_pages):
                self.n_pages, self.title, self.warning = n_pages, message.title, message.warning
                self.info = message.metadata
            case Page(index) if index == self.next_page < self.n_pages:
                self._take_page(message)
            case Outline():
                self.outline = message
            case Inside(page) if page < self.n_pages:
                self._take_inside(message)
            case Described(metadata):
                self.xmp = metadata
            case _:
                raise BeingWrittenError("changed while it was being read", "longsearch will read it again")

    def _take_page(self, page: Page) -> None:
        self._count(page.lines)
        before = self.pages.get(page.index - 1)
        is_new = page.scanned or (page.lines and page.lines != (before.lines if before else ()))
        self._n_late, self._n_bare = 0, 0 if is_new else self._n_bare + 1
        if self._n_bare >= MAX_BARE_PAGES:
            raise GiveUpError(f"{self._n_bare:,} pages in a row with nothing {'new ' if page.lines else ''}on them")
        if page.scanned:
            self.scanned.add(page.index)
        if self.ocr is not None:
            self.ocr.take(page)
        if page.problem:
            self.lost[page.index] = page.problem
        else:
            self.pages[page.index] = page

    def _take_inside(self, message: Inside) -> None:
        self._count((message.text,))
        self.inside.append(message)
        self.lost_inside = self.lost_inside or message.warning

    def _count(self, texts: Sequence[str]) -> None:
        self.n_characters += sum(map(len, texts))
        if self.n_characters > MAX_TEXT_CHARACTERS:
            raise GiveUpError(f"more than {MAX_TEXT_CHARACTERS:,} characters of text")

    def lose(self, reason: str, is_late: bool) -> None:
        """Record that the next page cannot be read; if many in a row took too long, that the rest cannot either."""
        self.lost[self.next_page] = reason
        self._n_late += is_late
        if self._n_late == LATE_PAGES:
            self.give_up(f"{LATE_PAGES} pages in a row {reason}")

    def give_up(self, reason: str) -> None:
        """Record that none of the remaining pages can be read."""
        for index in range(self.next_page, self.n_pages):
            self.lost[index] = reason


def assemble_pdf(parts: PdfParts, head_only: bool = False) -> Extraction:
    """Return the document of a PDF. Raises `ExtractionError` if no page holds text, unless only the head was read."""
    lines = [parts.pages[index].lines if index in parts.pages else () for index in range(parts.n_pages)]
    texts = ["".join(page).strip() for page in without_running_lines(lines)]
    n_without_text = sum(not has_words(text) for text in texts)
    whole, places = _with_what_lies_beside(parts, texts)
    if not any(map(has_words, whole)) and not head_only:
        error = _no_text(parts)
        error.n_scanned = len(parts.scanned)
        raise error
    text, page_starts = join_pages(whole)
    inner = (Heading(level, title, page_starts[page] + start) for page, level, title, start in places)
    headings = tuple(sorted((*_headings(parts.outline, text, page_starts), *inner), key=lambda heading: heading.start))
    title, metadata = _described(parts, texts[0], text)
    ocr_pages = tuple(index + 1 for index, page in sorted(parts.pages.items()) if page.ocr_key and page.lines)
    document = DocumentText(text, page_starts, title, headings, metadata, ocr_pages, len(parts.scanned), _labels(parts))
    marks = of_pages(((index, page.marks) for index, page in sorted(parts.pages.items())), text, page_starts)
    return Extraction(with_marks(document, marks), *_reason_and_hint(parts, n_without_text))


def _with_what_lies_beside(parts: PdfParts, texts: Sequence[str]) -> tuple[list[str], list[tuple[int, int, str, int]]]:
    """Return the pages with notes and files inside, and (page, level, title, start on it) of their headings."""
    whole = list(texts)
    places: list[tuple[int, int, str, int]] = []
    for index, page in parts.pages.items():
        whole[index] = "\n\n".join(filter(None, (texts[index], "\n\n".join(page.beside))))
    for found in parts.inside:
        before = whole[found.page] + "\n\n" if whole[found.page] and found.text else whole[found.page]
        whole[found.page] = before + found.text
        places += [(found.page, level, title, len(before) + start) for level, title, start in found.headings]
    return whole, places


def _labels(parts: PdfParts) -> tuple[str, ...]:
    """Return the printed number of each page; () if they are 1, 2, … or unknown."""
    labels = tuple(parts.pages[index].label if index in parts.pages else "" for index in range(parts.n_pages))
    is_plain = all(label in ("", str(index)) for index, label in enumerate(labels, start=1))
    return () if is_plain else labels


def _described(parts: PdfParts, first_page: str, text: str) -> tuple[str, tuple[MetadataValue, ...]]:
    """Return the title and the metadata of a PDF."""
    large_text = parts.pages[0].large_text if 0 in parts.pages else ""
    confirmed = page_confirms(parts.title, large_text, first_page) and not is_cut_short(parts.title, large_text)
    candidates = ((parts.title if confirmed else "", INFO), (large_text, LARGEST_TYPE))
    title, source = choose_title(candidates, "" if 0 in parts.lost else text, is_title_of_paper)
    metadata = gathered((*from_first_page(first_page), *parts.xmp, *parts.info))
    return title, with_title(metadata, title, source)


def assemble_text(file_text: FileText, apart: Sequence[tuple[int, RawMark]] = ()) -> Extraction:
    """Return the document of a file that is not a PDF; `apart`: its marks beside it. Raises `ExtractionError`."""
    if not has_words(file_text.text):
        raise ExtractionError("no text in it")
    headings = tuple(Heading(*heading) for heading in file_text.headings)
    named = next((source for field, text, source in file_text.metadata if field == "title" and text), "")
    title, source = title_of_text(file_text.title, named, "" if file_text.untitled else file_text.text, headings[:1])
    found = with_title(gathered(file_text.metadata), title, source)
    document = DocumentText(file_text.text, file_text.page_starts, title, headings, found, quoted=file_text.quoted)
    marks = of_text(file_text.marks, apart, document.text, file_text.page_starts)
    return Extraction(with_marks(document, marks), file_text.warning, _BROKEN_HINT if file_text.warning else "")


def _no_text(parts: PdfParts) -> ExtractionError:
    pages = counted(parts.n_pages, "page")
    if not parts.lost:
        return ExtractionError(
            f"no text in {pages} ({_why_no_text(parts)})", "" if calls_tesseract(parts.ocr) else _SCAN_HINT
        )
    return ExtractionError(f"no readable text in {pages}: {_reasons(parts)}", _lost_hint(parts))


def _why_no_text(parts: PdfParts) -> str:
    return "OCR found none" if calls_tesseract(parts.ocr) else SCANNED


def _lost_hint(parts: PdfParts) -> str:
    reasons = set(parts.lost.values())
    if NO_OCR_TOOL in reasons:
        return INSTALL_HINT
    if any(reason.startswith("OCR") for reason in reasons):
        return _OCR_HINT
    return _FONT_HINT if NO_LETTERS in reasons else _LOST_HINT


def _reasons(parts: PdfParts) -> str:
    return ", ".join(dict.fromkeys(parts.lost.values()))


def _reason_and_hint(parts: PdfParts, n_without_text: int) -> tuple[str, str]:
    """Return the reason why the document is partial, and a hint; ("", "") if nothing is missing."""
    if parts.lost:
        reason = f"{_page_names(sorted(parts.lost))} of {parts.n_pages} could not be read ({_reasons(parts)})"
        return reason, _lost_hint(parts)
    if parts.warning:
        return parts.warning, "download it again"
    if parts.lost_inside:
        return parts.lost_inside, _BROKEN_HINT
    if 2 * n_without_text > parts.n_pages:  # for example a cover sheet before a scan
        reason = f"no text in {n_without_text} of {parts.n_pages} pages ({_why_no_text(parts)})"
        return reason, "" if calls_tesseract(parts.ocr) else _SCAN_HINT
    return "", ""


def _page_names(indices: Sequence[int]) -> str:
    """Name the pages, counted from 1: "page 3", "pages 3 and 7", "pages 1, 3 to 9 and 12"."""
    ranges: list[list[int]] = []
    for index in indices:
        if ranges and ranges[-1][-1] == index - 1:
            ranges[-1] = [ranges[-1][0], index]
        else:
            ranges.append([index])
    names = [" to ".join(str(index + 1) for index in pages) for pages in ranges[:_NAMED_RANGES]]
    if len(ranges) > _NAMED_RANGES:
        names.append(f"{len(indices) - sum(pages[-1] - pages[0] + 1 for pages in ranges[:_NAMED_RANGES])} more")
    words = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return f"page {words}" if len(indices) == 1 else f"pages {words}"


def _headings(outline: Outline, text: str, page_starts: Sequence[int]) -> tuple[Heading, ...]:
    """Place each heading at its words on its page, or at the start of the page if they are not there; ascending."""
    folded, stops = _folded(text), [*page_starts[1:], len(text)]
    found = []
    for level, title, page in outline.entries:
        if page < len(page_starts):
            place = folded.find(title.lower(), page_starts[page], stops[page])
            found.append(Heading(level, title, place if place >= 0 else page_starts[page]))
    return tuple(sorted(found, key=lambda heading: heading.start))


def _folded(text: str) -> str:
    """Return `text` with line ends as spaces, and in lower case if that keeps its length: offsets stay valid."""
    lowered = text.lower()
    return (lowered if len(lowered) == len(text) else text).replace("\n", " ")
