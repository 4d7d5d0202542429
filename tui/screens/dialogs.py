"""Small dialogs: one asks for a line of text, one for a yes or a no."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from longsearch.tui.screens.box import BoxScreen
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.key_line import KeyLine


class LineScreen(BoxScreen[str | None]):
    """Returns the line that is typed in its input; None if the person left with Esc."""

    def on_mount(self) -> None:
        """Get ready for typing."""
        self.query_one(Input).cursor_blink = False
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the line."""
        self.dismiss(" ".join(event.value.split()))

    def action_leave(self) -> None:
        self.dismiss(None)


class LineDialog(LineScreen):
    """Asks for a line of text."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave as it is", id="line.leave")]

    def __init__(self, title: str, text: str, about: str, is_selected: bool = False) -> None:
        """`text` is what the line holds at first, `about` a sentence below it.

        `is_selected`: the text is a suggestion, which the first letter typed replaces.
        """
        super().__init__()
        self._title, self._text, self._about, self._is_selected = title, text, about, is_selected

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(shown(self._title))
            yield Input(shown(self._text), compact=True, select_on_focus=self._is_selected)
            yield Static(Content(shown(self._about)))
        yield KeyLine()


class YesNoDialog(BoxScreen[bool]):
    """Returns True for a yes. Enter is no answer, so that nobody confirms by accident."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="yes_no.yes"),
        Binding("n,escape", "answer(False)", "No", id="yes_no.no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content(shown(self._question)))
        yield KeyLine()

    def action_answer(self, is_yes: bool) -> None:
        self.dismiss(is_yes)
