"""What the child may take from the machine, where the platform has such limits. Not a jail: it can read what we can."""

import signal
from contextlib import suppress

from indexer.extract.limits import DOCUMENT_TIMEOUT_S, MEMORY_BYTES
from indexer.politeness import be_polite


def limit_this_process() -> None:
    """No files written, no core dump, at most `MEMORY_BYTES` of address space, lower priority."""
    be_polite()
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0))
    for what, limit in limits:
        with suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS
            resource.setrlimit(what, (limit, limit))


def end_if_stuck(running: bool) -> None:
    """Have the kernel end this process if it is still `running` after a document's time.

    The parent kills it before that; this is for a parent that is itself gone while a library loops.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(int(DOCUMENT_TIMEOUT_S) + 10 if running else 0)
