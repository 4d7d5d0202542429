"""The keys of the main screen for reading: passages, pages, the file in its viewer; the files, the help."""

from typing import TYPE_CHECKING

from textual import events, work
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from longsearch.engine.types.results import SearchMode
from longsearch.tui.backend.latest_only import LatestOnly, attempt
from longsearch.tui.graphics.page_texts import excerpt_text
from longsearch.tui.painting import set_class_of
from longsearch.tui.screens.carrying_out import carry_out
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.prompt import Prompt, Purpose

if TYPE_CHECKING:
    from longsearch.engine.types.results import SearchResults
    from longsearch.tui.backend.choice import Choice
    from longsearch.tui.backend.interface import Backend
    from longsearch.tui.screens.side_by_side import Side
    from longsearch.tui.widgets.query_bar import QueryBar
    from longsearch.tui.widgets.result_pane import ResultPane
    from longsearch.tui.widgets.status_line import StatusLine
    from longsearch.tui.widgets.text_pane import TextPane

READING_ACTIONS = frozenset(
    {"open", "passage", "step", "printed_page", "outline", "ask_page", "explain", "side_by_side", "map"}
)
"""The actions that need a document."""


class ReadingKeys(Screen[None]):
    """A part of the main screen."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As in Screen, which would paint everything again when the focus moves."""
    _backend: "Backend"
    _bar: "QueryBar"
    _choice: "Choice"
    _status: "StatusLine"
    _result_pane: "ResultPane"
    _text_pane: "TextPane"
    _results: "SearchResults | None"
    _similarity: LatestOnly[tuple[int, str, str]]
    _marked: "Side | None" = None
    """The passage that waits for another beside it."""
    _find_from: int | None = None
    """Where the reader was when they began to type what to find."""

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Mark the pane that has the focus. On a small screen the text takes all the room while it is read."""
        is_reading = event.widget in (self._text_pane.reader.pane, self._text_pane.prompt)
        self._mark(is_reading, "-reading")
        self._text_pane.mark(is_reading)
        self._result_pane.mark(event.widget is self._result_pane.list)
        self._bar.mark(self._bar.has_focus_within)

    def _mark(self, is_so: bool, name: str) -> None:
        """Set a class that decides which panes are displayed."""
        set_class_of(self, is_so, name, self._result_pane, self._text_pane)

    def show_similarity(self) -> None:
        """Show how near the passages of the document in view are to the query, if it was compared by meaning."""
        hit, results = self._text_pane.hit, self._results
        if hit is None or results is None or results.mode is SearchMode.WORDS or not results.query:
            return
        if self._similarity.offer((hit.document_id, results.query, results.instruction)):
            self._ask_similarity()

    @work
    async def _ask_similarity(self) -> None:
        async for asked, similarity, _ in self._similarity.answers(
            lambda asked: self._backend.passage_similarity(*asked)
        ):
            self._text_pane.warm(asked[0], similarity or ())  # the search itself has told any error

    def action_query(self) -> None:
        raise NotImplementedError

    def action_page(self, step: int) -> None:
        self._choice.make()
        self._text_pane.reader.turn_page(step)

    def action_passage(self, step: int) -> None:
        self._choice.make()
        self._text_pane.reader.go_to_passage(step)

    def action_step(self, step: int) -> None:
        """Go through the places of a search within the text; without one, through the passages."""
        if not self._text_pane.reader.step_found(step):
            self.action_passage(step)

    def action_slash(self) -> None:
        self.action_query()

    def action_find(self) -> None:
        """Ask what to find in the text."""
        self._text_pane.prompt.open(Purpose.FIND)

    def action_ask_page(self) -> None:
        """Ask for the number of a page."""
        if self._text_pane.reader.preview.document.page_starts:
            self._text_pane.prompt.open(Purpose.PAGE)
        else:
            self._status.say(error="this document has no pages")

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """Find while the person types, always from the place where they began."""
        if event.purpose is Purpose.FIND:
            reader = self._text_pane.reader
            self._find_from = reader.preview.reading_at if self._find_from is None else self._find_from
            reader.find(event.text, self._find_from)

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        """Go back to the text; go to the page."""
        self._find_from = None
        self._text_pane.reader.pane.focus()
        if event.purpose is Purpose.PAGE and event.text:
            n_pages = len(self._text_pane.reader.preview.document.page_starts)
            if event.text.strip().isdecimal():
                self._choice.make()
                self._text_pane.reader.go_to_page(int(event.text))
            else:
                self._status.say(error=f"no page {shown(event.text)}: they are 1 to {n_pages}")

    def on_prompt_left(self, event: Prompt.Left) -> None:
        """Go back to the text as it was."""
        self._text_pane.reader.pane.focus()
        self.end_finding()

    def end_finding(self) -> bool:
        """End the search within the text; return whether there was one."""
        reader, start = self._text_pane.reader, self._find_from
        self._find_from = None
        if reader.preview.finding is None:
            return False
        reader.find("")
        if start is not None:
            reader.go_to(start)
        return True

    def action_outline(self) -> None:
        """List the headings or the pages; go to the chosen one."""
        from longsearch.tui.screens.outline import OutlineScreen, entry_at, outline

        document = self._text_pane.reader.preview.document
        entries = outline(document)
        if not entries:
            self._status.say(error="this document has neither headings nor pages")
            return
        title = shown(self._text_pane.hit.title if self._text_pane.hit else document.title)
        at = entry_at(entries, self._text_pane.reader.preview.reading_at)
        self.app.push_screen(OutlineScreen(title, entries, at), self._go_to)

    def action_explain(self) -> None:
        """Say why the document in view has its score."""
        from longsearch.tui.screens.text_boxes import WhyScreen

        if hit := self._text_pane.hit:
            self.app.push_screen(WhyScreen(hit))

    def action_files(self) -> None:
        from longsearch.tui.screens.files import FilesScreen

        self.app.push_screen(FilesScreen(self._backend))

    def action_help(self) -> None:
        from longsearch.tui.screens.text_boxes import HelpScreen

        self.app.push_screen(HelpScreen())

    def _go_to(self, offset: int | None) -> None:
        if offset is not None:
            self._choice.make()
            self._text_pane.reader.go_to(offset)
            self._text_pane.reader.pane.focus()

    def action_printed_page(self) -> None:
        """Show the page as printed, or the text again."""
        self._choice.make()
        self._status.say(error=self._text_pane.reader.switch_view())

    def on_screen_suspend(self) -> None:
        """Another screen opens on top of this one."""
        self._text_pane.reader.cover(True)

    def on_screen_resume(self) -> None:
        """This screen is on top again."""
        self._text_pane.reader.cover(False)

    def action_side_by_side(self) -> None:
        """Mark the current passage; if another one is marked, show both side by side."""
        from longsearch.tui.screens.side_by_side import Side, SideBySide

        hit, passage, marked = self._text_pane.hit, self._text_pane.passage, self._marked
        if hit is None or passage is None:
            return
        here = Side(hit, passage, self._text_pane.words)
        if marked is None or marked.is_at(here):
            self._marked = here if marked is None else None
            self._status.say("marked: s on another passage shows both" if marked is None else "no longer marked")
            return
        self._marked = None
        self._status.say()
        self.app.push_screen(SideBySide((marked, here), *self._text_pane.how))

    @work(exclusive=True, group="map")
    async def action_map(self) -> None:
        """Show where the passages that were found lie to each other; go to the chosen document."""
        from longsearch.tui.screens.map import MapScreen

        hits = self._results.hits if self._results else ()
        owned = [(at, one.start) for at, hit in enumerate(hits) for one in hit.passages]
        places = [(hits[at].document_id, start) for at, start in owned]
        found, error = await attempt(self._backend.passage_map, places)
        if found is None or not found.points:
            self._status.say(error=error or "a map needs three passages that have been read for their meaning")
            return
        shown_hit = self._text_pane.hit
        current = next((at for at, hit in enumerate(hits) if hit == shown_hit), 0)
        self.app.push_screen(MapScreen(hits, [at for at, _ in owned], found, current), self.show_result)

    def show_result(self, index: int | None) -> None:
        """Go to a result."""
        if index is not None:
            self._choice.make()
            self._result_pane.list.highlighted = index
            self._go_to_list()

    def _go_to_list(self) -> None:
        raise NotImplementedError

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        """Open the file at the page and the excerpt of the current passage, or at the printed page turned to."""
        if (hit := self._text_pane.hit) is None:
            return
        passage = self._text_pane.passage
        place = (passage.page, excerpt_text(passage)) if passage else (None, "")
        if (page := self._text_pane.reader.page_turned_to) is not None:
            place = (page, "")
        opened, error = await attempt(self._backend.open, hit.path, *place)
        if opened is None:
            self._status.say(error=error)
            return
        self._text_pane.reader.cover(bool(opened.command))
        self._status.say(*carry_out(self.app, opened))
        self._text_pane.reader.cover(False)
