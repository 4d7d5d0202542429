"""The interface between the terminal app and the rest of the program: `Backend`, and of it `UserData`.

`app` implements it, and the tests fake it. Data and protocols only.
"""

from __future__ import annotations  # what the first frame does not need is imported for type checkers alone

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from longsearch.engine.types.modes import SearchMode

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from longsearch.engine.citing.evidence import PlacedEvidence
    from longsearch.engine.completions import Completion
    from longsearch.engine.opened import Opened
    from longsearch.engine.page_image import PageImage, PageQuestion
    from longsearch.engine.types.documents import DocumentText
    from longsearch.engine.types.progress import FileReport, IndexProgress, ScannedPages
    from longsearch.engine.types.results import DocumentHit, Folder, PassageHit, PassageSimilarity, SearchResults


@dataclass(frozen=True, slots=True)
class Question:
    """The content of the query bar."""

    query: str = ""
    mode: SearchMode = SearchMode.HYBRID
    instruction: str = ""


class BasketView(NamedTuple):
    """The basket as the app shows it."""

    passages: tuple[PlacedEvidence, ...] = ()
    undoes: str = ""
    """The change that `undo` would take back, in words; "" if there is none."""
    note: str = ""
    """Why nothing is known from the reference manager, or ""."""


@dataclass(frozen=True, slots=True)
class InView:
    """The state of the app's view."""

    question: Question
    path: str = ""
    """The file of the document in view, or ""."""


class Saved(NamedTuple):
    """A saved search as the app shows it."""

    name: str
    question: Question
    about: str = ""
    """The folders that it is about, or ""."""
    news: tuple[str, ...] = ()
    """Where its new passages are, newest first: "title, p. 12"."""
    problem: str = ""
    """Why it cannot be asked here, or ""."""


class UserData(Protocol):
    """The things that a person keeps. As with `Backend`, every call may block and may raise `LongsearchError`."""

    def quotation(self, hit: DocumentHit, passage: PassageHit) -> str:
        """Return a passage for the clipboard, with its source, in the form that the person has chosen."""

    def keep(self, hit: DocumentHit, passage: PassageHit, query: str) -> str:
        """Put a passage into the basket. Return what was done, as a sentence."""

    def basket(self) -> BasketView:
        """Return the basket, each passage with its place as it is now."""

    def remove(self, ids: Sequence[str]) -> None:
        """Take passages out of the basket."""

    def move(self, id_: str, step: int) -> None:
        """Move a passage of the basket down (1) or up (-1)."""

    def annotate(self, id_: str, note: str) -> None:
        """Write a note to a passage of the basket; "" removes it."""

    def undo(self) -> str:
        """Take the last change of the basket back. Return it in words; "" if there was none."""

    def copied(self, id_: str) -> str:
        """Return a passage of the basket for the clipboard."""

    def export(self, file_name: str) -> str:
        """Write the basket to a new file, in the format of its ending. Return what was done, as a sentence."""

    def history(self) -> tuple[list[Question], list[Question]]:
        """Return the earlier questions, newest first: all of them, and those of the folder that the app is over."""

    def remember(self, question: Question) -> None:
        """Put a question into the history, unless the person has turned it off."""

    def forget_question(self, question: Question) -> None:
        """Take a question out of the history."""

    def last(self) -> InView | None:
        """Return what was in view when the app was left; None if nothing was, or if the person has turned it off."""

    def leave(self, in_view: InView) -> None:
        """Keep what is in view for the next start."""

    def folders(self) -> list[Folder]:
        """Return the other folders that can be opened, the last one used first."""

    def keep_theme(self, name: str) -> str:
        """Keep the colours for the next start. Return why they are not kept, or ""."""

    def saved(self) -> list[Saved]:
        """Return the saved searches, by name."""

    def save(self, name: str, question: Question) -> str:
        """Save a question with a name. Return what was done, as a sentence."""

    def remove_saved(self, name: str) -> None:
        """Delete a saved search."""

    def look(self, name: str) -> None:
        """Note that somebody looks at the news of a saved search."""

    def n_new(self) -> int:
        """Return how many new passages answer the saved searches, within milliseconds."""


class Table(Protocol):
    """A table of evidence. Filling and correcting may block and may raise `LongsearchError`."""

    @property
    def questions(self) -> Sequence[str]:
        """The questions."""

    @property
    def documents(self) -> Sequence[str]:
        """The names of the documents."""

    @property
    def file(self) -> str:
        """The file that keeps the table."""

    def cell(self, question: str, document: str) -> str:
        """Return the text of a cell, which ends with [the page and the level]; "" for an empty one."""

    def path_of(self, document: str) -> str:
        """Return the path of a document."""

    def fill(self) -> Generator[int, None, None]:
        """Fill the empty cells, and yield how many are left after each. A stop keeps the filled cells."""

    def correct(self, question: str, document: str, text: str) -> None:
        """Write the text of a cell by hand; it stays."""


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

    def read(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults | None:
        """Search once more, and have the best passages read with the query: a quarter of a second.

        The hits are the same, in the same order; sentences and levels may differ. None if nothing can be read.
        """

    def explained(self, results: SearchResults) -> SearchResults:
        """Return the answer with the reason for each score. To tell them takes another search."""

    def complete(self, typed: str) -> Completion:
        """Return the ways to complete a query, given up to the cursor, within milliseconds."""

    def headings(self) -> list[str]:
        """Return headings of a few documents, to ask for."""

    def similar(self, document_id: int, start: int | None = None) -> SearchResults:
        """Return the documents most similar to this one, or the passages like its passage that begins at `start`.

        Within milliseconds.
        """

    def document(self, document_id: int) -> DocumentText:
        """Return the whole text of a document."""

    def passage_similarity(self, document_id: int, query: str, instruction: str) -> PassageSimilarity:
        """Return how near each passage of a document is to a query by meaning. May wait for the model to load."""

    def page_image(self, question: PageQuestion) -> PageImage:
        """Return a page of a PDF as it is printed, and where its lit texts stand."""

    def table(self, questions: str) -> Table:
        """Open the table of the questions in a file, a question on each line; it is kept beside that file."""

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

    def actions(self) -> list[str]:
        """Return the names of the person's own commands for a result."""

    def act(self, name: str, path: str, page: int | None, text: str) -> Opened:
        """Run one of the person's own commands on a file, its page, and the text that stands there."""

    def close(self) -> None:
        """End running calls; close files and sockets."""
