"""Pages that workers read by OCR. They know those that the driver's cache holds, and the driver keeps the new ones."""

from dataclasses import dataclass
from pathlib import Path

from longsearch.indexer.extract.pdf.recognition import Recognition, content_of
from longsearch.indexer.extract.wire.protocol import Page


@dataclass(frozen=True, slots=True)
class OcrWish:
    """How workers read pages without text."""

    languages: str
    """Those of tesseract, such as deu+eng, or "" for its default."""
    known_only: bool
    """Whether only pages of the cache are taken, and tesseract is not called."""
    known: bytes
    """The driver's cache, a file of SQLite; b"" if there is none."""


def wish_of(recognition: Recognition | None) -> OcrWish | None:
    """Return what workers are told of the driver's recognition; None: no OCR."""
    if recognition is None:
        return None
    return OcrWish(recognition.languages, recognition.known_only, content_of(recognition.cache))


class OnWorker(Recognition):
    """The recognition of a worker. Its cache is a copy of the driver's."""

    def __init__(self, wish: OcrWish, cache: Path) -> None:
        if wish.known:
            cache.write_bytes(wish.known)
        super().__init__(wish.languages, cache, wish.known_only)
        self._taken: list[Page] = []

    def take(self, page: Page) -> None:
        """See `Recognition`. The page is kept for the driver too."""
        super().take(page)
        if page.ocr_key:
            self._taken.append(page)

    def handed_over(self) -> tuple[Page, ...]:
        """Return the pages since the last call."""
        taken, self._taken = tuple(self._taken), []
        return taken
