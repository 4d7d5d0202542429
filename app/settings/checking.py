"""Looks for mistakes that `reading` cannot see: names that only the app or the disk knows.

`longsearch config check` and `longsearch doctor` ask. It takes a second, because it loads the terminal app.
"""

import os
import shutil

from longsearch.app.paths import own_themes
from longsearch.app.settings.reading import Problem, Reading, current, read


def check() -> tuple[Reading, tuple[Problem, ...]]:
    """Return the settings in force, and everything that is wrong with the file and the variables."""
    reading = read()
    return reading, (*reading.problems, *reading.wrong_variables.values(), *about_the_app())


def about_the_app() -> list[Problem]:
    """Return what is wrong with colours and keys."""
    from longsearch.tui.preferences import problems

    settings = current()
    if settings.keys:
        _load_screens()
    found = problems(settings.theme, settings.keys, own_themes())
    return [Problem(message, hint) for message, hint in found]


def commands() -> dict[str, tuple[str, str]]:
    """Return every command of the app, by its name in `keys`: its keys in force, and what it does."""
    from longsearch.tui import preferences

    _load_screens()
    return preferences.commands(current().keys)


def _load_screens() -> None:
    """Load every screen of the app, so that their commands are known."""
    from longsearch.tui.screens.loading import load_screens

    load_screens()


def notes() -> list[str]:
    """Return what is no mistake but may surprise: folders and programs of the file that are missing."""
    away = [folder for folder in current().folders if not os.path.isdir(folder)]  # noqa: PTH112 - is_dir may raise
    tools = {command[0] for command in current().adapters.values()}
    missing = sorted(tool for tool in tools if shutil.which(tool) is None)
    return [
        *(f"{folder} is not there now; it is indexed when it is" for folder in away),
        *(f"{tool}, which an adapter runs, is not installed" for tool in missing),
    ]
