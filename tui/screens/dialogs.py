"""Small dialogs: one asks for a line of text, one for a yes or a no."""

from typing import ClassVar, Self

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from longsearch.tui.painting import show_line, show_title
from longsearch.tui.screens.box import Box, BoxScreen
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.key_line import KeyLine


class LineScreen(BoxScreen[str | None]):
    """Returns the line that is typed in its input; None if the person left with Esc."""

    _text = ""
    _is_selected = False

    def fill(self) -> None:
        """Get ready for typing."""
        line = self.query_one(Input)
        with self.prevent(Input.Changed):
            line.value = shown(self._text)
        line.selection = Selection(0 if self._is_selected else len(line.value), len(line.value))
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the line."""
        self.dismiss(" ".join(event.value.split()))

    def action_leave(self) -> None:
        self.dismiss(None)


class LineDialog(LineScreen):
    """Asks for a line of text."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave as it is", id="line.leave")]

    _title = _about = ""

    def put(self, title: str, text: str, about: str, is_selected: bool = False) -> Self:
        """`text` is what the line holds at first, `about` a sentence below it.

        `is_selected`: the text is a suggestion, which the first letter typed replaces.
        """
        self._title, self._text, self._about, self._is_selected = title, text, about, is_selected
        return self.renew()

    def compose(self) -> ComposeResult:
        with Box(classes="dialog"):
            yield a_line()
            yield Static()
        yield KeyLine()

    def fill(self) -> None:
        """Show the line and what it is for."""
        show_title(self.query_one(Box), shown(self._title))
        show_line(self.query_one(Static), shown(self._about))
        super().fill()


def a_line(placeholder: str = "") -> Input:
    """Return a line to type in. Its cursor does not blink: each blink is a frame, over a slow line too."""
    line = Input(placeholder=placeholder, compact=True, select_on_focus=False)
    line.cursor_blink = False
    return line


class YesNoDialog(BoxScreen[bool]):
    """Returns True for a yes. Enter is no answer, so that nobody confirms by accident."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="yes_no.yes"),
        Binding("n,escape", "answer(False)", "No", id="yes_no.no"),
    ]

    _question = ""

    def put(self, question: str) -> Self:
        """Ask this."""
        self._question = question
        return self.renew()

    def compose(self) -> ComposeResult:
        with Box(classes="dialog"):
            yield Static()
        yield KeyLine()

    def fill(self) -> None:
        """Show the question."""
        show_line(self.query_one(Static), shown(self._question))

    def action_answer(self, is_yes: bool) -> None:
        self.dismiss(is_yes)
