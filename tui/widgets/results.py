"""The list of hits. Knows how to lay them out, and nothing of searches or of the preview."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from longsearch.engine.types.results import DocumentHit
from longsearch.tui.bindings import LIST_MOVES
from longsearch.tui.text.highlight import NO_WORDS, Highlighter
from longsearch.tui.text.result_content import chance_line, hit_content
from longsearch.tui.text.wording import first_by_chance

_TALL = 14
"""Rows; a list at least this tall shows two lines of each passage and a rule between documents."""


class Results(OptionList):
    """The documents, best first."""

    BINDINGS: ClassVar[list[BindingType]] = LIST_MOVES

    @dataclass
    class Selected(Message):
        """The cursor has moved to another document."""

        hit: DocumentHit
        words: Highlighter

    class Chosen(Message):
        """The person pressed Enter or clicked on a document. That document is already selected."""

    def __init__(self, root: str) -> None:
        super().__init__(markup=False)
        self._root = root
        self._hits: tuple[DocumentHit, ...] = ()
        self._words: Highlighter = NO_WORDS
        self._cursor: int | None = None
        """Index of the selected hit. `highlighted` is not enough: it is lost while there is no room for the list."""
        self._laid_out = (0, 0)

    def show(self, hits: tuple[DocumentHit, ...], words: Highlighter, cursor: int | None) -> None:
        """Replace the list and select the hit with index `cursor`, if any. An unchanged list stays scrolled."""
        if (hits, words, cursor) == (self._hits, self._words, self._cursor):
            return
        self._hits, self._words, self._cursor = hits, words, None
        self._lay_out()
        if cursor is not None:
            self._select(cursor)

    def move(self, step: int) -> None:
        """Move the cursor; the list need not have the focus."""
        if self._hits:
            at = -1 if self._cursor is None else self._cursor
            self._select(min(max(at + step, 0), len(self._hits) - 1))

    def on_resize(self) -> None:
        """Lay the list out again if the new size demands it, and the list is not hidden."""
        width, _ = shape = self._shape()
        if width > 0 and self._laid_out != shape:
            self._lay_out()

    def _shape(self) -> tuple[int, int]:
        """Return the cells of a line, and the lines of a passage."""
        return self.scrollable_content_region.width - 2, 2 if self.size.height >= _TALL else 1

    def _lay_out(self) -> None:
        width, n_lines = self._laid_out = self._shape()
        options: list[Option | None] = []
        line = first_by_chance(self._hits)
        for index, hit in enumerate(self._hits if width > 0 else ()):
            content = hit_content(hit, self._root, self._words, width, n_lines)
            options.append(Option(chance_line(index == 0, width) + content if index == line else content))
            options.append(None)
        self.set_options(options[:-1] if n_lines > 1 else options[::2])
        self.highlighted = self._cursor if options else None

    def _select(self, index: int) -> None:
        """Move the cursor to this hit, and report it once."""
        if index == self._cursor:
            return
        self._cursor = index
        if index < self.option_count:
            self.highlighted = index
        self.post_message(self.Selected(self._hits[index], self._words))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Follow the cursor that a key or the mouse has moved."""
        event.stop()
        if event.option is self.highlighted_option:  # else a late message about a replaced list
            self._select(event.option_index)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Report that a document was chosen."""
        event.stop()
        if event.option_index < len(self._hits):
            self.post_message(self.Chosen())
