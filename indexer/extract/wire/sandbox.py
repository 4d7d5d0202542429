"""Limit the resources that the child may use. `jail` takes files away, `network` the network."""

import signal
from contextlib import suppress

from longsearch.indexer.extract.wire.limits import MEMORY_BYTES, STARVED_TIMES, TOOL_FILE_BYTES, TOOL_MEMORY_BYTES
from longsearch.indexer.process_priority import lower_priority


def limit_this_process() -> None:
    """Do `limit_resources`, and lower the priority."""
    lower_priority()
    limit_resources()


def limit_resources() -> None:
    """Allow no written files, no core dump, at most `MEMORY_BYTES` of address space.

    The hard limits are those of a program that the child runs.
    """
    _limit(0, MEMORY_BYTES)


def widen_limits() -> None:
    """Allow the program that this process becomes as much memory as other programs of its kind need, and some files."""
    _limit(TOOL_FILE_BYTES, TOOL_MEMORY_BYTES)


def _limit(file_bytes: int, memory_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = (
        (resource.RLIMIT_AS, memory_bytes, TOOL_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, file_bytes, TOOL_FILE_BYTES),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for resource_kind, soft, hard in limits:
        with suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS
            resource.setrlimit(resource_kind, (soft, hard))


def end_if_stuck(document_timeout_s: float) -> None:
    """Make the kernel end this process when it is late even for one that got no processor; 0 cancels the alarm.

    A living parent kills the child earlier. The alarm is for a library that loops after the parent is gone.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(int(document_timeout_s * (1 + STARVED_TIMES)) + 10 if document_timeout_s else 0)
