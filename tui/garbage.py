"""Looks for garbage while nobody waits. Python looks once enough objects were made: for up to 100 ms, below any key."""

import asyncio
import gc
from collections.abc import Callable

REST_S, LONG_REST_S = 0.3, 4.0
"""The person rests who has not pressed a key for so long, and then for so long again."""
_YOUNG = 1
"""The generation of the last keys' objects: to look among them takes 1 ms, among 40,000 objects 9."""
_FREE = 50_000, 10, 1_000
"""Objects made until Python looks among the youngest, and how many such looks until it looks among the older ones.

A key makes 7,000. Whoever holds one down must not fill the memory, and never meets a look at everything.
"""


def let_keys_pass() -> None:
    """Make Python leave its garbage to `Collector`. It never examines the objects that exist now, which stay."""
    gc.freeze()
    gc.set_threshold(*_FREE)
    gc.enable()


def keep_what_stays() -> None:
    """Keep what exists now, the panes and the screens, from every look. Of it, what ends in a cycle is never freed."""
    if gc.get_threshold() == _FREE:
        gc.freeze()


class Collector:
    """Collects garbage each time that a person rests: that of the last keys, and after a long rest all."""

    def __init__(self) -> None:
        self._next: asyncio.TimerHandle | None = None

    def note_key(self) -> None:
        """Collect later, unless another key comes before that."""
        if self._next is not None:
            self._next.cancel()
        self._next = self._later(REST_S, self._collect)

    def _later(self, seconds: float, call: Callable[[], object]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call)

    def _collect(self) -> None:
        gc.collect(_YOUNG)
        self._next = self._later(LONG_REST_S, gc.collect)
