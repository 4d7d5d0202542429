"""What the child may take from the machine, where the platform has such limits. Not a jail: it can read what we can."""

import signal
from contextlib import suppress

from indexer.extract.limits import MEMORY_BYTES
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


def end_if_stuck(document_timeout_s: float) -> None:
    """Have the kernel end this process some seconds after a document's time; 0 when it is through.

    The parent kills it before that; this is for a parent that is itself gone while a library loops.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(int(document_timeout_s) + 10 if document_timeout_s else 0)
