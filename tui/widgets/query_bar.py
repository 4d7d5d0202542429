"""The query bar: the query, the mode and the instruction.

Knows nothing of searches: it reports that the question has changed, or that Enter was pressed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from longsearch.engine.types import Folder, SearchMode
from longsearch.tui.asking.requests import Question
from longsearch.tui.text import styles
from longsearch.tui.text.completion import LanguageSuggester
from longsearch.tui.text.display import below_home, clip, shorten_middle, shown
from longsearch.tui.text.folder_words import completed, place_line, with_folder

_MODES = tuple(SearchMode)


class ModeTabs(Widget):
    """The three modes, with the chosen one marked. A click chooses a mode."""

    @dataclass
    class Chosen(Message):
        """The person clicked on a mode."""

        mode: SearchMode

    mode: reactive[SearchMode] = reactive(SearchMode.HYBRID)

    def render(self) -> Content:
        tabs = [
            Content.styled(
                f" {mode.value} ", "bold $text-primary on $primary-muted" if mode is self.mode else styles.MUTED
            )
            for mode in _MODES
        ]
        return Content("").join(tabs)

    def on_click(self, event: events.Click) -> None:
        """Choose the mode under the pointer."""
        stop = 0
        for mode in _MODES:
            stop += cell_len(mode.value) + 2
            if event.x < stop:
                self.post_message(self.Chosen(mode))
                return


class _FolderNames(Suggester):
    """Completes the name of a folder behind `folder:`."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._names = names

    async def get_suggestion(self, value: str) -> str | None:
        """Return the query with the name completed, or None."""
        return completed(value, self._names)


class _Line(Input):
    """An Input that accepts pasted text of several lines and handles keys in the order in which they are pressed.

    A sentence copied from a PDF is broken into lines; Input would keep only the first.
    """

    async def _on_key(self, event: events.Key) -> None:
        """Run the bindings of editing keys at once. Textual would run them after letters that are typed later.

        Tab accepts a suggestion; without one it goes to the next pane.
        """
        if event.key == "tab" and self._suggestion and self.cursor_position == len(self.value):
            self.action_cursor_right()
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
        event.text = " ".join(event.text.split())


class QueryBar(Horizontal):
    """A prompt, the Input and the modes in one frame. The frame shows the folder and the instruction."""

    @dataclass
    class Changed(Message):
        """The query, the mode or the instruction was changed."""

        question: Question

    class Sent(Message):
        """Enter was pressed."""

    def __init__(self, root: str) -> None:
        """`root` is the folder that is searched; "" for all folders."""
        super().__init__()
        self._place = below_home(root) if root else "all folders"
        self._question = Question()

    def compose(self) -> ComposeResult:
        yield Static("❯", id="prompt", markup=False)
        query = _Line(placeholder="what are you looking for?", compact=True, id="query", suggester=LanguageSuggester())
        query.cursor_blink = False  # a still cursor sends nothing over a slow line
        yield query
        yield ModeTabs()

    @property
    def instruction(self) -> str:
        """The instruction, or ""."""
        return self._question.instruction

    def focus_input(self) -> None:
        """Put the cursor into the line at once. `focus` would do it later and lose the keys pressed until then."""
        self.screen.set_focus(self.query_one(Input))

    def choose_mode(self, mode: SearchMode) -> None:
        """Search in this mode from now on."""
        self.query_one(ModeTabs).mode = mode
        self._ask(replace(self._question, mode=mode))

    def choose_next_mode(self) -> None:
        """Search in the next mode; the first follows the last."""
        self.choose_mode(_MODES[(_MODES.index(self._question.mode) + 1) % len(_MODES)])

    def choose_instruction(self, instruction: str | None) -> None:
        """Search with this instruction, "" for none, and show it on the frame. None changes nothing."""
        if instruction is not None and instruction != self._question.instruction:
            self._ask(replace(self._question, instruction=instruction))
            self._label()

    def show_folders(self, folders: Sequence[Folder]) -> None:
        """Name the folders on the frame, and complete their names."""
        self.query_one(_Line).suggester = _FolderNames([folder.name for folder in folders])
        self._place = place_line(folders)
        self._label()

    def choose_folder(self, name: str | None) -> None:
        """Search this folder only from now on; None for all folders."""
        query = self.query_one(Input)
        query.value = with_folder(query.value, name)
        query.cursor_position = len(query.value)
        self.focus_input()

    def _ask(self, question: Question) -> None:
        self._question = question
        self.post_message(self.Changed(question))

    def on_resize(self) -> None:
        """Cut the texts on the frame to the new width."""
        self._label()

    def _label(self) -> None:
        width = max(self.size.width - 8, 4)
        self.border_title = Content(shorten_middle(shown(self._place), width))
        text = f"instruction: {shown(self.instruction)}" if self.instruction else ""
        self.border_subtitle = Content(clip(text, width))

    def on_mode_tabs_chosen(self, event: ModeTabs.Chosen) -> None:
        """Use the mode that was clicked."""
        event.stop()
        self.choose_mode(event.mode)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask the new query, unless only spaces at its ends have changed."""
        event.stop()
        if (query := event.value.strip()) != self._question.query:
            self._ask(replace(self._question, query=query))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Report that Enter was pressed."""
        event.stop()
        self.post_message(self.Sent())
