"""Two passages beside each other, of one document or of two; each side is a text to read."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen

from longsearch.engine.types.results import DocumentHit, PassageHit
from longsearch.tui.backend.interface import Backend
from longsearch.tui.bindings import SIDES
from longsearch.tui.graphics.terminal import Graphics
from longsearch.tui.screens.kept import KeptScreen
from longsearch.tui.text.highlight import Highlighter
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.text_pane import DocumentCache, TextPane


@dataclass(frozen=True, slots=True)
class Side:
    """A passage, and the hit that it belongs to."""

    hit: DocumentHit
    passage: PassageHit
    words: Highlighter
    """The words that are lit."""

    def is_at(self, other: "Side") -> bool:
        """Return whether both are the same passage."""
        mine, theirs = self.passage, other.passage
        return (self.hit.document_id, mine.start, mine.stop) == (other.hit.document_id, theirs.start, theirs.stop)


class SideBySide(KeptScreen[None], Screen[None]):
    """Shows two sides; Esc closes it."""

    BINDINGS: ClassVar[list[BindingType]] = SIDES
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Screen declares it

    def __init__(self, backend: Backend, graphics: Graphics) -> None:
        super().__init__()
        self._panes = (TextPane(backend, graphics), TextPane(backend, graphics))

    def put(self, left: Side, right: Side, documents: DocumentCache) -> Self:
        """`documents` are those that are read already."""
        self._sides = (left, right)
        for pane in self._panes:
            pane.documents = documents
        return self.renew()

    def compose(self) -> ComposeResult:
        with Container(id="sides"):
            yield from self._panes
        yield KeyLine()

    def fill(self) -> None:
        """Show the passages once the panes have their parts."""
        if self._panes[0].reader.preview.is_mounted:
            self._show()
        else:
            self.call_after_refresh(self._show)

    def _show(self) -> None:
        """Show the left side; the right side comes in the frame after it."""
        self._show_side(0)
        self._panes[0].reader.pane.focus()
        self.draws_first = self._panes[0]
        self.call_after_refresh(self._show_side, 1)

    def _show_side(self, at: int) -> None:
        """Show the passage first among those of its hit, so that it is the current one."""
        if at == 0 or self in self.app.screen_stack:  # else it was closed meanwhile
            hit, passage = self._sides[at].hit, self._sides[at].passage
            others = (other for other in hit.passages if other.start != passage.start)
            self._panes[at].select(replace(hit, passages=(passage, *others)), self._sides[at].words)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Mark the side that has the focus."""
        for pane in self._panes:
            pane.mark(event.widget is pane.reader.pane)

    @property
    def _active(self) -> TextPane:
        return self._panes[1] if self._panes[1].is_active else self._panes[0]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what works here: there is no line for what to find."""
        return action != "text"

    def action_other(self) -> None:
        """Go to the other side."""
        self._panes[self._active is self._panes[0]].reader.pane.focus()

    def action_passage(self, step: int) -> None:
        self._active.reader.go_to_passage(step)

    def action_printed_page(self) -> None:
        """Show the page as printed, or the text again."""
        self._active.reader.switch_view()

    def action_leave(self) -> None:
        for pane in self._panes:
            pane.forget()
        self.dismiss(None)
