"""The keys of the main screen for a person's own things: copy a passage, keep it, show the basket.

Knows no file: `Desk` keeps things.
"""

from textual import work
from textual.screen import Screen

from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.types import DocumentHit, PassageHit
from longsearch.tui.asking.backend import Backend
from longsearch.tui.asking.lane import attempt
from longsearch.tui.asking.requests import Question
from longsearch.tui.screens.basket import BasketScreen
from longsearch.tui.text.display import shown
from longsearch.tui.text.evidence_words import query_for
from longsearch.tui.widgets.query_bar import QueryBar
from longsearch.tui.widgets.status_line import StatusLine
from longsearch.tui.widgets.text_pane import TextPane


class OwnThings(Screen[None]):
    """What the main screen does with the desk. `MainScreen` sets these fields."""

    _backend: Backend
    _bar: QueryBar
    _status: StatusLine
    _text_pane: TextPane

    # ---- the passage in view

    def action_copy(self, what: str) -> None:
        """Copy the current `passage` with its source, or the `path` of its file."""
        hit, passage = self._text_pane.hit, self._text_pane.passage
        if hit is not None and what == "path":
            self._copy(shown(hit.path), "Path")
        elif hit is not None and passage is not None:
            self._copy_passage(hit, passage)

    @work(exclusive=True, group="copy")
    async def _copy_passage(self, hit: DocumentHit, passage: PassageHit) -> None:
        text, error = await attempt(self._backend.desk.quotation, hit, passage)
        self._copy(text, "Passage") if text is not None else self._status.say(error=error)

    def _copy(self, text: str, what: str) -> None:
        self.app.copy_to_clipboard(text)
        self._status.say(f"{what} copied")

    def action_keep(self) -> None:
        """Put the current passage into the basket."""
        hit, passage = self._text_pane.hit, self._text_pane.passage
        if hit is not None and passage is not None:
            self._keep(hit, passage)

    @work(group="keep")
    async def _keep(self, hit: DocumentHit, passage: PassageHit) -> None:
        done, error = await attempt(self._backend.desk.keep, hit, passage, self._bar.question.query)
        self._status.say(shown(done or ""), error)

    # ---- the basket

    def action_basket(self) -> None:
        """Show the basket. A passage that is chosen there is looked for here."""
        self.app.push_screen(BasketScreen(self._backend), self._look_for)

    def _look_for(self, one: Evidence | None) -> None:
        if one is None:
            return
        root = self._backend.root
        if root is not None and one.root and one.root != str(root):
            self._status.say(error=shown(f"{one.title} is in another folder: longsearch {one.root}"))
        else:
            self._bar.put(Question(query_for(one, names_folder=root is None)))
