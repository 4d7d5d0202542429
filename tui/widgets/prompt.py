"""One line under the text to type into: what to find in it, or which page to go to. Hidden until it is asked for."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

MAX_CHARACTERS = 200


class Purpose(StrEnum):
    """The use of the line that is typed; the value stands in it while it is empty."""

    FIND = "find in this text"
    PAGE = "go to page"


class Prompt(Input):
    """The line. It takes the focus while it is there."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", id="prompt.leave", show=False)]

    @dataclass
    class Typed(Message):
        """The text has changed."""

        purpose: Purpose
        text: str

    @dataclass
    class Entered(Message):
        """The text is complete. The line is gone."""

        purpose: Purpose
        text: str

    @dataclass
    class Left(Message):
        """The person has changed their mind. The line is gone."""

        purpose: Purpose

    def __init__(self) -> None:
        super().__init__(compact=True, max_length=MAX_CHARACTERS, select_on_focus=False)
        self._purpose = Purpose.FIND
        self.display = False
        self.cursor_blink = False  # a still cursor sends nothing over a slow line

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Style nothing: it has the focus whenever it is seen. Textual would style it for that, 3 ms."""

    def open(self, purpose: Purpose) -> None:
        """Show the empty line."""
        self._purpose, self.placeholder = purpose, purpose.value
        with self.prevent(Input.Changed):
            self.value = ""
        self.display = True
        self.screen.set_focus(self)  # at once: `focus` would wait, and the next letters would be commands

    def _on_paste(self, event: events.Paste) -> None:
        """Join pasted lines into one, as the text is searched; Input's own handler then inserts it."""
        event.text = "".join(filter(str.isprintable, " ".join(event.text.split())))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self._purpose, self.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.display = False
        self.post_message(self.Entered(self._purpose, self.value))

    def action_leave(self) -> None:
        self.display = False
        self.post_message(self.Left(self._purpose))
