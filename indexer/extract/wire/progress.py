"""Tells the parent, at most once a second, that reading goes on: there is more text, or more of the file was parsed."""

import time
from collections.abc import Callable

_EVERY_S = 1.0
_next_at = 0.0
tell: Callable[[], None] | None = None
"""Sends the message; the child puts it here."""


def note() -> None:
    """Note that a reader goes on."""
    global _next_at
    if tell is not None and (now := time.monotonic()) >= _next_at:
        _next_at = now + _EVERY_S
        tell()
