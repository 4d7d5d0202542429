"""The heading of a pane: one line with a text on the left and one on the right. If room is short, it cuts the left."""

from rich.cells import cell_len
from rich.segment import Segment
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from longsearch.tui.painting import PaintsLines, filled
from longsearch.tui.text import styles
from longsearch.tui.text.display import clip


class HeaderLine(PaintsLines, Widget):
    """A pane's heading. Its texts have passed through `shown`, and markup in them is not interpreted."""

    DEFAULT_CSS = """
    HeaderLine { height: 1; padding: 0 1; }
    """
    left: reactive[str] = reactive("")
    right: reactive[str] = reactive("")
    letter: reactive[str] = reactive("")
    """The letter of jump mode, or ""."""

    def __init__(self) -> None:
        super().__init__(classes="-blank")  # as `watch_left` would: a class that comes later costs a second styling

    def watch_left(self, left: str) -> None:
        """Hide a heading without text."""
        self.set_class(not left, "-blank")

    def render_line(self, _y: int) -> Strip:
        """Draw both texts."""
        width = self.width
        right = clip(self.right, width)
        left = clip(f"[{self.letter}] {self.left}" if self.letter else self.left, max(width - cell_len(right) - 2, 0))
        gap = " " * max(width - cell_len(left) - cell_len(right), 0)
        parts = (left, "bold"), (gap, ""), (right, styles.MUTED)
        return filled([Segment(text, self.styled(style)) for text, style in parts if text], width, self.ground)
