"""The query line: what is typed, the mode it is searched in, and the instruction where one is set.

Knows nothing of searches: it says that the text changed, or was sent with Enter.
"""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.types import SearchMode
from tui import styles
from tui.display import below_home, clip, shorten_middle, shown

_MODES = tuple(SearchMode)


class ModeTabs(Widget):
    """The three modes, the chosen one marked. A click chooses."""

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


class _Line(Input):
    """An Input that takes all of what is pasted, a sentence copied out of a PDF being broken into lines; and that does
    what its keys say in the order in which they were pressed.
    """

    async def _on_key(self, event: events.Key) -> None:
        """Keys that are no characters, at once: as bindings they would come after letters typed behind them."""
        for binding in () if event.is_printable else self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):  # False for scrolling, which a line does not do
                event.stop()
                event.prevent_default()
                return

    def _on_paste(self, event: events.Paste) -> None:
        """As one line; what Input does with it comes after."""
        event.text = " ".join(event.text.split())


class QueryBar(Horizontal):
    """A prompt, the Input and the modes in one frame; folder and instruction are on the frame."""

    @dataclass
    class Changed(Message):
        """The text has changed."""

        text: str

    class Sent(Message):
        """Enter was pressed."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root
        self._instruction = ""

    def compose(self) -> ComposeResult:
        yield Static("❯", id="prompt", markup=False)
        query = _Line(placeholder="what are you looking for?", compact=True, id="query")
        query.cursor_blink = False  # a still cursor sends nothing over a slow line
        yield query
        yield ModeTabs()

    @property
    def text(self) -> str:
        """What is typed."""
        return self.query_one(Input).value

    def focus_input(self) -> None:
        """Put the cursor into the line, at once: `focus` would do it later, and keys typed until then be lost."""
        self.screen.set_focus(self.query_one(Input))

    def show_mode(self, mode: SearchMode) -> None:
        """Mark the mode."""
        self.query_one(ModeTabs).mode = mode

    def show_instruction(self, instruction: str) -> None:
        """Write the instruction on the frame; "" takes it away."""
        self._instruction = instruction
        self._label()

    def on_resize(self) -> None:
        """The frame's texts are cut to the new width."""
        self._label()

    def _label(self) -> None:
        width = max(self.size.width - 8, 4)
        self.border_title = Content(shorten_middle(shown(below_home(self._root)), width))
        text = f"instruction: {shown(self._instruction)}" if self._instruction else ""
        self.border_subtitle = Content(clip(text, width))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass it on in this widget's own words."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """As above, for Enter."""
        event.stop()
        self.post_message(self.Sent())
