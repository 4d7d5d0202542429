"""When a sweep is due, by a clock that the test moves; and that real changes reach the watch at all."""

import threading
from pathlib import Path

import pytest
from watchdog.events import FileClosedNoWriteEvent, FileModifiedEvent

from indexer.watch import LONGEST_WAIT_S, QUIET_S, SWEEP_EVERY_S, RootWatch


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(tmp_path: Path, clock: Clock) -> RootWatch:
    watch = RootWatch(tmp_path, lambda: None, clock)
    watch.begin_sweep()
    return watch


def test_a_new_watch_is_due_at_once(tmp_path: Path) -> None:
    assert RootWatch(tmp_path, lambda: None).is_due()


def test_a_change_makes_it_due_only_when_all_is_quiet(watch: RootWatch, clock: Clock) -> None:
    assert not watch.is_due()
    watch.on_any_event(FileModifiedEvent("a"))
    assert not watch.is_due()
    clock.now += QUIET_S - 0.1
    watch.on_any_event(FileModifiedEvent("a"))
    clock.now += QUIET_S - 0.1
    assert not watch.is_due()
    clock.now += 0.2
    assert watch.is_due()
    watch.begin_sweep()
    assert not watch.is_due()


def test_a_folder_that_is_never_quiet_is_swept_all_the_same(watch: RootWatch, clock: Clock) -> None:
    while clock.now < 1000 + LONGEST_WAIT_S:
        watch.on_any_event(FileModifiedEvent("a"))
        clock.now += 1
    assert watch.is_due()


def test_what_happens_during_a_sweep_is_for_the_next(watch: RootWatch, clock: Clock) -> None:
    watch.ask()
    watch.begin_sweep()
    watch.on_any_event(FileModifiedEvent("a"))
    clock.now += QUIET_S
    assert watch.is_due()


def test_reading_a_file_wakes_nobody(watch: RootWatch) -> None:
    watch.on_any_event(FileClosedNoWriteEvent("a"))
    assert not watch.is_expecting()


def test_an_hour_without_events_ends_with_a_sweep(watch: RootWatch, clock: Clock) -> None:
    clock.now += SWEEP_EVERY_S
    assert watch.is_due()


def test_a_real_change_is_noticed(tmp_path: Path) -> None:
    woken = threading.Event()
    watch = RootWatch(tmp_path, woken.set)
    watch.start()
    try:
        (tmp_path / "inner").mkdir()
        (tmp_path / "inner" / "a.txt").write_text("new")
        assert woken.wait(10)
        assert watch.problem == ""
    finally:
        watch.stop()


def test_a_root_that_was_replaced_is_armed_anew_and_due(tmp_path: Path) -> None:
    root, woken = tmp_path / "root", threading.Event()
    root.mkdir()
    watch = RootWatch(root, woken.set)
    watch.start()
    watch.begin_sweep()
    watch.rearm_if_replaced()
    assert not watch.is_due()
    root.rename(tmp_path / "elsewhere")
    watch.rearm_if_replaced()
    assert watch.is_due()
    assert watch.problem
    root.mkdir()
    watch.rearm_if_replaced()
    try:
        woken.clear()
        (root / "a.txt").write_text("new")
        assert woken.wait(10)
        assert watch.problem == ""
    finally:
        watch.stop()


def test_a_folder_that_cannot_be_watched_says_so(tmp_path: Path) -> None:
    watch = RootWatch(tmp_path / "missing", lambda: None)
    watch.start()
    watch.stop()
    assert watch.problem
