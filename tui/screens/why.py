"""Why a document has its score: what words, passage, excerpt and document gave. Esc closes it."""

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from longsearch.engine.reason_lines import reason_lines
from longsearch.engine.types import DocumentHit
from longsearch.tui.screens.dialogs import TextBox, text_box_keys
from longsearch.tui.text import styles
from longsearch.tui.text.display import shown


class WhyScreen(TextBox):
    """A box with the points of a hit."""

    BINDINGS: ClassVar[list[BindingType]] = text_box_keys("why", "escape,q,x")

    def __init__(self, hit: DocumentHit) -> None:
        score = f"{hit.score:.2f} " if hit.score else ""
        super().__init__("why", f"Why {score}{shown(hit.title)}")
        self._hit = hit

    def text(self) -> Content:
        return why_content(self._hit)


def why_content(hit: DocumentHit) -> Content:
    """Return the lines; the sums by words and by meaning stand out."""
    verdict, *rows = reason_lines(hit)
    lines = [Content(verdict), Content("")] if rows else [Content(verdict)]
    lines += [Content(row) if row.startswith(" ") else Content.styled(row, styles.HEADING) for row in rows]
    return Content("\n").join(lines)
