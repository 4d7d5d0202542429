"""What the terminal app asks of the rest of the program. The real one lives in `app`, fakes in the tests."""

from pathlib import Path
from typing import Protocol

from engine.types import DocumentText, FileReport, IndexProgress, SearchMode, SearchResults


class Backend(Protocol):
    """Every call may block and is made from a worker thread, calls of different kinds at the same time; each may raise
    `LongsearchError`. Calls that are under way when `close` is made should end soon: the app waits for them."""

    @property
    def root(self) -> Path:
        """The folder that is searched."""

    def start(self) -> str:
        """Make sure indexing goes on behind the app. Returns "" or why it does not."""

    def search(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults:
        """Search. In WORDS mode it answers in milliseconds; the others may wait for the model to load."""

    def similar(self, document_id: int) -> SearchResults:
        """The documents that are most like this one; milliseconds."""

    def document(self, document_id: int) -> DocumentText:
        """The whole text of a hit's document."""

    def progress(self) -> IndexProgress:
        """How far the index has come; milliseconds."""

    def files(self) -> list[FileReport]:
        """Every file of the root and its state."""

    def retry(self) -> str:
        """Have the files that were not read whole be read again, behind the app. Returns what was done."""

    def open(self, path: str, page: int | None) -> str:
        """Open the file in the system's viewer, at the page where the viewer can. Returns what was done."""

    def close(self) -> None:
        """Let go of files and sockets."""
