"""A small dialog for the instruction: a sentence that tells the model what kind of answer to look for."""

from typing import ClassVar, Self

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from longsearch.tui.screens.box import Box
from longsearch.tui.screens.dialogs import LineScreen, a_line
from longsearch.tui.widgets.key_line import KeyLine

PRESETS = (
    "Find passages that answer the question",
    "Find passages that say the same as this",
    "Find passages that speak against this claim",
    "Find the definition of this term",
    "Find the method or procedure described",
    "Find documents on the same topic",
)
_NONE = "No instruction"


class InstructionScreen(LineScreen):
    """Returns the instruction, "" for none; or None if the person left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave as it is", id="instruction.leave"),
        Binding("down", "app.focus_next", "Presets", id="instruction.presets", show=False),
    ]

    def put(self, instruction: str) -> Self:
        """`instruction` is the one in use."""
        self._text = instruction
        return self.renew()

    def compose(self) -> ComposeResult:
        with Box(id="instruction") as box:
            box.border_title = "Goal of the search"
            yield Static("What should an answer do? This steers the search by meaning.", markup=False)
            yield a_line("your own words, or a preset below")
            yield OptionList(*(Option(Content(text)) for text in (_NONE, *PRESETS)), markup=False, compact=True)
            yield Static("Enter accepts; ↓ goes to the presets; an empty line means none.", markup=False)
        yield KeyLine()

    def fill(self) -> None:
        """Show the instruction, the cursor of the presets on the first line."""
        self.query_one(OptionList).highlighted = 0
        super().fill()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the chosen preset, or ""."""
        self.dismiss("" if event.option_index == 0 else PRESETS[event.option_index - 1])
