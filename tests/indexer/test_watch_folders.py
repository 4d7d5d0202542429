"""The watch notices real changes of real folders, polls where it must, and is started again when it breaks."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.events import FileSystemEvent
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

import longsearch.indexer.watch
from longsearch.indexer.watch import RootWatch

PATIENCE_S = 10.0


class Listening(RootWatch):
    """A watch that records the paths of all events."""

    def __init__(self, root: Path, wake: Callable[[], None]) -> None:
        super().__init__(root, wake)
        self.paths: list[str] = []

    def on_any_event(self, event: FileSystemEvent) -> None:
        self.paths.append(os.fsdecode(event.src_path))
        super().on_any_event(event)


def test_reading_a_file_causes_no_event(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    seen = threading.Event()
    watch = Listening(tmp_path, seen.set)
    watch.start()
    try:
        assert (tmp_path / "old.txt").read_text() == "old"
        os.mkdir(tmp_path / "sign")  # an event that comes after the reading
        assert seen.wait(PATIENCE_S)
        assert not any("old.txt" in path for path in watch.paths)
    finally:
        watch.stop()


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


def test_a_replaced_root_is_armed_again_and_swept(tmp_path: Path) -> None:
    root, woken = tmp_path / "root", threading.Event()
    root.mkdir()
    watch = RootWatch(root, woken.set)
    watch.start()
    watch.begin_sweep()
    watch.rearm_if_broken()
    assert not watch.is_due()
    root.rename(tmp_path / "elsewhere")
    watch.rearm_if_broken()
    assert watch.is_due()
    assert watch.problem
    root.mkdir()
    watch.rearm_if_broken()
    try:
        woken.clear()
        (root / "a.txt").write_text("new")
        assert woken.wait(10)
        assert watch.problem == ""
    finally:
        watch.stop()


def test_a_root_is_armed_again_and_swept_when_a_drive_inside_it_is_mounted_or_unmounted(
    armed: RootWatch, observers: list[BaseObserver], monkeypatch: pytest.MonkeyPatch
) -> None:
    armed.start()
    armed.begin_sweep()
    for drives in (
        frozenset({(b"/dev/sdb1", b"/papers/usb")}),
        frozenset({(b"/dev/sdc1", b"/papers/usb")}),
        frozenset(),
    ):
        monkeypatch.setattr(longsearch.indexer.watch, "drives_under", lambda _, drives=drives: drives)
        n_before = len(observers)
        armed.rearm_if_broken()
        assert armed.is_due()
        assert len(observers) == n_before + 1
        armed.begin_sweep()
        armed.rearm_if_broken()
        assert not armed.is_due()


def test_a_folder_that_cannot_be_watched_is_reported(tmp_path: Path) -> None:
    watch = RootWatch(tmp_path / "missing", lambda: None)
    watch.start()
    watch.stop()
    assert watch.problem


@pytest.fixture
def observers(monkeypatch: pytest.MonkeyPatch) -> list[BaseObserver]:
    """The observers that are made during the test."""
    made: list[BaseObserver] = []

    def make() -> BaseObserver:
        made.append(Observer())
        return made[-1]

    monkeypatch.setattr(longsearch.indexer.watch, "Observer", make)
    return made


@pytest.fixture
def armed(tmp_path: Path) -> Iterator[RootWatch]:
    watch = RootWatch(tmp_path, lambda: None)
    yield watch
    watch.stop()


def test_a_network_drive_is_polled(armed: RootWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longsearch.indexer.watch, "filesystem_of", lambda _: "nfs4")
    armed.start()
    assert armed.is_polling
    assert armed.problem == "on a network drive (nfs4); polled every minute"


def test_a_root_is_polled_when_the_system_has_no_watch_left(armed: RootWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    armed.start()
    assert not armed.is_polling
    armed.begin_sweep()
    monkeypatch.setattr(longsearch.indexer.watch, "has_watch_left", lambda _: False)
    armed.rearm_if_broken()
    assert armed.is_polling
    assert "max_user_watches" in armed.problem
    assert armed.is_due()  # something may have changed since the watches ran out
    armed.begin_sweep()
    armed.rearm_if_broken()
    assert not armed.is_due()


def test_polling_finds_changes_and_follows_no_links_in_circles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longsearch.indexer.watch, "filesystem_of", lambda _: "cifs")
    monkeypatch.setattr(longsearch.indexer.watch, "POLL_EVERY_S", 0.05)
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(tmp_path, target_is_directory=True)
    woken = threading.Event()
    watch = RootWatch(tmp_path, woken.set)
    watch.start()  # reads the whole folder once
    try:
        assert watch.is_polling
        (tmp_path / "new.txt").write_text("new")
        assert woken.wait(PATIENCE_S)
    finally:
        watch.stop()


def test_a_watch_follows_no_links_in_circles(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).symlink_to(tmp_path, target_is_directory=True)
    woken = threading.Event()
    watch = RootWatch(tmp_path, woken.set)
    watch.start()
    try:
        (tmp_path / "new.txt").write_text("new")
        assert woken.wait(PATIENCE_S)
    finally:
        watch.stop()


@pytest.mark.parametrize("change", ["save atomically", "move in", "move out", "rename case", "move folder in"])
def test_every_way_of_changing_a_folder_is_noticed(tmp_path: Path, change: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    root.mkdir()
    for path in (root / "a.txt", outside / "b.txt", outside / "folder" / "c.txt"):
        path.write_text("text")
    woken = threading.Event()
    watch = RootWatch(root, woken.set)
    watch.start()
    try:
        match change:
            case "save atomically":
                (outside / "b.txt").replace(root / "a.txt")
            case "move in":
                (outside / "b.txt").rename(root / "b.txt")
            case "move out":
                (root / "a.txt").rename(outside / "a.txt")
            case "rename case":
                (root / "a.txt").rename(root / "A.txt")
            case "move folder in":
                (outside / "folder").rename(root / "folder")
        assert woken.wait(PATIENCE_S)
        if change == "move folder in":  # it is watched from then on
            woken.clear()
            (root / "folder" / "d.txt").write_text("new")
            assert woken.wait(PATIENCE_S)
    finally:
        watch.stop()


def test_an_observer_that_died_is_replaced(armed: RootWatch, observers: list[BaseObserver]) -> None:
    armed.start()
    armed.begin_sweep()
    for emitter in observers[0].emitters:
        emitter.stop()
        emitter.join()
    armed.rearm_if_broken()
    assert armed.is_due()
    assert len(observers) == 2
    assert all(emitter.is_alive() for emitter in observers[1].emitters)
