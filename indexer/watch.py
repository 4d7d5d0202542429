"""Tells when something under a root may have changed. It does not tell what: a sweep finds that out, exactly.

Events are hints that can be lost, doubled or late, so none is trusted for its content; a sweep of 60,000 files takes
0.3 s. A queue that overflows loses its newest events; those before them are delivered after the loss and ask for the
sweep that sees it. Knows no store.
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

from indexer.ignore import IGNORE_FILE, is_passed_over
from indexer.mounts import REMOTE_TYPES, drives_under, filesystem_of, has_watch_left

QUIET_S = 1.5  # after the last event: editors and downloads write in several steps
LONGEST_WAIT_S = 15.0  # for a folder that is never quiet
SWEEP_EVERY_S = 3600.0
POLL_EVERY_S = 60.0
_EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent, DirCreatedEvent, DirDeletedEvent, DirModifiedEvent, DirMovedEvent,
    FileAttribEvent, FileClosedEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
]  # fmt: skip
"""Not that a file is opened or closed unchanged: reading must not wake us, nor fill the kernel's queue."""
_Identity = tuple[int, int, frozenset[tuple[bytes, bytes]]]
_NO_WATCHES = "the system has no watches left (fs.inotify.max_user_watches)"


class RootWatch(FileSystemEventHandler):
    """Watches one root; `is_due()` says whether it should be swept. Starts due: arm first, then sweep."""

    def __init__(
        self,
        root: Path,
        wake: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        own: Path | None = None,
    ) -> None:
        """`own`: a folder that longsearch itself writes to; a sweep of what is around it must not ask for the next."""
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
        """Why changes are noticed late, or ""."""

    def start(self) -> None:
        """Arm the watches. On a network drive, or where the system has no watch left, look once a minute."""
        self._armed_on = self._identity()
        filesystem = filesystem_of(self._root)
        reason = f"on a network drive ({filesystem})" if filesystem in REMOTE_TYPES else ""
        if not reason:
            if self._arm(Observer()) and has_watch_left(self._root):
                self.problem = ""
                return
            self.stop()
            reason = _NO_WATCHES
        # lstat: by the links that it follows, two that lead in circles would make 2^40 folders of one
        if self._arm(PollingObserverVFS(os.lstat, os.scandir, polling_interval=POLL_EVERY_S)):
            self.problem = f"{reason}; looking every minute"
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
        """Let go of the watches."""
        if self._observer:
            self._observer.stop()
            self._observer.join(timeout=5)
            self._observer = None

    def on_any_event(self, event: FileSystemEvent) -> None:
        """From watchdog's thread: note that something happened where a sweep would look."""
        if not any(self._is_looked_at(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path):
            return
        with self._lock:
            self._last_event_at = self._clock()
            self._first_event_at = self._first_event_at or self._last_event_at
        self._wake()

    def _is_looked_at(self, path: str) -> bool:
        """Whether a sweep sees what is at this absolute path, or heeds it."""
        inside = Path(os.path.relpath(path, self._root)).parts
        passed_over = [name for name in inside if name != os.pardir and is_passed_over(name)]
        if passed_over and passed_over != [IGNORE_FILE]:
            return False
        return self._own is None or not Path(path).is_relative_to(self._own)

    def is_due(self) -> bool:
        """Whether to sweep now: asked for, at a time that has come; or events have calmed down; or an hour has gone."""
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
        """Make it due now."""
        with self._lock:
            self._due_now = True
        self._wake()

    def ask_in(self, delay_s: float | None) -> None:
        """Make it due after this time as well, instead of what was asked so before; None for no such time."""
        with self._lock:
            self._due_at = None if delay_s is None else self._clock() + delay_s

    def rearm_if_broken(self) -> None:
        """Arm anew where the root is not the folder it was (unmounted, renamed, made again), a drive inside it has come
        or gone, the watching has died, or no folder made from now on could be watched: no event says so.
        """
        if self._identity() != self._armed_on or not self._is_watching():
            self.stop()
            self.start()
            self.ask()

    def begin_sweep(self) -> None:
        """The sweep begins: what happens from here on is for the next one."""
        with self._lock:
            self._due_now, self._due_at = False, None
            self._first_event_at, self._swept_at = None, self._clock()

    def _is_watching(self) -> bool:
        """Whether the observer, if it could be made, still does its work."""
        observer = self._observer
        if observer is None:
            return True
        is_alive = all(emitter.is_alive() for emitter in observer.emitters)
        return is_alive and (isinstance(observer, PollingObserverVFS) or has_watch_left(self._root))

    def _identity(self) -> _Identity | None:
        try:
            status = self._root.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino, drives_under(self._root)

    def is_expecting(self) -> bool:
        """Whether events wait to calm down."""
        with self._lock:
            return self._first_event_at is not None
