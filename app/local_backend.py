"""The terminal app's backend: answers its calls from the index file and the daemon. See `tui.backend.interface`."""

import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from longsearch.app.daemon import daemon_control
from longsearch.app.evidence.user_data import StoredUserData
from longsearch.app.folders.languages import advice_about
from longsearch.app.models import query_vectors as vectors
from longsearch.app.models.folder_models import describe_change
from longsearch.app.ocr import scans
from longsearch.app.paths import index_path
from longsearch.app.quoting import quote_in, where
from longsearch.app.searching import SearchRequest, search_index
from longsearch.app.viewing.passage_map import passage_map
from longsearch.app.viewing.passage_similarity import passage_similarity
from longsearch.app.viewing.printed_pages import PrintedPages
from longsearch.app.viewing.viewer import open_in_viewer
from longsearch.engine.completions import Completion
from longsearch.engine.errors import LongsearchError, NoIndexError, in_words
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.opened import Opened
from longsearch.engine.page_image import PageImage, PageQuestion
from longsearch.engine.search.completion import complete
from longsearch.engine.search.similar import similar_to_document
from longsearch.engine.search.similar_passages import asked_passage, similar_to_passage
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, IndexProgress, ScannedPages
from longsearch.engine.types.results import Folder, PassageMap, PassageSimilarity, SearchMode, SearchResults

_NOTHING_YET = IndexProgress(0, 0, 0, 0, 0, 0, 0, "looking through the folder", 0.0)
REMEMBERED_QUERIES = 256
"""Queries whose vectors an open app keeps."""
SHOWN_DOCUMENTS = 50
"""Documents that an open app lists."""
ASK_EVERY_S = 10.0
"""An open app calls its daemon this often, so that the daemon is not idle; a daemon that has died is started again."""


def request_of_app(query: str, mode: SearchMode, instruction: str) -> SearchRequest:
    """Return what an open app asks: the last word may be unfinished, and each hit has the reason for its score."""
    is_typing = mode is SearchMode.WORDS
    return SearchRequest(query, mode, instruction, SHOWN_DOCUMENTS, prefix_last=is_typing, explain=True)


class LocalBackend:
    """Reads the index of `root` from its file, with one short read per call; safe from any thread."""

    def __init__(self, root: Path, think: int | None = None) -> None:
        """`think` is the number of soft tokens of queries, for a generative model; None: the model's own."""
        self._root, self._think = root, think
        self._closing = threading.Event()
        self.user_data = StoredUserData(root)
        self._pages = PrintedPages()
        self._asked_at: float | None = None
        self._known, self._advice = _NOTHING_YET, ""
        """The progress as last read, and what would find more in such an index."""
        self._problem = ""
        """The reason why the index is not kept current, from the daemon's last answer or its silence, or ""."""
        from_daemon = partial(vectors.from_daemon, cancelled=self._closing.is_set, steps=think)
        # a query that is edited back and forth needs the same vectors again
        self._vector = lru_cache(REMEMBERED_QUERIES)(from_daemon)

    @property
    def root(self) -> Path:
        """The folder to search."""
        return self._root

    def folders(self) -> list[Folder]:
        """Return nothing: there are no folders to choose among."""
        return []

    def start(self) -> str:
        """Make the daemon index the folder; start one if none runs. Returns why changes are noticed late, or ""."""
        try:
            self._problem = daemon_control.watch(self._root)
        except LongsearchError as error:
            self._problem = in_words(error)
            raise
        finally:
            self._asked_at = time.monotonic()
        return self._problem

    def search(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults:
        """Search, or look for a quotation (`where:`). An index that does not exist yet has no results."""
        try:
            if quote_in(query) is not None:
                return where(query, self._root, (), SHOWN_DOCUMENTS)
            results = search_index(self._root, request_of_app(query, mode, instruction), self._vector)
            return replace(results, soft_tokens=self._think)
        except NoIndexError:
            return SearchResults(query, mode, instruction, 0.0, (), "the index is being built")

    def complete(self, typed: str) -> Completion:
        """Return the fields or values that complete a query. An index that does not exist yet has none."""
        try:
            with self._opened() as index:
                return complete([index], typed)
        except NoIndexError:
            return Completion(len(typed), ())

    def similar(self, document_id: int, start: int | None = None) -> SearchResults:
        """Return the documents most similar to this one, or the passages like the one that begins at `start`."""
        with self._opened() as index:
            if start is not None:
                return similar_to_passage(index, asked_passage(index, document_id, start), k=SHOWN_DOCUMENTS)
            return similar_to_document(index, document_id, k=SHOWN_DOCUMENTS)

    def document(self, document_id: int) -> DocumentText:
        """Return the whole text of a document."""
        with self._opened() as index:
            return index.text(document_id)

    def passage_similarity(self, document_id: int, query: str, instruction: str) -> PassageSimilarity:
        """Return how near each passage of a document is to a query."""
        return passage_similarity(self._root, document_id, query, instruction, self._vector)

    def passage_map(self, places: Sequence[tuple[int, int]]) -> PassageMap:
        """Return where passages lie to each other by meaning."""
        return passage_map(places, lambda document: (self._root, document))

    def page_image(self, question: PageQuestion) -> PageImage:
        """Return a page as it is printed; a child process draws it."""
        return self._pages.draw(question)

    def progress(self) -> IndexProgress:
        """Return how far the index has come. Every ten seconds, check that the daemon still works on it."""
        try:
            with self._opened() as index:
                progress = index.progress()
                if progress != self._known:
                    self._known, self._advice = progress, advice_about(self._root, index.languages())
        except NoIndexError:
            progress = _NOTHING_YET
        self._keep_daemon(is_indexed=progress is not _NOTHING_YET)
        activity = progress.activity or describe_change(self._root)
        return replace(progress, activity=activity, problem=self._problem, advice=self._advice)

    def files(self) -> list[FileReport]:
        """Return every file and its status."""
        try:
            with self._opened() as index:
                return index.files()
        except NoIndexError:
            return []

    def retry(self) -> str:
        """Make the daemon read failed and partial files again."""
        daemon_control.retry(self._root)
        return "files that could not be read whole are read again"

    def scanned_pages(self, n_pages: int, n_files: int) -> ScannedPages:
        """Return about how long OCR takes here for so many pages, and whether the daemon will read them."""
        return scans.scanned_pages(n_pages, n_files, [self._root])

    def read_scans(self, is_wished: bool) -> str:
        """Have the daemon read scanned pages when the machine is idle, or no longer."""
        return scans.wish_all([self._root], is_wished)

    def open(self, path: str, page: int | None, text: str = "") -> Opened:
        """Open the file in the system's viewer."""
        return open_in_viewer(path, page, text)

    def close(self) -> None:
        """End calls that wait for the daemon. The daemon goes on by itself, and nothing else is open between calls."""
        self._closing.set()
        self._pages.close()

    def _keep_daemon(self, is_indexed: bool) -> None:
        """Make sure a daemon watches this folder: it may have died or restarted, or someone deleted the index."""
        now = time.monotonic()
        if self._asked_at is None or now - self._asked_at < ASK_EVERY_S:
            return
        self._asked_at = now
        try:
            kept = daemon_control.root_status(self._root)
            self._problem = kept["problem"] if kept else ""
            if kept is None or not (is_indexed or kept["busy"]):
                self._problem = daemon_control.watch(self._root)
        except LongsearchError as error:
            self._problem = in_words(error)

    def _opened(self) -> AbstractContextManager[Index]:
        return open_index(index_path(self._root))
