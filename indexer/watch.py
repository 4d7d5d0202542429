"""Tells when something under a root may have changed. A sweep then finds out exactly what changed.

Events are hints: they can be lost, doubled or late. So the watch ignores their content and makes a sweep due, which
takes 0.3 s for 60,000 files. If the queue of events overflows, it loses the newest. The older events arrive after the
loss, and cause a sweep that sees the lost changes. Knows no store.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserverVFS

from longsearch.indexer.ignore import IGNORE_FILE, is_skipped
from longsearch.indexer.mounts import REMOTE_TYPES, drives_under, filesystem_of, has_watch_left

QUIET_S = 1.5  # after the last event: editors and downloads write a file in several steps
LONGEST_WAIT_S = 15.0  # for a folder that never becomes quiet
SWEEP_EVERY_S = 3600.0
POLL_EVERY_S = 60.0
_EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent, DirCreatedEvent, DirDeletedEvent, DirModifiedEvent, DirMovedEvent,
    FileAttribEvent, FileClosedEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
]  # fmt: skip
"""The events to receive. Opening a file, and closing it unchanged, are left out: reading must neither wake the daemon
nor fill the kernel's queue."""
_Identity = tuple[int, int, frozenset[tuple[bytes, bytes]]]
_NO_WATCHES = "the system has no watches left (fs.inotify.max_user_watches)"


class RootWatch(FileSystemEventHandler):
    """Watches one root; `is_due()` tells whether to sweep it. A new watch is due at once: `start` it, then sweep."""

    def __init__(
        self, root: Path, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic, own: Path | None = None
    ) -> None:
        """`wake` is called when an event arrives or a sweep is asked for. `own` is a folder that longsearch writes to.
        Its events are ignored: otherwise each sweep of a root that holds it would cause the next sweep.
        """
        self._root = root
        self._own = own
        self._wake = wake
        self._clock = clock
        self._lock = threading.Lock()
        self._first_event_at: float | None = None
        self._last_event_at = 0.0
        self._swept_at = -SWEEP_EVERY_S
        self._due_now = True
        self._due_at: float | None = None
        self._armed_on: _Identity | None = None
        self._observer: BaseObserver | None = None
        self.problem = ""
        """Why changes are noticed late; "" if they are not."""

    def start(self) -> None:
        """Start watching. On a network drive, or if the system has no watch left, poll once a minute instead."""
        self._armed_on = self._identity()
        filesystem = filesystem_of(self._root)
        reason = f"on a network drive ({filesystem})" if filesystem in REMOTE_TYPES else ""
        if not reason:
            if self._arm(Observer()) and has_watch_left(self._root):
                self.problem = ""
                return
            self.stop()
            reason = _NO_WATCHES
        # lstat follows no links: following two links in a circle would list one folder 2^40 times
        if self._arm(PollingObserverVFS(os.lstat, os.scandir, polling_interval=POLL_EVERY_S)):
            self.problem = f"{reason}; polled every minute"
        else:
            self.problem = "the folder cannot be watched; it is swept every hour"

    def _arm(self, observer: BaseObserver) -> bool:
        try:
            observer.schedule(self, str(self._root), recursive=True, event_filter=_EVENTS)
            observer.start()
        except OSError:
            return False
        self._observer = observer
        return True

    def stop(self) -> None:
        """Release the watches."""
        if self._observer:
            self._observer.stop()
            self._observer.join(timeout=5)
            self._observer = None

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Record an event at a path that a sweep would see. Called by watchdog's thread."""
        if not any(self._concerns_sweep(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path):
            return
        with self._lock:
            self._last_event_at = self._clock()
            self._first_event_at = self._first_event_at or self._last_event_at
        self._wake()

    def _concerns_sweep(self, path: str) -> bool:
        """Return whether a change at this absolute path can change what a sweep finds."""
        inside = Path(os.path.relpath(path, self._root)).parts
        passed_over = [name for name in inside if name != os.pardir and is_skipped(name)]
        if passed_over and passed_over != [IGNORE_FILE]:
            return False
        return self._own is None or not Path(path).is_relative_to(self._own)

    def is_due(self) -> bool:
        """Return whether to sweep now: a sweep was asked for, events have calmed down, or an hour has passed."""
        now = self._clock()
        with self._lock:
            if self._due_now or now - self._swept_at >= SWEEP_EVERY_S:
                return True
            if self._due_at is not None and now >= self._due_at:
                return True
            if self._first_event_at is None:
                return False
            return now - self._last_event_at >= QUIET_S or now - self._first_event_at >= LONGEST_WAIT_S

    def ask(self) -> None:
        """Make a sweep due now."""
        with self._lock:
            self._due_now = True
        self._wake()

    def ask_in(self, delay_s: float | None) -> None:
        """Make a sweep due in `delay_s` seconds at the latest. Replaces the delay given before; None cancels it."""
        with self._lock:
            self._due_at = None if delay_s is None else self._clock() + delay_s

    def rearm_if_broken(self) -> None:
        """Start again and ask for a sweep if the watch has stopped working. No event tells of this.

        It stops working if the root is another folder now (unmounted, renamed, made again), if a drive inside it was
        mounted or unmounted, if the observer has died, or if the system has no watch left for new folders.
        """
        if self._identity() != self._armed_on or not self._is_watching():
            self.stop()
            self.start()
            self.ask()

    def begin_sweep(self) -> None:
        """Record that a sweep begins. Events from now on cause the next sweep."""
        with self._lock:
            self._due_now, self._due_at = False, None
            self._first_event_at, self._swept_at = None, self._clock()

    def _is_watching(self) -> bool:
        """Return whether the observer still does its work; True if none could be started."""
        if self._observer is None:
            return True
        is_alive = all(emitter.is_alive() for emitter in self._observer.emitters)
        return is_alive and (self.is_polling or has_watch_left(self._root))

    def _identity(self) -> _Identity | None:
        try:
            status = self._root.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino, drives_under(self._root)

    @property
    def is_polling(self) -> bool:
        """Whether the root is polled, because the system reports no changes of it."""
        return isinstance(self._observer, PollingObserverVFS)

    def is_expecting(self) -> bool:
        """Return whether events have arrived and have not calmed down yet."""
        with self._lock:
            return self._first_event_at is not None
