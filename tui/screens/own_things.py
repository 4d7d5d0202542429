"""The keys of the main screen for a person's own things: copy and keep a passage, the basket, earlier queries.

Knows no file: `Desk` keeps things.
"""

from collections.abc import Sequence

from textual import work
from textual.screen import Screen

from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.types import DocumentHit, PassageHit, SearchMode
from longsearch.tui.asking.backend import Backend
from longsearch.tui.asking.choice import Choice
from longsearch.tui.asking.desk import InView
from longsearch.tui.asking.history_steps import HistorySteps
from longsearch.tui.asking.lane import attempt
from longsearch.tui.asking.requests import Question
from longsearch.tui.screens.basket import BasketScreen
from longsearch.tui.screens.picker import Line, PickerScreen
from longsearch.tui.text.display import one_line, shown
from longsearch.tui.text.evidence_words import query_for
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.status_line import StatusLine
from longsearch.tui.widgets.text_pane import TextPane


class OwnThings(Screen[None]):
    """What the main screen does with the desk. `MainScreen` sets these fields."""

    _backend: Backend
    _bar: QueryBar
    _status: StatusLine
    _text_pane: TextPane
    _choice: Choice

    def __init__(self) -> None:
        super().__init__()
        self._steps = HistorySteps()
        self._noted = Question()
        """The question that was last put into the history."""
        self._restored: InView | None = None
        """What was in view when the app was last left, until it is in view again."""

    # ---- the passage in view

    def action_copy(self, what: str) -> None:
        """Copy the current `passage` with its source, or the `path` of its file."""
        hit, passage = self._text_pane.hit, self._text_pane.passage
        if hit is not None and what == "path":
            self._copy(shown(hit.path), "Path")
        elif hit is not None and passage is not None:
            self._copy_passage(hit, passage)

    @work(exclusive=True, group="copy")
    async def _copy_passage(self, hit: DocumentHit, passage: PassageHit) -> None:
        text, error = await attempt(self._backend.desk.quotation, hit, passage)
        self.note_question()
        self._copy(text, "Passage") if text is not None else self._status.say(error=error)

    def _copy(self, text: str, what: str) -> None:
        self.app.copy_to_clipboard(text)
        self._status.say(f"{what} copied")

    def action_keep(self) -> None:
        """Put the current passage into the basket."""
        hit, passage = self._text_pane.hit, self._text_pane.passage
        if hit is not None and passage is not None:
            self.note_question()
            self._keep(hit, passage)

    @work(group="keep")
    async def _keep(self, hit: DocumentHit, passage: PassageHit) -> None:
        done, error = await attempt(self._backend.desk.keep, hit, passage, self._bar.question.query)
        self._status.say(shown(done or ""), error)

    # ---- earlier queries

    def on_mount(self) -> None:
        """Read the history, and bring back what was in view when the app was last left."""
        self._read_history()
        self._restore()

    @work(exclusive=True, group="history")
    async def _read_history(self) -> None:
        questions, _ = await attempt(self._backend.desk.history)  # the picker tells the person what is wrong
        self._steps.renew([one_line(question.query) for question in questions or ()])

    @work
    async def _restore(self) -> None:
        found, error = await attempt(self._backend.desk.last)
        if error:
            self._status.say(error=error)
        if found and found.question.query and not self._bar.question.query:
            self._restored = found
            self._bar.put(found.question, is_sent=False)

    def index_of_chosen(self, hits: Sequence[DocumentHit]) -> int | None:
        """Return the index of the hit to select, as `Choice` does; at the start, that of the document of last time."""
        found = self._restored
        if found is not None and not self._choice.is_made and self._bar.question == found.question:
            at = next((at for at, hit in enumerate(hits) if hit.path == found.path), None)
            if at is not None:
                self._restored = None
                self._choice.make()
                return at
        return self._choice.index_in(hits, self._text_pane.hit)

    def note_question(self) -> None:
        """Put the question into the history: its answer was of use."""
        if self._bar.question.query and self._bar.question != self._noted:
            self._noted = self._bar.question
            self._remember(self._noted)

    @work(group="remember")
    async def _remember(self, question: Question) -> None:
        _, error = await attempt(self._backend.desk.remember, question)
        if error:
            self._status.say(error=error)
        self._read_history()

    def in_view(self) -> InView:
        """Return what is in view."""
        hit = self._text_pane.hit
        return InView(self._bar.question, hit.path if hit is not None else "")

    def step_history(self, step: int) -> bool:
        """Put the query before (-1) or after (1) into the line. Returns whether the key was for that."""
        query = self._steps.step(self._bar.text, step) if self._bar.has_focus_within else None
        if query is not None:
            self._bar.type(query)
        return query is not None

    @work(exclusive=True, group="history-picker")
    async def action_history(self) -> None:
        """Choose an earlier question, and ask it again."""
        questions, error = await attempt(self._backend.desk.history)
        if questions is None:
            self._status.say(error=error)
            return
        lines = [Line(one.query, ", ".join(_asked_how(one))) for one in questions]
        about = "Enter asks it again, F8 deletes it." if lines else "Nothing was asked yet, or the history is off."
        desk = self._backend.desk
        picker = PickerScreen("Earlier queries", lines, about, lambda at: desk.forget_question(questions[at]))
        self.app.push_screen(picker, lambda at: self._bar.put(questions[at]) if at is not None else None)

    # ---- the basket

    def action_basket(self) -> None:
        """Show the basket. A passage that is chosen there is looked for here."""
        self.app.push_screen(BasketScreen(self._backend), self._look_for)

    def _look_for(self, one: Evidence | None) -> None:
        if one is None:
            return
        root = self._backend.root
        if root is not None and one.root and one.root != str(root):
            self._status.say(error=shown(f"{one.title} is in another folder: longsearch {one.root}"))
        else:
            self._bar.put(Question(query_for(one, names_folder=root is None)))


def _asked_how(one: Question) -> list[str]:
    """Return how a question was asked, if not in the usual way."""
    mode = [one.mode.value] if one.mode is not SearchMode.HYBRID else []
    return [*mode, *([f"instruction: {one.instruction}"] if one.instruction else [])]
