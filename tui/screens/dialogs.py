"""Small dialogs: one asks for a line of text, one for a yes or a no; and a box of text that scrolls."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from longsearch.tui.text.display import shown


class LineDialog(ModalScreen[str | None]):
    """Returns the line; None if the person left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave as it is", id="line.leave")]

    def __init__(self, title: str, text: str, about: str) -> None:
        """`text` is what the line holds at first, `about` a sentence below it."""
        super().__init__()
        self._title, self._text, self._about = title, text, about

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(shown(self._title))
            yield Input(shown(self._text), compact=True, select_on_focus=False)
            yield Static(Content(shown(self._about)))
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Get ready for typing."""
        self.query_one(Input).cursor_blink = False
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the line."""
        self.dismiss(" ".join(event.value.split()))

    def action_leave(self) -> None:
        self.dismiss(None)


class YesNoDialog(ModalScreen[bool]):
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
        yield Footer(show_command_palette=False, compact=True)

    def action_answer(self, is_yes: bool) -> None:
        self.dismiss(is_yes)


def text_box_keys(name: str, close: str) -> list[BindingType]:
    """Return the keys of a box of text, with the ids `NAME.close`, `NAME.down` and `NAME.up`."""
    return [
        Binding(close, "dismiss", "Close", id=f"{name}.close"),
        Binding("j", "scroll(1)", "Down", id=f"{name}.down", show=False),
        Binding("k", "scroll(-1)", "Up", id=f"{name}.up", show=False),
    ]


class TextBox(ModalScreen[None]):
    """A box of text that scrolls. A subclass returns the text."""

    def __init__(self, box_id: str, title: str) -> None:
        """`title` has passed through `shown`."""
        super().__init__()
        self._box_id, self._box_title = box_id, title

    def text(self) -> Content:
        """Return the text."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with VerticalScroll(id=self._box_id) as box:
            box.border_title = Content(self._box_title)
            yield Static(self.text(), markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)
