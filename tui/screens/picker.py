"""A dialog to choose one of many lines: typing narrows the list, Enter chooses. Knows not what the lines mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content, Span
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.painting import PaintsOptions, WrappedLines, show_line, show_title
from longsearch.tui.screens.box import Box, BoxScreen
from longsearch.tui.screens.dialogs import a_line
from longsearch.tui.text import styles
from longsearch.tui.text.dates import bars
from longsearch.tui.text.display import clip, shown
from longsearch.tui.widgets.key_line import KeyLine


@dataclass(frozen=True, slots=True)
class Line:
    """One line to choose. Its texts need not be safe to show."""

    text: str
    about: str = ""
    """The second row, or ""."""
    is_marked: bool = False
    """Whether a dot stands before it."""
    is_offer: bool = False
    """Whether it offers something else than the list; it goes while what is typed finds a line of the list."""
    is_sought: bool = False
    """Whether it is listed only where it has what is typed."""
    about_at: int = 0
    """The cell at which `about` stands in the row of the text. 0: it has a row of its own."""


class LineList(PaintsOptions, OptionList):
    """Lines to choose from."""


class PickerScreen(BoxScreen[int | None]):
    """Returns the index of the chosen line; None if the person left with Esc."""

    VERTICAL_BREAKPOINTS = [(30, "-tall")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave as it is", id="picker.leave"),
        Binding("f8", "delete", "Delete", id="picker.delete"),
        Binding("down", "move(1)", "Down", id="picker.down", show=False),
        Binding("up", "move(-1)", "Up", id="picker.up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="picker.page_down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="picker.page_up", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._title = self._about = ""
        self._delete: Callable[[int], object] | None = None
        self._lines: dict[int, Line] = {}
        self._shown: list[int] = []
        self._listed: tuple[int, list[Line]] | None = None
        """The width, and the lines that the list has now."""

    def put(self, title: str, lines: Sequence[Line], about: str, delete: Callable[[int], object] | None = None) -> Self:
        """`about` is a sentence below the list. `delete` deletes a line for good; it may block, and raise an error.

        None: lines cannot be deleted.
        """
        self._title, self._about, self._delete = title, about, delete
        self._lines = dict(enumerate(lines))
        return self.renew()

    def add(self, lines: Sequence[Line]) -> None:
        """Add lines at the end."""
        self._lines |= dict(enumerate(lines, start=len(self._lines)))
        if self.query_one(Input).value or not all(line.is_sought for line in lines):
            self._list()

    def compose(self) -> ComposeResult:
        options = LineList(markup=False, compact=True)
        options.can_focus = False
        with Box(id="picker"):
            yield a_line("type to narrow the list")
            yield options
            yield Static(id="about-list")
        yield KeyLine()

    def fill(self) -> None:
        """List all lines; get ready for typing."""
        show_title(self.query_one("#picker"), shown(self._title))
        show_line(self.query_one("#about-list", Static), shown(self._about))
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self.query_one(OptionList).highlighted = None
        self._list()
        self.query_one(Input).focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to delete only where that can be."""
        return self._delete is not None if action == "delete" else True

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._list()

    def _list(self) -> None:
        """List the lines that hold every word that was typed; the offers if nothing was typed or nothing is found."""
        words = self.query_one(Input).value.casefold().split()
        offers = [index for index, line in self._lines.items() if line.is_offer]
        texts = {index: f"{line.text} {line.about}".casefold() for index, line in self._lines.items()}
        matching = [
            index
            for index, text in texts.items()
            if all(word in text for word in words)
            and (words or not self._lines[index].is_sought)
            and index not in offers
        ]
        self._shown = matching if words and matching else [*offers, *matching]
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        width = max(self.query_one("#picker").content_size.width - 3, 10)
        listed = width, [self._lines[index] for index in self._shown]
        if listed != self._listed:
            self._listed = listed
            options.set_options(_option(line, width) for line in listed[1])
        options.highlighted = min(at, len(self._shown) - 1) if self._shown else None

    def on_input_changed(self) -> None:
        """Narrow the list; the first line is the one to choose."""
        self.query_one(OptionList).highlighted = None
        self._list()

    def on_input_submitted(self) -> None:
        """Return the line under the cursor."""
        if (index := self._selected) is not None:
            self.dismiss(index)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the line that was clicked."""
        self.dismiss(self._shown[event.option_index])

    @property
    def _selected(self) -> int | None:
        at = self.query_one(OptionList).highlighted
        return self._shown[at] if at is not None and at < len(self._shown) else None

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()

    def action_page(self, step: int) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            at = options.highlighted + step * max(options.size.height // 2, 1)
            options.highlighted = min(max(at, 0), len(self._shown) - 1)

    @work(exclusive=True, group="delete")
    async def action_delete(self) -> None:
        """Delete the line under the cursor."""
        if (index := self._selected) is None or self._delete is None:
            return
        _, error = await attempt(self._delete, index)
        if error:
            self.query_one("#about-list", Static).update(Content.styled(f"✗ {error}", styles.ERROR))
            return
        self._lines.pop(index, None)
        self._list()

    def action_leave(self) -> None:
        self.dismiss(None)


class CommandsScreen(PickerScreen):
    """The commands. Apart from other lists, so that they are there when they are asked for again."""


class EarlierScreen(PickerScreen):
    """The earlier queries."""


def command_line(title: str, about: str, is_sought: bool = False) -> Line:
    """Return the line of a command: what it does stands beside its title."""
    return Line(title, about, is_sought=is_sought, about_at=20)


_BAR = 30
"""Cells of the longest bar."""


def date_lines(counts: Sequence[tuple[str, int]]) -> list[Line]:
    """Return a line for how many results there are of each date."""
    return [Line(bar) for bar in bars(counts, _BAR)]


def _option(line: Line, width: int) -> Option:
    def rows() -> list[Content]:
        mark, about = "● " * line.is_marked, shown(line.about)
        room = width - len(mark)
        if n_rows == 1 and about:
            room = max(room - cell_len(about) - 2, width // 2)
        first = mark + clip(shown(line.text), room)
        spans = [Span(0, len(mark), styles.ACCENT)] if mark else []
        if n_rows > 1:
            return [Content(first, spans), Content.styled(clip(f"  {about}", width), styles.MUTED)]
        gap = " " * max(line.about_at - cell_len(first), 2) if about else ""
        return [Content(clip(first + gap + about, width), [*spans, Span(len(first), width, styles.MUTED)])]

    n_rows = 1 if line.about_at or not line.about else 2
    return Option(WrappedLines(n_rows, rows))
