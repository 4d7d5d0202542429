"""Keeps the memory of large buffers for the next ones, instead of returning it to the system (glibc alone)."""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
_KEPT_BYTES, _BUFFER_BYTES = 256 << 20, 32 << 20  # older versions of glibc refuse more than 32 MB


def keep_freed_memory() -> None:
    """Let glibc keep up to 256 MB of freed memory, so that the next step of a model or a search reuses it.

    By default it returns large buffers to the system at once, and the next step gets new pages. With AVX2 alone they
    took a third of the time of reading, and in a search of "wit" among a million passages 11 of 30 ms. Whoever unloads
    a model calls malloc_trim.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is not None:  # musl has none
        mallopt(_M_MMAP_THRESHOLD, _BUFFER_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
