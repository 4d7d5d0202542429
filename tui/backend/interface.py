"""The interface between the terminal app and the rest of the program; `app` implements it, and the tests fake it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from longsearch.engine.completions import Completion
from longsearch.engine.opened import Opened
from longsearch.engine.page_image import PageImage, PageQuestion
from longsearch.engine.types import (
    DocumentText,
    FileReport,
    Folder,
    IndexProgress,
    PassageMap,
    PassageSimilarity,
    ScannedPages,
    SearchMode,
    SearchResults,
)
from longsearch.tui.backend.user_data import UserData


class Backend(Protocol):
    """The calls of the terminal app.

    Every call may block and may raise `LongsearchError`. The app calls from worker threads, and calls of different
    kinds may run at the same time. After `close`, running calls should end soon, because the app waits for them.
    """

    @property
    def root(self) -> Path | None:
        """The folder to search; None if all indexed folders are searched."""

    @property
    def user_data(self) -> UserData:
        """The person's own things."""

    def folders(self) -> list[Folder]:
        """Return the folders that `folder:` can choose among, within milliseconds; [] if one folder is searched."""

    def start(self) -> str:
        """Start indexing in the background unless it already runs. Return "" or the reason why it does not run."""

    def search(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults:
        """Search. WORDS mode answers in milliseconds; the other modes may wait for the model to load."""

    def complete(self, typed: str) -> Completion:
        """Return the ways to complete a query, given up to the cursor, within milliseconds."""

    def similar(self, document_id: int, start: int | None = None) -> SearchResults:
        """Return the documents most similar to this one, or the passages like its passage that begins at `start`.

        Within milliseconds.
        """

    def document(self, document_id: int) -> DocumentText:
        """Return the whole text of a document."""

    def passage_similarity(self, document_id: int, query: str, instruction: str) -> PassageSimilarity:
        """Return how near each passage of a document is to a query by meaning. May wait for the model to load."""

    def passage_map(self, places: Sequence[tuple[int, int]]) -> PassageMap:
        """Return where passages lie to each other by meaning, within milliseconds.

        Each is (its document, the offset where it begins). Those without a vector are not on the map.
        """

    def page_image(self, question: PageQuestion) -> PageImage:
        """Return a page of a PDF as it is printed, and where its lit texts stand."""

    def progress(self) -> IndexProgress:
        """Return the progress of the index, within milliseconds."""

    def files(self) -> list[FileReport]:
        """Return every file of the root with its status."""

    def retry(self) -> str:
        """Read failed and partial files again, in the background. Return what was done, as a sentence."""

    def scanned_pages(self, n_pages: int, n_files: int) -> ScannedPages:
        """Return about how long OCR takes here for so many pages in so many files, and whether it will be done."""

    def read_scans(self, is_wished: bool) -> str:
        """Read scanned pages when the machine is idle, or no longer. Return what was done, as a sentence."""

    def open(self, path: str, page: int | None, text: str = "") -> Opened:
        """Open a file at a page, and at the `text` that stands there, as far as its viewer can be told."""

    def close(self) -> None:
        """End running calls; close files and sockets."""
