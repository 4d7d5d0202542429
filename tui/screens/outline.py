"""The outline of a document, on top of the main screen: its headings, or without headings its pages.

Enter or a click goes to an entry, Esc closes it.
"""

from bisect import bisect_right
from operator import is_
from typing import ClassVar, NamedTuple, Self

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from longsearch.engine.types.documents import DocumentText
from longsearch.tui.painting import show_title
from longsearch.tui.screens.box import BoxScreen
from longsearch.tui.text import styles
from longsearch.tui.text.display import shown
from longsearch.tui.widgets.long_table import Cell, LongTable

_INDENT = 2
_MAX_LEVEL = 6


class Entry(NamedTuple):
    """One line of an outline."""

    text: str
    """The heading as it stands in the document; "" for a page, whose first words may be half of a formula."""
    page: int | None
    start: int
    """Offset in the document's text."""
    level: int = 1

    @property
    def title(self) -> str:
        """Safe for the terminal, indented by its level. It is made when it is seen: a book has thousands."""
        return " " * _INDENT * (min(self.level, _MAX_LEVEL) - 1) + (shown(self.text.strip()) or f"Page {self.page}")


def outline(document: DocumentText) -> list[Entry]:
    """Return the entries in the order of the text."""
    if document.headings:
        headings = sorted(document.headings, key=lambda heading: heading.start)
        return [
            Entry(heading.title, document.page_at(heading.start), heading.start, heading.level) for heading in headings
        ]
    return [Entry("", page, start) for page, start in enumerate(document.page_starts, start=1)]


def entry_at(entries: list[Entry], offset: int) -> int | None:
    """Return the index of the last entry at or before `offset`; None if there is none."""
    index = bisect_right(entries, offset, key=lambda entry: entry.start)
    return index - 1 if index else None


class OutlineScreen(BoxScreen[int | None]):
    """Answers with the offset to go to, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,t", "dismiss(None)", "Close", id="outline.close"),
        Binding("j", "move(1)", "Down", id="outline.down", show=False, priority=True),
        Binding("k", "move(-1)", "Up", id="outline.up", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._table = LongTable(has_labels=False, id="outline")
        self._title, self._entries, self._at = "", list[Entry](), 0
        self._made_of: tuple[object, object] = None, None
        """The headings and pages whose entries these are: to make those of a book anew takes 3 ms."""

    def put(self, title: str, document: DocumentText, offset: int) -> Self:
        """`title` has passed through `shown`; the cursor is put where the reader is."""
        parts = document.headings, document.page_starts
        if not all(map(is_, parts, self._made_of)):
            self._made_of, self._entries = parts, outline(document)
        self._title, self._at = title, entry_at(self._entries, offset) or 0
        return self.renew()

    def compose(self) -> ComposeResult:
        yield self._table

    def fill(self) -> None:
        """List the entries; get ready for the keys."""
        show_title(self._table, self._title)
        self._table.styles.height = len(self._entries) + 2  # with the frame; the style sheet has the most
        entries, page_width = self._entries, max(map(cell_len, map(_page, self._entries[-1:])), default=0)
        columns = ((Cell(""), None), (Cell(""), page_width)) if page_width else ((Cell(""), None),)
        self._table.show(columns, len(entries), lambda row: _cells(entries[row])[: len(columns)])
        self._table.move_cursor(self._at)
        self._table.focus()

    def action_move(self, step: int) -> None:
        self._table.action_move(step)

    def on_long_table_selected(self) -> None:
        """Go to the entry."""
        self.dismiss(self._entries[self._table.cursor_row].start)


def _page(entry: Entry) -> str:
    return f"p. {entry.page}" if entry.page is not None and entry.text else ""


def _cells(entry: Entry) -> tuple[Cell, Cell]:
    return Cell(entry.title), Cell(_page(entry), styles.MUTED, is_right=True)
