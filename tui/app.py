"""The terminal app: one main screen over a backend. Knows how to start and how to end, and the command palette.

Imports neither torch, tokenizers nor apsw: it opens in the time Textual takes.
"""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.types import AnimationLevel

from tui.backend import Backend
from tui.lane import attempt
from tui.screens.main import MainScreen

N_THREADS = 16
"""One for each kind of call and some more: Python's own pool may have only 5, and a call that blocks holds one."""


class LongsearchApp(App[None]):
    """`LongsearchApp(backend).run()`. Closes the backend when it ends."""

    TITLE = "longsearch"
    # Here, not in the screens: Textual does not load the style sheet of a default screen.
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        f"screens/{name}.tcss" for name in ("main", "help", "instruction", "files")
    ]
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", id="app.quit", priority=True)]

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self._is_closing = False
        self.animation_level: AnimationLevel = "none"  # nothing that moves by itself goes over a slow line

    def on_mount(self) -> None:
        """Room for calls that block."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(N_THREADS, thread_name_prefix="longsearch"))

    def get_default_screen(self) -> Screen[None]:
        """The main screen."""
        return MainScreen(self._backend)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the command palette offers: each does what its key does."""
        if isinstance(screen, MainScreen):
            yield SystemCommand("Mode", "Search by hybrid, meaning or words: the next one", screen.action_mode)
            yield SystemCommand("Instruction", "Say what kind of answer you want", screen.action_instruction)
            yield SystemCommand("Files", "Every file, its state, and why it failed", screen.action_files)
            yield SystemCommand("Help", "How to ask, and every key", screen.action_help)
        yield SystemCommand("Theme", "Other colours", self.action_change_theme)
        yield SystemCommand("Quit", "Indexing goes on without this window", self.action_quit)

    async def action_quit(self) -> None:
        """Close the backend, so that calls under way end, then leave. A second time: leave at once."""
        if self._is_closing:
            self.exit()
            return
        self._is_closing = True
        self._close_backend()

    @work
    async def _close_backend(self) -> None:
        """Close the backend and leave, even if closing fails."""
        await attempt(self._backend.close)
        self.exit()
