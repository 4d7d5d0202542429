"""The main screen: query, results, text, status. Turns keys into requests, and joins its widgets by their messages.

Knows nothing of search or threads: `BackendCalls` and `UserDataCalls` ask, and send the answers as messages.

Longer than 300 lines because the messages of all widgets come together here.
"""

import asyncio
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from longsearch.engine.amounts import counted
from longsearch.tui.backend.interface import Backend, InView, Question
from longsearch.tui.backend.latest_only import Said
from longsearch.tui.backend.steps import Steps
from longsearch.tui.bindings import MAIN
from longsearch.tui.graphics.terminal import BLOCKS, Graphics
from longsearch.tui.painting import PaintsOnce, set_class_of
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from longsearch.tui.backend import backend_calls as messages
    from longsearch.tui.screens import user_data_calls
    from longsearch.tui.screens.reading_pane import ReadingPane
    from longsearch.tui.widgets.result_pane import ResultPane
    from longsearch.tui.widgets.results import Results
    from longsearch.tui.widgets.starters import Starters

_SHARES, _WIDE_SHARE, _MOST_SHIFT = 20, 9, 6
"""Parts of the room for both panes, of the width for the results at first, and that can be moved."""


class MainScreen(PaintsOnce[None], Screen[None]):
    """The screen for searching and reading; the others open on top of it."""

    BINDINGS: ClassVar[list[BindingType]] = MAIN
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-low")]  # noqa: RUF012
    RENEW_EVERY_S = 5.0
    BLANK = True  # its widgets cover it
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As in Screen, which would paint everything again when the focus moves."""

    class Whole(Message):
        """All parts are mounted."""

    def __init__(self, backend: Backend, graphics: Graphics = BLOCKS, place: str = "") -> None:
        """`place` names what is searched, where it is not the path of the backend's root."""
        super().__init__()
        self.add_class("-empty", *self._classes_of(self.app.size), update=False)
        root = os.fspath(backend.root or "")
        self._backend, self._graphics = backend, graphics
        self._bar = QueryBar(place or root, backend.complete)
        self._panes = Container(id="panes")
        self._status = StatusLine()
        self._status.show_progress(None)
        self._question = Question()
        """The question of the query bar's last message."""
        self._left: InView | None = None
        """The view in which the app was last left, as long as its question is asked."""
        self._shift = 0
        """Parts of the room that the results have more than at first."""
        self._steps = Steps()
        """The questions that were sent."""
        self._enter_waits = False  # True if the person wants to go to results that are not there yet
        self._is_whole = False  # until all parts are mounted: what is typed before is asked then

    def _classes_of(self, size: Size) -> set[str]:
        """Return the classes of a size. Textual would set them later, and style all widgets once more."""
        wide, high = self.HORIZONTAL_BREAKPOINTS or [], self.VERTICAL_BREAKPOINTS or []
        return self._get_breakpoint_classes(size.width, wide) | self._get_breakpoint_classes(size.height, high)

    # What the first frame does not show is imported after it

    @cached_property
    def _result_pane(self) -> "ResultPane":
        """The results, or why there are none."""
        from longsearch.tui.widgets.result_pane import ResultPane

        return ResultPane(self._backend)

    @cached_property
    def _text_pane(self) -> "ReadingPane":
        """The text in view."""
        from longsearch.tui.screens.reading_pane import ReadingPane

        return ReadingPane(self._backend, self._graphics)

    @cached_property
    def _user_data(self) -> "user_data_calls.UserDataCalls":
        """Asks for what the person keeps."""
        from longsearch.tui.screens.user_data_calls import UserDataCalls

        return UserDataCalls(self._backend, self.in_view)

    @property
    def _calls(self) -> "messages.BackendCalls":
        return self._result_pane.calls

    def compose(self) -> ComposeResult:
        yield from (self._bar, self._panes, self._status, KeyLine(without=("folders",) if self._backend.root else ()))

    def on_mount(self) -> None:
        """Get ready for typing."""
        self._bar.focus_input()
        self.call_after_refresh(self._load_rest)

    @work
    async def _load_rest(self) -> None:
        """Import the panes, in a thread so that no key waits for that, and mount them."""
        from longsearch.tui.screens.loading import load_panes

        await asyncio.to_thread(load_panes)
        self.call_next(self._mount_rest)  # its first answers wait until all are mounted

    async def _mount_rest(self) -> None:
        """Mount what the first frame does not show, and begin to ask the backend."""
        if not self.is_attached:
            return  # the app is being left
        self.app.stylesheet.read(Path(__file__).with_name("panes.tcss"))
        # all at once: the app may be left meanwhile
        for mounted in self._panes.mount(self._result_pane, self._text_pane), self.mount(self._user_data):
            await mounted
        self.set_interval(self.RENEW_EVERY_S, self.keep_current)
        was_sent, self._is_whole = self._enter_waits, True
        self._search()  # for what was typed meanwhile
        if was_sent:
            self.on_query_bar_sent()
        self.post_message(self.Whole())

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
        if self._goes_to_offers():
            return
        self._user_data.note_question()
        self._steps.note(self._bar.question)
        if self._calls.similar_to is not None:
            self._search()
        self._calls.search_now()
        if self._text_pane.hit is not None:
            self._result_pane.list.focus()
        else:
            self._enter_waits = bool(self._bar.question.query)

    def _search(self) -> None:
        question = self._text_pane.question = self._question
        if self._left and self._left.question != question:
            self._left = None
        self._enter_waits = False
        self._status.say()
        self._result_pane.search(question, self._left.path if self._left else "")

    def keep_current(self) -> None:
        """Renew the answer while the query line has the focus. Results that somebody looks through do not change."""
        if self._bar.has_focus_within:
            self._calls.renew()

    def on_result_pane_answered(self, event: "ResultPane.Answered") -> None:
        """Make room for the text if there are results; go to them if Enter was pressed."""
        self._mark(not event.has_hits, "-empty")
        if event.has_hits:
            if self._enter_waits:
                self._go_to_list()
            self._enter_waits = False
            return
        if self.focused is not None and self.focused in (self._text_pane.reader.pane, self._result_pane.list):
            self._bar.focus_input()
            self._enter_waits = True  # a better answer may follow
        if self._text_pane.hit is not None:
            self._text_pane.clear()
            self.refresh_bindings()

    # The selected document

    def on_results_selected(self, event: "Results.Selected") -> None:
        """Show the document under the cursor."""
        results = self._result_pane.results
        if event.hit is not self._result_pane.list.selected or results is None:
            return  # a newer answer has replaced the list that sent this message
        had_hit = self._text_pane.hit is not None
        if event.is_chosen:
            self._steps.see(self._bar.question, event.hit.path)
        self._text_pane.select(event.hit, event.words, event.is_chosen and not event.is_brought_back)
        self._text_pane.compare(results)
        self._text_pane.results = results
        if not had_hit:
            self.refresh_bindings()

    def on_results_marked(self, event: "Results.Marked") -> None:
        """Let the keys take all hits that are marked."""
        self._text_pane.marked = event.hits
        self._status.say(f"{counted(len(event.hits), 'document')} marked; Esc unmarks" if event.hits else "")

    def on_results_chosen(self) -> None:
        """Go into the text."""
        self._user_data.note_question()
        self._chosen_text.reader.pane.focus()

    def on_reading_pane_used(self) -> None:
        """Remember the question: it had an answer."""
        self._user_data.note_question()

    @property
    def _chosen_text(self) -> "ReadingPane":
        """The text; its document counts as chosen from now on."""
        self._result_pane.list.choose()
        return self._text_pane

    def in_view(self) -> InView:
        """Return what is in view."""
        hit = self._text_pane.hit if self._is_whole else None
        return InView(self._bar.question, hit.path if hit else "")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Mark the pane that has the focus. On a small screen the text takes all the room while it is read."""
        if not self._is_whole:
            return  # the query line has it, and is marked
        is_reading = self._is_of_text(event.widget)
        self._mark(is_reading, "-reading")
        self._text_pane.mark(is_reading)
        self._result_pane.mark(event.widget is self._result_pane.list)
        self._bar.mark(self._bar.has_focus_within)

    def _is_of_text(self, widget: Widget | None) -> bool:
        return self._is_whole and widget in (self._text_pane.reader.pane, self._text_pane.prompt)

    @property
    def _pane(self) -> Widget:
        """The pane that the person looks at."""
        return self._text_pane if self._is_of_text(self.focused) else self._result_pane

    def _mark(self, is_so: bool, name: str) -> None:
        """Set a class that decides which panes are displayed."""
        set_class_of(self, is_so, name, self._result_pane, self._text_pane)

    def on_screen_suspend(self) -> None:
        """Another screen opens on top of this one, which Textual would paint again before that."""
        self._repaint_required = False
        self._text_pane.reader.cover(True)

    def on_screen_resume(self) -> None:
        """This screen is on top again."""
        if self._is_whole:
            self.draws_first = self._pane
            self._text_pane.reader.cover(False)

    # Progress and notices

    def on_started(self, event: "messages.Started") -> None:
        """Show why indexing does not run, if it does not."""
        self._status.offline = shown(event.note)

    def on_progress_read(self, event: "messages.ProgressRead") -> None:
        """Show the progress of the index."""
        self._status.show_progress(event.progress)

    def on_said(self, event: Said) -> None:
        self._status.say(event.notice, event.error)

    def on_folders_read(self, event: "messages.FoldersRead") -> None:
        """Name the folders on the frame of the query."""
        self._bar.show_folders(event.folders)

    def on_history_read(self, event: "user_data_calls.HistoryRead") -> None:
        """Let the arrows step through the earlier queries, and offer the last ones."""
        self._bar.renew_history(event.queries)
        self._result_pane.offer(event.here, event.saved)

    def on_left_in_view(self, event: "user_data_calls.LeftInView") -> None:
        """Bring back what was in view when the app was last left, unless a query was typed meanwhile."""
        if event.in_view.question.query and not self._bar.question.query:
            self._left = event.in_view
            self._bar.put(event.in_view.question, is_sent=False)

    def on_asked_again(self, event: "user_data_calls.AskedAgain | Starters.Chosen") -> None:
        """Ask an earlier question, or what was offered."""
        self._bar.put(event.question)

    on_starters_chosen = on_asked_again

    def on_news_counted(self, event: "user_data_calls.NewsCounted") -> None:
        """Show the news of the saved searches."""
        self._status.news = event.text

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys that need a document only if there is one."""
        if action in ("query", "slash"):  # "/" is not in the footer while it is text, and finds in the text
            is_elsewhere = action == "query" or not self._is_of_text(self.focused)
            return is_elsewhere and not self._bar.has_focus_within
        has_hit = self._is_whole and self._text_pane.hit is not None
        if action in ("narrow", "dates"):  # similar documents have no query that more could be said to
            return has_hit and self._calls.similar_to is None
        return has_hit if action in ("text", "similar") else True

    # The panes

    def action_jump(self) -> None:
        """Show a letter at every pane and every result in view. The key of a letter goes where the letter stands."""
        from longsearch.tui.screens.jump import QUERY, ROWS, TEXT, JumpScreen
        from longsearch.tui.screens.kept import kept

        results = self._result_pane.list
        rows = results.show_letters(ROWS if results.display else "")

        def show(query: str, text: str) -> None:
            self._bar.show_letter(query)
            self._text_pane.show_letter(text)

        def go(letter: str | None) -> None:
            results.show_letters("")
            show("", "")
            if letter == QUERY:
                self.action_query()
            elif letter == TEXT and self._text_pane.hit is not None:
                self._chosen_text.reader.pane.focus()
            elif letter in rows:
                results.go_to(rows[letter])
                self._go_to_list()

        show(QUERY, TEXT)
        self.app.push_screen(kept(self.app, JumpScreen), go)

    def action_share(self, step: int) -> None:
        """Give the results more room (1) or the text (-1)."""
        self._shift = min(max(self._shift + step, -_MOST_SHIFT), _MOST_SHIFT)
        self._divide()

    def on_text_pane_dragged(self, event: "ReadingPane.Dragged") -> None:
        """Follow the line between the panes."""
        share = round(event.x * _SHARES / max(self.size.width, 1)) - _WIDE_SHARE
        if share != self._shift:
            self._shift = 0
            self.action_share(share)

    def on_resize(self) -> None:
        """Keep the shares where the panes now stand the other way."""
        if self._shift:
            self.call_after_refresh(self._divide)

    def _divide(self) -> None:
        """Give each pane its share: of the width side by side, of the height one below the other."""
        is_wide = self.has_class("-wide")
        share = (_WIDE_SHARE if is_wide else _SHARES // 2) + self._shift
        self.draws_first = self._pane
        for pane, part in ((self._result_pane, share), (self._text_pane, _SHARES - share)):
            pane.styles.width = f"{part}fr" if is_wide else "1fr"
            pane.styles.height = "1fr" if is_wide else f"{part}fr"

    def action_back(self) -> None:
        """Go back: from the text to the results, from similar documents to the query's results, to the query."""
        self._status.say()
        if self._text_pane.end_finding() or (self._result_pane.list.has_focus and self._result_pane.list.unmark()):
            return
        if self._text_pane.reader.pane.has_focus:
            self._go_to_list()
        elif (document_id := self._calls.similar_to) is not None:
            self._search()
            self._calls.search_now()
            self._result_pane.list.expect(document_id)
        elif self._steps.is_narrowed(self._bar.question) and not self._bar.has_focus_within:
            self.action_undo()
        else:
            self.action_query()

    def action_undo(self) -> None:
        """Ask the previous question again, and go to the document that was in view then."""
        if (step := self._steps.back(self._bar.question)) is None:
            self._status.say(error="there is no earlier step")
            return
        self._left = step
        self._bar.put(step.question)

    def action_narrow(self) -> None:
        """Ask for words or fields, and show only the results that have them."""
        from longsearch.tui.screens.dialogs import LineDialog
        from longsearch.tui.screens.kept import kept

        about = "Words that must be there, or fields such as type:pdf. Esc among the results undoes it."
        self.app.push_screen(kept(self.app, LineDialog).put("Only results with", "", about), self._narrow)

    def action_dates(self) -> None:
        """Show how many results there are of each year; narrow to the chosen one."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.picker import PickerScreen, date_lines
        from longsearch.tui.text.dates import by_date

        if counts := by_date(self._result_pane.list.hits):
            about = "Enter shows the results of that time alone; Esc among them shows all again."
            picker = kept(self.app, PickerScreen).put("Results by date", date_lines(counts), about)
            self.app.push_screen(picker, lambda at: self._narrow(f"date:{counts[at][0]}" if at is not None else None))
        else:
            self._status.say(error="no result has a date")

    def _narrow(self, wanted: str | None) -> None:
        question = self._bar.question
        if wanted and question.query and self._calls.similar_to is None:
            self._bar.put(self._steps.narrow(question, wanted))

    def _go_to_list(self) -> None:
        self._mark(False, "-reading")  # a list that is not displayed cannot take the focus
        self._result_pane.list.focus()

    def action_query(self) -> None:
        """Go to the query line, where answers are kept current."""
        self._bar.focus_input()
        self._calls.renew()

    on_starters_left = action_query
    action_slash = action_query  # by another key, and offered elsewhere

    def _goes_to_offers(self) -> bool:
        """Go from an empty query to what is offered below it, if anything is; return whether."""
        is_so = self._result_pane.is_offering and not self._bar.question.query
        if is_so:
            self._result_pane.starters.focus()
        return is_so

    def action_select(self, step: int) -> None:
        if step > 0 and self._goes_to_offers():
            return
        if not self._bar.step_history(step):  # from an empty line, the arrows step through earlier queries
            self._user_data.note_question()
            self._result_pane.list.choose()
            self._result_pane.list.move(step)

    def action_similar(self) -> None:
        """Search for passages like the current one if the text has the focus, else for documents like this one."""
        if hit := self._text_pane.hit:
            passage = self._text_pane.passage if self.has_class("-reading") else None
            self._status.say()
            self._enter_waits = True
            self._result_pane.similar(hit.document_id, passage.start if passage else None)

    def action_text(self, name: str, *how: object) -> None:
        """Do with the text in view what a method of `ReadingPane` does; the document counts as chosen."""
        getattr(self._chosen_text, name)(*how)

    def action_kept(self, name: str) -> None:
        """Do with what the person keeps what a method of `UserDataCalls` does."""
        getattr(self._user_data, name)()

    def on_prompt_entered(self) -> None:
        """Keep the document in view in which the person has found something, or gone to a page."""
        self._result_pane.list.choose()

    def action_mode(self) -> None:
        self._bar.choose_next_mode()

    def action_folders(self) -> None:
        from longsearch.tui.screens.folders import FoldersScreen
        from longsearch.tui.screens.kept import kept

        if self._backend.root is not None:
            self._status.say(error="this is one folder; without a folder, `longsearch` searches all of them")
            return
        self.app.push_screen(kept(self.app, FoldersScreen).put(self._bar.folders), self._bar.choose_folder)

    def action_instruction(self) -> None:
        from longsearch.tui.screens.instruction import InstructionScreen
        from longsearch.tui.screens.kept import kept

        box = kept(self.app, InstructionScreen).put(self._bar.instruction)
        self.app.push_screen(box, self._bar.choose_instruction)
