"""Opens a file, and carries out what that leaves to the app: an editor in this terminal, a command to copy."""

import shlex
import subprocess
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from longsearch.engine.opened import Opened
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.text.display import shown

if TYPE_CHECKING:
    from textual.app import App

    from longsearch.tui.backend.interface import Backend


async def open_file(
    app: "App[None]", backend: "Backend", path: str, page: int | None = None, text: str = ""
) -> tuple[str, str]:
    """Open a file at a page, and at the text there. Return a notice and an error, of which one is ""."""
    opened, error = await attempt(backend.open, path, page, text)
    return _carry_out(app, opened) if opened is not None else ("", error)


async def act_on(
    app: "App[None]", backend: "Backend", name: str, path: str, page: int | None, text: str
) -> tuple[str, str]:
    """Run one of the person's own commands. Return a notice and an error, of which one is ""."""
    opened, error = await attempt(backend.act, name, path, page, text)
    return _carry_out(app, opened) if opened is not None else ("", error)


def _carry_out(app: "App[None]", opened: Opened) -> tuple[str, str]:
    """Do what is left to do."""
    if opened.command:
        try:
            with app.suspend():
                ended = subprocess.run(opened.command, check=False)  # noqa: S603 - a list, no shell
        except SuspendNotSupported:
            app.copy_to_clipboard(shlex.join(opened.command))
            return shown(f"cannot leave this terminal; copied: {shlex.join(opened.command)}"), ""
        except OSError as error:
            return "", shown(f"cannot start {opened.command[0]}: {error.strerror}")
        if ended.returncode:
            return "", shown(f"{opened.command[0]} ended with status {ended.returncode}")
    if opened.copy:
        app.copy_to_clipboard(opened.copy)
    return shown(opened.said), ""
