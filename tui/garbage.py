"""Looks for garbage while nobody waits. Python looks once enough objects were made: for up to 100 ms, below any key."""

import asyncio
import gc
from collections.abc import Callable

REST_S, LONG_REST_S = 0.3, 4.0
"""The person rests who has not pressed a key for so long, and then for so long again."""
_YOUNG, _ALL = 1, 2
"""Generations of objects: to look among those of the last keys takes 1 ms, among all 10 to 60."""
_FREE = 50_000, 10, 1_000
"""Objects made until Python looks among the youngest, and how many such looks until it looks among the older ones.

A key makes 7,000. Whoever holds one down must not fill the memory, and never meets a look at everything.
"""


def let_keys_pass() -> None:
    """Make Python leave its garbage to `Collector`. It never examines the objects that exist now, which stay."""
    gc.freeze()
    gc.set_threshold(*_FREE)
    gc.enable()


class Collector:
    """Collects garbage each time that a person rests: that of the last keys, and after a long rest all."""

    def __init__(self, is_lasting: Callable[[], bool]) -> None:
        """`is_lasting`: whether what is there now stays: no box or screen is open that will be closed."""
        self._is_lasting = is_lasting
        self._next: asyncio.TimerHandle | None = None
        self._is_settled = False

    def note_key(self) -> None:
        """Collect later, unless another key comes before that."""
        if self._next is not None:
            self._next.cancel()
        self._next = self._later(REST_S, self._collect if self._is_settled else self._collect_all)

    def _later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call)

    def _collect(self) -> None:
        gc.collect(_YOUNG)
        self._next = self._later(LONG_REST_S, self._collect_all)

    def _collect_all(self) -> None:
        gc.collect(_ALL)
        if not self._is_settled and gc.get_threshold() == _FREE and self._is_lasting():
            gc.freeze()  # the panes and screens that were made since. Once: what then ends in a cycle is not freed
            self._is_settled = True
