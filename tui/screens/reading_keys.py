"""The keys of the main screen for reading: passages, pages, the page as printed, the file in its viewer."""

from typing import TYPE_CHECKING

from textual import work
from textual.screen import Screen

from longsearch.tui.asking.lane import attempt
from longsearch.tui.screens.carrying_out import carry_out
from longsearch.tui.text.page_texts import excerpt_text

if TYPE_CHECKING:
    from longsearch.tui.asking.backend import Backend
    from longsearch.tui.asking.choice import Choice
    from longsearch.tui.widgets.status_line import StatusLine
    from longsearch.tui.widgets.text_pane import TextPane

READING_ACTIONS = frozenset({"open", "passage", "printed_page"})
"""The actions that need a document."""


class ReadingKeys(Screen[None]):
    """A part of the main screen."""

    _backend: "Backend"
    _choice: "Choice"
    _status: "StatusLine"
    _text_pane: "TextPane"

    def action_page(self, step: int) -> None:
        self._choice.make()
        self._text_pane.reader.turn_page(step)

    def action_passage(self, step: int) -> None:
        self._choice.make()
        self._text_pane.reader.go_to_passage(step)

    def action_printed_page(self) -> None:
        """Show the page as printed, or the text again."""
        self._choice.make()
        self._status.say(self._text_pane.reader.switch_view())

    def on_screen_suspend(self) -> None:
        """Another screen opens on top of this one."""
        self._text_pane.reader.cover(True)

    def on_screen_resume(self) -> None:
        """This screen is on top again."""
        self._text_pane.reader.cover(False)

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        """Open the file at the page and the excerpt of the current passage."""
        if (hit := self._text_pane.hit) is None:
            return
        passage = self._text_pane.passage
        place = (passage.page, excerpt_text(passage)) if passage else (None, "")
        opened, error = await attempt(self._backend.open, hit.path, *place)
        if opened is None:
            self._status.say(error=error)
            return
        self._text_pane.reader.cover(bool(opened.command))
        self._status.say(*carry_out(self.app, opened))
        self._text_pane.reader.cover(False)
