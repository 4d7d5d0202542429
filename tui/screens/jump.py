"""Jump mode: a letter stands at every pane and every result in view; to press it is to go there.

The panes and the list show the letters themselves. This screen, which cannot be seen, only takes the next key.
"""

from string import ascii_lowercase
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from longsearch.tui.screens.box import BoxScreen
from longsearch.tui.widgets.key_line import KeyLine

QUERY, TEXT = "q", "w"
"""The letters of the panes."""
ROWS = "".join(letter for letter in dict.fromkeys("asdfghjkl" + ascii_lowercase[::-1]) if letter not in QUERY + TEXT)
"""The letters of the results: those under the fingers first."""


class JumpScreen(BoxScreen[str | None]):
    """Returns the letter; None if the person left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave as it is", id="jump.leave")]

    def compose(self) -> ComposeResult:
        yield KeyLine()

    def on_key(self, event: events.Key) -> None:
        """Return the letter; any other key leaves."""
        if event.key != "escape":
            event.stop()
            self.dismiss(event.character)

    def action_leave(self) -> None:
        self.dismiss(None)
