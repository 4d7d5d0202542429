"""The left side: a heading, and under it the results or the reason why there are none."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import AwaitMount
from textual.widgets import Static

from longsearch.engine.types.progress import IndexProgress
from longsearch.engine.types.results import SearchResults
from longsearch.tui.text import styles, wording
from longsearch.tui.text.display import shown
from longsearch.tui.text.highlight import NO_WORDS, Highlighter
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.results import Results


class ResultPane(Vertical):
    """Shows the results, or an explanation in their place."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self.list = Results(root)
        """The list of documents. It is mounted by `add_list`."""
        self._header = HeaderLine()
        self._note_line = Static(id="note", markup=False)
        self._message_text = Static(id="message-text", markup=False)
        self._message = VerticalScroll(self._message_text, id="message", can_focus=False)
        self._note_shown = ""
        self._waits = False
        self._explained: tuple[SearchResults | None, IndexProgress | None, str] | None = None
        self._note_line.display = self.list.display = False

    def compose(self) -> ComposeResult:
        yield from (self._header, self._note_line, self._message)

    def add_list(self) -> AwaitMount:
        """Mount the list: the first frame does not need it."""
        return self.mount(self.list, before=self._message)

    def show(self, results: SearchResults, words: Highlighter, cursor: int | None) -> None:
        """List the hits; `cursor` is the index of the hit to select."""
        self._header.left = wording.summary(results)
        self._note(shown(results.note))
        self._explained = None
        self._switch(is_list=True)
        self.list.show(results.hits, words, cursor)

    def explain(self, results: SearchResults | None, progress: IndexProgress | None, offline: str) -> None:
        """Say in place of the list why there are no results. `results` is None if nothing was asked."""
        self.list.show((), NO_WORDS, None)
        self._header.left = wording.summary(results) if results else ""
        self._note(shown(results.note) if results else "")
        self._switch(is_list=False)
        self._explained = results, progress, offline
        self._say_why(*self._explained)

    def _say_why(self, results: SearchResults | None, progress: IndexProgress | None, offline: str) -> None:
        lines = wording.nothing_found(results, progress, self._waits) if results else welcome(progress, offline)
        self._message_text.update(Content("\n").join(lines))

    def mark(self, is_active: bool) -> None:
        """Light the heading of the pane that has the focus."""
        self._header.set_class(is_active, "-active")

    def wait_for(self, what: str) -> None:
        """Show in the heading what the app waits for; "" for nothing."""
        self._header.right = what
        if self._waits != bool(what):
            self._waits = bool(what)
            if self._explained:  # nothing by words means little while the search by meaning goes on
                self._say_why(*self._explained)

    def _note(self, note: str) -> None:
        if note != self._note_shown:
            self._note_shown = note
            self._note_line.update(Content(note))
            self._note_line.display = bool(note)

    def _switch(self, is_list: bool) -> None:
        self.list.display = is_list
        self._message.display = not is_list


_EXAMPLES = (
    ("why did the reactor overheat", "a question or a claim in your own words"),
    ('"loss of coolant"', "these words, one after the other"),
    ("cooling -turbine", "leave out passages with this word"),
)
_EMPTY = (
    "Put documents into it: PDF, Word, EPUB, Markdown, HTML, slides, mails, text and more.",
    "They are found here as soon as they are read. F3 lists every file.",
    "Or look around first: `longsearch demo` opens the app over twelve sample notes.",
)
_EXAMPLE_WIDTH = max(len(example) for example, _ in _EXAMPLES)


def welcome(progress: IndexProgress | None, offline: str) -> list[Content | str]:
    """Return the lines: the status of the index, and how to ask. They are made for 80 columns; longer lines wrap."""
    lines: list[Content | str] = [Content.styled(wording.readiness(progress), "bold")]
    if missing := wording.not_ready(progress):
        lines.append(missing)
    if offline:
        lines += [Content.styled(f"! {offline}", styles.WARNING)]
    if progress and progress.advice:
        lines += ["", shown(progress.advice)]
    if wording.is_empty(progress):
        return [*lines, "", *(Content.styled(line, styles.MUTED) for line in _EMPTY)]
    lines += ["", Content.styled("Type what you mean, for example", styles.MUTED), ""]
    for example, meaning in _EXAMPLES:
        lines.append(
            Content.assemble("  ", (example.ljust(_EXAMPLE_WIDTH), styles.ACCENT), "  ", (meaning, styles.MUTED))
        )
    lines += [
        "",
        Content.styled("↓ chooses a result, Enter goes there, Esc comes back, F1 lists every key.", styles.MUTED),
    ]
    return lines
