"""The folders of an app over several: their names on the frame of the query, and a small dialog to choose one."""

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from longsearch.engine.types.results import Folder
from longsearch.tui.backend.interface import Backend
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.text import styles
from longsearch.tui.text.folder_words import folder_lines
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.query_bar import QueryBar


class FoldersScreen(ModalScreen[int | None]):
    """Returns the index of the chosen folder, -1 for all; or None if the person left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f4,ctrl+g", "leave", "Leave as it is", id="folders.leave"),
        Binding("j", "move(1)", "Down", id="folders.down", show=False),
        Binding("k", "move(-1)", "Up", id="folders.up", show=False),
    ]

    def __init__(self, folders: Sequence[Folder]) -> None:
        super().__init__()
        self._folders = folders

    def compose(self) -> ComposeResult:
        with Vertical(id="folders") as box:
            box.border_title = "Folders"
            options = [Content.styled("All folders", "bold")]
            for name, about in folder_lines(self._folders):
                options.append(Content.assemble((name, "bold"), "\n  ", (about, styles.MUTED)))
            yield OptionList(*map(Option, options), markup=False, compact=True)
            yield Static("Enter searches this folder only: it puts folder: into the query.", markup=False)
        yield KeyLine()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the chosen folder."""
        self.dismiss(event.option_index - 1)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()

    def action_leave(self) -> None:
        self.dismiss(None)


class FolderChoice(Widget):
    """An invisible widget: workers and timers need a node of the screen."""

    DEFAULT_CSS = "FolderChoice { display: none; }"
    READ_EVERY_S = 5.0

    def __init__(self, backend: Backend, bar: QueryBar) -> None:
        super().__init__()
        self._backend = backend
        self._bar = bar
        self._folders: list[Folder] | None = None
        self._is_reading = False
        self.is_offered = backend.root is None
        """Whether there are folders to choose among."""

    def on_mount(self) -> None:
        """Read the list of folders now and every few seconds: one may be added, forgotten or unmounted."""
        if self.is_offered:
            self._read()
            self.set_interval(self.READ_EVERY_S, self._read)

    def choose(self) -> None:
        """Let the person choose a folder, and put it into the query."""
        self.app.push_screen(FoldersScreen(self._folders or ()), self._use)

    def _use(self, index: int | None) -> None:
        if index is not None and self._folders is not None:
            self._bar.choose_folder(None if index < 0 else self._folders[index].name)

    @work
    async def _read(self) -> None:
        if self._is_reading:
            return
        self._is_reading = True
        folders, _ = await attempt(self._backend.folders)  # a search tells the person what is wrong
        self._is_reading = False
        if folders is not None and folders != self._folders:
            self._folders = folders
            self._bar.show_folders(folders)
