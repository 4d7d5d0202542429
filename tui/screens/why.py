"""Why a document has its score: what words, passage, excerpt and document gave. Esc closes it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from longsearch.engine.reason_lines import reason_lines
from longsearch.engine.types import DocumentHit
from longsearch.tui.text import styles
from longsearch.tui.text.display import shown


class WhyScreen(ModalScreen[None]):
    """A box with the points of a hit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,x", "dismiss", "Close", id="why.close"),
        Binding("j", "scroll(1)", "Down", id="why.down", show=False),
        Binding("k", "scroll(-1)", "Up", id="why.up", show=False),
    ]

    def __init__(self, hit: DocumentHit) -> None:
        super().__init__()
        self._hit = hit

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="why") as box:
            score = f"{self._hit.score:.2f} " if self._hit.score else ""
            box.border_title = Content(f"Why {score}{shown(self._hit.title)}")
            yield Static(why_content(self._hit), markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#why").scroll_relative(y=rows, animate=False)


def why_content(hit: DocumentHit) -> Content:
    """Return the lines; the sums by words and by meaning stand out."""
    verdict, *rows = reason_lines(hit)
    lines = [Content(verdict), Content("")] if rows else [Content(verdict)]
    lines += [Content(row) if row.startswith(" ") else Content.styled(row, styles.HEADING) for row in rows]
    return Content("\n").join(lines)
