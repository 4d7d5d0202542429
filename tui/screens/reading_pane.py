"""The text in view, and what a person does with it: keep, copy and open it, read its outline or why it was found."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message

from longsearch.engine.types.results import DocumentHit, PassageHit, SearchResults
from longsearch.tui.backend.interface import Question
from longsearch.tui.backend.latest_only import Said, attempt, attempt_or_say
from longsearch.tui.screens.carrying_out import act_on, open_file
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from longsearch.tui.screens.side_by_side import Side

MAX_STARTED = 10
"""Programs that one key starts."""


class ReadingPane(TextPane):
    """The right side of the main screen. The keys of `bindings.MAIN` call its methods by name."""

    question = Question()
    """The content of the query bar."""
    marked: Sequence[DocumentHit] = ()
    """The hits that are marked: keys take them in place of the one in view."""
    results: SearchResults | None = None
    """The answer that has the document in view."""

    class Used(Message):
        """The document was of use: a passage of it was copied or kept."""

    _marked: "Side | None" = None
    """The passage that waits for another beside it."""

    def turn_page(self, step: int) -> None:
        """Go to the next (1) or the last (-1) printed page; scroll the text by a screen."""
        self.reader.turn_page(step)

    def go_to_passage(self, step: int) -> None:
        """Go `step` passages further."""
        self.reader.go_to_passage(step)

    def step(self, step: int) -> None:
        """Go through the places of a search within the text; without one, through the passages."""
        if not self.reader.step_found(step):
            self.reader.go_to_passage(step)

    def zoom(self, step: int) -> None:
        """Show the printed page larger (1) or smaller (-1)."""
        self.post_message(Said(error=self.reader.zoom(step)))

    def switch_view(self) -> None:
        """Show the page as printed, or the text again."""
        self.post_message(Said(error=self.reader.switch_view()))

    @work
    async def explain(self) -> None:
        """Say why the document has its score."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.text_boxes import WhyScreen

        hit, results = self.hit, self.results
        if hit is None or results is None:
            return
        if explained := await attempt_or_say(self, self._backend.explained, results):
            reasons = {one.document_id: one.reason for one in explained.hits}
            hit = replace(hit, reason=reasons.get(hit.document_id))
            self.app.push_screen(kept(self.app, WhyScreen).put(hit, explained.understood, explained.note))

    def show_outline(self) -> None:
        """List the headings or the pages; go to the chosen one."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.outline import Outline, OutlineScreen

        document = self.reader.preview.document
        if entries := Outline(document.headings, document.page_starts):
            title = shown(self.hit.title if self.hit else document.title)
            box = kept(self.app, OutlineScreen).put(title, entries, self.reader.preview.reading_at)
            self.app.push_screen(box, self._go_to)
        else:
            self.post_message(Said(error="this document has neither headings nor pages"))

    def _go_to(self, offset: int | None) -> None:
        if offset is not None:
            self.reader.go_to(offset)
            self.reader.pane.focus()

    def mark_side(self) -> None:
        """Mark the current passage; if another one is marked, show both side by side."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.side_by_side import Side, SideBySide

        marked, self._marked = self._marked, None
        if self.hit is None or self.passage is None:
            return
        here = Side(self.hit, self.passage, self.words)
        if marked is None:
            self._marked = here
            self.post_message(Said("marked: s on another passage shows both"))
        elif marked.is_at(here):
            self.post_message(Said("no longer marked"))
        else:
            self.post_message(Said())
            sides = kept(self.app, SideBySide, self._backend, self._graphics)
            self.app.push_screen(sides.put(marked, here, self.documents))

    @property
    def _passages(self) -> list[tuple[DocumentHit, PassageHit]]:
        """The best passages of the hits that are marked, or the current passage."""
        if self.marked:
            return [(hit, hit.passages[0]) for hit in self.marked if hit.passages]
        return [(self.hit, self.passage)] if self.hit and self.passage else []

    @property
    def _places(self) -> list[tuple[str, int | None, str]]:
        """The files of these passages, each with its page and text; or the file in view at the page turned to."""
        page = self.reader.page_turned_to
        if self.hit and not self.marked and (page is not None or not self.passage):
            return [(self.hit.path, page, "")]
        return [(hit.path, passage.page, passage.sentence) for hit, passage in self._passages]

    def copy_path(self) -> None:
        """Copy the path of the file, or those of the hits that are marked."""
        if hits := self.marked or [hit for hit in (self.hit,) if hit]:
            self.app.copy_to_clipboard("\n".join(shown(hit.path) for hit in hits))
            self.post_message(Said("Path copied" if len(hits) == 1 else f"{len(hits)} paths copied"))

    @work(exclusive=True, group="copy")
    async def copy_passage(self) -> None:
        """Copy the current passage with its source, or those that are marked."""
        texts = []
        for hit, passage in self._passages:
            text = await attempt_or_say(self, self._backend.user_data.quotation, hit, passage)
            self.post_message(self.Used())
            if text is None:
                return
            texts.append(text)
        if texts:
            self.app.copy_to_clipboard("\n\n".join(texts))
            self.post_message(Said("Copied, with its source" if len(texts) == 1 else f"{len(texts)} passages copied"))

    @work(group="keep")
    async def keep(self) -> None:
        """Put the current passage into the basket, or those that are marked."""
        for hit, passage in self._passages:
            self.post_message(self.Used())
            done, error = await attempt(self._backend.user_data.keep, hit, passage, self.question.query)
            self.post_message(Said(shown(done or ""), error))

    @work(exclusive=True, group="open")
    async def open_file(self) -> None:
        """Open the file at the page and the excerpt of the current passage, or at the printed page turned to."""
        for path, page, text in self._few(self._places):
            self.post_message(Said(*await open_file(self.app, self._backend, path, page, text)))

    def _few(self, places: list[tuple[str, int | None, str]]) -> list[tuple[str, int | None, str]]:
        """Return the places, or none if a program for each would be too many."""
        if len(places) <= MAX_STARTED:
            return places
        self.post_message(Said(error=f"{len(places)} are marked; at most {MAX_STARTED} are opened at once"))
        return []

    @work(exclusive=True, group="action")
    async def choose_action(self) -> None:
        """Let the person choose one of their own commands; a single one runs at once."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.picker import Line, PickerScreen

        names = await attempt_or_say(self, self._backend.actions)
        if names is not None and len(names) > 1:

            def run(at: int | None) -> None:
                if at is not None:
                    self.act(names[at])

            lines, about = [Line(name) for name in names], "Enter runs it on this result."
            picker = kept(self.app, PickerScreen).put("Your own actions", lines, about)
            self.app.push_screen(picker, run)
        elif names:
            self.act(names[0])
        elif names is not None:
            self.post_message(Said(error="there are none yet: see [actions] in longsearch config edit"))

    @work(exclusive=True, group="action")
    async def act(self, name: str) -> None:
        """Run one of the person's own commands on the current passage, or on those that are marked."""
        for place in self._few(self._places):
            self.post_message(Said(*await act_on(self.app, self._backend, name, *place)))
