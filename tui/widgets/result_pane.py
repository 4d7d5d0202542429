"""The left side: a heading, and under it the results or the reason why there are none."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from longsearch.engine.types import IndexProgress, SearchResults
from longsearch.tui.text import wording
from longsearch.tui.text.display import shown
from longsearch.tui.text.lit_words import Words
from longsearch.tui.text.welcome import welcome
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.results import Results


class ResultPane(Vertical):
    """Shows the results, or an explanation in their place."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root
        self._note_shown: str | None = None
        self._waits = False
        self._explained: tuple[SearchResults | None, IndexProgress | None, str] | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="note", markup=False)
        yield Results(self._root)
        with VerticalScroll(id="message", can_focus=False):
            yield Static(id="message-text", markup=False)

    @property
    def list(self) -> Results:
        """The list of documents."""
        return self.query_one(Results)

    def show(self, results: SearchResults, words: Words | None, cursor: int | None) -> None:
        """List the hits; `cursor` is the index of the hit to select."""
        self.query_one(HeaderLine).left = wording.summary(results)
        self._note(shown(results.note))
        self._explained = None
        self._switch(is_list=True)
        self.list.show(results.hits, words, cursor)

    def explain(self, results: SearchResults | None, progress: IndexProgress | None, offline: str) -> None:
        """Say in place of the list why there are no results. `results` is None if nothing was asked."""
        self.list.show((), None, None)
        self.query_one(HeaderLine).left = wording.summary(results) if results else ""
        self._note(shown(results.note) if results else "")
        self._switch(is_list=False)
        self._explained = results, progress, offline
        self._say_why(*self._explained)

    def _say_why(self, results: SearchResults | None, progress: IndexProgress | None, offline: str) -> None:
        lines = wording.nothing_found(results, progress, self._waits) if results else welcome(progress, offline)
        self.query_one("#message-text", Static).update(Content("\n").join(lines))

    def wait_for(self, what: str) -> None:
        """Show in the heading what the app waits for; "" for nothing."""
        self.query_one(HeaderLine).right = what
        if self._waits != bool(what):
            self._waits = bool(what)
            if self._explained:  # nothing by words means little while the search by meaning goes on
                self._say_why(*self._explained)

    def _note(self, note: str) -> None:
        if note != self._note_shown:
            self._note_shown = note
            widget = self.query_one("#note", Static)
            widget.update(Content(note))
            widget.display = bool(note)

    def _switch(self, is_list: bool) -> None:
        self.list.display = is_list
        self.query_one("#message").display = not is_list
