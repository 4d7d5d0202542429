"""Shows a whole document, scrolled to a passage: a bar beside it, its answer lit, query words bold, page numbers.

A line is made only when it is painted (Textual's line API), so painting 10 MB costs no more than painting a page.
Wrapping does take longer for a longer text. A text of more than `WRAP_ASIDE` characters is therefore wrapped in a
thread; until the thread is done, only the text around the passage is wrapped. Knows nothing of searches or files.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.binding import BindingType
from textual.color import Color
from textual.events import Focus
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from longsearch.engine.types.documents import DocumentText, Mark
from longsearch.tui.backend.latest_only import LatestOnly
from longsearch.tui.bindings import TEXT_MOVES
from longsearch.tui.painting import ScrollsLines, filled
from longsearch.tui.text.display import shown
from longsearch.tui.text.finding import Finding
from longsearch.tui.text.highlight import HEADING, NO_WORDS, Highlighter, MarksOf, Run, Span, runs
from longsearch.tui.text.place import Place, find_place
from longsearch.tui.text.text_layout import MAX_LINE_CHARACTERS, TextLayout, wrap, wrap_near

WRAP_ASIDE = 200_000
"""Characters; a shorter text is wrapped in less than 15 ms, at once and without a flicker."""
MAX_TEXT_WIDTH = 100
"""Cells; longer lines are hard to read."""
_MARK_SHARE = 0.35
"""How much of a highlight's colour lies over the ground: the words stay as legible as beside it."""
NO_DOCUMENT = DocumentText(text="", page_starts=(), title="")


class Preview(ScrollsLines):
    """The text of one document."""

    BINDINGS: ClassVar[list[BindingType]] = TEXT_MOVES
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"preview--{part}" for part in ("margin", "lit", "passage", "current", "excerpt", "word", "found")
    }

    class Moved(Message):
        """The reader has moved, or another passage is current: `place` says where."""

        def can_replace(self, message: Message) -> bool:
            """Only the last move matters."""
            return isinstance(message, Preview.Moved)

    def __init__(self) -> None:
        super().__init__()
        self.document = NO_DOCUMENT
        """The document in view; an empty one if there is none."""
        self.text_layout = wrap("", 80)
        """The text as it is wrapped now. While a long text is being wrapped, only the text near the passage is."""
        self.spans: tuple[Span, ...] = ()
        """The lit passages in the order of the text."""
        self.current = -1
        """Index of the current passage among the spans; -1: none."""
        self._words: Highlighter = NO_WORDS
        self._marks = MarksOf(NO_DOCUMENT)
        self.finding: Finding | None = None
        """The letters that the reader searches for in this text; set by `search` and `show`."""
        self.reading_at = 0
        """Offset of the character that keeps its place when the window changes."""
        self._fitted: Size | None = Size(0, 0)
        """The size that the text is laid out for; None: it is to be laid out before it is painted."""
        self._rows_above: int | None = 0
        """Rows between the top and the anchor: none after a scroll. None after a jump: a quarter of the height."""
        self._expected_y = 0
        self._margin = 2
        """Cells left of the text: page number, space, passage mark, space."""
        self._wrapping: LatestOnly[tuple[str, int]] = LatestOnly()

    @property
    def current_span(self) -> Span | None:
        """The current passage, if any."""
        return self.spans[self.current] if self.current >= 0 else None

    def show(self, document: DocumentText, spans: Sequence[Span], words: Highlighter, stay: bool) -> None:
        """Show a document with `spans` (best first) lit, at the best span or, with `stay`, where the reader is."""
        current = spans[0] if spans else None
        if stay and (old := self.current_span):
            current = next((span for span in spans if (span.start, span.stop) == (old.start, old.stop)), current)
        if document is not self.document:
            self.finding = None
            self._marks = MarksOf(document)
        self.document, self._words = document, words
        self.spans = tuple(sorted(spans, key=lambda span: span.start))
        self.current = self.spans.index(current) if current else -1
        pages = len(document.page_starts)
        self._margin = 2 + (len(str(pages)) + 1 if pages else 0)
        if not stay:
            self.reading_at, self._rows_above = current.start if current else 0, None
        self._lay_out()
        self.refresh()

    def go_to_passage(self, step: int) -> None:
        """Go `step` passages further in the text; the first follows the last."""
        if self.spans:
            self.current = (self.current + step) % len(self.spans)
            self.go_to(self.spans[self.current].start)

    def turn_page(self, step: int) -> None:
        """Scroll one screen forward (1) or back (-1); two lines stay in view."""
        self.scroll_relative(y=step * max(self.size.height - 2, 1), animate=False)

    def search(self, finding: Finding | None) -> None:
        """Light the places of a search within the text, and go to the current one; None: no more."""
        self.finding = finding
        if finding is not None and finding.place is not None:
            self.go_to(finding.place[0])
        else:
            self.refresh()

    def go_to(self, offset: int) -> None:
        """Show the character at `offset`, a little below the top."""
        self.reading_at, self._rows_above = offset, None
        self._go_to_anchor()
        self.refresh()

    def place(self) -> Place:
        """Return where the reader is."""
        top, height = self.scroll_offset.y, self.size.height
        return find_place(self.document, self.text_layout, self.spans, self.current, top, height)

    # Layout

    def on_focus(self, event: Focus) -> None:
        """Keep the text where it is, also if the pane now gets more room."""
        if self._rows_above is None:
            top = self.text_layout.span(min(self.scroll_offset.y, len(self.text_layout) - 1))[0]
            self.reading_at = max(self.reading_at, top)
            self._rows_above = max(self.text_layout.line_at(self.reading_at) - self.scroll_offset.y, 0)
        super().on_focus(event)

    def fit(self) -> None:
        """Wrap to the new width once somebody sees it; the anchor keeps its place."""
        if self.size != self._fitted:
            self._fitted = None

    def _lay_out(self) -> None:
        width = min(self.size.width - self._margin - 1, MAX_TEXT_WIDTH)
        text = self.document.text
        self._fitted = self.size
        if self.size.width < 1:
            return  # not on the screen yet: `fit` follows
        if self.text_layout.text is text and self.text_layout.width == max(width, 2):
            self._go_to_anchor()
        elif len(text) <= WRAP_ASIDE:
            self._wrapping.drop()
            self._use(wrap(text, width))
        else:
            self._use(wrap_near(text, width, self.reading_at))
            if self._wrapping.offer((text, width)):
                self.call_after_refresh(self._wrap_aside)  # its thread would slow down this frame

    @work
    async def _wrap_aside(self) -> None:
        """Wrap a long text in a thread; use the layout if it is still the one to be shown."""
        async for _, layout, _ in self._wrapping.answers(lambda asked: wrap(*asked)):
            if layout is None or layout.text is not self.document.text:
                continue
            if layout.width == self.text_layout.width:
                self._use(layout)

    def _use(self, layout: TextLayout) -> None:
        anchor, rows_above = self.reading_at, self._rows_above
        self.text_layout = layout
        self.virtual_size = Size(layout.width, len(layout))  # scrolls, and so moves the anchor, if the text is shorter
        self.reading_at, self._rows_above = anchor, rows_above
        self._go_to_anchor()
        self.refresh()

    def _go_to_anchor(self) -> None:
        if self.text_layout.text is self.document.text:
            quarter, span, line_at = max(self.size.height // 4, 1), self.current_span, self.text_layout.line_at
            at = self.reading_at
            if self._rows_above is None and span and span.excerpt and at == span.start:
                bottom = line_at(at) - quarter + self.size.height
                if line_at(span.excerpt[1] - 1) >= bottom:
                    at = span.excerpt[0]  # a low pane has no room for what stands before the answer
            rows_above = quarter if self._rows_above is None else min(self._rows_above, quarter)
            line = line_at(at) - rows_above
            self._expected_y = min(max(line, 0), self.max_scroll_y)
            self.scroll_to(y=self._expected_y, animate=False)
            self.tell()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """After the reader has scrolled, make the line at the top the anchor."""
        super().watch_scroll_y(old_value, new_value)
        if self.is_mounted and self.text_layout.text is self.document.text:
            if round(new_value) != self._expected_y:
                line = min(round(new_value), len(self.text_layout) - 1)
                self.reading_at, self._rows_above = self.text_layout.span(line)[0], 0
            self.tell()

    def tell(self) -> None:
        """Report that the reader has moved."""
        self.post_message(self.Moved().set_sender(self))  # Textual stops a message at the parent that asked for it

    # Painting

    def render_line(self, y: int) -> Strip:
        """Draw one line: page number, mark, text."""
        if self._fitted is None:
            self._lay_out()
        line, layout, style = self.scroll_offset.y + y, self.text_layout, self.ground
        if line >= len(layout) or layout.text is not self.document.text or not layout.text:
            return Strip.blank(self.width, style)
        start, stop = layout.span(line)
        stop = min(stop, start + MAX_LINE_CHARACTERS)  # text that `wrap_near` skips is one long line
        if stop > start and layout.text[stop - 1] in " \n\t":
            stop -= 1  # this character may stand beyond the width
        places = self.finding.between(start, stop) if self.finding else ()
        pieces = runs(
            layout.text, start, stop, self.spans, self.current, self._words, places, self._marks.between(start, stop)
        )
        segments = self._margin_segments(start, stop, pieces, style)
        for piece in pieces:
            look = piece.mark, piece.passage is not None, piece.is_excerpt, piece.is_word, piece.is_found
            shown_as = self.kept(look, partial(self._style, piece, style))
            segments.append(Segment(shown(layout.text[piece.start : piece.stop]), shown_as))
        return filled(segments, self.width, style)

    def _margin_segments(self, start: int, stop: int, pieces: Sequence[Run], style: Style) -> list[Segment]:
        lit = {piece.passage for piece in pieces if piece.passage is not None}
        mark, name = ("▌", "preview--current") if self.current in lit else ("│" if lit else " ", "preview--passage")
        pages = self.document.page_starts
        page = self.document.page_at(max(stop - 1, start))
        begins = page is not None and pages[page - 1] >= start
        number = (str(page) if begins else "").rjust(self._margin - 3) + " " if pages else ""
        bar = self.kept((name, "bar"), lambda: style + Style(color=self.kept(name).color))
        return [Segment(number, self.kept("preview--margin")), Segment(mark, bar), Segment(" ", style)]

    def _style(self, run: Run, style: Style) -> Style:
        """Tint the sentence that answers, and nothing else of its passage: a bar in the margin marks that."""
        part = self.kept
        if run.mark is not None:
            style += as_marked(run.mark, style)
        if run.passage is not None:
            style += Style(color=part("preview--lit").color)
        if run.is_excerpt:
            style += Style(bgcolor=part("preview--excerpt").bgcolor)
        if run.is_word:
            word = part("preview--word")
            style += Style(bold=word.bold, underline=word.underline)
        return style + part("preview--found") if run.is_found else style


def as_marked(mark: Mark, ground: Style) -> Style:
    """Return how marked words look: lit in the mark's colour, underlined in it, struck through; bold in a heading."""
    if mark.kind == HEADING:
        return Style(bold=True)
    color = Color.parse(mark.color) if mark.color else None
    if mark.kind == "strikeout":
        return Style(strike=True)
    if mark.kind == "highlight" and color and ground.bgcolor:
        blended = Color.from_rich_color(ground.bgcolor).blend(color, _MARK_SHARE)
        return Style(bgcolor=blended.rich_color)
    return Style(underline=True, color=color.rich_color if color and mark.kind == "underline" else None)
