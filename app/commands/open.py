"""`longsearch FOLDER`: open the terminal app; without a folder, over all indexed folders."""

import gc
import sys
import threading
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.commands.asking import take_over
from longsearch.app.options import FOLDER_OF_APP, MODEL, THINK
from longsearch.engine.errors import LongsearchError

if TYPE_CHECKING:
    from longsearch.tui.backend.interface import Backend
    from longsearch.tui.preferences import Preferences

FIRST_STEPS = "open one: longsearch FOLDER; or try longsearch on sample notes: longsearch demo"
LONGEST_FIRST_FRAME_S = 5.0
HELP = "open the app over a folder (the same as `longsearch FOLDER`), or over all indexed folders"
OPTIONS = (FOLDER_OF_APP, MODEL, THINK)


def preferences(is_light: bool = False) -> "Preferences":
    """Return the person's colours and keys, and what is wrong with the settings. `is_light`: the terminal is."""
    from longsearch.app.paths import own_themes, themes_folder
    from longsearch.app.settings.checking import about_the_app
    from longsearch.app.settings.reading import read
    from longsearch.app.user_data.app_state import kept_theme
    from longsearch.tui.preferences import Preferences, theme_for

    reading = read()
    theme = theme_for(reading.settings.theme, kept_theme(), is_light, own_themes())
    wrong = [*reading.problems, *reading.wrong_variables.values(), *about_the_app()]
    problems = [(problem.message, problem.hint) for problem in wrong]
    return Preferences(theme, reading.settings.keys, problems, themes_folder())


def run(options: Namespace) -> int:
    """Open the app; return 0 when the user quits. Indexing goes on in the daemon."""
    gc.disable()  # until the backend is made: what is imported until then is no garbage, and looking for it takes 9 %
    root = root_to_open(options.folder)
    if options.model and root is None:
        raise LongsearchError("--model is for one folder", "name it: longsearch --model NAME FOLDER")
    from longsearch.app.models.cards import tell_once
    from longsearch.app.paths import index_path

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from longsearch.app.paths import in_shell

        hint = f"search from a script: longsearch search QUERY {in_shell(root) if root else '--everywhere'}"
        raise LongsearchError("the app needs a terminal", hint)
    if root is not None and not index_path(root).exists():
        take_over(root)
    if options.model and root is not None:
        from longsearch.app.models.folder_models import choose_model

        choose_model(root, options.model)
    tell_once()
    return show(str(root or ""), options.think)


def root_to_open(folder: str) -> Path | None:
    """Return the folder to open; `folder` names it by its path or its store, "" all folders (None).

    Raises LongsearchError if there is none.
    """
    from longsearch.app.paths import expanded, in_shell, index_paths, resolve_root

    is_store = _is_store(folder)
    if " " in folder.strip() and "/" not in folder and not is_store and not expanded(folder).exists():
        raise LongsearchError(f"there is no folder {folder}", f"to search for it: longsearch search {in_shell(folder)}")
    if folder and not is_store:
        return resolve_root(folder)  # imports neither the store nor numpy: they take longer than the first frame
    if folder:
        from longsearch.app.folders.store_refs import read_store

        return read_store(folder)
    from longsearch.app.folders.listing import register_configured

    register_configured()
    if not index_paths():
        raise LongsearchError("no folder is indexed yet", FIRST_STEPS)
    return None


def _is_store(folder: str) -> bool:
    if ":" not in folder:
        return False  # what knows stores is not imported before the first frame
    from longsearch.engine.index.lance.address import PREFIX

    return folder.startswith(PREFIX)


def show(root: str, think: int | None) -> int:
    """Open the app over a folder, or over all (""), and over the next one that the person chooses there. Returns 0."""
    from longsearch.app.settings.reading import read
    from longsearch.tui.graphics.probe import Probe

    probe = Probe(wished=read().settings.graphics)  # the terminal answers while the app is imported
    from longsearch.app.models.folder_models import thinking
    from longsearch.app.paths import url_of
    from longsearch.tui.app import LongsearchApp

    steps = thinking(think, [root] if root else [])
    next_root: str | None = root
    graphics, typed = probe.finish()
    if probe.gives_vowel_signs_cells:
        from longsearch.tui.graphics.vowel_signs import give_vowel_signs_cells

        give_vowel_signs_cells()
    while next_root is not None:
        backend, is_shown = backend_of(next_root, steps)
        place = url_of(next_root) if next_root else ""
        app = LongsearchApp(backend, preferences(probe.is_light), graphics, typed, is_shown.set, place)
        next_root, typed = app.run(), ""
    return 0


def backend_of(root: str, think: int | None) -> "tuple[Backend, threading.Event]":
    """Return the backend over a folder, or over all (""), and the event that the app must set at its first frame.

    The backend takes longer to import than the app. It is imported in a thread after that frame, because the thread
    would slow the frame down. `think`: the soft tokens of queries.
    """
    from longsearch.tui.backend.lazy_backend import lazy_backend

    is_shown = threading.Event()

    def make() -> "Backend":
        is_shown.wait(LONGEST_FIRST_FRAME_S)
        try:
            from longsearch.app.backend import AppBackend
        finally:
            from longsearch.tui.garbage import let_keys_pass

            let_keys_pass()
        return AppBackend(Path(root) if root else None, think)

    return lazy_backend(Path(root) if root else None, make), is_shown
