"""Ends the app when its terminal has gone. Textual would read the end of its input again and again, on a whole core.

The kernel ends a program with its terminal (SIGHUP), but not one under `nohup` or in a session of its own.
"""

import os
from functools import partial
from typing import Any

from textual.app import App

EVERY_S = 1.0
"""Seconds between two looks."""


def end_when_lost(app: App[Any]) -> None:
    """Look from now on whether the terminal is still there, if the app runs in one."""
    descriptor = getattr(app._driver, "fileno", None)  # Textual's drivers for Windows and for tests have none
    if isinstance(descriptor, int) and os.isatty(descriptor):
        app.set_interval(EVERY_S, partial(_end_if_lost, app, descriptor))


def _end_if_lost(app: App[Any], descriptor: int) -> None:
    if not os.isatty(descriptor):
        app.exit()
