"""Draws pages as they are printed, for the backends of the app. What draws is loaded with the first page."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.paths import url_of
from longsearch.engine.errors import LongsearchError
from longsearch.engine.page_image import PageImage, PageQuestion

if TYPE_CHECKING:
    from longsearch.indexer.extract.printed.renderer import PageRenderer


class PrintedPages:
    """Keeps one child process from page to page. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._renderer: PageRenderer | None = None
        self._is_closed = False

    def draw(self, question: PageQuestion) -> PageImage:
        """Return the picture of a page. Raises LongsearchError."""
        from longsearch.indexer.extract.printed.renderer import PageRenderer

        if url_of(question.path) and not Path(question.path).exists():
            raise LongsearchError("the file lies in an object store", "o downloads it")
        with self._lock:
            if self._is_closed:
                raise LongsearchError("the app is closing")
            renderer = self._renderer = self._renderer or PageRenderer()
        return renderer.draw(question)

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._is_closed = True
        if self._renderer is not None:
            self._renderer.close()
