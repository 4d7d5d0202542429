"""Asks for what a person keeps: the basket, earlier queries, saved searches. Draws nothing.

Knows no file: `UserData` keeps things. Answers go up as messages, as those of `BackendCalls` do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.widget import Widget

from longsearch.engine.amounts import counted
from longsearch.engine.types.results import SearchMode
from longsearch.tui.backend.interface import Backend, InView, Question, Saved
from longsearch.tui.backend.latest_only import Said, attempt, attempt_or_say
from longsearch.tui.text.display import one_line, shown

if TYPE_CHECKING:
    from longsearch.engine.citing.evidence import Evidence


@dataclass
class HistoryRead(Message):
    """The earlier queries and the saved searches have been read."""

    queries: list[str]
    """The earlier queries, newest first."""
    here: list[str]
    """Those of them that were asked of the folder that the app is over."""
    saved: list[Saved]
    """The saved searches."""


@dataclass
class LeftInView(Message):
    """The view in which the app was last left."""

    in_view: InView


@dataclass
class AskedAgain(Message):
    """The person has chosen an earlier question or a saved one."""

    question: Question


@dataclass
class NewsCounted(Message):
    """The saved searches have new passages, or have none (""): a text for the status line."""

    text: str


class UserDataCalls(Widget):
    """An invisible widget: workers and timers need a node of the screen."""

    DEFAULT_CSS = "UserDataCalls { display: none; }"
    NEWS_EVERY_S = 10.0

    def __init__(self, backend: Backend, in_view: Callable[[], InView]) -> None:
        """`in_view` returns the question in the query bar, and the document beside it."""
        super().__init__()
        self._backend, self._user_data, self._in_view = backend, backend.user_data, in_view
        self._noted = Question()
        """The question that was last put into the history."""
        self._looked_at = (Question(), "")
        """The saved search that is looked at, and what was new for it."""

    def on_mount(self) -> None:
        """Read the history, the last view and the news."""
        self._read_history()
        self._read_last_view()
        self.count_news()
        self.set_interval(self.NEWS_EVERY_S, self.count_news)

    # The basket

    def show_basket(self) -> None:
        """Show the basket. A passage that is chosen there is looked for here."""
        from longsearch.tui.screens.basket import BasketScreen
        from longsearch.tui.screens.kept import kept

        self.app.push_screen(kept(self.app, BasketScreen, self._backend).renew(), self._look_for)

    def _look_for(self, evidence: "Evidence | None") -> None:
        from longsearch.tui.screens.basket import query_for

        if evidence is None:
            return
        root = self._backend.root
        if root is not None and evidence.root and evidence.root != str(root):
            self.post_message(Said(error=shown(f"{evidence.title} is in another folder: longsearch {evidence.root}")))
        else:
            self._ask(Question(query_for(evidence, names_folder=root is None)))

    # A table

    def show_table(self) -> None:
        """Ask for a file of questions, and show its table. A sentence that is chosen there is looked for here."""
        from longsearch.tui.screens.dialogs import LineDialog
        from longsearch.tui.screens.kept import kept

        about = "A text file with a question on each line. The table is kept beside it, as NAME.table.csv."

        def show(name: str | None) -> None:
            if name:
                self._open_table(name)

        title = "Ask each document the questions in"
        dialog = kept(self.app, LineDialog).put(title, "~/questions.txt", about, is_selected=True)
        self.app.push_screen(dialog, show)

    @work(exclusive=True, group="table")
    async def _open_table(self, name: str) -> None:
        from longsearch.tui.screens.basket import quotation_query
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.table import TableScreen

        if table := await attempt_or_say(self, self._backend.table, name):
            screen = kept(self.app, TableScreen, self._backend).put(table)
            self.app.push_screen(screen, lambda text: self._ask(Question(quotation_query(text))) if text else None)

    # Earlier queries

    def note_question(self) -> None:
        """Put the question into the history: its answer was of use."""
        question = self._in_view().question
        if question.query and question != self._noted:
            self._noted = question
            self._remember(question)

    @work(group="remember")
    async def _remember(self, question: Question) -> None:
        await attempt_or_say(self, self._user_data.remember, question)
        self._read_history()
        await attempt(self._user_data.leave, self._in_view())  # a terminal may be closed before the app is left

    @work(exclusive=True, group="history")
    async def _read_history(self) -> None:
        found, _ = await attempt(self._user_data.history)  # the pickers tell the person what is wrong
        saved, _ = await attempt(self._user_data.saved)
        asked, asked_here = ([question.query for question in questions] for questions in found or ((), ()))
        self.post_message(HistoryRead(asked, asked_here, saved or []))

    @work
    async def _read_last_view(self) -> None:
        if last := await attempt_or_say(self, self._user_data.last):
            self.post_message(LeftInView(last))

    @work(exclusive=True, group="history-picker")
    async def choose_earlier(self) -> None:
        """Let the person choose an earlier question, to ask it again."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.picker import EarlierScreen, Line

        found = await attempt_or_say(self, self._user_data.history)
        if found is None:
            return
        questions, _ = found
        lines = [Line(question.query, _asked_how(question)) for question in questions]
        about = "Enter asks it again, F8 deletes it." if lines else "Nothing was asked yet, or the history is off."
        forget = self._user_data.forget_question
        picker = kept(self.app, EarlierScreen).put("Earlier queries", lines, about, lambda at: forget(questions[at]))
        self.app.push_screen(picker, lambda at: self._ask(questions[at]) if at is not None else None)

    def _ask(self, question: Question) -> None:
        self.post_message(AskedAgain(question))

    # Saved searches

    @work(exclusive=True, group="news")
    async def count_news(self) -> None:
        """Tell how many passages are new for the saved searches, or what was new for the one that is looked at."""
        n_new, _ = await attempt(self._user_data.n_new)  # the picker tells the person what is wrong
        question, news = self._looked_at
        if not news or question != self._in_view().question:
            news = f"● {counted(n_new, 'new passage')} (F6)" if n_new else ""
        self.post_message(NewsCounted(news))

    @work(exclusive=True, group="saved-picker")
    async def choose_saved(self) -> None:
        """Let the person save the question, or choose a saved one."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.picker import Line, PickerScreen

        searches = await attempt_or_say(self, self._user_data.saved)
        if searches is None:
            return
        asked = self._in_view().question
        offer = [Line(f"Save: {asked.query}", is_offer=True)] if asked.query else []
        remove, n_before = self._user_data.remove_saved, len(offer)
        picker = kept(self.app, PickerScreen).put(
            "Saved searches",
            [*offer, *(Line(saved.name, _about(saved), bool(saved.news)) for saved in searches)],
            "Enter asks a search again, F8 deletes it." if offer or searches else "Type a query first, to save it.",
            lambda at: remove(searches[at - n_before].name) if at >= n_before else None,
        )
        self.app.push_screen(picker, lambda at: self._use_saved(searches, at, n_before))

    def _use_saved(self, searches: Sequence[Saved], at: int | None, n_before: int) -> None:
        if at is None:
            return
        if at < n_before:
            self._name_search(self._in_view().question)
        elif (saved := searches[at - n_before]).problem:
            self.post_message(Said(error=shown(saved.problem)))
        else:
            self._ask(saved.question)
            self._look(saved)

    @work(group="saved")
    async def _look(self, saved: Saved) -> None:
        """Say what is new as long as the search is asked, and note that somebody looks at it."""
        if saved.news:
            asked = replace(saved.question, query=one_line(saved.question.query))  # as the query bar holds it
            self._looked_at = asked, shown(f"● {_news(saved)}")
            await attempt_or_say(self, self._user_data.look, saved.name)
            self.count_news()

    def _name_search(self, question: Question) -> None:
        """Ask for the name of a search, and save it."""
        from longsearch.tui.screens.dialogs import LineDialog
        from longsearch.tui.screens.kept import kept

        def save(name: str | None) -> None:
            if name:
                self._save(name, question)

        dialog = kept(self.app, LineDialog).put("Save this search as", question.query, "Enter saves it.", True)
        self.app.push_screen(dialog, save)

    @work(group="saved")
    async def _save(self, name: str, question: Question) -> None:
        done, error = await attempt(self._user_data.save, name, question)
        self.post_message(Said(shown(done or ""), error))


def _asked_how(question: Question) -> str:
    """Return how a question was asked, if not in the usual way."""
    mode = question.mode.value if question.mode is not SearchMode.HYBRID else ""
    return ", ".join(filter(None, (mode, question.instruction and f"goal: {question.instruction}")))


def _news(saved: Saved) -> str:
    return f"{len(saved.news)} new: {'; '.join(saved.news)}" if saved.news else ""


def _about(saved: Saved) -> str:
    """Return what is new for a saved search, or else its query and its folders."""
    return _news(saved) or " · ".join(filter(None, (saved.question.query, saved.about)))
