"""The three modes beside the query. Knows nothing of searches: it reports that a mode was clicked."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from longsearch.engine.types import SearchMode
from longsearch.tui.text import styles

MODES = tuple(SearchMode)


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
            for mode in MODES
        ]
        return Content("").join(tabs)

    def on_click(self, event: events.Click) -> None:
        """Choose the mode under the pointer."""
        stop = 0
        for mode in MODES:
            stop += cell_len(mode.value) + 2
            if event.x < stop:
                self.post_message(self.Chosen(mode))
                return
