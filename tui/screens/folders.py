"""A small dialog to choose one of the folders of an app over several."""

from collections.abc import Sequence
from typing import ClassVar, Self

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from longsearch.engine.types.results import Folder
from longsearch.tui.screens.box import Box, BoxScreen
from longsearch.tui.text import styles
from longsearch.tui.text.folder_words import folder_lines
from longsearch.tui.widgets.key_line import KeyLine


class FoldersScreen(BoxScreen[str | None]):
    """Returns the name of the chosen folder, "" for all; or None if the person left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f4,ctrl+g", "leave", "Leave as it is", id="folders.leave"),
        Binding("j", "move(1)", "Down", id="folders.down", show=False),
        Binding("k", "move(-1)", "Up", id="folders.up", show=False),
    ]

    _folders: Sequence[Folder] = ()

    def put(self, folders: Sequence[Folder]) -> Self:
        """Offer these folders."""
        self._folders = folders
        return self.renew()

    def compose(self) -> ComposeResult:
        with Box(id="folders") as box:
            box.border_title = "Folders"
            yield OptionList(markup=False, compact=True)
            yield Static("Enter searches this folder only: it puts folder: into the query.", markup=False)
        yield KeyLine()

    def fill(self) -> None:
        """List the folders, the cursor on the first line."""
        lines = [Content.styled("All folders", "bold")]
        for name, about in folder_lines(self._folders):
            lines.append(Content.assemble((name, "bold"), "\n  ", (about, styles.MUTED)))
        options = self.query_one(OptionList).set_options(map(Option, lines))
        options.highlighted = 0
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the chosen folder."""
        self.dismiss(self._folders[event.option_index - 1].name if event.option_index else "")

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()

    def action_leave(self) -> None:
        self.dismiss(None)
