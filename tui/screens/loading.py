"""Loads what the first frame does not show: the screens that open on top of the main one, and its panes."""

import asyncio
from importlib import import_module
from typing import Any

from textual.app import App

from longsearch.tui.backend.interface import Backend
from longsearch.tui.preferences import Preferences

_MODULES = (
    *("screens.basket", "screens.dialogs", "screens.files", "screens.folders", "screens.instruction", "screens.jump"),
    *("screens.outline", "screens.picker", "screens.side_by_side", "screens.table", "screens.text_boxes"),
    *("screens.reading_pane", "screens.user_data_calls", "widgets.result_pane"),
)


def load_screens() -> None:
    """Import every screen and pane, with its keys."""
    for name in _MODULES:
        import_module(f"longsearch.tui.{name}")


async def make_screens_ready(app: App[Any], backend: Backend, preferences: Preferences) -> None:
    """Import the screens in a thread; make those that stay."""
    await asyncio.to_thread(load_screens)
    from longsearch.tui.screens import basket, dialogs, files, folders, instruction, jump, outline, picker, text_boxes
    from longsearch.tui.screens.kept import kept, make_ready

    for screen in (
        kept(app, text_boxes.HelpScreen).put(preferences),
        *(kept(app, kind, backend) for kind in (files.FilesScreen, basket.BasketScreen)),
        *(kept(app, kind) for kind in (outline.OutlineScreen, picker.PickerScreen, text_boxes.WhyScreen)),
        *(kept(app, kind) for kind in (dialogs.LineDialog, dialogs.YesNoDialog, jump.JumpScreen)),
        *(kept(app, kind) for kind in (instruction.InstructionScreen, folders.FoldersScreen)),
    ):
        await make_ready(screen)
