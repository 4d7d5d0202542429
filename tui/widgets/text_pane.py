"""The right side: a heading with page and passage, the document's text or its printed page, the strip of its passages.

Keeps the last few documents in memory; reads others in a thread.
"""

from collections import OrderedDict
from dataclasses import dataclass

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static

from longsearch.engine.metadata_lines import describe, of_document
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.results import DocumentHit, PassageHit, SearchMode, SearchResults
from longsearch.tui.backend.interface import Backend
from longsearch.tui.backend.latest_only import LatestOnly, Said
from longsearch.tui.graphics.terminal import Graphics
from longsearch.tui.painting import Plain, show_line
from longsearch.tui.text.display import shown
from longsearch.tui.text.highlight import NO_WORDS, Highlighter, Span
from longsearch.tui.text.place import place_in_words
from longsearch.tui.text.wording import with_language
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.preview import NO_DOCUMENT, Preview
from longsearch.tui.widgets.prompt import Prompt, Purpose
from longsearch.tui.widgets.reader import Reader
from longsearch.tui.widgets.relevance_strip import RelevanceStrip

MAX_DOCUMENTS = 8
MAX_CHARACTERS = 40_000_000
"""Limit for all kept documents together: 40 to 160 MB of memory. The newest stays, however long it is."""


class DocumentCache:
    """The documents last shown, so that going back and forth in the list reads none twice."""

    def __init__(self) -> None:
        self._documents: OrderedDict[int, DocumentText] = OrderedDict()

    def get(self, document_id: int) -> DocumentText | None:
        """Return the document, or None, and count it as used."""
        if document_id in self._documents:
            self._documents.move_to_end(document_id)
        return self._documents.get(document_id)

    def put(self, document_id: int, document: DocumentText) -> None:
        """Keep a document; drop the least recently used ones if there are too many."""
        self._documents[document_id] = document
        self._documents.move_to_end(document_id)
        lengths = [len(kept.text) for kept in self._documents.values()]
        while len(lengths) > MAX_DOCUMENTS or (len(lengths) > 1 and sum(lengths) > MAX_CHARACTERS):
            del lengths[0]
            self._documents.popitem(last=False)


class _TextAndStrip(Plain, Horizontal):
    """The document, and the strip of its passages."""


class TextPane(Plain, Vertical):
    """Shows a hit's document."""

    @dataclass
    class Dragged(Message):
        """The line on the left is dragged with the mouse."""

        x: int
        """The column of the screen where it is wanted."""

    _is_dragged = False

    def __init__(self, backend: Backend, graphics: Graphics) -> None:
        super().__init__()
        self.reader = Reader(backend.page_image, graphics)
        """The document, as text or as printed."""
        self.prompt = Prompt()
        """The line for what to find, or for a page; it is hidden until `Prompt.open`."""
        self.words = NO_WORDS
        """The words that are highlighted."""
        self._backend, self._graphics = backend, graphics
        self._reading: LatestOnly[int] = LatestOnly()
        self._comparing: LatestOnly[tuple[int, str, str]] = LatestOnly()
        self.documents = DocumentCache()
        """The documents last shown, here or in a pane that shares them."""
        self._header = HeaderLine()
        self._about_line = Static(id="about", markup=False)
        self._message_line = Static(id="text-message", markup=False)
        self._message_line.display = False
        self._strip = RelevanceStrip()
        self._find_from: int | None = None
        """Where the reader was when they began to type what to find."""
        self.hit: DocumentHit | None = None
        """The hit that is shown or being read; set by `select` and `clear`."""

    def compose(self) -> ComposeResult:
        # The prompt comes first: a last child that appears changes the order of all others, so all would be drawn
        yield from (self.prompt, self._header, self._about_line, self._message_line)
        with _TextAndStrip(id="text"):
            yield self.reader
            yield self._strip

    @property
    def passage(self) -> PassageHit | None:
        """The current passage; until the text is there, the hit's best passage."""
        if self.hit is None or not self.hit.passages:
            return None
        span = self.reader.preview.current_span
        here = (passage for passage in self.hit.passages if span and passage.start == span.start)
        return next(here, self.hit.passages[0])

    def select(self, hit: DocumentHit, words: Highlighter, is_chosen: bool = False) -> None:
        """Show the hit's document at its best passage. A chosen document in view stays where the reader is."""
        is_same = self.hit is not None and self.hit.document_id == hit.document_id
        stay = is_same and (is_chosen or self.hit == hit)
        self.hit, self.words = hit, words
        document_id = hit.document_id
        if not stay:
            self._strip.warm(())
        if (document := self.documents.get(document_id)) is not None:
            self._show(document, stay=stay)
            return
        self._show(message="Reading…")
        if self._reading.offer(document_id, is_anew=False):
            self._read_documents()

    @work
    async def _read_documents(self) -> None:
        """Read the requested document, then the last one requested meanwhile. Show a document if it is still wanted."""
        async for document_id, document, error in self._reading.answers(self._backend.document):
            if document is not None:
                self.documents.put(document_id, document)
            if self.hit is not None and self.hit.document_id == document_id:
                self._show(document or NO_DOCUMENT, error)

    def show_letter(self, letter: str) -> None:
        """Show the letter of jump mode in the heading, or none."""
        self._header.letter = letter

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag the line on the left."""
        if event.x == 0 and self.styles.border_left[0]:
            self.capture_mouse()
            self._is_dragged = True

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Tell where the line is wanted."""
        if self._is_dragged:
            self.post_message(self.Dragged(event.screen_x))

    def on_mouse_up(self) -> None:
        """Leave the line there."""
        if self._is_dragged:
            self.release_mouse()
            self._is_dragged = False

    @property
    def is_active(self) -> bool:
        """Whether the heading is that of the pane with the focus."""
        return self._header.has_class("-active")

    def mark(self, is_active: bool) -> None:
        """Light the heading of the pane that has the focus."""
        self._header.set_class(is_active, "-active")

    def compare(self, results: SearchResults) -> None:
        """Show on the strip how near the document's passages are to the query, if it was compared by meaning."""
        if self.hit is None or results.mode is SearchMode.WORDS or not results.query:
            return
        if self._comparing.offer((self.hit.document_id, results.corrected or results.query, results.instruction)):
            self._compare()

    @work
    async def _compare(self) -> None:
        async for asked, similarity, _ in self._comparing.answers(
            lambda asked: self._backend.passage_similarity(*asked)
        ):
            if self.hit is not None and self.hit.document_id == asked[0]:
                self._strip.warm(similarity or ())  # the search itself has told any error

    def clear(self) -> None:
        """Show nothing."""
        self.hit = None
        self._show()

    def forget(self) -> None:
        """Keep no document. The heading stays: nobody sees it, and with the same one nothing is laid out."""
        self.documents, self.hit = DocumentCache(), None
        self.reader.show(NO_DOCUMENT, "", [], NO_WORDS, stay=False)
        self.reader.close_page()

    def _show(self, document: DocumentText = NO_DOCUMENT, message: str = "", stay: bool = False) -> None:
        """Show the hit's document under its title and metadata, or a message in place of the text."""
        hit = self.hit
        title = shown(hit.title or document.title) or shown(hit.path.rpartition("/")[2]) if hit else ""
        self._header.left = with_language(title, hit.language) if hit else ""
        show_line(
            self._about_line, describe(of_document(hit.metadata), with_others=True, with_sources=False) if hit else ""
        )
        show_line(self._message_line, message)
        spans = [Span(p.start, p.stop, p.score, p.excerpt) for p in hit.passages] if hit and document.text else []
        self.reader.show(document, hit.path if hit else "", spans, self.words, stay)

    def on_preview_moved(self, event: Preview.Moved) -> None:
        """Update heading and strip to the reader's place."""
        event.stop()
        preview, (place, note) = self.reader.preview, self.reader.place()
        words = place_in_words(place, preview.spans, self.hit.path if self.hit else "")
        self._header.right = " · ".join(filter(None, (words, note)))
        self._strip.show(preview.spans, preview.current, len(preview.document.text), (place.first, place.last))

    def on_relevance_strip_clicked(self, event: RelevanceStrip.Clicked) -> None:
        """Go to the part of the document that was clicked."""
        event.stop()
        self.reader.go_to(int(event.share * len(self.reader.preview.document.text)))

    # Finding, and going to a page

    def ask_wanted(self) -> None:
        """Ask what to find in the text."""
        self.prompt.open(Purpose.FIND)

    def ask_page(self) -> None:
        """Ask for the number of a page."""
        if self.reader.preview.document.page_starts:
            self.prompt.open(Purpose.PAGE)
        else:
            self.post_message(Said(error="this document has no pages"))

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """Find while the person types, always from the place where they began."""
        event.stop()
        if event.purpose is Purpose.FIND:
            self._find_from = self.reader.preview.reading_at if self._find_from is None else self._find_from
            self.reader.find(event.text, self._find_from)

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        """Go back to the text; go to the page."""
        self._find_from = None
        self.reader.pane.focus()
        if event.purpose is Purpose.PAGE and event.text:
            if event.text.strip().isdecimal():
                self.reader.go_to_page(int(event.text))
            else:
                n_pages = len(self.reader.preview.document.page_starts)
                self.post_message(Said(error=f"no page {shown(event.text)}: they are 1 to {n_pages}"))

    def on_prompt_left(self, event: Prompt.Left) -> None:
        """Go back to the text as it was."""
        event.stop()
        self.reader.pane.focus()
        self.end_finding()

    def end_finding(self) -> bool:
        """End the search within the text; return whether there was one."""
        start, self._find_from = self._find_from, None
        if self.reader.preview.finding is None:
            return False
        self.reader.find("")
        if start is not None:
            self.reader.go_to(start)
        return True
