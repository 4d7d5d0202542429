"""The table of evidence: documents down, questions across, in each cell the sentence that answers.

Fills the empty cells while it is open. Returns the sentence to look for in the main screen, or None.
"""

import re
from contextlib import suppress
from typing import ClassVar, Self

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from longsearch.engine.amounts import counted
from longsearch.tui.backend.interface import Backend, Table
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.bindings import TABLE
from longsearch.tui.screens.carrying_out import open_file
from longsearch.tui.screens.dialogs import LineDialog
from longsearch.tui.screens.kept import KeptScreen, kept
from longsearch.tui.text import styles
from longsearch.tui.text.display import shorten_middle, shown
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.long_table import Cell, LongTable

_NAME_WIDTH, _LEAST_WIDTH, _PADDING = 24, 26, 2
_ABOUT = re.compile(r" \[([^\[\]]*)\]$")
_PAGE = re.compile(r"\bp\. (?:\S+ \()?(\d+)")
_CURRENT = "▸ "
_SIGNS = {"likely": "● ", "unsure": "○ "}


class TableScreen(KeptScreen[str | None], Screen[str | None]):
    """A grid with a cursor; below it the question and the sentence of the cell in full."""

    BINDINGS: ClassVar[list[BindingType]] = TABLE

    _table: Table

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._grid = LongTable()
        self._column, self._first = 0, 0
        """The question under the cursor, and the first one that is shown."""
        self._is_wanted = self._is_filling = False
        """Whether it is to be filled, and whether it is."""
        self._n_left = 0
        """Cells that are to be asked."""

    def put(self, table: Table) -> Self:
        self._table = table
        return self.renew()

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield self._grid
        yield Static(id="detail", markup=False)
        yield Static(id="said", markup=False)
        yield KeyLine()

    def fill(self) -> None:
        """Show the table from its beginning; get ready for the keys."""
        self._column = self._first = self._n_left = 0
        self._say()
        size = f"{counted(len(self._table.documents), 'document')} by {counted(len(self._table.questions), 'question')}"
        self.query_one(HeaderLine).left = f"Table: {size}"
        self.query_one(HeaderLine).right = ""
        self._lay_out()
        self._grid.focus()

    def begin(self) -> None:
        """Fill the empty cells."""
        self._ask_all()

    def on_resize(self) -> None:
        """Fit the columns to the new width; the cursor stays."""
        if self._has_contents:
            row = self._grid.cursor_row
            self._lay_out()
            self._grid.move_cursor(row)

    # ---- the cells

    @property
    def _document(self) -> str:
        return self._table.documents[self._grid.cursor_row] if self._table.documents else ""

    @property
    def _cell(self) -> tuple[str, str]:
        """The sentence under the cursor, and what is said about it: the page and the level."""
        text = self._table.cell(self._table.questions[self._column], self._document) if self._document else ""
        about = _ABOUT.search(text)
        return (text[: about.start()], about[1]) if about else (text, "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys that need a cell only if there is one."""
        if action in ("correct", "open", "copy"):
            return self._has_contents and bool(self._table.documents)
        return True

    def _lay_out(self) -> None:
        room = max(self.size.width - _NAME_WIDTH - _PADDING, _LEAST_WIDTH)
        n = min(max(room // (_LEAST_WIDTH + _PADDING), 1), len(self._table.questions))
        self._first = min(max(self._first, self._column - n + 1), self._column)
        width, seen = room // n - _PADDING, range(self._first, self._first + n)
        marks = [_CURRENT if at == self._column else "" for at in seen]
        labels = [(Cell(mark + shown(self._table.questions[at])), width) for mark, at in zip(marks, seen, strict=True)]
        self._grid.show(
            [(Cell(""), _NAME_WIDTH), *labels],
            len(self._table.documents),
            lambda row: [self._named(row), *(self._cell_text(row, at) for at in seen)],
        )

    def _named(self, row: int) -> Cell:
        return Cell(shorten_middle(shown(self._table.documents[row]), _NAME_WIDTH))

    def _cell_text(self, row: int, column: int) -> Cell:
        text = self._table.cell(self._table.questions[column], self._table.documents[row])
        about = _ABOUT.search(text)
        sign = _SIGNS.get(about[1].rpartition(" ")[2], "") if about else ""
        mark = _CURRENT if row == self._grid.cursor_row and column == self._column else ""
        return Cell(mark + (shown(f"{sign}{_ABOUT.sub('', text)}") or "·"))

    def on_long_table_highlighted(self) -> None:
        """Show the cell under the cursor in full."""
        self._show_detail()

    def _show_detail(self) -> None:
        if not self._table.documents:
            self.query_one("#detail", Static).update(Content.styled("There are no documents here.", styles.MUTED))
            return
        text, about = self._cell
        head = f"{shown(self._table.questions[self._column])} · {shown(self._document)}"
        said = Content(shown(text) or "Nothing answers, or it is not asked yet.")
        lines = [Content.styled(head, styles.MUTED), said, Content.styled(shown(about), styles.MUTED)]
        self.query_one("#detail", Static).update(Content("\n").join(lines))

    def _say(self, done: str = "", error: str = "") -> None:
        text = Content.styled(f"✗ {error}", styles.ERROR) if error else Content.styled(f"✓ {done}", styles.SUCCESS)
        self.query_one("#said", Static).update(text if done or error else Content(""))

    # ---- filling

    @work(group="table")
    async def _ask_all(self) -> None:
        """Fill the empty cells until it is done, stopped or left. The table keeps what was found."""
        self._is_filling = self._is_wanted = True
        header, steps, error = self.query_one(HeaderLine), self._table.fill(), ""
        try:
            while self._is_wanted:
                n_left, error = await attempt(next, steps, None)
                if n_left is None:
                    break
                self._n_left = n_left
                header.right = f"{n_left:,} cells to ask"
                self._grid.refresh()
                self._show_detail()
        finally:
            with suppress(ValueError):  # a step still runs in its thread: the table is saved when that ends
                steps.close()
            self._is_wanted = self._is_filling = False
        header.right = f"stopped, {self._n_left:,} cells to ask" if self._n_left else ""
        self._say("" if self._n_left else f"kept in {shown(self._table.file)}", error)

    def action_stop(self) -> None:
        """Stop, or go on."""
        self._is_wanted = not self._is_wanted
        if self._is_wanted and not self._is_filling:
            self._ask_all()

    # ---- keys

    def action_leave(self) -> None:
        self._leave(None)

    def _leave(self, text: str | None) -> None:
        self.workers.cancel_group(self, "table")
        self.dismiss(text)

    def action_column(self, step: int) -> None:
        """Go to the question to the right (1) or to the left (-1)."""
        row = self._grid.cursor_row
        self._column = min(max(self._column + step, 0), len(self._table.questions) - 1)
        self._lay_out()
        self._grid.move_cursor(row)

    def on_long_table_selected(self) -> None:
        """Go back to the main screen, and look for the sentence there."""
        if text := self._cell[0]:
            self._leave(text)

    def action_open(self) -> None:
        if self._cell[0]:
            self._open(*self._cell)

    @work(exclusive=True, group="open")
    async def _open(self, text: str, about: str) -> None:
        page = _PAGE.search(about)
        path, at = self._table.path_of(self._document), int(page[1]) if page else None
        self._say(*await open_file(self.app, self._backend, path, at, text))

    def action_copy(self) -> None:
        if self._cell[0]:
            self.app.copy_to_clipboard(" ".join(filter(None, (self._cell[0], f"({self._document}, {self._cell[1]})"))))
            self._say("Sentence copied")

    def action_correct(self) -> None:
        """Ask for what is to stand in the cell."""
        question, document = self._table.questions[self._column], self._document
        text = self._table.cell(question, document)

        def correct(new: str | None) -> None:
            if new is not None and new != text:
                self._correct(question, document, new)

        about = "Enter keeps it, for later runs too; an empty line is asked again then."
        dialog = kept(self.app, LineDialog).put(question, text, about)
        self.app.push_screen(dialog, correct)

    @work(group="correct")
    async def _correct(self, question: str, document: str, text: str) -> None:
        _, error = await attempt(self._table.correct, question, document, text)
        self._say("corrected" if text else "emptied", error)
        self._grid.refresh()
        self._show_detail()
