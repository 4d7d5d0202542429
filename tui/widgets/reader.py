"""A document to read: its text, or over it its pages as they are printed. Both go to the same places.

The text stays laid out under the printed page, so that going back shows the same place.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from longsearch.engine.page_image import PageImage, PageQuestion
from longsearch.engine.types.documents import DocumentText
from longsearch.tui.graphics.page_texts import page_of, page_range, texts_on_page
from longsearch.tui.graphics.terminal import Graphics
from longsearch.tui.painting import Plain
from longsearch.tui.text.display import shown
from longsearch.tui.text.finding import Finding, find
from longsearch.tui.text.highlight import Highlighter, Span
from longsearch.tui.text.place import Place
from longsearch.tui.widgets.page_view import PageView
from longsearch.tui.widgets.preview import Preview


class Reader(Plain, Container):
    """The text and the printed page of one document."""

    def __init__(self, draw: Callable[[PageQuestion], PageImage], graphics: Graphics) -> None:
        super().__init__(id="reader")
        self.preview = Preview()
        """The text."""
        self._page_view = PageView(draw, graphics)
        self._path = ""
        self._wants_page = False
        """Whether pages are shown as printed, where there are any."""
        self._page = 1
        """The page that is shown as printed."""
        self._is_found = True
        """Whether the lit passages were found on that page."""

    def compose(self) -> ComposeResult:
        yield self.preview
        yield self._page_view

    @property
    def pane(self) -> Widget:
        """The widget that is read now and takes the focus: the printed page, or the text."""
        return self._page_view if self.is_printed else self.preview

    @property
    def is_printed(self) -> bool:
        """Whether the page is shown as printed."""
        return self._page_view.display

    @property
    def page_turned_to(self) -> int | None:
        """The printed page in view if it is another one than the current passage's; else None."""
        is_other = self._page != page_of(self.preview.document, self.preview.current_span)
        return self._page if self.is_printed and is_other else None

    def show(self, document: DocumentText, path: str, spans: Sequence[Span], words: Highlighter, stay: bool) -> None:
        """Show a document with `spans` (best first) lit; see `Preview.show`. `path` is that of its file."""
        self._path = path
        self.preview.show(document, spans, words, stay)
        self._show_page(is_jump=not stay)

    # Moving

    def go_to_passage(self, step: int) -> None:
        """Go `step` passages further; the first follows the last."""
        self.preview.go_to_passage(step)
        self._show_page()

    def turn_page(self, step: int) -> None:
        """Go to the next (1) or the last (-1) printed page; scroll the text by a screen."""
        if self.is_printed:
            self.go_to_page(self._page + step)
        else:
            self.preview.turn_page(step)

    def go_to_page(self, page: int) -> None:
        """Go to a page of the document, from 1; beyond its ends to the first or the last."""
        if starts := self.preview.document.page_starts:
            self.go_to(starts[min(max(page, 1), len(starts)) - 1])

    def go_to(self, offset: int) -> None:
        """Go to the character at `offset`, and to its page."""
        self.preview.go_to(offset)
        if self.is_printed:
            self._page = self.preview.document.page_at(offset) or 1
            self._draw_page(is_jump=False)

    def on_page_view_turned(self, event: PageView.Turned) -> None:
        """Turn the page in place."""
        event.stop()
        n_pages = len(self.preview.document.page_starts)
        self.go_to_page({0: self._page + event.step, 1: 1, -1: n_pages}[event.end])

    def place(self) -> tuple[Place, str]:
        """Return where the reader is, and a further remark, or ""."""
        preview, place, note = self.preview, self.preview.place(), ""
        if self.is_printed:
            first, last = page_range(preview.document, self._page)
            place = replace(place, page=self._page, first=first, last=max(last - 1, first))
            note = "" if self._is_found else "not found on the page"
        elif self._wants_page and preview.document.text:
            note = "as text"
        if preview.finding is not None:
            place = replace(place, passage=-1)  # there is no room for both
            note = preview.finding.in_words(shown(preview.finding.wanted))
        return place, note

    # Searching within the text

    def find(self, wanted: str, near: int | None = None) -> None:
        """Search for `wanted` within the text, from `near` on: from where the reader is, if None. "": no more."""
        preview = self.preview
        finding = None
        if wanted and preview.document.text:
            finding = find(preview.document.text, wanted, preview.reading_at if near is None else near)
        self._use_finding(finding)

    def step_found(self, step: int) -> bool:
        """Go to the next (1) or the last (-1) place of the search; return False if nothing is searched for."""
        if (finding := self.preview.finding) is None:
            return False
        self._use_finding(finding.step(step))
        return True

    def _use_finding(self, finding: Finding | None) -> None:
        self.preview.search(finding)
        if self.is_printed:
            if finding is not None and finding.place is not None:
                self._page = self.preview.document.page_at(finding.place[0]) or 1
            self._draw_page(is_jump=True)
        else:
            self.preview.tell()

    # The page as printed

    def switch_view(self) -> str:
        """Show the page as printed, or the text again. Return why there is no such page, or ""."""
        had_focus = self.pane.has_focus
        self._wants_page = not self.is_printed
        self._show_page()
        if had_focus:
            self.pane.focus()
        is_refused = self._wants_page and not self.is_printed and self.preview.document.text
        return "only a PDF has printed pages: this is the text" if is_refused else ""

    def close_page(self) -> None:
        """Show the text, also of the next document."""
        self._wants_page = False
        self._show_page()

    def zoom(self, step: int) -> str:
        """Show the printed page larger (1) or smaller (-1). Return why that cannot be, or ""."""
        if not self.is_printed:
            return "this is the text: v shows its page as printed"
        self._page_view.action_zoom(step)
        return ""

    def cover(self, is_covered: bool) -> None:
        """Take pictures away while another screen lies over this one; bring them back."""
        self._page_view.cover(is_covered)

    def _show_page(self, is_jump: bool = True) -> None:
        """Show the current passage's page as printed if that is wanted and the document has one, else the text."""
        document = self.preview.document
        if self._wants_page and self._path.lower().endswith(".pdf") and document.page_starts:
            if is_jump or not self.is_printed:
                self._page = page_of(document, self.preview.current_span)
            self._draw_page(is_jump)
        elif self.is_printed:
            had_focus = self._page_view.has_focus
            self._page_view.close()
            self.preview.can_focus = True
            if had_focus:
                self.preview.focus()
            self.preview.tell()

    def _draw_page(self, is_jump: bool) -> None:
        preview = self.preview
        lit = texts_on_page(preview.document, self._page, preview.spans, preview.current, preview.finding)
        self._is_found = True
        preview.can_focus = False  # Tab goes to what is seen
        self._page_view.show(self._path, self._page, lit, is_jump)
        self.preview.tell()

    def on_page_view_drawn(self, event: PageView.Drawn) -> None:
        """Say if a passage was not found on its page."""
        event.stop()
        if self.is_printed and event.is_found != self._is_found:
            self._is_found = event.is_found
            self.preview.tell()
