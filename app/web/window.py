"""The process behind each window of the browser: the app, with textual-serve's driver in place of a terminal.

`python -m longsearch.app.web.window ROOT [THINK]`; ROOT is "" for all folders.
"""

import sys


def main(root: str, think: str = "") -> None:
    """Run the app until the window closes or the person quits."""
    from longsearch.app.commands.open import backend_of, preferences
    from longsearch.app.models.encoders import thinking
    from longsearch.tui.app import LongsearchApp

    backend, is_shown = backend_of(root, thinking(int(think) if think else None))
    LongsearchApp(backend, preferences(), when_shown=is_shown.set).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
