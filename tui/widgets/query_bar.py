"""The query bar: the query, the mode and the instruction. Tab completes fields and their values.

Knows nothing of searches: it reports that the question has changed, or that Enter was pressed.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from longsearch.engine.types.modes import SearchMode
from longsearch.tui.backend.interface import Question
from longsearch.tui.backend.latest_only import LatestOnly, attempt
from longsearch.tui.bindings import QUERY
from longsearch.tui.painting import set_class_of
from longsearch.tui.text.display import below_home, clip, one_line, shorten_middle, shown
from longsearch.tui.text.folder_words import place_line, with_folder
from longsearch.tui.text.query_filling import Cycle, HistorySteps
from longsearch.tui.widgets.mode_tabs import MODES, ModeTabs

if TYPE_CHECKING:
    from longsearch.engine.completions import Completion
    from longsearch.engine.types.results import Folder

_WIDE_ENOUGH = 60
"""Cells; with less, only the chosen mode stands beside the query."""


class _Line(Input):
    """An Input that accepts pasted text of several lines and handles keys in the order in which they are pressed.

    A sentence copied from a PDF is broken into lines; Input would keep only the first.
    """

    BINDINGS: ClassVar[list[BindingType]] = QUERY

    def __init__(self, complete: Callable[[], Awaitable[bool]]) -> None:
        super().__init__(placeholder="what are you looking for?", compact=True, id="query")
        self._complete = complete
        self.cursor_blink = False  # a still cursor sends nothing over a slow line

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Style nothing: without the focus the line looks the same, but for its cursor."""

    async def _on_key(self, event: events.Key) -> None:
        """Run the bindings of editing keys at once. Textual would run them after letters that are typed later."""
        if event.key == "tab" and await self._complete():
            event.stop()
            event.prevent_default()
            return
        for binding in () if event.is_printable else self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):  # False for scrolling: a line has nothing to scroll
                event.stop()
                event.prevent_default()
                return

    def _on_paste(self, event: events.Paste) -> None:
        """Join the lines into one; Input's own handler then inserts it."""
        event.text = one_line(event.text)


class QueryBar(Horizontal):
    """A prompt, the Input and the modes in one frame. The frame shows the folder and the instruction."""

    @dataclass
    class Changed(Message):
        """The query, the mode or the instruction was changed."""

        question: Question

    class Sent(Message):
        """Enter was pressed."""

    def __init__(self, root: str, complete: "Callable[[str], Completion]") -> None:
        """`root` is the folder that is searched, or its address; "" for all folders.

        `complete` returns the ways to go on with a query. May block: it is called in a thread.
        """
        super().__init__(classes="-active")  # the app opens with the cursor here
        self._place = below_home(root) if root else "all folders"
        self.folders: Sequence[Folder] = ()
        """The folders that the person can choose among; () if one is searched."""
        self._question = Question()
        self._letter = ""
        self._find = complete
        self._cycle = Cycle("")
        self._steps = HistorySteps()
        self._finding: LatestOnly[str] = LatestOnly()

    def compose(self) -> ComposeResult:
        yield Static("❯", id="prompt", markup=False)
        yield _Line(self._complete)
        yield ModeTabs()

    @property
    def question(self) -> Question:
        """The content of the bar."""
        return self._question

    @property
    def instruction(self) -> str:
        """The instruction, or ""."""
        return self._question.instruction

    def focus_input(self) -> None:
        """Put the cursor into the line at once. `focus` would do it later and lose the keys pressed until then."""
        self.screen.set_focus(self.query_one(Input))

    def mark(self, is_active: bool) -> None:
        """Light the frame while the cursor is within it."""
        set_class_of(self, is_active, "-active", self)

    def show_letter(self, letter: str) -> None:
        """Show the letter of jump mode on the frame, or none."""
        self._letter = letter
        self._label()

    def choose_mode(self, mode: SearchMode) -> None:
        """Search in this mode from now on."""
        self.query_one(ModeTabs).mode = mode
        self._ask(replace(self._question, mode=mode))

    def choose_next_mode(self) -> None:
        """Search in the next mode; the first follows the last."""
        self.choose_mode(MODES[(MODES.index(self._question.mode) + 1) % len(MODES)])

    def choose_instruction(self, instruction: str | None) -> None:
        """Search with this instruction, "" for none, and show it on the frame. None changes nothing."""
        if instruction is not None and instruction != self._question.instruction:
            self._ask(replace(self._question, instruction=instruction))
            self._label()

    def show_folders(self, folders: "Sequence[Folder]") -> None:
        """Name the folders on the frame."""
        self.folders, self._place = folders, place_line(folders)
        self._label()

    def choose_folder(self, name: str | None) -> None:
        """Search this folder only from now on; "" for all folders. None changes nothing."""
        if name is not None:
            self.type(with_folder(self.text, name or None))
            self.focus_input()

    @property
    def text(self) -> str:
        """The text in the line."""
        return self.query_one(Input).value

    def type(self, query: str) -> None:
        """Put a query into the line, as if it was typed."""
        line = self.query_one(Input)
        line.value = one_line(query)
        line.cursor_position = len(line.value)

    def renew_history(self, queries: Sequence[str]) -> None:
        """Take the earlier queries, newest first."""
        self._steps.renew([one_line(query) for query in queries])

    def step_history(self, step: int) -> bool:
        """Put the query before (-1) or after (1) into the line. Return whether the key was for that."""
        query = self._steps.step(self.text, step) if self.has_focus_within else None
        if query is not None:
            self.type(query)
        return query is not None

    def put(self, question: Question, is_sent: bool = True) -> None:
        """Put a whole question into the line and ask it; `is_sent`: at once, as if Enter was pressed.

        If it is not sent, it is selected, so that the next letter replaces it.
        """
        query, question = self.query_one(Input), replace(question, query=one_line(question.query))
        with query.prevent(Input.Changed):
            query.value = question.query
        query.cursor_position = 0  # shows how a long query begins
        self._cycle = Cycle("")
        self.query_one(ModeTabs).mode = question.mode
        self._ask(question)
        self._label()
        if is_sent:
            self.post_message(self.Sent())
        else:
            query.select_all()

    def _ask(self, question: Question) -> None:
        self._question = question
        self.post_message(self.Changed(question))

    def on_resize(self) -> None:
        """Cut the texts on the frame to the new width; put the modes on the frame, all of them if there is room."""
        tabs = self.query_one(ModeTabs)
        tabs.is_short = self.size.width < _WIDE_ENOUGH
        if self.gutter.top:
            tabs.styles.offset = self.size.width - tabs.n_cells - 1, -1
        else:
            tabs.styles.clear_rule("offset")
        self._label()

    def _label(self) -> None:
        width = max(self.size.width - 8, 4)
        room = width - self.query_one(ModeTabs).n_cells if self.gutter.top else width
        place = shorten_middle(shown(self._place), max(room, 4))
        self.border_title = Content(f"[{self._letter}] {place}" if self._letter else place)
        text = f"goal: {shown(self.instruction)}" if self.instruction else ""
        self.border_subtitle = Content(self._cycle.hint(width) or clip(text, width))

    # Completion

    @property
    def _typed(self) -> str:
        """The query up to the cursor."""
        line = self.query_one(Input)
        return line.value[: line.cursor_position]

    async def _complete(self) -> bool:
        """Complete the field or the value before the cursor, or take the next choice. Return whether there was one."""
        typed = self._typed
        if not self._cycle.goes_on(typed):
            completion, _ = await attempt(self._find, typed)
            self._offer(Cycle.of(typed, completion) if completion else Cycle(""))
            if not self._cycle.choices:
                return False
        line = self.query_one(Input)
        rest = line.value[line.cursor_position :]
        self._offer(self._cycle.next())
        line.value = self._cycle.text + rest
        line.cursor_position = len(self._cycle.text)
        return True

    def _offer(self, cycle: Cycle) -> None:
        """Show these choices on the frame."""
        if cycle != self._cycle:
            self._cycle = cycle
            self._label()

    def _hint(self) -> None:
        """List the values of the field that is being typed, if any."""
        typed = self._typed
        if self._cycle.place >= 0 and typed == self._cycle.text:
            return
        if ":" not in typed.rpartition(" ")[2]:
            self._finding.drop()
            self._offer(Cycle(""))
        elif self._finding.offer(typed):
            self._find_values()

    @work
    async def _find_values(self) -> None:
        async for typed, completion, _ in self._finding.answers(self._find):
            if completion is not None and typed == self._typed:
                self._offer(Cycle.of(typed, completion))

    def on_mode_tabs_chosen(self, event: ModeTabs.Chosen) -> None:
        """Use the mode that was clicked."""
        event.stop()
        self.choose_mode(event.mode)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask the new query, unless only spaces at its ends have changed."""
        event.stop()
        self._hint()
        if (query := event.value.strip()) != self._question.query:
            self._ask(replace(self._question, query=query))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Report that Enter was pressed."""
        event.stop()
        self.post_message(self.Sent())
