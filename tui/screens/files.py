"""The files screen: every file of the folder with its status and, if it failed, the reason and a hint.

Reads the list when it opens, and again on F5. `r` asks the backend to read failed and partial files again.
"""

import os
import time
from collections.abc import Mapping
from itertools import chain
from operator import attrgetter
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from longsearch.engine.amounts import counted, quantity
from longsearch.engine.types.progress import FileReport, FileStatus, ScannedPages
from longsearch.tui.backend.interface import Backend
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.bindings import FILES
from longsearch.tui.painting import set_class_of
from longsearch.tui.screens.carrying_out import open_file
from longsearch.tui.screens.kept import KeptScreen
from longsearch.tui.text import styles, wording
from longsearch.tui.text.display import shorten_middle, shown
from longsearch.tui.widgets.header_line import HeaderLine
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.long_table import Cell, LongTable

_ORDER = (FileStatus.FAILED, FileStatus.PARTIAL, FileStatus.WAITING, FileStatus.CURRENT)
"""Trouble first."""
_STYLES = {
    FileStatus.FAILED: f"bold {styles.ERROR}",
    FileStatus.PARTIAL: styles.WARNING,
    FileStatus.WAITING: styles.MUTED,
    FileStatus.CURRENT: styles.SUCCESS,
}
_READING = "Files: reading the list…"
_STATUS_WIDTH, _NUMBER_WIDTH, _CELL_PADDING = 8, 7, 2
_FIXED_WIDTH = _STATUS_WIDTH + 2 * _NUMBER_WIDTH + 5 * _CELL_PADDING + 1


class FilesScreen(KeptScreen[None], Screen[None]):
    """A table of all files; below it the reason and the hint of the selected file in full."""

    BINDINGS: ClassVar[list[BindingType]] = FILES
    BLANK = True  # its widgets cover it

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._files: Mapping[FileStatus | None, list[FileReport]] = {}
        """All files, trouble first, and those of each status that any has. Empty while the list is not read."""
        self._with_reasons: frozenset[FileStatus | None] = frozenset()
        """The keys of `_files` under which any file has a reason."""
        self._shown: list[FileReport] = []
        self._filter: FileStatus | None = None
        self._table = LongTable()
        self._scanned = ScannedPages()

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield self._table
        yield Static(id="scans", markup=False)
        yield Static(id="detail", markup=False)
        yield KeyLine()

    def fill(self) -> None:
        """Show that the list is read; get ready for the keys."""
        self._forget()
        self._table.focus()
        self.query_one(HeaderLine).left = _READING

    def begin(self) -> None:
        """Read the list. The thread that sorts it would hold up the first frame."""
        self.action_read()

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the screen, and keep no list: it may have 50,000 files."""
        self.workers.cancel_group(self, "files")
        self._forget()
        return super().dismiss(result)

    def _forget(self) -> None:
        self._filter, self._files, self._with_reasons = None, {}, frozenset()
        self._list()

    def on_resize(self) -> None:
        """Fit the columns to the new width; the cursor stays."""
        row = self._table.cursor_row
        self._list()
        self._table.move_cursor(row=row)

    @work(exclusive=True, group="files")
    async def action_read(self) -> None:
        """Read the list."""
        header = self.query_one(HeaderLine)
        header.left = _READING
        read, error = await attempt(self._by_status)  # off the UI thread: 50,000 files are sorted too
        if read is None:
            header.left = "Files"
            self._say_error(error)
            return
        self._files, self._with_reasons = read
        self._list()
        await self._read_scanned()

    def _by_status(self) -> tuple[Mapping[FileStatus | None, list[FileReport]], frozenset[FileStatus | None]]:
        """Return what `_files` and `_with_reasons` hold. Blocks; runs in a thread."""
        listed = sorted(self._backend.files(), key=attrgetter("folder", "path"))
        found = {status: [file for file in listed if file.status is status] for status in _ORDER}
        files: dict[FileStatus | None, list[FileReport]] = {
            None: [*chain(*found.values())],
            **{status: own for status, own in found.items() if own},
        }
        return files, frozenset(status for status, own in files.items() if any(file.reason for file in own))

    async def _read_scanned(self) -> None:
        pages, _ = await attempt(self._count_scanned)
        self._scanned = pages or ScannedPages()
        said = wording.scanned(self._scanned)
        can_ask = said and not self._scanned.problem
        asked = " · s: no longer" if self._scanned.is_wished else " · s: read them when the computer is idle"
        line = self.query_one("#scans", Static)
        line.display = bool(said)
        line.update(Content(shown(said) + (asked if can_ask else "")))

    def _count_scanned(self) -> ScannedPages:
        """Return the scanned pages of all files. Blocks; runs in a thread."""
        counts = [file.n_scanned for file in self._files.get(None, []) if file.n_scanned]
        return self._backend.scanned_pages(sum(counts), len(counts))

    @work(exclusive=True, group="scans")
    async def action_scans(self) -> None:
        """Have scanned pages read when the machine is idle, or no longer."""
        if not self._scanned.n_pages:
            self._say(Content("There are no scanned pages without text."))
        elif self._scanned.problem:
            self._say_error(shown(self._scanned.problem))
        else:
            done, error = await attempt(self._backend.read_scans, not self._scanned.is_wished)
            await self._read_scanned()
            self._say_done(done) if done is not None else self._say_error(error)

    def action_retry(self) -> None:
        """Ask the backend to read failed and partial files again."""
        if None in self._with_reasons:
            self._say(Content("Asking for these files to be read again…"))
            self._retry()
        else:
            self._say(Content("Every file was read in full."))

    @work(exclusive=True, group="retry")
    async def _retry(self) -> None:
        done, error = await attempt(self._backend.retry)
        self._say_done(f"{done}; F5 shows the outcome") if done is not None else self._say_error(error)

    @work(exclusive=True, group="open")
    async def _open(self, path: str) -> None:
        done, error = await open_file(self.app, self._backend, path)
        self._say_error(error) if error else self._say_done(done)

    def action_filter(self) -> None:
        """Show only the files with the next status that any file has; after the last one, show all files."""
        present = [*self._files]
        at = present.index(self._filter) if self._filter in present else 0
        self._filter = present[(at + 1) % len(present)]
        self._list()

    def _list(self) -> None:
        """Put the files that pass the filter into the table."""
        self._shown = self._files.get(self._filter, [])
        has_reasons = self._filter in self._with_reasons
        name_width, reason_width = _text_widths(self.size.width - _FIXED_WIDTH, has_reasons)
        texts = (("status", _STATUS_WIDTH), ("file", name_width), ("reason", reason_width))
        columns = [(Cell(label), width) for label, width in texts if width]
        columns += [(Cell(label, is_right=True), _NUMBER_WIDTH) for label in ("pages", "tokens")]
        shown_now = self._shown
        set_class_of(detail := self.query_one("#detail", Static), has_reasons, "-with-reasons", detail)
        self._table.show(columns, len(shown_now), lambda row: _row(shown_now[row], name_width, has_reasons))
        what = f"filter: {self._filter.value}" if self._filter else "all"
        self.query_one(HeaderLine).left = f"{counted(len(self._shown), 'file')} · {what}"
        self.query_one(HeaderLine).right = _census(self._files)
        if not self._shown:
            self._say(Content("There are no files here yet." if self._files and not self._files[None] else ""))

    def on_long_table_highlighted(self, event: LongTable.Highlighted) -> None:
        """Show the details of the file under the cursor."""
        if event.row < len(self._shown):
            self._say(_detail(self._shown[event.row]))

    def on_long_table_selected(self) -> None:
        """Open the file on Enter."""
        self.action_open()

    def action_open(self) -> None:
        """Open the file under the cursor in the system's viewer."""
        if self._table.cursor_row < len(self._shown):
            self._open(self._path(self._shown[self._table.cursor_row]))

    def action_copy_path(self) -> None:
        """Copy the path of the file under the cursor."""
        if self._table.cursor_row < len(self._shown):
            self.app.copy_to_clipboard(shown(self._path(self._shown[self._table.cursor_row])))
            self._say_done("Path copied")

    def _path(self, file: FileReport) -> str:
        return os.path.join(file.root or self._backend.root or "", file.path)  # noqa: PTH118

    def _say_done(self, done: str) -> None:
        self._say(Content.styled(f"✓ {shown(done)}", styles.SUCCESS))

    def _say_error(self, error: str) -> None:
        self._say(Content.styled(f"✗ {error}", styles.ERROR))

    def _say(self, content: Content) -> None:
        self.query_one("#detail", Static).update(content)


def _text_widths(room: int, has_reasons: bool) -> tuple[int, int]:
    """Divide `room` cells between the file's name and the reason. Where no file has one, the name has it all."""
    if not has_reasons:
        return max(room + _CELL_PADDING, 12), 0
    name = max(room // 2, 12)
    return name, max(room - name, 8)


def _row(file: FileReport, name_width: int, has_reasons: bool) -> tuple[Cell, ...]:
    return (
        Cell(file.status.value, _STYLES[file.status]),
        Cell(shorten_middle(_name(file), name_width)),
        *([Cell(shown(file.reason))] if has_reasons else []),
        Cell(quantity(file.n_pages) if file.n_pages else "", is_right=True),
        Cell(quantity(file.n_tokens) if file.n_tokens else "", is_right=True),
    )


def _name(file: FileReport) -> str:
    """Return the path in its folder; if the files of several folders are listed, with the folder's name before it."""
    return shown(f"{file.folder}/{file.path}" if file.folder else file.path)


def _detail(file: FileReport) -> Content:
    """Return path, reason and hint in full, and then when the file is read again."""
    embedded = f"{file.n_tokens_embedded:,} of {file.n_tokens:,} tokens searchable by meaning"
    lines = [
        Content.styled(_name(file), "bold"),
        Content(shown(file.reason) or (embedded if file.n_tokens else "not read yet")),
        Content.styled(f"→ {shown(file.hint)}" if file.hint else "", styles.WARNING),
        Content.styled(wording.next_try(file, time.time()), styles.MUTED),
    ]
    return Content("\n").join([line for line in lines if line])


def _census(files: Mapping[FileStatus | None, list[FileReport]]) -> str:
    """Count the files of each status."""
    return " · ".join(f"{len(own):,} {status.value}" for status, own in files.items() if status)
