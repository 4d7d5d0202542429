"""The right side: a heading with page and passage, the document's text or its printed page, the strip of its passages.

Keeps the last few documents in memory; reads others in a thread.
"""

from collections.abc import Callable
from dataclasses import replace

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from longsearch.engine.metadata_lines import describe
from longsearch.engine.page_image import PageImage, PageQuestion
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.results import DocumentHit, PassageHit, PassageSimilarity
from longsearch.tui.backend.latest_only import LatestOnly
from longsearch.tui.document_cache import DocumentCache
from longsearch.tui.graphics.terminal import Graphics
from longsearch.tui.text.display import shown
from longsearch.tui.text.highlight import NO_WORDS, Highlighter, Span
from longsearch.tui.text.place import place_in_words
from longsearch.tui.text.wording import with_language
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.prompt import Prompt
from longsearch.tui.widgets.reader import Reader
from longsearch.tui.widgets.relevance_strip import RelevanceStrip


class TextPane(Vertical):
    """Shows a hit's document."""

    def __init__(
        self, read: Callable[[int], DocumentText], draw: Callable[[PageQuestion], PageImage], graphics: Graphics
    ) -> None:
        super().__init__()
        self.reader = Reader(draw, graphics)
        """The document, as text or as printed."""
        self.prompt = Prompt()
        """The line for what to find, or for a page; it is hidden until `Prompt.open`."""
        self.how = (read, draw, graphics)
        """The state that another pane needs to show the same documents."""
        self._read = read
        """Returns a document's text. May block: it is called in a thread."""
        self._reading: LatestOnly[int] = LatestOnly()
        self._documents = DocumentCache()
        self._header = HeaderLine()
        self._about_line = Static(id="about", markup=False)
        self._message_line = Static(id="text-message", markup=False)
        self._message_line.display = False
        self._strip = RelevanceStrip()
        self._message = ""
        self._about = ""
        self._words: Highlighter = NO_WORDS
        self.hit: DocumentHit | None = None
        """The hit that is shown or being read; set by `select` and `clear`."""

    def compose(self) -> ComposeResult:
        yield from (self._header, self._about_line, self._message_line)
        with Horizontal(id="text"):
            yield self.reader
            yield self._strip
        yield self.prompt

    @property
    def passage(self) -> PassageHit | None:
        """The current passage; until the text is there, the hit's best passage."""
        if self.hit is None or not self.hit.passages:
            return None
        span = self.reader.preview.current_span
        here = (passage for passage in self.hit.passages if span and passage.start == span.start)
        return next(here, self.hit.passages[0])

    def select(self, hit: DocumentHit, words: Highlighter, stay: bool) -> None:
        """Show the hit's document at its best passage; with `stay`, leave the text scrolled where the reader is."""
        self.hit, self._words = hit, words
        document_id = hit.document_id
        if not stay:
            self._strip.warm(())
        if (document := self._documents.get(document_id)) is not None:
            self._show(document, stay)
            return
        self._say("Reading…")
        if self._reading.running == document_id:
            self._reading.drop()
        elif self._reading.offer(document_id):
            self._read_documents()

    @work
    async def _read_documents(self) -> None:
        """Read the requested document, then the last one requested meanwhile. Show a document if it is still wanted."""
        async for document_id, document, error in self._reading.answers(self._read):
            if document is not None:
                self._documents.put(document_id, document)
            if self.hit is None or self.hit.document_id != document_id:
                continue
            if document is None:
                self._say(error)
            else:
                self._show(document, stay=False)

    @property
    def is_active(self) -> bool:
        """Whether the heading is that of the pane with the focus."""
        return self._header.has_class("-active")

    def mark(self, is_active: bool) -> None:
        """Light the heading of the pane that has the focus."""
        self._header.set_class(is_active, "-active")

    @property
    def words(self) -> Highlighter:
        """The words that are lit."""
        return self._words

    def warm(self, document_id: int, similarity: PassageSimilarity) -> None:
        """Show on the strip how near the document's passages are to the query, if the document is still in view."""
        if self.hit is not None and self.hit.document_id == document_id:
            self._strip.warm(similarity)

    def clear(self) -> None:
        """Show nothing."""
        self.hit = None
        self._say("")

    def _show(self, document: DocumentText, stay: bool) -> None:
        if self.hit is not None:
            self._head(with_language(shown(self.hit.title or document.title), self.hit.language))
            spans = [Span(p.start, p.stop, p.score, p.excerpt) for p in self.hit.passages]
            self.reader.show(document, self.hit.path, spans, self._words, stay)

    def _say(self, message: str) -> None:
        """Show a message instead of the text."""
        self._head(shown(self.hit.title) if self.hit else "", message)
        self.reader.clear()

    def _head(self, title: str, message: str = "") -> None:
        self._header.left = title
        self._describe()
        if message != self._message:  # showing or hiding it lays out the whole screen: 5 ms
            self._message = message
            self._message_line.update(Content(message))
            self._message_line.display = bool(message)

    def _describe(self) -> None:
        """Show the document's metadata under its title, with the source of each value."""
        about = describe(self.hit.metadata, with_others=True) if self.hit else ""
        if about != self._about:
            self._about = about
            self._about_line.update(Content(about))
            self._about_line.display = bool(about)

    def on_reader_moved(self, event: Reader.Moved) -> None:
        """Update heading and strip to the reader's place."""
        event.stop()
        preview, place = self.reader.preview, event.place
        if event.spans is not preview.spans:
            return  # stale: a message for the current text follows
        told = replace(place, passage=-1) if preview.finding else place  # there is no room for both
        words = place_in_words(told, event.spans, self.hit.path if self.hit else "")
        self._header.right = " · ".join(filter(None, (words, event.note)))
        view = (place.first, place.last)
        self._strip.show(event.spans, place.passage, len(preview.document.text), view)

    def on_relevance_strip_clicked(self, event: RelevanceStrip.Clicked) -> None:
        """Go to the part of the document that was clicked."""
        event.stop()
        self.reader.go_to(int(event.share * len(self.reader.preview.document.text)))
