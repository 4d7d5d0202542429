"""The three modes beside the query. Knows nothing of searches: it reports that a mode was clicked."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from longsearch.engine.types.modes import SearchMode
from longsearch.tui.text import styles

MODES = tuple(SearchMode)


class ModeTabs(Widget):
    """The three modes, with the chosen one marked. A click chooses a mode."""

    @dataclass
    class Chosen(Message):
        """The person clicked on a mode."""

        mode: SearchMode

    mode: reactive[SearchMode] = reactive(SearchMode.HYBRID)
    is_short: reactive[bool] = reactive(False, layout=True)
    """Whether only the chosen mode is shown, because the query needs the room. A click then chooses the next one."""

    @property
    def _shown(self) -> tuple[SearchMode, ...]:
        return (self.mode,) if self.is_short else MODES

    @property
    def n_cells(self) -> int:
        """The width of all modes, or of the longest."""
        widths = [cell_len(mode.value) + 2 for mode in MODES]
        return max(widths) if self.is_short else sum(widths)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the width of what is shown."""
        return self.n_cells

    def render(self) -> Content:
        tabs = [
            Content.styled(
                f" {mode.value} ", "bold $text-primary on $primary-muted" if mode is self.mode else styles.MUTED
            )
            for mode in self._shown
        ]
        return Content("").join(tabs)

    def on_click(self, event: events.Click) -> None:
        """Choose the mode under the pointer."""
        if self.is_short:
            self.post_message(self.Chosen(MODES[(MODES.index(self.mode) + 1) % len(MODES)]))
            return
        stop = 0
        for mode in MODES:
            stop += cell_len(mode.value) + 2
            if event.x < stop:
                self.post_message(self.Chosen(mode))
                return
