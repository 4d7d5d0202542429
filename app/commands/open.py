"""`longsearch FOLDER`: the terminal app."""

import sys
from argparse import Namespace

from app.backend import LocalBackend
from app.paths import resolve_root
from engine.errors import LongsearchError


def run(options: Namespace) -> int:
    """Open the app; returns when the person quits. Indexing goes on in the daemon."""
    root = resolve_root(options.folder)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = f"search from a script: longsearch search QUERY {root}"
        raise LongsearchError("the app needs a terminal", hint)
    from tui.app import LongsearchApp

    LongsearchApp(LocalBackend(root)).run()
    return 0
