"""The list of hits, and which of them the person has chosen. Knows nothing of searches or of the text beside it.

A query gets several answers: by words at once, in the chosen mode later, and again when the index changes. Until the
person chooses a document, the best one is selected. A chosen document stays selected, whichever answer comes next.

Below the likely hits, one row stands for all the unlikely ones. To go down to that row is to unfold it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.reactive import Reactive
from textual.style import Style
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from longsearch.engine.types.results import DocumentHit
from longsearch.tui.bindings import LIST_MOVES
from longsearch.tui.painting import PaintsOptions, QuietFocus, WrappedLines
from longsearch.tui.text.highlight import NO_WORDS, Highlighter
from longsearch.tui.text.result_content import chance_line, folded_row, hit_lines
from longsearch.tui.text.wording import first_unlikely

_UNDER_CURSOR, _CURSOR = "option-list--option-highlighted", "results--cursor"
_TALL = 14
"""Rows; a list at least this tall shows three lines of each sentence and a blank line between documents."""
_BESIDE_SENTENCE, _MOST_LINES = 5, 8
"""Where one document stands alone above the folded row: rows that its sentence leaves free, and the most that it takes.

Free are two for the title, one for the path, a blank one, and the folded row.
"""


class Results(QuietFocus, PaintsOptions, OptionList):
    """The documents, best first."""

    BINDINGS: ClassVar[list[BindingType]] = LIST_MOVES
    COMPONENT_CLASSES: ClassVar[set[str]] = {_CURSOR}
    highlighted: Reactive[int | None] = Reactive(None, repaint=False)
    """As in OptionList, which would paint all rows again."""

    @dataclass
    class Selected(Message):
        """The cursor has moved to another document."""

        hit: DocumentHit
        words: Highlighter
        is_chosen: bool
        """Whether the person has chosen it, and not just the search found it best."""
        is_brought_back: bool = False
        """Whether it was only in view before: nobody has read it yet since this query was asked."""

        def can_replace(self, message: Message) -> bool:
            """Only the last one matters."""
            return isinstance(message, Results.Selected)

    class Chosen(Message):
        """The person pressed Enter or clicked on a document. That document is already selected."""

    @dataclass
    class Marked(Message):
        """The person has marked hits, or has marked none any more."""

        hits: tuple[DocumentHit, ...]

    def __init__(self, root: str) -> None:
        super().__init__(markup=False)
        self._root = root
        self.hits: tuple[DocumentHit, ...] = ()
        self._first_unlikely: int | None = None
        """Index of the hit from which all are unlikely."""
        self._words: Highlighter = NO_WORDS
        self._chosen: int | None = None
        """The document that the person has chosen among the answers to this query, which may hold it later only."""
        self._wanted_path = ""
        """The file to choose once an answer has it."""
        self._cursor: int | None = None
        """Index of the selected hit. `highlighted` is not enough: it is lost while there is no room for the list."""
        self._laid_out = (0, 0, 0)
        self._is_unfolded = False
        """Whether the person has gone down to the unlikely hits of this query."""
        self._with_versions: set[int] = set()
        """The documents of this query whose versions are listed."""
        self._letters: dict[int, str] = {}
        """The letters of jump mode, by the index of the hit."""
        self._marked: set[int] = set()
        """The documents that the person has marked, to do something with all of them."""

    @property
    def selected(self) -> DocumentHit | None:
        """The hit under the cursor."""
        return self.hits[self._cursor] if self._cursor is not None else None

    def begin(self, path: str = "") -> None:
        """Let the person choose anew: there is a new query. `path`: the file to choose once an answer has it."""
        self._chosen, self._wanted_path, self._is_unfolded = None, path, False
        self._with_versions.clear()
        self.unmark()

    def choose(self) -> None:
        """Keep the document under the cursor in view, whichever answer comes next."""
        if hit := self.selected:
            self._chosen, self._wanted_path = hit.document_id, ""

    def expect(self, document_id: int) -> None:
        """Choose a document of the answer that has not arrived yet."""
        self._chosen = document_id

    def show(self, hits: tuple[DocumentHit, ...], words: Highlighter) -> None:
        """Replace the list, and select the chosen hit, else the best. An unchanged list stays scrolled."""
        if self._with_versions:
            hits = _unfolded(hits, self._with_versions)
        cursor = self._index_of_chosen(hits)
        if (hits, words, cursor) == (self.hits, self._words, self._cursor):
            return
        self.hits, self._words, self._cursor = hits, words, None
        self._first_unlikely = first_unlikely(hits)
        self._lay_out()
        if cursor is not None:
            self._select(cursor)

    def action_unfold(self) -> None:
        """List the versions of the document under the cursor as rows of their own."""
        if (hit := self.selected) and hit.versions:
            self.choose()
            self._with_versions.add(hit.document_id)
            self.show(self.hits, self._words)

    def action_mark(self) -> None:
        """Mark the document under the cursor, or no longer, and go on to the next."""
        if (hit := self.selected) is None or self._cursor is None:
            return
        self._marked ^= {hit.document_id}
        self._draw_again(self._cursor)
        self._tell_marked()
        self.choose()
        self.move(1)

    def _draw_again(self, index: int) -> None:
        if index < min(self._n_likely, self.option_count) and self._laid_out[0] > 0:
            self.replace_option_prompt_at_index(index, self._prompt_of(index))

    def show_letters(self, letters: str) -> dict[str, int]:
        """Show a letter at each hit in view; "" shows none. Return the index of the hit of each letter."""
        top, before = self.scroll_offset.y, self._letters
        in_view = dict.fromkeys(index for index, _ in self._lines[top : top + self.size.height])
        self._letters = dict(zip(in_view, letters, strict=False))
        for index in {*before, *self._letters}:
            self._draw_again(index)
        return {letter: index for index, letter in self._letters.items()}

    def go_to(self, index: int) -> None:
        """Choose a hit by its index."""
        self.highlighted = index
        self.choose()

    def unmark(self) -> bool:
        """Mark none; return whether there were any."""
        if not self._marked:
            return False
        self._marked.clear()
        self._lay_out()
        self._tell_marked()
        return True

    def _tell_marked(self) -> None:
        marked = tuple(hit for hit in self.hits if hit.document_id in self._marked)
        self.post_message(self.Marked(marked).set_sender(self))

    def _index_of_chosen(self, hits: tuple[DocumentHit, ...]) -> int | None:
        """Return the index of the hit to select; None if the chosen document is not among the hits."""
        if not hits:
            self._chosen = None
            return None
        if self._chosen is None and self._wanted_path:
            self._chosen = next((hit.document_id for hit in hits if hit.path == self._wanted_path), None)
        if self._chosen is None:
            return 0
        return next((index for index, hit in enumerate(hits) if hit.document_id == self._chosen), None)

    def move(self, step: int) -> None:
        """Move the cursor; the list need not have the focus."""
        if self.hits:
            at = -1 if self._cursor is None else self._cursor
            self._select(min(max(at + step, 0), len(self.hits) - 1))

    def watch_highlighted(  # type: ignore[override]  # Textual gives a watcher one value or both
        self, before: int | None, highlighted: int | None
    ) -> None:
        """Paint the rows that the cursor has left and reached."""
        for index in {before, highlighted}:
            if index is not None and (n_lines := self._heights.get(index)):
                self.refresh_lines(self._index_to_line[index], n_lines)
        if highlighted != before:
            super().watch_highlighted(highlighted)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Paint the row under the cursor."""
        self.watch_highlighted(self.highlighted, self.highlighted)

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        """Return the style of a row; that under the cursor has a style of its own while the list has the focus."""
        names = [_CURSOR if name == _UNDER_CURSOR and self.has_focus else name for name in component_classes]
        return super().get_visual_style(*names, partial=partial)

    def scroll_to_highlight(self, top: bool = False) -> None:
        """Show the hit under the cursor; the first row in view is a title, not the middle of another hit."""
        super().scroll_to_highlight(top)
        y, lines = self.scroll_offset.y, self._lines
        if y < len(lines) and lines[y][1] and lines[y][0] != self.highlighted:
            next_title = self._index_to_line[lines[y][0] + 1]
            self.scroll_to(y=next_title, animate=False, force=True, immediate=True)

    def fit(self) -> None:
        """Lay the list out again if the new size demands it, and the list is not hidden."""
        shape = self._shape()
        if shape[0] > 0 and self._laid_out != shape:
            self._lay_out()

    def _shape(self) -> tuple[int, int, int]:
        """Return the cells of a line, the lines of a sentence, and those of the first one."""
        width, height = self.scrollable_content_region.width - 2, self.size.height
        n_lines = 3 if height >= _TALL else 1
        is_alone = (self._first_unlikely or len(self.hits)) == 1
        return width, n_lines, max(n_lines, min(height - _BESIDE_SENTENCE, _MOST_LINES)) if is_alone else n_lines

    @property
    def _n_likely(self) -> int:
        """The hits above the folded row: all of them if nothing is folded."""
        return len(self.hits) if self._is_unfolded else self._first_unlikely or len(self.hits)

    def _lay_out(self) -> None:
        width, n_lines, _ = self._laid_out = self._shape()
        options: list[Option | None] = []
        n_likely = self._n_likely
        for index in range(n_likely if width > 0 else 0):
            options += [Option(self._prompt_of(index)), None]
        if options and n_likely < len(self.hits):
            row = folded_row(self.hits[n_likely:], width)
            options += [Option(WrappedLines(1, lambda: [row])), None]
        self.set_options(options[:-1] if n_lines > 1 else options[::2])
        self.highlighted = self._cursor if options else None

    def _prompt_of(self, index: int) -> WrappedLines:
        """Return the lines of a hit."""
        width, n_lines, n_of_first = self._laid_out
        hit = self.hits[index]
        letter = f"[{self._letters[index]}] " if index in self._letters else ""
        mark = letter + "● " * (hit.document_id in self._marked)
        lines = hit_lines(hit, self._root, self._words, width, n_lines if index else n_of_first, mark)
        if index != self._first_unlikely:
            return lines
        above = chance_line(self.hits, index, width)
        return WrappedLines(lines.n_lines + 1, lambda: [above, *lines.make()])

    def _select(self, index: int) -> None:
        """Move the cursor to this hit, and report it once. If the hit is folded away, unfold all that are."""
        if index == self._cursor:
            return
        is_folded = index >= self._n_likely
        self._cursor, hit = index, self.hits[index]
        if index > 0 or self._chosen is not None:
            self._chosen = hit.document_id
        if self._chosen is not None and hit.path != self._wanted_path:
            self._wanted_path = ""
        if is_folded:
            self._is_unfolded = True
            self._lay_out()
        elif index < self.option_count:
            self.highlighted = index
        is_chosen = self._chosen is not None
        selected = self.Selected(hit, self._words, is_chosen, is_chosen and bool(self._wanted_path))
        self.post_message(selected.set_sender(self))  # Textual stops a message at the parent that asked for it

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Follow the cursor that a key or the mouse has moved."""
        event.stop()
        if event.option is self.highlighted_option:  # else a late message about a replaced list
            self._select(event.option_index)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Report that a document was chosen."""
        event.stop()
        if event.option_index < len(self.hits):
            self.post_message(self.Chosen())


def _unfolded(hits: Sequence[DocumentHit], documents: Collection[int]) -> tuple[DocumentHit, ...]:
    """Return the hits with the versions of these documents after each, as hits of their own."""
    return tuple(
        one
        for hit in hits
        for one in ((replace(hit, versions=()), *hit.versions) if hit.document_id in documents else (hit,))
    )
