"""The outline of a document, on top of the main screen: its headings, or without headings its pages.

Enter or a click goes to an entry, Esc closes it.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple, Self

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from longsearch.engine.types.documents import Heading
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


class Outline:
    """The headings of a document in the order of the text, or else its pages."""

    def __init__(self, headings: Iterable[Heading] = (), page_starts: Sequence[int] = ()) -> None:
        self._headings = sorted(headings, key=lambda heading: heading.start)
        self._page_starts = page_starts

    def __len__(self) -> int:
        return len(self._headings or self._page_starts)

    def __getitem__(self, index: int) -> Entry:
        """Return an entry. It is made when it is seen: a book has thousands."""
        if not self._headings:
            return Entry("", index + 1, self._page_starts[index])
        heading = self._headings[index]
        return Entry(
            heading.title, bisect_right(self._page_starts, heading.start) or None, heading.start, heading.level
        )


def entry_at(entries: Outline, offset: int) -> int | None:
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
        self._title, self._entries, self._offset = "", Outline(), 0

    def put(self, title: str, entries: Outline, offset: int) -> Self:
        """`title` has passed through `shown`; the cursor is put where the reader is."""
        self._title, self._entries, self._offset = title, entries, offset
        return self.renew()

    def compose(self) -> ComposeResult:
        yield self._table

    def fill(self) -> None:
        """List the entries; get ready for the keys."""
        show_title(self._table, self._title)
        entries = self._entries
        self._table.styles.height = len(entries) + 2  # with the frame; the style sheet has the most
        page_width = cell_len(_page(entries[len(entries) - 1])) if entries else 0
        columns = ((Cell(""), None), (Cell(""), page_width)) if page_width else ((Cell(""), None),)
        self._table.show(columns, len(entries), lambda row: _cells(entries[row])[: len(columns)])
        self._table.move_cursor(entry_at(entries, self._offset) or 0)
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
