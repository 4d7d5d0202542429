"""`longsearch demo`: open the app over the sample notes that come with longsearch, and leave nothing behind."""

import os
import shutil
import signal
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path

from longsearch.engine.errors import LongsearchError

HELP = "open the app over twelve sample notes, and leave nothing behind"
_TRY = "what should a beekeeper do when the colony wants to leave"
OPTIONS = ()


def run(options: Namespace) -> int:
    """Open the app over copies of the samples, with an index and a daemon of their own; return 0 when the user quits.

    Raises LongsearchError outside a terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LongsearchError("the app needs a terminal", "run longsearch demo in one")
    from longsearch.app.commands import open as opening

    with sample_folder() as folder:
        for name in ("SIGHUP", "SIGTERM"):  # a closed window must not leave the copies behind
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda number, frame: sys.exit(128 + number))
        print(f"ask, for instance: {_TRY}")
        return opening.run(Namespace(folder=str(folder), model=None, think=None))


@contextmanager
def sample_folder() -> Iterator[Path]:
    """Yield a temporary folder of the samples. Meanwhile the indexes of this process lie beside it, not in the home.

    At the end the daemon that read it is stopped, and all of it is deleted.
    """
    before = os.environ.get("XDG_DATA_HOME")
    place = Path(tempfile.mkdtemp(prefix="longsearch-demo-")).resolve()
    os.environ["XDG_DATA_HOME"] = str(place / "data")
    try:
        folder = place / "samples"
        with resources.as_file(resources.files("longsearch.assets") / "samples") as samples:
            shutil.copytree(samples, folder)
        yield folder
    finally:
        from longsearch.app.daemon.daemon_control import stop_daemon

        with suppress(LongsearchError):
            stop_daemon()
        if before is None:
            del os.environ["XDG_DATA_HOME"]
        else:
            os.environ["XDG_DATA_HOME"] = before
        shutil.rmtree(place, ignore_errors=True)
