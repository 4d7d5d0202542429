"""The main screen: query, results, text, status. Turns keys into requests, and shows the answers.

Knows nothing of search or threads: `BackendCalls` asks the backend and sends the answers as messages.
"""

import os
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from longsearch.engine.types.results import SearchResults
from longsearch.tui.backend import backend_calls as messages
from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.backend.choice import Choice
from longsearch.tui.backend.interface import Backend, Question
from longsearch.tui.backend.latest_only import LatestOnly
from longsearch.tui.bindings import MAIN
from longsearch.tui.graphics.terminal import BLOCKS, Graphics
from longsearch.tui.screens.folders import FolderChoice
from longsearch.tui.screens.own_things import OwnThings
from longsearch.tui.screens.reading_keys import READING_ACTIONS, ReadingKeys
from longsearch.tui.text import wording
from longsearch.tui.text.display import shown
from longsearch.tui.text.highlight import highlighter
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.result_pane import ResultPane
from longsearch.tui.widgets.results import Results
from longsearch.tui.widgets.status_line import StatusLine
from longsearch.tui.widgets.text_pane import TextPane

_NEEDS_A_HIT = frozenset({"copy", "keep", "similar"}) | READING_ACTIONS


class MainScreen(ReadingKeys, OwnThings):
    """The screen for searching and reading; help, files and instruction open on top of it."""

    BINDINGS: ClassVar[list[BindingType]] = MAIN
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-low")]  # noqa: RUF012
    RENEW_EVERY_S = 5.0

    def __init__(self, backend: Backend, graphics: Graphics = BLOCKS, place: str = "") -> None:
        """`place` names what is searched, where it is not the path of the backend's root."""
        super().__init__()
        self.add_class("-empty", update=False)
        root = os.fspath(backend.root or "")
        self._backend = backend
        self._bar = QueryBar(place or root, backend.complete)
        self._result_pane = ResultPane(root)
        self._text_pane = TextPane(backend.document, backend.page_image, graphics)
        self._panes = Container(self._result_pane, id="panes")
        self._status = StatusLine()
        self._status.progress = wording.progress_line(None)
        self._calls = BackendCalls(backend)
        self._folders = FolderChoice(backend, self._bar)
        self._question = Question()
        self._results: SearchResults | None = None
        self._choice = Choice()
        self._similarity = LatestOnly()
        self._enter_waits = False  # True if Enter was pressed before there were results to go to
        self._is_whole = False  # until all parts are mounted: what is typed before is asked then

    def compose(self) -> ComposeResult:
        yield from (self._bar, self._panes, self._status, KeyLine())

    def on_mount(self) -> None:
        """Get ready for typing."""
        self._bar.focus_input()
        self._say_why_empty()
        self.call_after_refresh(self._mount_rest)

    async def _mount_rest(self) -> None:
        """Mount what the first frame does not show, and begin to ask the backend."""
        if not self.is_attached:
            return  # the app is being left
        text = self._panes.mount(self._text_pane)
        for mounted in (self._result_pane.add_list(), text, self.mount(self._calls, self._folders)):
            await mounted
        self.begin()
        self.set_interval(self.RENEW_EVERY_S, self.keep_current)
        was_sent, self._is_whole = self._enter_waits, True
        self._search()  # for what was typed meanwhile
        if was_sent:
            self.on_query_bar_sent()

    # Searching

    def on_query_bar_changed(self, event: QueryBar.Changed) -> None:
        """Search while the person types."""
        self._question = event.question
        if self._is_whole:
            self._search()

    def on_query_bar_sent(self) -> None:
        """Search at once, and go to the results as soon as there are any."""
        if not self._is_whole:
            self._enter_waits = True
            return
        self.note_question()
        if self._calls.similar_to is not None:
            self._search()
        self._calls.search_now()
        if self._text_pane.hit is not None:
            self._result_pane.list.focus()
        else:
            self._enter_waits = bool(self._question.query)

    def _search(self) -> None:
        self._choice.forget()
        self._enter_waits = False
        self._status.say()
        self._calls.search(self._question)
        if not self._question.query:
            self._results = None
            self._say_why_empty()

    def keep_current(self) -> None:
        """Renew the answer while the query line has the focus. Results that somebody looks through do not change."""
        if self._bar.has_focus_within:
            self._calls.renew()

    def on_awaited(self, event: messages.Awaited) -> None:
        """Show quietly that a better answer may follow."""
        self._result_pane.wait_for("searching by meaning…" if event.is_awaited else "")

    def on_found(self, event: messages.Found) -> None:
        """Show an answer; a document that the person has chosen stays in view."""
        self._results = results = event.results
        if not results.hits:
            self._say_why_empty()
            return
        cursor = self.index_of_chosen(results.hits)
        self._mark(False, "-empty")
        self._result_pane.show(results, highlighter(results.lit, results.languages), cursor)
        if self._enter_waits:
            self._go_to_list()
        self._enter_waits = False

    def _say_why_empty(self) -> None:
        """Say in place of the list why there are no results."""
        if self.focused is not None and self.focused in (self._text_pane.reader.pane, self._result_pane.list):
            self._bar.focus_input()
        self._mark(True, "-empty")
        self._result_pane.explain(self._results, self._calls.progress, self._status.offline)
        if self._text_pane.hit is not None:
            self._text_pane.clear()
            self.refresh_bindings()

    # The selected document

    def on_results_selected(self, event: Results.Selected) -> None:
        """Show the document under the cursor."""
        hits = self._results.hits if self._results else ()
        if event.hit.document_id not in [hit.document_id for hit in hits]:
            return  # a newer answer has replaced the list that sent this message
        old = self._text_pane.hit
        stay = self._choice.move_to(event.hit, hits[0], old)
        self._text_pane.select(event.hit, event.words, stay)
        self.show_similarity()
        if old is None:
            self.refresh_bindings()

    def on_results_chosen(self) -> None:
        """Go into the text."""
        self.note_question()
        self._choice.make()
        self._text_pane.reader.pane.focus()

    # Progress and notices

    def on_started(self, event: messages.Started) -> None:
        """Show why indexing does not run, if it does not."""
        self._status.offline = shown(event.note)
        if self._results is None:
            self._say_why_empty()

    def on_progress_read(self, event: messages.ProgressRead) -> None:
        """Show the progress; repeat a search that found nothing if the index has changed."""
        self._status.progress = wording.progress_line(event.progress)
        self._status.share = wording.share_embedded(event.progress)
        self._status.offline = shown(event.progress.problem)
        if self._results is None:
            self._say_why_empty()
        elif not self._results.hits:
            self._calls.renew()

    def on_failed(self, event: messages.Failed) -> None:
        """Show the error in the status line."""
        self._status.say(error=event.reason)

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys that need a document only if there is one."""
        if action == "folders":
            return self._folders.is_offered
        if action in ("query", "slash"):  # "/" is not in the footer while it is text, and finds in the text
            in_text = (self._text_pane.reader.pane, self._text_pane.prompt) if action == "slash" else ()
            return not self._bar.has_focus_within and self.focused not in in_text
        return self._text_pane.hit is not None if action in _NEEDS_A_HIT else True

    def action_back(self) -> None:
        """Go back: from the text to the results, from similar documents to the query's results, to the query."""
        self._status.say()
        if self.end_finding():
            return
        if self._text_pane.reader.pane.has_focus:
            self._go_to_list()
        elif (document_id := self._calls.similar_to) is not None:
            self._search()
            self._calls.search_now()
            self._choice.expect(document_id)
        else:
            self.action_query()

    def action_similar(self) -> None:
        """Search for passages like the current one if the text has the focus, else for documents like this one."""
        if hit := self._text_pane.hit:
            passage = self._text_pane.passage if self.has_class("-reading") else None
            self._status.say()
            self._choice.forget()
            self._enter_waits = True
            self._calls.similar(hit.document_id, passage.start if passage else None)

    def _go_to_list(self) -> None:
        self._mark(False, "-reading")  # a list that is not displayed cannot take the focus
        self._result_pane.list.focus()

    def action_query(self) -> None:
        """Go to the query line, where answers are kept current."""
        self._bar.focus_input()
        self._calls.renew()

    def action_mode(self) -> None:
        self._bar.choose_next_mode()

    def action_select(self, step: int) -> None:
        if not self.step_history(step):  # from an empty line, the arrows step through earlier queries
            self.note_question()
            self._choice.make()
            self._result_pane.list.move(step)

    def action_folders(self) -> None:
        self._folders.choose()

    def action_instruction(self) -> None:
        from longsearch.tui.screens.instruction import InstructionScreen

        self.app.push_screen(InstructionScreen(self._bar.instruction), self._bar.choose_instruction)
