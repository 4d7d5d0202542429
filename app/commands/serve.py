"""`longsearch serve`: the app in a browser of this machine.

Each window has a process of its own, `python -m longsearch.app.commands.serve ROOT [THINK]`: the app, with
textual-serve's driver in place of a terminal. ROOT is "" for all folders.
"""

import importlib.util
import sys
from argparse import Namespace

from longsearch.app.options import FOLDER_OF_APP, THINK, option
from longsearch.engine.errors import LongsearchError, install_hint

HELP = "open the app in a browser of this machine; a secret address, never the network"
OPTIONS = (
    FOLDER_OF_APP,
    option("--port", "the port of 127.0.0.1 (default: a free one)", type=int, default=0, metavar="N"),
    THINK,
)


def run(options: Namespace) -> int:
    """Serve until Ctrl+C; return 0. Raises LongsearchError without textual-serve, or if the port is taken."""
    if importlib.util.find_spec("textual_serve") is None or importlib.util.find_spec("aiohttp") is None:
        raise LongsearchError("longsearch serve needs the package textual-serve", install_hint("serve"))
    from longsearch.app.commands.open import root_to_open
    from longsearch.app.models.folder_models import thinking
    from longsearch.app.web.server import GuardedServer

    root = root_to_open(options.folder)
    thinking(options.think, [root] if root else [])  # raises here, not in each window
    try:
        server = GuardedServer(str(root or ""), options.port, options.think)
    except OSError as error:
        raise LongsearchError(f"port {options.port} cannot be used: {error}", "choose another: --port N") from error
    print(f"longsearch is at {server.address}", flush=True)
    print("Whoever knows this address can read your index. Ctrl+C ends.", flush=True)
    server.serve()
    return 0


def show_window(root: str, think: str = "") -> None:
    """Run the app of one window, until it closes, the person quits, or the server is gone."""
    from textual import messages
    from textual.drivers.web_driver import WebDriver

    from longsearch.app.commands.open import backend_of, preferences
    from longsearch.app.models.folder_models import thinking
    from longsearch.tui.app import LongsearchApp

    class Window(WebDriver):
        def run_input_thread(self) -> None:
            """Read keys until the server closes the pipe; then leave, as Textual's driver does not."""
            super().run_input_thread()
            self._app.post_message(messages.ExitApp())

    backend, is_shown = backend_of(root, thinking(int(think) if think else None, [root] if root else []))
    app = LongsearchApp(backend, preferences(), when_shown=is_shown.set)
    app.driver_class = Window
    app.run()


if __name__ == "__main__":
    show_window(*sys.argv[1:])
