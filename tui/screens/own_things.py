"""The keys of the main screen for a person's own things: copy and keep a passage, the basket, earlier queries,
saved searches.

Knows no file: `UserData` keeps things.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen

from longsearch.engine.amounts import counted
from longsearch.engine.types.results import DocumentHit, PassageHit, SearchMode
from longsearch.tui.backend.choice import Choice
from longsearch.tui.backend.history_steps import HistorySteps
from longsearch.tui.backend.interface import Backend, InView, Question, Saved
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.text.display import one_line, shown
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.status_line import StatusLine
from longsearch.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from longsearch.engine.citing.evidence import Evidence
    from longsearch.tui.screens.picker import Line


class OwnThings(Screen[None]):
    """The keys of the main screen that use what a person keeps. `MainScreen` sets these fields."""

    NEWS_EVERY_S = 10.0

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
        self._looking = (Question(), "")
        """The saved search that is looked at, and what was new for it."""
        self._restored: InView | None = None
        """The view in which the app was last left, until it is in view again."""

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
        text, error = await attempt(self._backend.user_data.quotation, hit, passage)
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
        done, error = await attempt(self._backend.user_data.keep, hit, passage, self._bar.question.query)
        self._status.say(shown(done or ""), error)

    # ---- earlier queries

    def begin(self) -> None:
        """Read the history, and bring back what was in view when the app was last left."""
        self._read_history()
        self._restore()
        self.count_news()
        self.set_interval(self.NEWS_EVERY_S, self.count_news)

    @work(exclusive=True, group="history")
    async def _read_history(self) -> None:
        questions, _ = await attempt(self._backend.user_data.history)  # the picker tells the person what is wrong
        self._steps.renew([one_line(question.query) for question in questions or ()])

    @work
    async def _restore(self) -> None:
        found, error = await attempt(self._backend.user_data.last)
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
        _, error = await attempt(self._backend.user_data.remember, question)
        if error:
            self._status.say(error=error)
        self._read_history()
        await attempt(self._backend.user_data.leave, self.in_view())  # a terminal may be closed before the app is left

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
        from longsearch.tui.screens.picker import Line, PickerScreen

        questions, error = await attempt(self._backend.user_data.history)
        if questions is None:
            self._status.say(error=error)
            return
        lines = [Line(one.query, ", ".join(_asked_how(one))) for one in questions]
        about = "Enter asks it again, F8 deletes it." if lines else "Nothing was asked yet, or the history is off."
        user_data = self._backend.user_data
        picker = PickerScreen("Earlier queries", lines, about, lambda at: user_data.forget_question(questions[at]))
        self.app.push_screen(picker, lambda at: self._bar.put(questions[at]) if at is not None else None)

    # ---- saved searches

    @work(exclusive=True, group="news")
    async def count_news(self) -> None:
        """Show how many passages are new for the saved searches."""
        n_new, _ = await attempt(self._backend.user_data.n_new)  # the picker tells the person what is wrong
        question, news = self._looking
        if news and question == self._bar.question:
            self._status.news = news
        else:
            self._status.news = f"● {counted(n_new, 'new passage')} (F6)" if n_new else ""

    @work(exclusive=True, group="saved-picker")
    async def action_saved(self) -> None:
        """Save the question, or choose a saved one."""
        from longsearch.tui.screens.picker import Line, PickerScreen

        saved, error = await attempt(self._backend.user_data.saved)
        if saved is None:
            self._status.say(error=error)
            return
        asked = self._bar.question
        offer = [Line(f"Save: {asked.query}", is_offer=True)] if asked.query else []
        user_data, searches, n_before = self._backend.user_data, saved, len(offer)
        picker = PickerScreen(
            "Saved searches",
            [*offer, *map(_saved_line, searches)],
            "Enter asks a search again, F8 deletes it." if offer or searches else "Type a query first, to save it.",
            lambda at: user_data.remove_saved(searches[at - n_before].name) if at >= n_before else None,
        )
        self.app.push_screen(picker, lambda at: self._use_saved(searches, at, n_before))

    def _use_saved(self, searches: Sequence[Saved], at: int | None, n_before: int) -> None:
        if at is None:
            return
        if at < n_before:
            self._name_search(self._bar.question)
        elif searches[at - n_before].problem:
            self._status.say(error=shown(searches[at - n_before].problem))
        else:
            self._bar.put(searches[at - n_before].question)
            self._look(searches[at - n_before])

    @work(group="saved")
    async def _look(self, one: Saved) -> None:
        """Say what is new as long as the search is asked, and note that somebody looks at it."""
        if one.news:
            self._looking = self._bar.question, shown(f"● {len(one.news)} new: {'; '.join(one.news)}")
            _, error = await attempt(self._backend.user_data.look, one.name)
            if error:
                self._status.say(error=error)
            self.count_news()

    def _name_search(self, question: Question) -> None:
        """Ask for the name of a search, and save it."""
        from longsearch.tui.screens.dialogs import LineDialog

        def save(name: str | None) -> None:
            if name:
                self._save(name, question)

        self.app.push_screen(LineDialog("Save this search as", question.query, "Enter saves it."), save)

    @work(group="saved")
    async def _save(self, name: str, question: Question) -> None:
        done, error = await attempt(self._backend.user_data.save, name, question)
        self._status.say(shown(done or ""), error)

    # ---- the basket

    def action_basket(self) -> None:
        """Show the basket. A passage that is chosen there is looked for here."""
        from longsearch.tui.screens.basket import BasketScreen

        self.app.push_screen(BasketScreen(self._backend), self._look_for)

    def _look_for(self, one: "Evidence | None") -> None:
        from longsearch.tui.screens.basket import query_for

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


def _saved_line(one: Saved) -> "Line":
    """Return a saved search with what is new, or else its query and its folders."""
    from longsearch.tui.screens.picker import Line

    news = f"{len(one.news)} new: {'; '.join(one.news)}" if one.news else ""
    return Line(one.name, news or " · ".join(filter(None, (one.question.query, one.about))), bool(one.news))
