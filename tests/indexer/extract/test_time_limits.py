"""A child's time stands still while it gets no processor, and only so long."""

import os
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from longsearch.engine.platforms.processes import kept_waiting_s
from longsearch.indexer.extract import child_process
from longsearch.indexer.extract.child_process import ChildProcess, ChildTimedOutError, TimeLimit
from longsearch.indexer.extract.wire.limits import STARVED_TIMES


class Clock:
    """The time, and how much of it a child was kept waiting."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.kept_waiting_s = 0.0, 0.0
        monkeypatch.setattr(child_process, "STARVED_TIMES", STARVED_TIMES)
        monkeypatch.setattr(child_process, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(child_process, "kept_waiting_s", lambda pid: self.kept_waiting_s)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def child_answering_after(turns: int, clock: Clock, while_waiting: Callable[[float], None]) -> ChildProcess:
    """Return a child that answers "yes" after its parent has waited in vain so often."""

    class Reader:
        n_left = turns

        def read(self, timeout_s: float) -> tuple[int, bytes] | None:
            self.n_left -= 1
            if self.n_left < 0:
                return 0, b"yes"
            clock.now += timeout_s
            while_waiting(timeout_s)
            return None

    child = ChildProcess.__new__(ChildProcess)
    child.pid, child._received, child._kept_waiting_s, child._reader = 0, bytearray(), 0.0, Reader()  # type: ignore[assignment]
    return child


def test_a_child_that_was_kept_waiting_gets_that_time_again(clock: Clock) -> None:
    def starve(seconds: float) -> None:
        clock.kept_waiting_s += seconds / 2

    limit, of_all = TimeLimit(10.0), TimeLimit(100.0)
    assert child_answering_after(3, clock, starve)._receive(3, limit, of_all) == b"yes"
    assert clock.now == 17.5  # 10, 5 and 2.5 s
    assert of_all.left_s == 100.0 - 17.5 / 2


def test_a_child_that_had_a_processor_is_killed_at_its_limit(clock: Clock) -> None:
    with pytest.raises(ChildTimedOutError, match="more than 10 s"):
        child_answering_after(3, clock, lambda _: None)._receive(3, TimeLimit(10.0), TimeLimit(100.0))
    assert clock.now == 10.0


def test_a_child_may_wait_for_a_processor_four_times_as_long_as_it_may_work(clock: Clock) -> None:
    limit = TimeLimit(10.0)
    clock.now = 8.0
    limit.grant(100.0)  # others kept it waiting before this limit began
    assert limit.left_s == 10.0
    clock.now = 49.0
    limit.grant(41.0)
    assert limit.left_s == 1.0
    clock.now = 51.0
    limit.grant(2.0)
    assert limit.left_s == 0.0


def test_a_process_says_how_long_it_was_kept_waiting() -> None:
    assert 0.0 <= kept_waiting_s(os.getpid()) < 1e6
    assert kept_waiting_s(2**31 - 1) == 0.0
