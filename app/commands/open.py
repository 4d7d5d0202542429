"""`longsearch FOLDER`: open the terminal app; without a folder, over all indexed folders."""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from longsearch.app.commands.index import add_model_option
from longsearch.app.commands.search import add_think_option
from longsearch.engine.errors import LongsearchError

if TYPE_CHECKING:
    from longsearch.tui.preferences import Preferences

HELP = "open the app over a folder (the same as `longsearch FOLDER`), or over all indexed folders"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch open`."""
    parser.add_argument("folder", nargs="?", default="", help="the folder to search (default: all indexed folders)")
    add_model_option(parser)
    add_think_option(parser)


def preferences() -> "Preferences":
    """Return the person's colours and keys, and what is wrong with the settings."""
    from longsearch.app.settings.checking import about_the_app
    from longsearch.app.settings.reading import read
    from longsearch.tui.preferences import Preferences

    reading = read()
    wrong = [*reading.problems, *reading.wrong_variables.values(), *about_the_app()]
    problems = [(problem.message, problem.hint) for problem in wrong]
    return Preferences(reading.settings.theme, reading.settings.keys, problems)


def run(options: Namespace) -> int:
    """Open the app; return 0 when the user quits. Indexing goes on in the daemon."""
    from longsearch.app.folders.listing import register_configured
    from longsearch.app.paths import index_paths, resolve_root
    from longsearch.app.stores.pointers import read_store
    from longsearch.engine.lance.address import is_address

    root = (read_store if is_address(options.folder) else resolve_root)(options.folder) if options.folder else None
    if root is None:
        register_configured()
    if root is None and not index_paths():
        raise LongsearchError("no folder is indexed yet", "open one: longsearch FOLDER")
    if options.model and root is None:
        raise LongsearchError("--model is for one folder", "name it: longsearch --model NAME FOLDER")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = f"search from a script: longsearch search QUERY {root or '--everywhere'}"
        raise LongsearchError("the app needs a terminal", hint)
    if options.model and root is not None:
        from longsearch.app.folder_models import choose_model

        choose_model(root, options.model)
    from longsearch.tui.graphics.probe import Probe

    probe = Probe()  # the terminal answers while the app is imported
    from longsearch.app.encoders import thinking
    from longsearch.app.folders_backend import FoldersBackend
    from longsearch.app.local_backend import LocalBackend
    from longsearch.tui.app import LongsearchApp

    think = thinking(options.think)
    backend = FoldersBackend(think) if root is None else LocalBackend(root, think)
    graphics, typed = probe.finish()
    LongsearchApp(backend, preferences(), graphics, typed).run()
    return 0
