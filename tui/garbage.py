"""Looks for garbage while nobody waits. Python looks once enough objects were made: for up to 100 ms, below any key."""

import asyncio
import gc
from collections.abc import Callable

REST_S = 0.3
"""The person rests who has not pressed a key for so long."""
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
    """Collects garbage each time that a person rests."""

    def __init__(self, is_lasting: Callable[[], bool]) -> None:
        """`is_lasting`: whether what is there now stays: no box or screen is open that will be closed."""
        self._is_lasting = is_lasting
        self._next: asyncio.TimerHandle | None = None
        self._is_settled = False

    def note_key(self) -> None:
        """Collect later, unless another key comes before that."""
        if self._next is not None:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(REST_S, self._collect)

    def _collect(self) -> None:
        gc.collect()
        if not self._is_settled and gc.get_threshold() == _FREE and self._is_lasting():
            gc.freeze()  # the panes and screens that were imported since. Once: what then ends in a cycle is not freed
            self._is_settled = True
