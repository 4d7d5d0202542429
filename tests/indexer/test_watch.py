"""A sweep is due at the right times, by a fake clock."""

import os
from pathlib import Path

import pytest
from watchdog.events import DirModifiedEvent, FileModifiedEvent, FileMovedEvent, FileSystemEvent

from longsearch.indexer.watch import LONGEST_WAIT_S, QUIET_S, SWEEP_EVERY_S, RootWatch


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


def test_a_change_makes_a_sweep_due_when_events_have_calmed_down(watch: RootWatch, clock: Clock) -> None:
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


def test_a_folder_that_never_becomes_quiet_is_swept(watch: RootWatch, clock: Clock) -> None:
    while clock.now < 1000 + LONGEST_WAIT_S:
        watch.on_any_event(FileModifiedEvent("a"))
        clock.now += 1
    assert watch.is_due()


def test_an_event_during_a_sweep_causes_the_next_sweep(watch: RootWatch, clock: Clock) -> None:
    watch.ask()
    watch.begin_sweep()
    watch.on_any_event(FileModifiedEvent("a"))
    clock.now += QUIET_S
    assert watch.is_due()


def test_a_sweep_is_due_after_an_hour_without_events(watch: RootWatch, clock: Clock) -> None:
    clock.now += SWEEP_EVERY_S
    assert watch.is_due()


def test_a_sweep_is_due_at_the_time_that_was_asked_for(watch: RootWatch, clock: Clock) -> None:
    watch.ask_in(60)
    clock.now += 59
    assert not watch.is_due()
    clock.now += 1
    assert watch.is_due()
    watch.begin_sweep()
    assert not watch.is_due()
    watch.ask_in(60)
    watch.ask_in(None)
    clock.now += 61
    assert not watch.is_due()


@pytest.mark.parametrize(
    ("event", "is_due"),
    [
        (FileModifiedEvent(".git/FETCH_HEAD"), False),
        (FileModifiedEvent("a/node_modules/b/README.md"), False),
        (FileMovedEvent(".cache/a", ".cache/b"), False),
        (FileMovedEvent(".cache/a.md", "a.md"), True),
        (FileMovedEvent("a.md", ".trash/a.md"), True),
        (FileModifiedEvent("a/.longsearchignore"), True),
        (FileModifiedEvent(".git/.longsearchignore"), False),
        (DirModifiedEvent(""), True),
        (FileModifiedEvent("data/index.sqlite-wal"), False),
        (FileModifiedEvent("data"), False),
        (FileModifiedEvent("database.md"), True),
    ],
)
def test_an_event_at_a_path_that_no_sweep_sees_causes_no_sweep(
    tmp_path: Path, clock: Clock, event: FileSystemEvent, is_due: bool
) -> None:
    watch = RootWatch(tmp_path, lambda: None, clock, own=tmp_path / "data")
    watch.begin_sweep()
    event.src_path = os.path.join(tmp_path, event.src_path)
    event.dest_path = os.path.join(tmp_path, event.dest_path) if event.dest_path else ""
    watch.on_any_event(event)
    clock.now += QUIET_S
    assert watch.is_due() is is_due
