"""Asks the backend: searches, the progress of the index, the start of indexing. Draws nothing.

Every call runs in a thread, and its answer goes up as a message. Three rules hold. At most one call of a kind runs and
one waits (`LatestOnly`). The answer to an older search never follows the answer to a newer one (`Newest`). If a call
raises an error, the error becomes one line (`attempt`).
"""

import time
from dataclasses import dataclass, replace

from textual import work
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from longsearch.engine.query_language.prefixes import is_draft
from longsearch.engine.types.progress import IndexProgress, pause_s
from longsearch.engine.types.results import Folder, SearchMode, SearchResults
from longsearch.tui.backend.interface import Backend, Question
from longsearch.tui.backend.latest_only import LatestOnly, Said, attempt
from longsearch.tui.text.progress_words import has_changed, n_ready


@dataclass
class Found(Message):
    """The answer to a search; no newer search has been answered yet."""

    results: SearchResults


@dataclass
class Awaited(Message):
    """The app waits, or no longer waits, for another answer to the current query."""

    is_awaited: bool


@dataclass
class ProgressRead(Message):
    """The progress of the index has changed."""

    progress: IndexProgress


@dataclass
class HeadingsRead(Message):
    """Headings of some documents."""

    headings: list[str]


@dataclass
class Started(Message):
    """The backend was asked to start indexing."""

    note: str
    """Why indexing does not run, or ""."""


@dataclass
class FoldersRead(Message):
    """The folders have changed: one was added, forgotten or unmounted."""

    folders: list[Folder]


@dataclass(frozen=True, slots=True)
class Request:
    """One search that the app asks the backend for."""

    serial: int
    """The number of the question, counted up: a later question has a higher one."""
    question: Question
    is_final: bool
    """Whether this is the search in the chosen mode, not the search by words that bridges the wait for it."""
    is_reading: bool = False
    """Whether the answer is there already, and its best passages are to be read with the query."""
    similar_to: int | None = None
    """The document to find similar documents for, in place of a query."""
    similar_start: int | None = None
    """Where the passage of it begins that passages are wanted like; None: documents are wanted."""

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to search for."""
        return not self.question.query and self.similar_to is None

    @property
    def age(self) -> tuple[int, bool, bool]:
        """Orders answers: by question; for one question by words, in the chosen mode, and read with the query."""
        return self.serial, self.is_final, self.is_reading

    @property
    def can_be_read(self) -> bool:
        """Whether the best passages of the answer can be read with the query."""
        is_whole = self.is_final and self.question.mode is not SearchMode.WORDS
        return is_whole and not self.is_reading and self.similar_to is None

    def by_words(self) -> "Request":
        """Return the search by words that bridges the wait for this search."""
        return replace(self, question=replace(self.question, mode=SearchMode.WORDS), is_final=False)


class Newest:
    """Remembers the newest answer, so that an older one never replaces it."""

    def __init__(self) -> None:
        self._age = (0, False, False)

    def has(self, request: Request) -> bool:
        """Return whether the newest answer is that to `request`."""
        return self._age == request.age

    def admits(self, request: Request) -> bool:
        """Return whether the answer to `request` may be shown. If so, no older answer is admitted afterwards."""
        if request.age < self._age:
            return False
        self._age = request.age
        return True


class BackendCalls(Widget):
    """An invisible widget: workers and timers need a node of the screen."""

    DEFAULT_CSS = "BackendCalls { display: none; }"
    DEBOUNCE_S = 0.25
    """Seconds from the last keystroke to the search in the chosen mode; the search by words starts at once."""
    PROGRESS_EVERY_S = 1.0
    """Seconds from one reading of the progress to the next, at least: a large index is read less often."""
    FOLDERS_EVERY_S = 5.0

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._request = Request(0, Question(), is_final=True)
        self._newest = Newest()
        self._words: LatestOnly[Request] = LatestOnly()
        """Searches by words, including those that bridge the wait for another mode."""
        self._chosen: LatestOnly[Request] = LatestOnly()
        """Searches in another mode, and for similar documents."""
        self._reading: LatestOnly[Request] = LatestOnly()
        """Answers whose best passages are read with the query."""
        self._debounce: Timer | None = None
        self._is_renewal = False
        """Whether the search under way only renews an answer, so that nobody waits for it."""
        self.progress: IndexProgress | None = None
        """The progress of the index, as last read."""
        self._progress_at_answer: IndexProgress | None = None
        """The progress of the index when the last answer arrived."""
        self._progress_error = ""
        self._has_headings = False
        self._folders: list[Folder] | None = None
        self._is_reading_folders = False

    def on_mount(self) -> None:
        """Start indexing; read the progress now and from time to time."""
        self._start()
        self.poll()
        if self._backend.root is None:
            self.read_folders()
            self.set_interval(self.FOLDERS_EVERY_S, self.read_folders)

    # Searches

    @property
    def similar_to(self) -> int | None:
        """The document whose similar documents are searched for; None during a search by query."""
        return self._request.similar_to

    def search(self, question: Question) -> None:
        """Search by words at once, and in the chosen mode after the debounce time. An empty query is not searched.

        Nor is a draft judged with each key: `verify:` waits for the pause.
        """
        self._replace(Request(self._request.serial + 1, question, is_final=True))
        if not question.query:
            self._newest.admits(self._request)  # answers to earlier queries are outdated now
        elif question.mode is SearchMode.WORDS and not is_draft(question.query):
            self.search_now()
        else:
            self._debounce = self.set_timer(self.DEBOUNCE_S, self.search_now)
            if not is_draft(question.query):
                self._ask(self._words, self._request.by_words())
        self._tell_awaited()

    def similar(self, document_id: int, start: int | None = None) -> None:
        """Search, instead of the query, for documents similar to a document or for passages like its one at `start`."""
        question = Question(mode=SearchMode.MEANING)
        self._replace(Request(self._request.serial + 1, question, True, similar_to=document_id, similar_start=start))
        self.search_now()

    def search_now(self, is_renewal: bool = False) -> None:
        """Search in the chosen mode at once. `is_renewal`: only renew the answer to the same question."""
        self._stop_debounce()
        self._is_renewal = is_renewal
        if self._request.is_nothing:
            return
        if self._newest.has(read := replace(self._request, is_reading=True)):
            self._ask(self._reading, read)
        elif self._request.question.mode is SearchMode.WORDS:
            self._ask(self._words, self._request)
        elif self._chosen.running != self._request:
            self._ask(self._chosen, self._request)
        self._tell_awaited()

    def renew(self) -> None:
        """Search once more if the index has changed since the last answer."""
        if not self._is_awaited and has_changed(self._progress_at_answer, self.progress):
            self.search_now(is_renewal=True)

    def _replace(self, request: Request) -> None:
        """Make `request` the current one; drop the requests that still wait."""
        self._stop_debounce()
        self._words.drop()
        self._chosen.drop()
        self._reading.drop()
        self._is_renewal = False
        self._request = request

    def _ask(self, calls: LatestOnly[Request], request: Request) -> None:
        if calls.offer(request):
            self._answer(calls)

    @work
    async def _answer(self, calls: LatestOnly[Request]) -> None:
        """Search for every request of `calls`; pass each answer on, unless a newer search has been answered."""
        async for request, results, error in calls.answers(self._search):
            if results is not None and self._newest.admits(request):
                self._progress_at_answer = self.progress
                self.post_message(Found(results))
                if request.can_be_read and results.hits:
                    self._ask(self._reading, replace(request, is_reading=True))
            elif error and request.serial == self._request.serial:
                self.post_message(Said(error=error))
            self._tell_awaited()

    def _search(self, request: Request) -> SearchResults | None:
        """Search, or read what was found. Blocks; runs in a thread."""
        if request.similar_to is not None:
            return self._backend.similar(request.similar_to, request.similar_start)
        question = request.question
        if request.is_reading:
            return self._backend.read(question.query, question.mode, question.instruction)
        return self._backend.search(question.query, question.mode, question.instruction)

    def _stop_debounce(self) -> None:
        if self._debounce is not None:
            self._debounce.stop()
            self._debounce = None

    @property
    def _is_awaited(self) -> bool:
        """Whether the search in the chosen mode runs, or starts when the typing pauses."""
        return self._chosen.running is not None or self._debounce is not None

    def _tell_awaited(self) -> None:
        self.post_message(Awaited(not self._request.is_nothing and self._is_awaited and not self._is_renewal))

    # Indexing and its progress

    @work
    async def _start(self) -> None:
        note, error = await attempt(self._backend.start)
        self.post_message(Started(error or note or ""))

    @work
    async def poll(self) -> None:
        """Read the progress of the index; then wait, and read it again."""
        began = time.monotonic()
        progress, error = await attempt(self._backend.progress)
        self.set_timer(pause_s(self.PROGRESS_EVERY_S, time.monotonic() - began), self.poll)
        if progress is not None and progress != self.progress:
            self.progress = progress
            self.post_message(ProgressRead(progress))
            if not self._has_headings and n_ready(progress):
                self._has_headings = True
                self._read_headings()
        if error and error != self._progress_error:  # report an error once, not every second
            self.post_message(Said(error=error))
        self._progress_error = error

    @work
    async def _read_headings(self) -> None:
        headings, _ = await attempt(self._backend.headings)  # a search tells the person what is wrong
        self.post_message(HeadingsRead(headings or []))

    @work
    async def read_folders(self) -> None:
        """Read the folders that can be chosen, unless the last reading still runs."""
        if self._is_reading_folders:
            return
        self._is_reading_folders = True
        folders, _ = await attempt(self._backend.folders)  # a search tells the person what is wrong
        self._is_reading_folders = False
        if folders is not None and folders != self._folders:
            self._folders = folders
            self.post_message(FoldersRead(folders))
