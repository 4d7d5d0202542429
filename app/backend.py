"""The terminal app's backend, over one folder or over all: answers its calls from the index files and the daemon.

See `tui.backend.interface`. A document's id is unique in its index only, so the app gets another one, which also tells
the folder.

Longer than 300 lines because it has a method for each call of the app.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.daemon import daemon_control
from longsearch.app.evidence.saving import quoted
from longsearch.app.evidence.user_data import StoredUserData
from longsearch.app.folders.languages import advice_about, note_about_question
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.indexing import scans
from longsearch.app.models import query_vectors as vectors
from longsearch.app.models.folder_models import describe_change
from longsearch.app.paths import expanded, index_path
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, complete_query, headings_to_ask, search, shipped_reader
from longsearch.app.search.similar import similar_to_document, similar_to_passage_at
from longsearch.app.settings.reading import current
from longsearch.app.viewing.passages import passage_similarity
from longsearch.app.viewing.printed_pages import PrintedPages
from longsearch.app.viewing.viewer import Target, open_in_viewer, run_action
from longsearch.engine.amounts import counted
from longsearch.engine.completions import Completion
from longsearch.engine.errors import LongsearchError, NoIndexError, StoreError, in_words
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.opened import Opened
from longsearch.engine.page_image import PageImage, PageQuestion
from longsearch.engine.query_language.prefixes import quote_in
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, IndexProgress, ScannedPages
from longsearch.engine.types.results import Folder, PassageSimilarity, SearchMode, SearchResults

if TYPE_CHECKING:
    from longsearch.app.evidence.tables import Table

_NOTHING_YET = IndexProgress(0, 0, 0, 0, 0, 0, 0, "looking through the folder", 0.0)
REMEMBERED_QUERIES = 256
"""Queries whose vectors an open app keeps."""
SHOWN_DOCUMENTS = 50
"""Documents that an open app lists."""
ASK_EVERY_S = 10.0
"""An open app calls its daemon this often, so that the daemon is not idle; a daemon that has died is started again."""
LIST_EVERY_S = 3.0
"""The list of folders is read again after this time: a folder may be added, forgotten, renamed or unmounted."""
_ID_BITS = 40  # of a document's id in its index


class AppBackend:
    """Reads the indexes from their files, with one short read per call; safe from any thread."""

    def __init__(self, root: Path | None = None, think: int | None = None) -> None:
        """`root`: the one folder; None: all that are indexed. `think`: soft tokens of a query; None: as trained."""
        self.root = root
        """The one folder to search; None for all."""
        self._think = think
        self._one: Scope | None = None
        self._closing = threading.Event()
        self.user_data = StoredUserData(root)
        self._pages = PrintedPages()
        self._lock = threading.Lock()
        self._folders: list[Folder] = []
        self._listed_at: float | None = None
        self._numbers: dict[str, int] = {} if root is None else {str(root): 0}
        """The number of each folder that a hit came from, by its path. A number is never used again."""
        self._asked_at: float | None = None
        self._known, self._advice = _NOTHING_YET, ""
        """The progress of the one folder as last read, and what would find more in such an index."""
        self._problem = ""
        """The reasons why indexes are not kept current, from the daemon's last answer or its silence, or ""."""
        source = partial(vectors.without_torch, cancelled=self._closing.is_set, steps=think)
        # a query that is edited back and forth needs the same vectors again
        self._vector = lru_cache(REMEMBERED_QUERIES)(source)

    def folders(self) -> list[Folder]:
        """Return the folders to choose among, as they were at most `LIST_EVERY_S` seconds ago; none beside the one."""
        if self.root is not None:
            return []
        with self._lock:
            if self._listed_at is None or time.monotonic() - self._listed_at >= LIST_EVERY_S:
                self._folders, self._listed_at = indexed_folders(), time.monotonic()
            return self._folders

    def start(self) -> str:
        """Make the daemon keep every folder current that is there. Returns why changes are noticed late, or ""."""
        self._asked_at = time.monotonic()
        try:
            if self.root is not None:
                self._problem = daemon_control.watch(self.root)
            else:
                daemon_control.ensure_daemon()
                self._problem = self._watch_all(None)
        except LongsearchError as error:
            self._problem = in_words(error)
            raise
        return self._problem

    def search(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults:
        """Search all folders, or those that it names; or look for a quotation (`where:`), or a draft's (`verify:`).

        An index that does not exist yet has no results.
        """
        is_typing = mode is SearchMode.WORDS
        asked = Question(query, mode, instruction, SHOWN_DOCUMENTS, prefix_last=is_typing)
        scope = self._scope()
        try:
            if quote_in(query) is not None:
                return self._numbered(quoted(query, scope, self._vector, SHOWN_DOCUMENTS))
            return self._shown(search(scope, asked, self._vector).answers_first(), scope)
        except NoIndexError:
            return SearchResults(query, mode, instruction, 0.0, (), "the index is being built")

    def read(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults | None:
        """Search once more, and have the reader read the best passages; None if there is nothing that it can read."""
        if quote_in(query) is not None or shipped_reader() is None:
            return None
        asked = Question(query, mode, instruction, SHOWN_DOCUMENTS, read=True)
        scope = self._scope()
        try:
            results = search(scope, asked, self._vector).answers_first()
        except NoIndexError:
            return None
        return self._shown(results, scope) if results.is_read else None

    def explained(self, results: SearchResults) -> SearchResults:
        """Return the results with the reason for each score; a quotation and a similar document have none."""
        if results.similar_to or quote_in(results.query) is not None:
            return results
        is_typing = bool(results.lit) and results.lit[-1].is_prefix
        given = results.query, results.mode, results.instruction, SHOWN_DOCUMENTS
        return self._numbered(
            search(self._scope(), Question(*given, prefix_last=is_typing, explain=True), self._vector)
        )

    def complete(self, typed: str) -> Completion:
        """Return the fields, values and folders that complete a query."""
        return complete_query(self._scope(), typed)

    def headings(self) -> list[str]:
        """Return headings of the documents that were added last: of each the one that says most."""
        return headings_to_ask(index for _, index in self._opened())

    def similar(self, document_id: int, start: int | None = None) -> SearchResults:
        """Return the documents of all folders most similar to this one, or the passages like the one at `start`."""
        root, own_id = self._place_of(document_id)
        if start is not None:
            return self._numbered(similar_to_passage_at(self._scope(), root, own_id, start, SHOWN_DOCUMENTS))
        return self._numbered(similar_to_document(self._scope(), root, own_id, SHOWN_DOCUMENTS))

    def document(self, document_id: int) -> DocumentText:
        """Return the whole text of a document."""
        root, own_id = self._place_of(document_id)
        with open_index(index_path(root)) as index:
            return index.text(own_id)

    def passage_similarity(self, document_id: int, query: str, instruction: str) -> PassageSimilarity:
        """Return how near each passage of a document is to a query."""
        root, own_id = self._place_of(document_id)
        return passage_similarity(root, own_id, query, instruction, self._vector)

    def page_image(self, question: PageQuestion) -> PageImage:
        """Return a page as it is printed; a child process draws it."""
        return self._pages.draw(question)

    def table(self, questions: str) -> "Table":
        """Open the table of the questions in a file."""
        from longsearch.app.evidence.tables import open_table

        return open_table(expanded(questions).absolute(), self._scope(), self._vector)

    def progress(self) -> IndexProgress:
        """Return how far the indexes have come, added up. Every ten seconds, check that the daemon works on them."""
        if self.root is None:
            found = [(folder, index.progress()) for folder, index in self._opened()]
            self._keep_daemon()
            return replace(_added_up(found, self.folders()), problem=self._problem)
        try:
            with open_index(index_path(self.root)) as index:
                progress = index.progress()
                if progress != self._known:
                    self._known, self._advice = progress, advice_about(self.root, index.languages())
        except NoIndexError:
            progress = _NOTHING_YET
        self._keep_daemon(is_indexed=progress is not _NOTHING_YET)
        activity = progress.activity or describe_change(self.root)
        return replace(progress, activity=activity, problem=self._problem, advice=self._advice)

    def files(self) -> list[FileReport]:
        """Return every file of every folder, and its status."""
        found = [(folder, file) for folder, index in self._opened() for file in index.files()]
        if self.root is not None:
            return [file for _, file in found]
        return [file._replace(folder=folder.name, root=folder.root) for folder, file in found]

    def retry(self) -> str:
        """Make the daemon read failed and partial files again."""
        for root in self._roots_there():
            daemon_control.retry(root)
        return "files that could not be read whole are read again"

    def scanned_pages(self, n_pages: int, n_files: int) -> ScannedPages:
        """Return about how long OCR takes here for so many pages, and whether the daemon will read them."""
        return scans.scanned_pages(n_pages, n_files, self._roots_there())

    def read_scans(self, is_wished: bool) -> str:
        """Have the daemon read scanned pages when the machine is idle, or no longer."""
        return scans.wish_all(self._roots_there(), is_wished)

    def open(self, path: str, page: int | None, text: str = "") -> Opened:
        """Open the file in the system's viewer. Raises LongsearchError for a file in a folder that is away."""
        self._check_is_there(path)
        return open_in_viewer(path, page, text)

    def _check_is_there(self, path: str) -> None:
        for folder in self.folders():
            if folder.away and Path(path).is_relative_to(folder.root):
                raise LongsearchError(f"{folder.name} is away: {folder.away}", "its text can be read here")

    def actions(self) -> list[str]:
        """Return the names of the person's own commands."""
        return list(current().actions)

    def act(self, name: str, path: str, page: int | None, text: str) -> Opened:
        """Run one of the person's own commands on a place in a file."""
        self._check_is_there(path)
        return run_action(name, Target(path, page, text))

    def close(self) -> None:
        """End calls that wait for the daemon. The daemon goes on by itself, and nothing else is open between calls."""
        self._closing.set()
        self._pages.close()

    def _scope(self) -> Scope:
        """The folders to search; the one folder keeps the name that it has at the first search."""
        if self.root is None:
            return Scope(self.folders())
        self._one = self._one or Scope.of(self.root)
        return self._one

    def _roots_there(self) -> list[Path]:
        return [Path(folder.root) for folder in self._scope().folders if folder.root and not folder.away]

    def _opened(self) -> Iterator[tuple[Folder, Index]]:
        """Yield each folder with its index; one whose index cannot be read is left out, as `folders` says why."""
        for folder in self._scope().folders:
            with ExitStack() as stack:
                try:
                    index = stack.enter_context(open_index(index_path(Path(folder.root))))
                except StoreError as error:
                    if self.root is not None and not isinstance(error, NoIndexError):
                        raise
                    continue
                yield folder, index

    # ---- the daemon

    def _keep_daemon(self, is_indexed: bool = True) -> None:
        """Make sure a daemon watches every folder that is there: it may have died, or a folder may be new or back."""
        now = time.monotonic()
        if self._asked_at is None or now - self._asked_at < ASK_EVERY_S:
            return
        self._asked_at = now
        try:
            self._problem = self._watch_all(daemon_control.daemon_status(), is_indexed)
        except LongsearchError as error:
            self._problem = in_words(error)

    def _watch_all(self, status: dict[str, Any] | None, is_indexed: bool = True) -> str:
        """Make the daemon with this status watch every folder that is there. Returns why some are not kept current.

        Someone may have deleted the index of a folder, which is then watched anew.
        """
        problems = []
        for folder in self._scope().folders:
            if folder.away:
                continue
            kept = daemon_control.root_in(status, Path(folder.root))
            try:
                is_kept = kept is not None and (is_indexed or kept["busy"])
                problem = str(kept["problem"]) if kept and is_kept else daemon_control.watch(Path(folder.root))
            except LongsearchError as error:  # such as a drive that has just gone
                problem = in_words(error)
            problems += [problem if self.root is not None else f"{folder.name}: {problem}"] if problem else []
        return "; ".join(dict.fromkeys(problems))

    # ---- the app's ids of documents

    def _shown(self, results: SearchResults, scope: Scope) -> SearchResults:
        """Return the results as the app shows them: with its ids, and a note if the model does not read the query."""
        roots = [Path(folder.root) for folder in scope.folders if folder.root]
        note = "" if results.mode is SearchMode.WORDS else note_about_question(results.query, roots)
        note = "; ".join(filter(None, (results.note, note)))
        return replace(self._numbered(results), soft_tokens=self._think, note=note)

    def _numbered(self, results: SearchResults) -> SearchResults:
        with self._lock:
            numbers = [self._numbers.setdefault(hit.root, len(self._numbers)) << _ID_BITS for hit in results.hits]
        hits = zip(results.hits, numbers, strict=True)
        return replace(results, hits=tuple(replace(hit, document_id=number | hit.document_id) for hit, number in hits))

    def _place_of(self, document_id: int) -> tuple[Path, int]:
        """Return the folder of a document, and its id in the folder's index."""
        with self._lock:
            roots = list(self._numbers)
        return Path(roots[document_id >> _ID_BITS]), document_id & ((1 << _ID_BITS) - 1)


def _added_up(found: Sequence[tuple[Folder, IndexProgress]], folders: Sequence[Folder]) -> IndexProgress:
    """Return the progress of all folders together; its activity names the folder, or says how many are away."""
    busy = [f"{folder.name}: {progress.activity}" for folder, progress in found if progress.activity]
    n_away = sum(bool(folder.away) for folder in folders)
    n_damaged = sum(bool(folder.problem) for folder in folders)
    said = [f"{counted(n_away, 'folder')} away" if n_away else "", f"{n_damaged} unreadable" if n_damaged else ""]
    totals = [progress for _, progress in found]
    return IndexProgress(
        n_files=sum(one.n_files for one in totals),
        n_current=sum(one.n_current for one in totals),
        n_waiting=sum(one.n_waiting for one in totals),
        n_partial=sum(one.n_partial for one in totals),
        n_failed=sum(one.n_failed for one in totals),
        n_tokens=sum(one.n_tokens for one in totals),
        n_tokens_embedded=sum(one.n_tokens_embedded for one in totals),
        activity=" · ".join(filter(None, (*busy, *said))),
        tokens_per_s=sum(one.tokens_per_s for one in totals),
        n_narrow=sum(one.n_narrow for one in totals),
        n_tokens_narrow=sum(one.n_tokens_narrow for one in totals),
        n_scanned=sum(one.n_scanned for one in totals),
        n_without_text=sum(one.n_without_text for one in totals),
    )
