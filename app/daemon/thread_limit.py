"""How many threads the model may use: half of them while the machine runs on battery."""

import time
from collections.abc import Callable

from longsearch.engine.inference.opening import has_torch
from longsearch.indexer.process_priority import on_battery, threads_to_use

CHECK_EVERY_S = 30.0


class ThreadLimit:
    """Sets torch's number of threads. Used by the indexing thread alone, because torch keeps a number per thread."""

    def __init__(
        self, is_on_battery: Callable[[], bool] = on_battery, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._is_on_battery = is_on_battery
        self._clock = clock
        self._checked_at: float | None = None
        self._all_threads = 0
        self.is_on_battery = False
        """Whether the machine ran on battery at the last check."""

    def adapt(self) -> None:
        """Check the power supply, at most twice a minute, and set the number of threads accordingly."""
        now = self._clock()
        if self._checked_at is not None and now - self._checked_at < CHECK_EVERY_S:
            return
        self._checked_at = now
        if not has_torch():
            self._adapt_numpy()
            return
        import torch

        self._all_threads = self._all_threads or torch.get_num_threads()
        self.is_on_battery = self._is_on_battery()
        wanted = threads_to_use(self._all_threads, self.is_on_battery)
        if torch.get_num_threads() != wanted:
            torch.set_num_threads(wanted)

    def _adapt_numpy(self) -> None:
        from longsearch.engine.inference import numpy_encoder

        self.is_on_battery = numpy_encoder.saves_power = self._is_on_battery()
