"""Extract a file's text in a child process. A child that takes too long is killed; a dead child is replaced.

POSIX only. An extractor serves one thread at a time; only `stop` may be called from another thread. This module does
not know the index: the caller stores the text, or the error that explains why there is none.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

from longsearch.engine.errors import ExtractionError, TimedOutError
from longsearch.indexer.extract import koreader
from longsearch.indexer.extract.assembly import Extraction, GiveUpError, PdfParts, assemble_pdf, assemble_text
from longsearch.indexer.extract.child import COMMAND
from longsearch.indexer.extract.child_process import ChildGoneError, ChildProcess, ChildTimedOutError, TimeLimit
from longsearch.indexer.extract.formats import Format, adapter_of, attempts, checked_format
from longsearch.indexer.extract.okular import marks_apart
from longsearch.indexer.extract.pdf.recognition import Recognition, calls_tesseract, on_wire
from longsearch.indexer.extract.tools import opens_path
from longsearch.indexer.extract.wire import jail
from longsearch.indexer.extract.wire.limits import (
    DOCUMENT_TIMEOUT_S,
    HTML_S_PER_MB,
    HTML_TIMEOUT_S,
    MAILBOX_TIMES,
    OCR_DOCUMENT_TIMEOUT_S,
    OCR_PAGE_TIMEOUT_S,
    PAGE_TIMEOUT_S,
    STUCK_S,
)
from longsearch.indexer.extract.wire.protocol import FileText, Message, Request

Result = Extraction | ExtractionError

_FILES_PER_CHILD = 1000
"""Files that one child reads before it is replaced: libraries leak, and the child's address space is limited."""
_TOO_HARD_HINT = "save a copy in its program, or split it; or name the file in .longsearchignore"
_TOO_HARD_PDF_HINT = "try a repaired copy (qpdf in.pdf out.pdf), or name the file in .longsearchignore"


class ExtractorProcess:
    """Reads files in one child process, which is kept from one file to the next."""

    def __init__(
        self,
        page_timeout_s: float = PAGE_TIMEOUT_S,
        document_timeout_s: float = DOCUMENT_TIMEOUT_S,
        ocr: Recognition | None = None,
    ) -> None:
        """`ocr`: as in `ExtractorPool`. With OCR, a page and a PDF may take longer."""
        self.ocr = ocr
        self.page_timeout_s = page_timeout_s + OCR_PAGE_TIMEOUT_S * calls_tesseract(ocr)
        """Seconds that one page of a PDF may take."""
        self.document_timeout_s = document_timeout_s
        """Seconds that a file may take; with OCR, a PDF may take `OCR_DOCUMENT_TIMEOUT_S`."""
        self._stopped = False
        self._child: ChildProcess | None = None
        self._allowed: str | None = None  # the one file that the child may open by its path, "" for none; None: any
        self._n_files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def child_pid(self) -> int | None:
        """The child's process id, which is also its session's; None while no child runs."""
        return self._child.pid if self._child is not None and self._child.is_alive else None

    def close(self) -> None:
        """End the child. A later `extract` starts another one."""
        self._stopped = False
        self._drop_child()

    def stop(self) -> None:
        """Make the current `extract` fail at once, and every later one until `close`. Safe from any thread."""
        self._stopped = True
        if (child := self._child) is not None:
            child.interrupt()

    def extract(self, path: Path, head_only: bool = False, is_draft: bool = False) -> Extraction:
        """Return the text of the file at `path`, with `head_only` only its head. Raises `ExtractionError`.

        `is_draft`: the text says where links lead and where notes belong (see `readers.draft`).
        """
        path = path.absolute()
        file_format = checked_format(path)
        self._n_files += 1
        if self._n_files % _FILES_PER_CHILD == 0:
            self._drop_child()
        return self._pdf(path, head_only) if file_format is Format.PDF else self._text(path, file_format, is_draft)

    def _pdf(self, path: Path, head_only: bool) -> Extraction:
        """Read a PDF page by page. If a page kills the child, a new child resumes at the next page."""
        ocr = None if head_only else self.ocr
        limit = TimeLimit(OCR_DOCUMENT_TIMEOUT_S if calls_tesseract(ocr) else self.document_timeout_s)
        parts, pdfium, apart = PdfParts(ocr=ocr), True, () if head_only else marks_apart(path)
        while not parts.complete:
            request = Request(str(path), Format.PDF, parts.next_page, pdfium, *on_wire(ocr), head_only, apart=apart)
            request = replace(request, is_handed=jail.version() > 0)
            try:
                self._converse(request, self.page_timeout_s, limit, parts.take)
                break
            except GiveUpError as error:
                parts.give_up(str(error))
            except ChildGoneError as gone:
                if parts.complete or (parts.n_pages and head_only):
                    parts.lost_inside = parts.lost_inside or f"its outline or a file inside it {gone}"
                    break  # only the outline, what lies inside or XMP is missing
                out_of_time = not limit.left_s
                if parts.n_pages:
                    took = f"the file took more than {self.document_timeout_s:.0f} s"
                    parts.give_up(took) if out_of_time else parts.lose(str(gone), isinstance(gone, ChildTimedOutError))
                elif out_of_time or not pdfium:
                    raise _too_hard(f"could not be opened: {gone}", gone, _TOO_HARD_PDF_HINT) from gone
                pdfium = pdfium and parts.n_pages > 0
        return assemble_pdf(parts, head_only)

    def _text(self, path: Path, file_format: Format, is_draft: bool) -> Extraction:
        """Read a file that is not a PDF, in a simpler way if the first one ends the child."""
        timeout_s = self.document_timeout_s * (MAILBOX_TIMES if file_format is Format.MAILBOX else 1)
        formats = attempts(path, file_format)
        share_s = timeout_s / len(set(formats))
        limits: dict[Format, TimeLimit] = {}
        last: ChildGoneError | None = None
        for number, tried in enumerate(formats):
            received: list[Message] = []
            alone = number > 0 and tried is file_format
            is_handed = jail.version() > 0 and not opens_path(tried, path.name)
            request = Request(str(path), tried, command=adapter_of(path.name), alone=alone, is_handed=is_handed)
            request = replace(request, is_draft=is_draft)
            try:
                limit = limits.setdefault(tried, TimeLimit(share_s))
                self._converse(request, share_s, limit, received.append, _stuck_s(path, tried))
            except ChildGoneError as gone:
                last = gone
                continue
            if len(received) == 1 and isinstance(received[0], FileText):
                return assemble_text(received[0], koreader.marks_apart(path))
        why = f"took more than {share_s:.0f} s" if isinstance(last, ChildTimedOutError) else last
        raise _too_hard(f"could not be read: {why or 'the reader sent nonsense'}", last)

    def _converse(
        self,
        request: Request,
        timeout_s: float,
        limit: TimeLimit,
        take: Callable[[Message], None],
        stuck_s: float = STUCK_S,
    ) -> None:
        """Do `ChildProcess.converse` with a living child. Raises `ExtractionError` after `stop`."""
        by_path = request.path if jail.version() and not request.is_handed else ""
        allowed = None if request.format == Format.ADAPTED else by_path
        if self._child is None or not self._child.is_alive or self._allowed not in (None, allowed):
            self._drop_child()
            self._child = ChildProcess(COMMAND)
        self._allowed = allowed
        if self._stopped:  # checked after the child is set: either `stop` kills that child, or this line sees the flag
            raise ExtractionError("reading was stopped", "it resumes at the next start")
        self._child.converse(request, timeout_s, limit, take, stuck_s)

    def _drop_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


def _stuck_s(path: Path, file_format: Format) -> float:
    """Return the processor time without more text after which a reader is stuck: of a page, what its parser takes."""
    return HTML_TIMEOUT_S + path.stat().st_size / 1e6 * HTML_S_PER_MB if file_format is Format.HTML else STUCK_S


def _too_hard(message: str, why: ChildGoneError | None, hint: str = _TOO_HARD_HINT) -> ExtractionError:
    """The error for a file that killed its child. A timeout may be due to a busy machine; a crash would come again."""
    kind = TimedOutError if isinstance(why, ChildTimedOutError) else ExtractionError
    return kind(message, hint)
