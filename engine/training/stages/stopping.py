"""Ends a run between two steps when Ctrl+C or SIGTERM asks for it, so that it can be saved. Knows no training."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stops_between_steps() -> Iterator[Callable[[], bool]]:
    """Yield whether the process was asked to stop. If it was, leaving the block raises SystemExit with 128 + signal.

    A second signal stops at once. Other threads than the main one get no signals: there the answer is always False.
    """
    asked: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        if asked:
            raise SystemExit(128 + number)
        asked.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        raise SystemExit(128 + asked[0])
