"""Text of a file, read in a child process that is killed when it takes too long and started anew where it dies.

Not for two threads at once. Does not know the index: whoever calls stores what comes and what went wrong.
"""

import stat
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import ExtractionError, PassingError, TimedOutError
from indexer.extract.assembly import Extraction, PdfParts, TextTooLongError, assemble_pdf, assemble_whole
from indexer.extract.formats import FORMAT_OF_SUFFIX, LIGHT_MARKUP, Format, format_of
from indexer.extract.limits import (
    DOCUMENT_TIMEOUT_S,
    MAX_MARKUP_BYTES,
    OCR_DOCUMENT_TIMEOUT_S,
    OCR_PAGE_TIMEOUT_S,
    PAGE_TIMEOUT_S,
)
from indexer.extract.messages import Ended, Failed, Message, Request, Whole
from indexer.extract.process import ChildGoneError, ChildProcess, ChildTimedOutError

__all__ = ["Extraction", "ExtractorProcess", "Result"]

Result = Extraction | ExtractionError

_FILES_PER_CHILD = 1000
"""Then a fresh one: libraries leak, and the address space is limited."""
_TOO_HARD_HINT = "try a repaired copy (qpdf in.pdf out.pdf), or name it in .longsearchignore"


class ExtractorProcess:
    """A child that reads files, kept from one file to the next."""

    def __init__(
        self,
        page_timeout_s: float = PAGE_TIMEOUT_S,
        document_timeout_s: float = DOCUMENT_TIMEOUT_S,
        ocr: str | None = None,
    ) -> None:
        """`ocr` as `indexer.extract.ocr.ocr_languages` gives it; a page and a PDF may then take longer."""
        self._page_timeout_s = page_timeout_s if ocr is None else page_timeout_s + OCR_PAGE_TIMEOUT_S
        self._document_timeout_s = document_timeout_s
        self._pdf_timeout_s = document_timeout_s if ocr is None else OCR_DOCUMENT_TIMEOUT_S
        self._ocr = ocr
        self._stopped = False
        self._child: ChildProcess | None = None
        self._n_files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child; the next `extract` would start another."""
        self._stopped = False
        self._drop_child()

    def stop(self) -> None:
        """From another thread: have what is being read fail at once, and all that follows until `close`."""
        self._stopped = True
        if (child := self._child) is not None:
            child.interrupt()

    def _drop_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def extract_all(self, paths: Iterable[Path]) -> Generator[tuple[Path, Result]]:
        """Each of `paths` with its text, or with the `ExtractionError` that says why there is none; in their order."""
        for path in paths:
            yield path, self.result(path)

    def result(self, path: Path) -> Result:
        """As `extract`, its error returned."""
        try:
            return self.extract(path)
        except ExtractionError as error:
            return error

    def extract(self, path: Path) -> Extraction:
        """The text of the file at `path`. Raises `ExtractionError` where nothing can be read."""
        path = path.absolute()
        file_format = _check(path)
        self._n_files += 1
        if self._n_files % _FILES_PER_CHILD == 0:
            self._drop_child()
        if file_format is Format.PDF:
            return self._pdf(path, time.monotonic() + self._pdf_timeout_s)
        return self._whole(path, file_format, time.monotonic() + self._document_timeout_s)

    def _pdf(self, path: Path, deadline: float) -> Extraction:
        parts = PdfParts(ocr=self._ocr is not None)
        pdfium = True
        while not parts.complete:
            request = Request(str(path), Format.PDF, parts.next_page, pdfium, self._ocr)
            try:
                self._converse(request, self._page_timeout_s, deadline, parts.take)
                break
            except TextTooLongError as error:
                parts.give_up(str(error))
            except ChildGoneError as gone:
                out_of_time = time.monotonic() >= deadline
                if parts.n_pages:
                    parts.give_up(str(gone)) if out_of_time else parts.lose(str(gone))
                elif pdfium and not out_of_time:
                    pdfium = False
                else:
                    raise _too_hard(f"could not be opened: {gone}", gone) from gone
        return assemble_pdf(parts)

    def _whole(self, path: Path, file_format: Format, deadline: float) -> Extraction:
        formats = [file_format]
        if file_format in LIGHT_MARKUP:  # what is too hard to parse can still be read
            too_large = path.stat().st_size > MAX_MARKUP_BYTES
            formats = [Format.PLAIN] if too_large else [file_format, Format.PLAIN]
        last: ChildGoneError | None = None
        for tried in formats:
            came: list[Message] = []
            # A first try leaves half of the time to the second.
            timeout_s = self._document_timeout_s / len(formats)
            try:
                self._converse(Request(str(path), tried), timeout_s, deadline, came.append)
            except ChildGoneError as gone:
                last = gone
                continue
            if len(came) == 1 and isinstance(came[0], Whole):
                return assemble_whole(came[0])
        raise _too_hard(f"could not be read: {last or 'the reader sent nonsense'}", last)

    def _converse(self, request: Request, timeout_s: float, deadline: float, take: Callable[[Message], None]) -> None:
        """Ask and `take` each message but the last. Raises what the child says, `ChildGoneError`, and as `take`."""
        if self._child is None or not self._child.is_alive:
            self._drop_child()
            self._child = ChildProcess()
        if self._stopped:  # looked at only now: `stop` either finds the child or is seen here
            raise ExtractionError("reading was stopped", "it goes on at the next start")
        heard_all = False
        try:
            self._child.ask(request)
            while not heard_all:
                message = self._child.next_message(min(timeout_s, max(0.0, deadline - time.monotonic())))
                heard_all = isinstance(message, Ended | Failed)
                if isinstance(message, Failed):
                    raise ExtractionError(message.message, message.hint)
                if not heard_all:
                    take(message)
        finally:
            if not heard_all:  # or the rest would be taken for the next file's
                self._drop_child()


def _too_hard(message: str, why: ChildGoneError | None) -> ExtractionError:
    """What took too long may have met a busy machine; what broke the reader will break it again."""
    kind = TimedOutError if isinstance(why, ChildTimedOutError) else ExtractionError
    return kind(message, _TOO_HARD_HINT)


def _check(path: Path) -> Format:
    """The format of the file. Raises `ExtractionError` where it need not be opened at all."""
    file_format = format_of(path.name)
    if file_format is None:
        raise ExtractionError("not a format that is read", f"these are: {' '.join(sorted(FORMAT_OF_SUFFIX))}")
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise ExtractionError("the file is gone") from error
    except OSError as error:
        raise PassingError(f"cannot be opened: {error.strerror}", "check that you may read it") from error
    if not stat.S_ISREG(status.st_mode):
        raise ExtractionError("not a regular file")  # a named pipe would be waited for
    if status.st_size == 0:
        raise ExtractionError("empty file")
    return file_format
