"""Draws pages of PDFs in a child process, which is killed if it takes too long, and replaced if it died. POSIX only."""

import base64
import binascii
import threading
import zlib
from pathlib import Path
from typing import Self

from longsearch.engine.errors import ExtractionError, TemporaryError
from longsearch.engine.page_image import HighlightBoxes, PageImage, PageQuestion
from longsearch.indexer.extract.child_process import ChildGoneError, ChildProcess, ChildTimedOutError, TimeLimit
from longsearch.indexer.extract.formats import Format, checked_format
from longsearch.indexer.extract.printed.child import COMMAND
from longsearch.indexer.extract.wire import jail
from longsearch.indexer.extract.wire.limits import MAX_PIXELS, PAGE_TIMEOUT_S
from longsearch.indexer.extract.wire.protocol import Drawn, DrawRequest, Message

_HINT = "o opens it in your viewer"


class PageRenderer:
    """Draws one page after another. The child starts with the first page. Any thread may call; one call at a time."""

    def __init__(self, timeout_s: float = PAGE_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._child: ChildProcess | None = None
        self._turn = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def draw(self, question: PageQuestion) -> PageImage:
        """Return the picture of a page, with the places of its lit texts. Raises `ExtractionError`."""
        path = Path(question.path).absolute()
        if checked_format(path) is not Format.PDF:
            raise ExtractionError("only a PDF has pages as they are printed", "here is its text")
        texts = tuple((highlight.text, highlight.share, int(highlight.kind)) for highlight in question.highlights)
        request = DrawRequest(str(path), question.page, question.width, question.height, texts, jail.version() > 0)
        with self._turn:
            received = self._converse(request)
        return _image(received, question)

    def close(self) -> None:
        """End the child, even while it draws. No page is drawn after this."""
        self._is_closed = True
        if (child := self._child) is not None:
            child.interrupt()
        with self._turn:
            self._drop_child()

    def _converse(self, request: DrawRequest) -> list[Message]:
        was_there = self._child is not None
        received: list[Message] = []
        try:
            self._living_child().converse(request, self._timeout_s, TimeLimit(self._timeout_s), received.append)
        except ChildGoneError as gone:
            if was_there and not self._is_closed and not isinstance(gone, ChildTimedOutError):
                self._drop_child()  # it may have died of something else
                return self._converse(request)
            raise ExtractionError(f"page {request.page} cannot be drawn: {gone}", _HINT) from gone
        return received

    def _living_child(self) -> ChildProcess:
        if not self._is_closed and (self._child is None or not self._child.is_alive):
            self._drop_child()
            self._child = ChildProcess(COMMAND)
        if self._is_closed or self._child is None:  # `close` ends a child that was set before
            raise TemporaryError("the app is closing")
        return self._child

    def _drop_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


def _image(received: list[Message], question: PageQuestion) -> PageImage:
    """Return the picture in the child's answer. The child may lie: a picture has exactly the bytes of its size."""
    if len(received) == 1 and isinstance(drawn := received[0], Drawn) and len(drawn.boxes) == len(question.highlights):
        n_bytes = 3 * drawn.width * drawn.height
        try:
            rgb = zlib.decompressobj().decompress(base64.b64decode(drawn.rgb), n_bytes + 1)
        except (binascii.Error, zlib.error):
            rgb = b""
        if 0 < n_bytes <= 3 * MAX_PIXELS and len(rgb) == n_bytes:
            highlights = tuple(
                HighlightBoxes(wanted.kind, boxes)
                for wanted, boxes in zip(question.highlights, drawn.boxes, strict=True)
            )
            return PageImage(drawn.width, drawn.height, rgb, drawn.n_pages, highlights)
    raise ExtractionError(f"page {question.page} cannot be drawn: the child sent nonsense", _HINT)
