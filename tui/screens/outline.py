"""The outline of the document in view, on top of the main screen. Enter or a click goes to an entry, Esc closes it."""

from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from longsearch.tui.text import styles
from longsearch.tui.text.display import clip
from longsearch.tui.text.outline import Entry


class OutlineScreen(ModalScreen[int | None]):
    """Answers with the offset to go to, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,t", "dismiss(None)", "Close", id="outline.close"),
        Binding("j", "move(1)", "Down", id="outline.down", show=False),
        Binding("k", "move(-1)", "Up", id="outline.up", show=False),
    ]

    def __init__(self, title: str, entries: list[Entry], current: int | None) -> None:
        """`title` has passed through `shown`; `current` is the index of the entry where the reader is."""
        super().__init__()
        self._title, self._entries, self._current = title, entries, current
        self._filled_width = 0

    def compose(self) -> ComposeResult:
        outline = OptionList(id="outline", markup=False)
        outline.border_title = Content(self._title)
        yield outline

    def on_mount(self) -> None:
        """List the entries in the width that there is."""
        self._fill()

    def on_resize(self, event: events.Resize) -> None:
        """List them again in the new width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        outline = self.query_one(OptionList)
        width = outline.scrollable_content_region.width - 2
        if width < 1 or width == self._filled_width:  # 3,000 pages take half a second
            return
        self._filled_width = width
        highlighted = outline.highlighted if outline.highlighted is not None else self._current
        outline.set_options([Option(_line(entry, width)) for entry in self._entries])
        outline.highlighted = highlighted

    def action_move(self, step: int) -> None:
        outline = self.query_one(OptionList)
        outline.action_cursor_down() if step > 0 else outline.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the entry."""
        self.dismiss(self._entries[event.option_index].start)


def _line(entry: Entry, width: int) -> Content:
    page = f"p. {entry.page}" if entry.page is not None else ""
    title = clip(entry.title, max(width - cell_len(page) - 1, 1))
    gap = " " * max(width - cell_len(title) - cell_len(page), 0)
    return Content.assemble(title, gap, (page, styles.MUTED))
