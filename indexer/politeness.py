"""Let what a person does in the foreground go first."""

import os
from contextlib import suppress
from pathlib import Path

NICENESS = 10


def be_polite() -> None:
    """Lower this process's priority.

    Linux weighs sessions against each other first (autogroup): niceness alone means nothing to a process that leads a
    session of its own, as a daemon does, so its session's is lowered as well.
    """
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    with suppress(OSError):  # not Linux, or no autogroups
        Path("/proc/self/autogroup").write_text(str(NICENESS))
