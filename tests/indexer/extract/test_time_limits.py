"""A child's time stands still while it gets no processor, and only so long; one that does not go on ends sooner."""

import os
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from longsearch.engine.platforms.processes import kept_waiting_s, processor_s
from longsearch.indexer.extract import child_process
from longsearch.indexer.extract.assembly import GiveUpError, PdfParts
from longsearch.indexer.extract.child_process import ChildGoneError, ChildProcess, ChildTimedOutError, TimeLimit
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.wire import progress
from longsearch.indexer.extract.wire.limits import MAX_BARE_PAGES, STARVED_TIMES
from longsearch.indexer.extract.wire.protocol import Page


class Clock:
    """The time, and how much of it a child was kept waiting."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.kept_waiting_s, self.used_s = 0.0, 0.0, 0.0
        monkeypatch.setattr(child_process, "STARVED_TIMES", STARVED_TIMES)
        monkeypatch.setattr(child_process, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(child_process, "kept_waiting_s", lambda pid: self.kept_waiting_s)
        monkeypatch.setattr(child_process, "processor_s", lambda pid: self.used_s)


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


def test_a_child_that_uses_a_processor_and_does_not_go_on_is_stuck(clock: Clock) -> None:
    def work(seconds: float) -> None:
        clock.used_s += seconds

    with pytest.raises(ChildGoneError, match="did not go on in 30 s of processor time") as caught:
        child_answering_after(100, clock, work)._receive(3, TimeLimit(120.0), TimeLimit(120.0))
    assert not isinstance(caught.value, ChildTimedOutError)  # it would take as long again
    assert clock.now == 40.0  # its use is known from the first look on


def test_a_child_that_waits_for_a_slow_disk_is_not_stuck(clock: Clock) -> None:
    def read(seconds: float) -> None:
        clock.used_s += seconds / 10

    assert child_answering_after(11, clock, read)._receive(3, TimeLimit(120.0), TimeLimit(120.0)) == b"yes"
    assert clock.now == 110.0


def test_a_child_that_goes_on_slowly_is_not_stuck(clock: Clock) -> None:
    def work(seconds: float) -> None:
        clock.used_s += seconds

    limit = TimeLimit(120.0)
    for _ in range(3):  # three messages with 30 s between each two
        assert child_answering_after(3, clock, work)._receive(3, TimeLimit(120.0), limit) == b"yes"
    assert clock.now == 90.0


def test_a_reader_says_at_most_once_a_second_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[float] = []
    times = iter((100.0, 100.5, 100.9, 101.0, 101.1, 103.0))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(times)))
    monkeypatch.setattr(progress, "_next_at", 0.0)
    monkeypatch.setattr(progress, "tell", lambda: said.append(progress._next_at - 1.0))
    builder = TextBuilder()
    for block in ("The ice", "", "the fog", "the lamp", "", "the bell", "the pilot", "the tide"):
        builder.add(block)
    assert said == [100.0, 101.0, 103.0]


def test_three_late_pages_in_a_row_end_a_pdf_and_others_do_not() -> None:
    parts = PdfParts(n_pages=9)
    for is_late in (True, True, False):  # the third ended the child otherwise
        parts.lose("took more than 10 s", is_late)
    parts.take(Page(3, ("The ice",)))
    parts.lose("took more than 10 s", True)
    parts.lose("took more than 10 s", True)
    assert not parts.complete
    parts.lose("took more than 10 s", True)
    assert parts.complete
    assert parts.lost[8] == "3 pages in a row took more than 10 s"
    assert parts.lost[6] == "took more than 10 s"


def test_a_pdf_that_repeats_one_page_without_end_is_given_up() -> None:
    parts = PdfParts(n_pages=MAX_BARE_PAGES + 5)
    parts.take(Page(0, ("The fog",)))
    for index in range(1, MAX_BARE_PAGES + 1):
        parts.take(Page(index, ("The ice",)))
    with pytest.raises(GiveUpError, match="10,000 pages in a row with nothing new on them"):
        parts.take(Page(MAX_BARE_PAGES + 1, ("The ice",)))


def test_a_process_says_how_long_it_was_kept_waiting() -> None:
    assert 0.0 < processor_s(os.getpid()) < 1e6
    assert processor_s(2**31 - 1) == 0.0
    assert 0.0 <= kept_waiting_s(os.getpid()) < 1e6
    assert kept_waiting_s(2**31 - 1) == 0.0
