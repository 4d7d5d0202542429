"""How many threads the model may use: half of them while the machine runs on its battery."""

import time
from collections.abc import Callable

from indexer.politeness import on_battery, polite_threads

LOOK_EVERY_S = 30.0


class ThreadPace:
    """For the one thread that indexes: torch keeps the number for each thread that asks it to work."""

    def __init__(
        self, is_on_battery: Callable[[], bool] = on_battery, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._is_on_battery = is_on_battery
        self._clock = clock
        self._looked_at: float | None = None
        self._all_threads = 0

    def adapt(self) -> None:
        """Look at the power supply, twice a minute at most, and follow it."""
        now = self._clock()
        if self._looked_at is not None and now - self._looked_at < LOOK_EVERY_S:
            return
        self._looked_at = now
        import torch

        self._all_threads = self._all_threads or torch.get_num_threads()
        wanted = polite_threads(self._all_threads, self._is_on_battery())
        if torch.get_num_threads() != wanted:
            torch.set_num_threads(wanted)
