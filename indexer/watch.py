"""Tells when something under a root may have changed. It does not tell what: a sweep finds that out, exactly.

Events are hints that can be lost, doubled or late (overflows have no event at all), so none is trusted for its
content; a sweep of 60,000 files takes 0.3 s. Knows no store.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

QUIET_S = 1.5  # after the last event: editors and downloads write in several steps
LONGEST_WAIT_S = 15.0  # for a folder that is never quiet
SWEEP_EVERY_S = 3600.0
POLL_EVERY_S = 60.0
_READ_ONLY_EVENTS = frozenset({"opened", "closed_no_write"})  # ours too: reading must not wake us


class RootWatch(FileSystemEventHandler):
    """Watches one root; `is_due()` says whether it should be swept. Starts due: arm first, then sweep."""

    def __init__(self, root: Path, wake: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._wake = wake
        self._clock = clock
        self._lock = threading.Lock()
        self._first_event_at: float | None = None
        self._last_event_at = 0.0
        self._swept_at = -SWEEP_EVERY_S
        self._due_now = True
        self._armed_on: tuple[int, int] | None = None
        self._observer: BaseObserver | None = None
        self.problem = ""
        """Why changes are noticed late, or ""."""

    def start(self) -> None:
        """Arm the watches. Where the system has none left, or none at all, look once a minute."""
        self._armed_on = self._identity()
        for observer, problem in (
            (Observer(), ""),
            (PollingObserver(timeout=POLL_EVERY_S), "the system has no watches left; looking every minute"),
        ):
            try:
                observer.schedule(self, str(self._root), recursive=True)
                observer.start()
            except OSError:
                continue
            self._observer, self.problem = observer, problem
            return
        self.problem = "the folder cannot be watched; it is swept every hour"

    def stop(self) -> None:
        """Let go of the watches."""
        if self._observer:
            self._observer.stop()
            self._observer.join(timeout=5)
            self._observer = None

    def on_any_event(self, event: FileSystemEvent) -> None:
        """From watchdog's thread: note that something happened."""
        if event.event_type in _READ_ONLY_EVENTS:
            return
        with self._lock:
            self._last_event_at = self._clock()
            self._first_event_at = self._first_event_at or self._last_event_at
        self._wake()

    def is_due(self) -> bool:
        """Whether to sweep now: asked for, or events have calmed down, or an hour has gone."""
        now = self._clock()
        with self._lock:
            if self._due_now or now - self._swept_at >= SWEEP_EVERY_S:
                return True
            if self._first_event_at is None:
                return False
            return now - self._last_event_at >= QUIET_S or now - self._first_event_at >= LONGEST_WAIT_S

    def ask(self) -> None:
        """Make it due now."""
        with self._lock:
            self._due_now = True
        self._wake()

    def rearm_if_replaced(self) -> None:
        """Arm anew where the root is not the folder it was (unmounted, renamed, made again): no event says so."""
        if self._identity() != self._armed_on:
            self.stop()
            self.start()
            self.ask()

    def begin_sweep(self) -> None:
        """The sweep begins: what happens from here on is for the next one."""
        with self._lock:
            self._due_now, self._first_event_at, self._swept_at = False, None, self._clock()

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self._root.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def is_expecting(self) -> bool:
        """Whether events wait to calm down."""
        with self._lock:
            return self._first_event_at is not None
