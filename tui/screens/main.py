"""The main screen: query, results, text, status. Turns keys into requests, and answers into what is shown.

Knows nothing of threads: `BackendCalls` makes the calls and says when there is an answer.
"""

import os
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Footer

from engine.types import SearchMode, SearchResults
from tui import messages, wording
from tui.backend import Backend
from tui.backend_calls import BackendCalls
from tui.bindings import MAIN
from tui.display import shown
from tui.lane import attempt
from tui.query_words import word_pattern
from tui.screens.files import FilesScreen
from tui.screens.help import HelpScreen
from tui.screens.instruction import InstructionScreen
from tui.welcome import welcome
from tui.widgets.query_bar import ModeTabs, QueryBar
from tui.widgets.result_pane import ResultPane
from tui.widgets.results import Results
from tui.widgets.status_line import StatusLine
from tui.widgets.text_pane import TextPane

_NEEDS_A_HIT = frozenset({"open", "passage", "copy_passage", "copy_path", "like"})
_MODES = tuple(SearchMode)


class MainScreen(Screen[None]):
    """Everything but help, files and instruction."""

    BINDINGS: ClassVar[list[BindingType]] = MAIN
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-low")]  # noqa: RUF012
    RENEW_EVERY_S = 5.0

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        root = os.fspath(backend.root)
        self._backend = backend
        self._bar = QueryBar(root)
        self._result_pane = ResultPane(root)
        self._text_pane = TextPane(backend.document)
        self._status = StatusLine()
        self._calls = BackendCalls(backend)
        self._mode = SearchMode.HYBRID
        self._instruction = ""
        self._query = ""
        self._results: SearchResults | None = None
        self._has_chosen = False
        """Whether the person has chosen a document of this query: then answers that come later leave it in view."""
        self._enter_waits = False
        """Whether Enter was pressed before there was anything to go to."""
        self._return_to: int | None = None
        """The document to be in view when the query's answer is back."""

    def compose(self) -> ComposeResult:
        yield self._bar
        with Container(id="panes"):
            yield self._result_pane
            yield self._text_pane
        yield self._status
        yield Footer(show_command_palette=False, compact=True)
        yield self._calls

    def on_mount(self) -> None:
        """Ready to type."""
        self._bar.focus_input()
        self._status.progress = wording.progress_line(None)
        self._say_why_empty()
        self.set_interval(self.RENEW_EVERY_S, self._keep_current)

    # Searching

    def on_query_bar_changed(self, event: QueryBar.Changed) -> None:
        """Search as it is typed."""
        if (query := event.text.strip()) != self._query:
            self._query = query
            self._search()

    def on_query_bar_sent(self) -> None:
        """Search at once, and go to the results when there are any."""
        if self._calls.similar_to is not None:
            self._search()
        self._calls.search_now()
        if self._text_pane.hit is not None:
            self._result_pane.list.focus()
        else:
            self._enter_waits = bool(self._query)

    def on_mode_tabs_chosen(self, event: ModeTabs.Chosen) -> None:
        """A click on a mode."""
        self._mode = event.mode
        self._bar.show_mode(event.mode)
        self._search()

    def _search(self) -> None:
        self._has_chosen = self._enter_waits = False
        self._return_to = None
        self._status.say()
        self._calls.search(self._query, self._mode, self._instruction)
        if not self._query:
            self._results = None
            self._say_why_empty()

    def _keep_current(self) -> None:
        """Renew the answer, but not while somebody is among the results: there they stay as they are."""
        if self._bar.has_focus_within:
            self._calls.renew()

    def on_awaited(self, event: messages.Awaited) -> None:
        """The quiet sign that the answer may still become better."""
        self._result_pane.wait_for("asking by meaning…" if event.is_awaited else "")

    def on_found(self, event: messages.Found) -> None:
        """Show an answer; a document the person has chosen stays under the eyes."""
        self._results = results = event.results
        if not results.hits:
            self._say_why_empty()
            return
        cursor: int | None = 0
        if self._has_chosen and self._text_pane.hit is not None:
            ids = [hit.document_id for hit in results.hits]
            chosen = self._return_to or self._text_pane.hit.document_id
            cursor = ids.index(chosen) if chosen in ids else None
        self.remove_class("-empty")
        self._result_pane.show(results, word_pattern(results.query), cursor)
        if self._enter_waits:
            self._go_to_list()
        self._enter_waits = False

    def _say_why_empty(self) -> None:
        """No results: say why, in place of the list."""
        if self.focused is not None and self.focused in (self._text_pane.preview, self._result_pane.list):
            self._bar.focus_input()
        self.add_class("-empty")
        had_hit = self._text_pane.hit is not None
        self._text_pane.clear()
        if self._results is None:
            self._result_pane.say("", welcome(self._calls.progress, self._status.offline))
        else:
            lines = wording.nothing_found(self._results, self._calls.progress)
            self._result_pane.say(wording.summary(self._results), lines, shown(self._results.note))
        if had_hit:
            self.refresh_bindings()

    # The document of the selected hit

    def on_results_selected(self, event: Results.Selected) -> None:
        """Show the document the cursor is on."""
        ids = [hit.document_id for hit in self._results.hits] if self._results else []
        if event.hit.document_id not in ids:
            return  # of a list that is gone: a later answer was quicker than this message
        self._return_to = None
        old = self._text_pane.hit
        is_first = event.hit.document_id == ids[0]
        is_same = old is not None and old.document_id == event.hit.document_id
        self._has_chosen = self._has_chosen or not is_first
        self._text_pane.select(event.hit, event.words, stay=is_same and (self._has_chosen or old == event.hit))
        if old is None:
            self.refresh_bindings()

    def on_results_chosen(self) -> None:
        """Go into the text."""
        self._has_chosen = True
        self._text_pane.preview.focus()

    # Progress and notices

    def on_started(self, event: messages.Started) -> None:
        """Indexing goes on, or not: say why."""
        self._status.offline = shown(event.note)
        if self._results is None:
            self._say_why_empty()

    def on_progress_read(self, event: messages.ProgressRead) -> None:
        """Show it; repeat a search that found nothing when there is more to be found."""
        self._status.progress = wording.progress_line(event.progress)
        self._status.share = wording.share_embedded(event.progress)
        if self._results is None:
            self._say_why_empty()
        elif not self._results.hits:
            self._calls.renew()

    def on_failed(self, event: messages.Failed) -> None:
        """An error is a line, never the end."""
        self._status.say(error=event.reason)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Mark the pane that has the keys. Where there is little room the text takes all of it while it is read."""
        is_reading = event.widget is self._text_pane.preview
        self.set_class(is_reading, "-reading")
        self._text_pane.set_class(is_reading, "-active")
        self._result_pane.set_class(event.widget is self._result_pane.list, "-active")

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys for a document are there when there is one."""
        if action == "query":  # not in the footer while "/" is text
            return not self._bar.has_focus_within
        return self._text_pane.hit is not None if action in _NEEDS_A_HIT else True

    def action_back(self) -> None:
        """Text, results (of what is like a document, then of the query), query."""
        self._status.say()
        if self._text_pane.preview.has_focus:
            self._go_to_list()
        elif (left := self._calls.similar_to) is not None:
            self._search()
            self._calls.search_now()
            self._has_chosen, self._return_to = True, left
        else:
            self.action_query()

    def action_like(self) -> None:
        """Documents like the one in view; the way back leads to it."""
        if hit := self._text_pane.hit:
            self._status.say()
            self._has_chosen, self._enter_waits = False, True
            self._return_to = None
            self._calls.similar(hit.document_id)

    def _go_to_list(self) -> None:
        self.remove_class("-reading")  # a list that is not displayed cannot take the focus
        self._result_pane.list.focus()

    def action_query(self) -> None:
        """To the query line, where answers are kept current."""
        self._bar.focus_input()
        self._calls.renew()

    def action_mode(self) -> None:
        """The next mode."""
        self.on_mode_tabs_chosen(ModeTabs.Chosen(_MODES[(_MODES.index(self._mode) + 1) % len(_MODES)]))

    def action_select(self, step: int) -> None:
        self._has_chosen = True
        self._result_pane.list.move(step)

    def action_page(self, step: int) -> None:
        self._has_chosen = True
        self._text_pane.preview.turn_page(step)

    def action_passage(self, step: int) -> None:
        self._has_chosen = True
        self._text_pane.preview.go_to_passage(step)

    def action_open(self) -> None:
        """At the page of the current passage."""
        if hit := self._text_pane.hit:
            passage = self._text_pane.passage
            self._open(hit.path, passage.page if passage else None)

    @work(exclusive=True, group="open")
    async def _open(self, path: str, page: int | None) -> None:
        done, error = await attempt(self._backend.open, path, page)
        self._status.say(shown(done or ""), error)

    def action_copy_passage(self) -> None:
        hit, passage = self._text_pane.hit, self._text_pane.passage
        if hit is not None and passage is not None:
            self.app.copy_to_clipboard(wording.quotation(hit, passage))
            self._status.say("Passage copied")

    def action_copy_path(self) -> None:
        if hit := self._text_pane.hit:
            self.app.copy_to_clipboard(shown(hit.path))
            self._status.say("Path copied")

    def action_files(self) -> None:
        self.app.push_screen(FilesScreen(self._backend))

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())

    def action_instruction(self) -> None:
        self.app.push_screen(InstructionScreen(self._instruction), self._use_instruction)

    def _use_instruction(self, instruction: str | None) -> None:
        if instruction is not None and instruction != self._instruction:
            self._instruction = instruction
            self._bar.show_instruction(instruction)
            self._search()
