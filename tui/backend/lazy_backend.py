"""A backend that is made by the first call, in that call's thread: the app paints its first frame meanwhile.

The index, numpy and what reads files take longer to import than the terminal app does.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from longsearch.tui.backend.interface import Backend


def lazy_backend(root: Path | None, make: Callable[[], Backend]) -> Backend:
    """Return the backend over `root` (None: all folders) that `make` makes when something is asked."""
    return cast(Backend, _LazyBackend(root, make))


class _Lazy:
    """Stands for an object: each method waits until the object is made, then calls its own."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given, **more: getattr(self._make(), name)(*given, **more)


class _LazyBackend(_Lazy):
    def __init__(self, root: Path | None, make: Callable[[], Backend]) -> None:
        super().__init__(self._once)
        self.root = root
        self.user_data = _Lazy(lambda: self._once().user_data)
        self._how = make
        self._lock = threading.Lock()
        self._made: Backend | None = None

    def _once(self) -> Backend:
        with self._lock:
            if self._made is None:
                self._made = self._how()
            return self._made

    def close(self) -> None:
        """Close the backend, if anything was asked."""
        with self._lock:
            if self._made is not None:
                self._made.close()
