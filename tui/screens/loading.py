"""Loads what the first frame does not show: the screens that open on top of the main one, and its panes."""

import asyncio
from importlib import import_module
from typing import Any

from textual.app import App

from longsearch.tui.backend.interface import Backend
from longsearch.tui.garbage import keep_what_stays
from longsearch.tui.graphics.terminal import Graphics
from longsearch.tui.preferences import Preferences

_MODULES = (
    *("screens.basket", "screens.dialogs", "screens.files", "screens.folders", "screens.instruction", "screens.jump"),
    *("screens.outline", "screens.picker", "screens.side_by_side", "screens.table", "screens.text_boxes"),
    "palette",
)
_PANES = ("widgets.result_pane", "screens.reading_pane", "screens.user_data_calls")


def load_panes() -> None:
    """Import the panes of the main screen, which the first frame does not show."""
    for name in _PANES:
        import_module(f"longsearch.tui.{name}")


def load_screens() -> None:
    """Import every screen and pane, with its keys."""
    load_panes()
    for name in _MODULES:
        import_module(f"longsearch.tui.{name}")


async def make_screens_ready(app: App[Any], backend: Backend, preferences: Preferences, graphics: Graphics) -> None:
    """Import the screens in a thread; make those that stay, and keep all that is there then."""
    await asyncio.to_thread(load_screens)
    from longsearch.tui.screens import (
        basket,
        dialogs,
        files,
        folders,
        instruction,
        jump,
        outline,
        picker,
        side_by_side,
        table,
        text_boxes,
    )
    from longsearch.tui.screens.kept import kept, make_ready

    made_of: list[tuple[type[Any], *tuple[object, ...]]] = [
        (text_boxes.HelpScreen, preferences),
        (files.FilesScreen, backend),
        (basket.BasketScreen, backend),
        (side_by_side.SideBySide, backend, graphics),
        (table.TableScreen, backend),
        *((outline.OutlineScreen,), (picker.PickerScreen,), (text_boxes.WhyScreen,), (dialogs.LineDialog,)),
        *((picker.CommandsScreen,), (picker.EarlierScreen,)),
        *((dialogs.YesNoDialog,), (jump.JumpScreen,), (instruction.InstructionScreen,), (folders.FoldersScreen,)),
    ]
    for kind, *how in made_of:
        if not app.is_screen_installed(kind.__name__):  # else the person was quicker
            await make_ready(kept(app, kind, *how))
    keep_what_stays()
