"""Limit the resources that the child may use. This is no jail: the child can read every file that we can."""

import signal
from contextlib import suppress

from longsearch.indexer.extract.wire.limits import MEMORY_BYTES
from longsearch.indexer.politeness import be_polite


def limit_this_process() -> None:
    """Do `limit_resources`, and lower the priority."""
    be_polite()
    limit_resources()


def limit_resources() -> None:
    """Allow no written files, no core dump, at most `MEMORY_BYTES` of address space."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0))
    for resource_kind, limit in limits:
        with suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS
            resource.setrlimit(resource_kind, (limit, limit))


def end_if_stuck(document_timeout_s: float) -> None:
    """Make the kernel end this process ten seconds after `document_timeout_s`; 0 cancels the alarm.

    A living parent kills the child earlier. The alarm is for a library that loops after the parent is gone.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(int(document_timeout_s) + 10 if document_timeout_s else 0)
