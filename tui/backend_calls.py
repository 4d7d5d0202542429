"""The calls of the backend, each in a worker thread, and the rules for their answers. Draws nothing.

At most one call of a kind is under way and one waits (see `Lane`); an older answer to a search is never passed on after
a newer one (see `Newest`); whatever a call raises becomes one line. Answers go up as messages.
"""

from textual import work
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from engine.types import DocumentText, IndexProgress, SearchMode, SearchResults
from tui import wording
from tui.backend import Backend
from tui.lane import Lane
from tui.messages import Awaited, DocumentRead, DocumentUnread, Failed, Found, Opened, ProgressRead, Started
from tui.requests import Newest, Request


class BackendCalls(Widget):
    """An invisible widget: a place in the screen for workers and timers."""

    DEFAULT_CSS = "BackendCalls { display: none; }"
    DEBOUNCE_S = 0.25
    """After the last key, before the search in the chosen mode; the words are searched at once."""
    PROGRESS_EVERY_S = 1.0

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._request = Request(0, "", SearchMode.HYBRID, "", is_final=True)
        self._newest = Newest()
        self._words: Lane[Request] = Lane()
        self._chosen: Lane[Request] = Lane()
        self._documents: Lane[int] = Lane()
        self._debounce: Timer | None = None
        self._is_polling = False
        self.progress: IndexProgress | None = None
        """How far the index has come, as last read."""
        self._answered: IndexProgress | None = None
        """How far the index had come when the last answer was passed on."""
        self._is_renewal = False
        """Whether nobody waits for the search under way."""
        self._progress_error = ""

    def on_mount(self) -> None:
        """Start indexing; look how far it has come, now and every second."""
        self._start()
        self._poll()
        self.set_interval(self.PROGRESS_EVERY_S, self._poll)

    # What can be asked

    def search(self, query: str, mode: SearchMode, instruction: str) -> None:
        """The query line has changed: words now, the chosen mode when it has been still. "" asks for nothing."""
        self._replace(Request(self._request.serial + 1, query, mode, instruction, is_final=True))
        if not query:
            self._newest.admits(self._request)
        elif mode is SearchMode.WORDS:
            self.search_now()
        else:
            self._debounce = self.set_timer(self.DEBOUNCE_S, self.search_now)
            self._ask_words(self._request.by_words())
        self._tell_awaited()

    @property
    def similar_to(self) -> int | None:
        """The document whose like is asked for in place of the query's answer."""
        return self._request.similar_to

    def similar(self, document_id: int) -> None:
        """Documents like this one, in place of what the query line asks."""
        self._replace(
            Request(self._request.serial + 1, "", SearchMode.MEANING, "", is_final=True, similar_to=document_id)
        )
        self.search_now()

    def search_now(self, is_renewal: bool = False) -> None:
        """Do the search in the chosen mode without waiting any longer, or once more."""
        self._stop_debounce()
        self._is_renewal = is_renewal
        if self._request.is_nothing:
            return
        if self._request.mode is SearchMode.WORDS:
            self._ask_words(self._request)
        elif self._chosen.running != self._request and (request := self._chosen.offer(self._request)):
            self._search_chosen(request)
        self._tell_awaited()

    def renew(self) -> None:
        """Search once more where the index has changed since the last answer."""
        if not self._is_awaited and wording.has_changed(self._answered, self.progress):
            self.search_now(is_renewal=True)

    def read(self, document_id: int) -> None:
        """Read a document."""
        if self._documents.running == document_id:
            self._documents.drop()
        elif self._documents.offer(document_id) is not None:
            self._read_document(document_id)

    def open(self, path: str, page: int | None) -> None:
        """Open a file in the system's viewer."""
        self._open_file(path, page)

    # The calls

    @work(thread=True, exclusive=True, group="start", exit_on_error=False)
    def _start(self) -> str:
        return self._backend.start()

    @work(thread=True, exclusive=True, group="progress", exit_on_error=False)
    def _read_progress(self) -> IndexProgress:
        return self._backend.progress()

    @work(thread=True, exclusive=True, group="words", exit_on_error=False)
    def _search_words(self, request: Request) -> SearchResults:
        return self._backend.search(request.query, request.mode, request.instruction)

    @work(thread=True, exclusive=True, group="chosen", exit_on_error=False)
    def _search_chosen(self, request: Request) -> SearchResults:
        if request.similar_to is not None:
            return self._backend.similar(request.similar_to)
        return self._backend.search(request.query, request.mode, request.instruction)

    @work(thread=True, exclusive=True, group="document", exit_on_error=False)
    def _read_document(self, document_id: int) -> DocumentText:
        return self._backend.document(document_id)

    @work(thread=True, exclusive=True, group="open", exit_on_error=False)
    def _open_file(self, path: str, page: int | None) -> str:
        return self._backend.open(path, page)

    # The answers

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Hand a result, or the error in its place, to the method for its kind."""
        if event.state in (WorkerState.SUCCESS, WorkerState.ERROR):
            error = wording.trouble(event.worker.error) if event.worker.error else ""
            getattr(self, f"_got_{event.worker.group}")(event.worker.result, error)

    def _got_start(self, note: str | None, error: str) -> None:
        self.post_message(Started(error or note or ""))

    def _got_progress(self, progress: IndexProgress | None, error: str) -> None:
        self._is_polling = False
        if progress is not None and progress != self.progress:
            self.progress = progress
            self.post_message(ProgressRead(progress))
        if error and error != self._progress_error:  # said once, not every second
            self.post_message(Failed(error))
        self._progress_error = error

    def _got_words(self, results: SearchResults | None, error: str) -> None:
        request = self._words.running
        if waiting := self._words.finish():
            self._search_words(waiting)
        self._got_answer(request, results, error)

    def _got_chosen(self, results: SearchResults | None, error: str) -> None:
        request = self._chosen.running
        if waiting := self._chosen.finish():
            self._search_chosen(waiting)
        self._got_answer(request, results, error)

    def _got_answer(self, request: Request | None, results: SearchResults | None, error: str) -> None:
        if request is not None and results is not None and self._newest.admits(request):
            self._answered = self.progress
            self.post_message(Found(results))
        elif request is not None and error and request.serial == self._request.serial:
            self.post_message(Failed(error))
        self._tell_awaited()

    def _got_document(self, document: DocumentText | None, error: str) -> None:
        document_id = self._documents.running
        if (waiting := self._documents.finish()) is not None:
            self._read_document(waiting)
        if document_id is not None and document is not None:
            self.post_message(DocumentRead(document_id, document))
        elif document_id is not None:
            self.post_message(DocumentUnread(document_id, error))

    def _got_open(self, what: str | None, error: str) -> None:
        self.post_message(Failed(error) if error else Opened(what or ""))

    # Small things

    def _replace(self, request: Request) -> None:
        """Ask for this from now on; what waits to be asked never is."""
        self._stop_debounce()
        self._words.drop()
        self._chosen.drop()
        self._is_renewal = False
        self._request = request

    def _ask_words(self, request: Request) -> None:
        if started := self._words.offer(request):
            self._search_words(started)

    def _poll(self) -> None:
        if not self._is_polling:
            self._is_polling = True
            self._read_progress()

    def _stop_debounce(self) -> None:
        if self._debounce is not None:
            self._debounce.stop()
            self._debounce = None

    @property
    def _is_awaited(self) -> bool:
        """Whether the final answer to the newest request is: while the typing goes on and until its call has ended."""
        return self._chosen.running is not None or self._debounce is not None

    def _tell_awaited(self) -> None:
        self.post_message(Awaited(not self._request.is_nothing and self._is_awaited and not self._is_renewal))
