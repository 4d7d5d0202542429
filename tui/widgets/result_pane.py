"""The left side: a heading, and under it the results or the reason why there are none. Owns the search."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from longsearch.tui.backend import backend_calls as messages
from longsearch.tui.backend.interface import Backend, Question, Saved
from longsearch.tui.painting import Plain, show_line
from longsearch.tui.text import progress_words, styles
from longsearch.tui.text.display import shown
from longsearch.tui.text.highlight import NO_WORDS, highlighter
from longsearch.tui.text.wording import nothing_found, summary
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.results import Results
from longsearch.tui.widgets.starters import Starters

if TYPE_CHECKING:
    from longsearch.engine.types.progress import IndexProgress
    from longsearch.engine.types.results import SearchResults


class ResultPane(Plain, Vertical):
    """Shows the results, or an explanation in their place."""

    @dataclass
    class Answered(Message):
        """There is an answer, or nothing is asked any more."""

        has_hits: bool

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.calls = messages.BackendCalls(backend)
        """Asks the backend; its answers come here first."""
        self.list = Results(os.fspath(backend.root or ""))
        self.starters = Starters()
        """What to ask first, below the explanation."""
        self._header = HeaderLine()
        self._note_line = Static(id="note", markup=False)
        self._message_text = Static(_joined(welcome(None, "")), id="message-text", markup=False)
        self._message = VerticalScroll(self._message_text, self.starters, id="message", can_focus=False)
        self._waits = False
        self.results: SearchResults | None = None
        """The last answer to the query; None if nothing is asked."""
        self._is_explained = True
        """Whether the explanation stands in place of the list."""
        self._offline = ""
        """Why indexing does not run, or ""."""
        self._note_line.display = self.list.display = False

    def compose(self) -> ComposeResult:
        yield from (self._header, self._note_line, self.list, self._message, self.calls)

    def search(self, question: Question, wanted_path: str = "") -> None:
        """Search; the person chooses among the results anew. `wanted_path`: the file to choose if it is found."""
        self.list.begin(wanted_path)
        self.calls.search(question)
        if not question.query:
            self._explain(None)

    def similar(self, document_id: int, start: int | None) -> None:
        """Search for documents like this one, or for passages like its one that begins at `start`."""
        self.list.begin()
        self.calls.similar(document_id, start)

    def on_found(self, event: messages.Found) -> None:
        """Show an answer."""
        event.stop()
        results = event.results
        if not results.hits:
            self._explain(results)
            return
        self.results, self._is_explained = results, False
        self._fill(summary(results), self._note, is_list=True)
        self.list.show(results.hits, highlighter(results.lit, results.languages))
        self.post_message(self.Answered(has_hits=True))

    def on_awaited(self, event: messages.Awaited) -> None:
        """Show quietly that a better answer may follow."""
        event.stop()
        self._header.right = "searching by meaning…" if event.is_awaited else ""
        if self._waits != event.is_awaited:
            self._waits = event.is_awaited
            self._say_why()  # nothing by words means little while the search by meaning goes on

    def on_started(self, event: messages.Started) -> None:
        """Say why indexing does not run, if it does not."""
        self._offline = shown(event.note)
        self._renew_explanation()

    def on_headings_read(self, event: messages.HeadingsRead) -> None:
        """Offer headings of the documents."""
        event.stop()
        self.starters.headings = event.headings
        self._renew_starters()

    def offer(self, recent: Sequence[str], saved: Sequence[Saved]) -> None:
        """Offer earlier queries, newest first, and saved searches."""
        self.starters.recent, self.starters.saved = recent, saved
        self._renew_starters()

    def _renew_starters(self) -> None:
        self.starters.renew()
        self._say_why()

    @property
    def is_offering(self) -> bool:
        """Whether the person can see what to ask first."""
        return self.starters.display and self._message.display

    def on_progress_read(self, event: messages.ProgressRead) -> None:
        """Say how far the index is; repeat a search that found nothing."""
        self._offline = shown(event.progress.problem)
        self._renew_explanation()

    @property
    def _note(self) -> str:
        """What is to be said about the answer."""
        return shown(progress_words.note_now(self.results.note, self.calls.progress)) if self.results else ""

    def _renew_explanation(self) -> None:
        if self.results:
            show_line(self._note_line, self._note)
        if self.results is None:
            self._say_why()
        elif not self.results.hits:
            self.calls.renew()

    def _explain(self, results: "SearchResults | None") -> None:
        """Say in place of the list why there are no results; None: nothing was asked."""
        self.results, self._is_explained = results, True
        self.list.show((), NO_WORDS)
        self._fill(summary(results) if results else "", self._note, is_list=False)
        self._say_why()
        self.post_message(self.Answered(has_hits=False))

    def _fill(self, heading: str, note: str, is_list: bool) -> None:
        self._header.left = heading
        show_line(self._note_line, note)
        self.list.display = is_list
        self._message.display = not is_list

    def _say_why(self) -> None:
        if self._is_explained:
            progress = self.calls.progress
            nothing = self.results and nothing_found(self.results, progress, self._waits)
            self.starters.display = not self.results and bool(self.starters.option_count)
            lines = nothing or welcome(progress, self._offline, self.starters.display)
            self._message_text.update(_joined(lines))

    def mark(self, is_active: bool) -> None:
        """Light the heading of the pane that has the focus."""
        self._header.set_class(is_active, "-active")


EXAMPLES = (
    ("words of your own", "a question, a claim or a topic"),
    ('"an exact phrase"', "these words, one after the other"),
    ("-word", "leave out passages with this word"),
)
"""The first things to know of the query language."""
_EMPTY = (
    "Put documents into it: PDF, Word, EPUB, Markdown, HTML, slides, mails, text and more.",
    "They are found here as soon as they are read. F3 lists every file.",
    "Or look around first: `longsearch demo` opens the app over twelve sample notes.",
)
_HOW = "Type what you mean, or press ↓ for one of these."
_EXAMPLE_WIDTH = max(len(example) for example, _ in EXAMPLES)


def _joined(lines: Sequence[Content | str]) -> Content:
    return Content("\n").join(lines)


def welcome(progress: "IndexProgress | None", offline: str, has_starters: bool = False) -> list[Content | str]:
    """Return the lines: the status of the index, and how to ask. They are made for 80 columns; longer lines wrap.

    `has_starters`: what to ask first stands below them.
    """
    lines: list[Content | str] = []
    if not progress_words.is_all_ready(progress):  # else the line above the keys says it
        lines.append(Content.styled(progress_words.readiness(progress), "bold"))
    if missing := progress_words.not_ready(progress):
        lines.append(missing)
    if offline:
        lines += [Content.styled(f"! {offline}", styles.WARNING)]
    if progress and progress.advice:
        lines += [*([""] if lines else []), shown(progress.advice)]
    lines += [""] if lines else []
    if progress_words.is_empty(progress):
        return [*lines, *(Content.styled(line, styles.MUTED) for line in _EMPTY)]
    if has_starters:
        return [*lines, Content.styled(_HOW, styles.MUTED)]
    lines += [Content.styled("What you can type", styles.MUTED), ""]
    for example, meaning in EXAMPLES:
        lines.append(
            Content.assemble("  ", (example.ljust(_EXAMPLE_WIDTH), styles.ACCENT), "  ", (meaning, styles.MUTED))
        )
    lines += ["", Content.styled("↓ chooses a result, Enter goes there, Esc comes back.", styles.MUTED)]
    return lines
