"""Text of a file, read in a child process that is killed when it takes too long and started anew where it dies.

Not for two threads at once. Does not know the index: whoever calls stores what comes and what went wrong.
"""

import stat
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import ExtractionError
from indexer.extract.assembly import Extraction, PdfParts, TextTooLongError, assemble_pdf, assemble_whole
from indexer.extract.formats import FORMAT_OF_SUFFIX, Format, format_of
from indexer.extract.limits import DOCUMENT_TIMEOUT_S, MAX_MARKDOWN_BYTES, PAGE_TIMEOUT_S
from indexer.extract.messages import Ended, Failed, Message, Request, Whole
from indexer.extract.process import ChildGoneError, ChildProcess

__all__ = ["Extraction", "ExtractorProcess"]

_FILES_PER_CHILD = 1000
"""Then a fresh one: libraries leak, and the address space is limited."""
_TOO_HARD_HINT = "try a repaired copy (qpdf in.pdf out.pdf), or name it in .longsearchignore"


class ExtractorProcess:
    """A child that reads files, kept from one file to the next."""

    def __init__(self, page_timeout_s: float = PAGE_TIMEOUT_S, document_timeout_s: float = DOCUMENT_TIMEOUT_S) -> None:
        self._page_timeout_s = page_timeout_s
        self._document_timeout_s = document_timeout_s
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
        if self._child is not None:
            self._child.kill()
            self._child = None

    def extract(self, path: Path) -> Extraction:
        """The text of the file at `path`. Raises `ExtractionError` where nothing can be read."""
        path = path.absolute()
        file_format = _check(path)
        self._n_files += 1
        if self._n_files % _FILES_PER_CHILD == 0:
            self.close()
        deadline = time.monotonic() + self._document_timeout_s
        if file_format is Format.PDF:
            return self._pdf(path, deadline)
        return self._whole(path, file_format, deadline)

    def _pdf(self, path: Path, deadline: float) -> Extraction:
        parts = PdfParts()
        pdfium = True
        while not parts.complete:
            request = Request(str(path), Format.PDF, parts.next_page, pdfium)
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
                    raise ExtractionError(f"could not be opened: {gone}", _TOO_HARD_HINT) from gone
        return assemble_pdf(parts, path.name)

    def _whole(self, path: Path, file_format: Format, deadline: float) -> Extraction:
        too_large = file_format is Format.MARKDOWN and path.stat().st_size > MAX_MARKDOWN_BYTES
        formats = [Format.PLAIN] if too_large else [file_format]
        if formats == [Format.MARKDOWN]:
            formats.append(Format.PLAIN)  # what is too hard to parse can still be read
        reason = ""
        for tried in formats:
            came: list[Message] = []
            # A first try leaves half of the time to the second.
            timeout_s = self._document_timeout_s / len(formats)
            try:
                self._converse(Request(str(path), tried), timeout_s, deadline, came.append)
            except ChildGoneError as gone:
                reason = str(gone)
                continue
            if len(came) == 1 and isinstance(came[0], Whole):
                return assemble_whole(came[0], path.name)
        raise ExtractionError(f"could not be read: {reason or 'the reader sent nonsense'}", _TOO_HARD_HINT)

    def _converse(self, request: Request, timeout_s: float, deadline: float, take: Callable[[Message], None]) -> None:
        """Ask and `take` each message but the last. Raises what the child says, `ChildGoneError`, and as `take`."""
        if self._child is None or not self._child.is_alive:
            self.close()
            self._child = ChildProcess()
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
                self.close()


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
        raise ExtractionError(f"cannot be opened: {error.strerror}", "check that you may read it") from error
    if not stat.S_ISREG(status.st_mode):
        raise ExtractionError("not a regular file")  # a named pipe would be waited for
    if status.st_size == 0:
        raise ExtractionError("empty file")
    return file_format
