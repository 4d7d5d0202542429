"""What the child sent of a file -> `Extraction`: pages joined, outline to headings, a title, and what is missing.

Pure. Knows neither processes nor time: why a page is lost is told by whoever lost it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import BeingWrittenError, ExtractionError
from engine.types import DocumentText, Heading
from indexer.extract.clean import has_words
from indexer.extract.limits import MAX_TEXT_CHARACTERS
from indexer.extract.messages import NO_LETTERS, NO_OCR_TOOL, SCANNED, FileText, Message, Opened, Outline, Page
from indexer.extract.ocr import INSTALL_HINT
from indexer.extract.pages import join_pages, without_running_lines
from indexer.extract.titles import choose_title, is_said, is_title_of_paper

_OCR = "have it read with OCR: longsearch index FOLDER --ocr; or make a searchable copy: ocrmypdf "
_SCAN_HINT = f"{_OCR}in.pdf out.pdf"
_FONT_HINT = f"{_OCR}--force-ocr in.pdf out.pdf"
_OCR_HINT = "see what it can read: tesseract --list-langs; another language: LONGSEARCH_OCR=deu"
_LOST_HINT = "look at these pages yourself, or try a repaired copy: qpdf in.pdf out.pdf"
_BROKEN_HINT = "open it in its own program and save a copy"
_NAMED_RANGES = 5


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read of one file."""

    document: DocumentText
    partial_reason: str
    """What could not be read, or "" where the file was read whole."""
    hint: str
    """What the person can do about that, or ""."""


class TextTooLongError(Exception):
    """More text than `MAX_TEXT_CHARACTERS`; the text says so."""


@dataclass(slots=True)
class PdfParts:
    """What has come of a PDF so far. Pages come in order; each is there, or lost, or was given up with all after it."""

    n_pages: int = 0
    """0 until the file is open."""
    title: str = ""
    warning: str = ""
    pages: dict[int, Page] = field(default_factory=dict)
    """By 0-based index."""
    lost: dict[int, str] = field(default_factory=dict)
    """0-based index of a page that could not be read -> why."""
    outline: Outline = field(default_factory=lambda: Outline(()))
    n_characters: int = 0
    ocr: bool = False
    """Whether pages without text were read by OCR."""

    @property
    def next_page(self) -> int:
        """The first page, 0-based, that has neither come nor been lost."""
        return len(self.pages) + len(self.lost)

    @property
    def complete(self) -> bool:
        """Whether no page is still to come."""
        return 0 < self.n_pages <= self.next_page

    def take(self, message: Message) -> None:
        """Keep `message`. Raises `TextTooLongError`, and `ExtractionError` where it does not fit what came before."""
        match message:
            case Opened(n_pages) if n_pages and self.n_pages in (0, n_pages):
                self.n_pages, self.title, self.warning = n_pages, message.title, message.warning
            case Page(index) if index == self.next_page < self.n_pages:
                self._take_page(message)
            case Outline():
                self.outline = message
            case _:
                raise BeingWrittenError("changed while it was being read", "it will be read again")

    def _take_page(self, page: Page) -> None:
        self.n_characters += sum(map(len, page.lines))
        if self.n_characters > MAX_TEXT_CHARACTERS:
            raise TextTooLongError(f"more than {MAX_TEXT_CHARACTERS:,} characters of text")
        if page.problem:
            self.lost[page.index] = page.problem
        else:
            self.pages[page.index] = page

    def lose(self, reason: str) -> None:
        """The next page cannot be read."""
        self.lost[self.next_page] = reason

    def give_up(self, reason: str) -> None:
        """No page that is still to come will be read."""
        for index in range(self.next_page, self.n_pages):
            self.lost[index] = reason


def assemble_pdf(parts: PdfParts) -> Extraction:
    """The document. Raises `ExtractionError` where no page holds text."""
    lines = [parts.pages[index].lines if index in parts.pages else () for index in range(parts.n_pages)]
    texts = ["".join(page).strip() for page in without_running_lines(lines)]
    n_silent = sum(not has_words(text) for text in texts)
    if n_silent == parts.n_pages:
        raise _no_text(parts)
    text, page_starts = join_pages(texts)
    large_text = parts.pages[0].large_text if 0 in parts.pages else ""
    own = parts.title if is_said(parts.title, large_text, texts[0]) else ""
    title = choose_title((own, large_text), "" if 0 in parts.lost else text, is_title_of_paper)
    headings = _headings(parts.outline, text, page_starts)
    return Extraction(DocumentText(text, page_starts, title, headings), *_what_is_missing(parts, n_silent))


def assemble_text(file_text: FileText) -> Extraction:
    """The document of a file that is not a PDF. Raises `ExtractionError` where it holds no text."""
    if not has_words(file_text.text):
        raise ExtractionError("no text in it")
    headings = tuple(Heading(level, title, start) for level, title, start in file_text.headings)
    title = choose_title((file_text.title,), file_text.text)
    hint = _BROKEN_HINT if file_text.warning else ""
    return Extraction(DocumentText(file_text.text, file_text.page_starts, title, headings), file_text.warning, hint)


def _no_text(parts: PdfParts) -> ExtractionError:
    pages = "1 page" if parts.n_pages == 1 else f"{parts.n_pages} pages"
    if not parts.lost:
        return ExtractionError(f"no text in {pages} ({_why_silent(parts)})", "" if parts.ocr else _SCAN_HINT)
    return ExtractionError(f"no readable text in {pages}: {_reasons(parts)}", _lost_hint(parts))


def _why_silent(parts: PdfParts) -> str:
    return "OCR found none" if parts.ocr else SCANNED


def _lost_hint(parts: PdfParts) -> str:
    reasons = set(parts.lost.values())
    if NO_OCR_TOOL in reasons:
        return INSTALL_HINT
    if any(reason.startswith("OCR") for reason in reasons):
        return _OCR_HINT
    return _FONT_HINT if NO_LETTERS in reasons else _LOST_HINT


def _reasons(parts: PdfParts) -> str:
    return ", ".join(dict.fromkeys(parts.lost.values()))


def _what_is_missing(parts: PdfParts, n_silent: int) -> tuple[str, str]:
    """Reason and hint; ("", "") where the document is whole."""
    if parts.lost:
        reason = f"{_named(sorted(parts.lost))} of {parts.n_pages} could not be read ({_reasons(parts)})"
        return reason, _lost_hint(parts)
    if parts.warning:
        return parts.warning, "fetch it again"
    if 2 * n_silent > parts.n_pages:  # a cover sheet before a scan
        reason = f"no text in {n_silent} of {parts.n_pages} pages ({_why_silent(parts)})"
        return reason, "" if parts.ocr else _SCAN_HINT
    return "", ""


def _named(indices: Sequence[int]) -> str:
    """ "page 3", "pages 3 and 7", "pages 1, 3 to 9 and 12": page numbers from 1."""
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
    """Headings where their words stand on their page, else at its start; ascending."""
    folded = _folded(text)
    stops = [*page_starts[1:], len(text)]
    found = []
    for level, title, page in outline.entries:
        if page < len(page_starts):
            place = folded.find(title.lower(), page_starts[page], stops[page])
            found.append(Heading(level, title, place if place >= 0 else page_starts[page]))
    return tuple(sorted(found, key=lambda heading: heading.start))


def _folded(text: str) -> str:
    """`text` for a search that ignores case and kinds of white space, every offset as it was."""
    lowered = text.lower()
    same = lowered if len(lowered) == len(text) else text
    return same.replace("\n", " ")
