"""Measures how fast work goes, over the last seconds. Knows no unit: it reports the amount added per second."""

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 20.0


class Rate:
    """A rate over a sliding window of 20 seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._added: deque[tuple[float, float]] = deque([(clock(), 0.0)])

    def add(self, amount: float) -> None:
        """Record that `amount` was done just now."""
        now = self._clock()
        self._added.append((now, amount))
        while len(self._added) > 2 and self._added[1][0] < now - WINDOW_S:
            self._added.popleft()

    def per_s(self) -> float:
        """Return the amount per second; 0 before anything was done."""
        began, ended = self._added[0][0], self._added[-1][0]
        done = sum(amount for _, amount in self._added) - self._added[0][1]
        return done / (ended - began) if ended > began else 0.0
