"""Everything the daemon knows about one folder that it keeps indexed: its watch, its problem and the work left to do.

Remote calls arrive on threads of their own and indexing runs on one thread, so a lock guards every field. Knows no
index and no model: the daemon reports events to it and asks whether the folder needs work.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longsearch.indexer.watch import RootWatch

POSTPONE_S = 30.0
"""Pause before a folder that could not be indexed is tried again."""


class WatchedFolder:
    """One folder and its watch. Starts due for a sweep; all methods are safe from any thread."""

    def __init__(
        self, root: Path, wake: Callable[[], None], own: Path | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`wake` is called when a sweep may have become due.

        `own`: a folder that longsearch itself writes to; changes in it are ignored.
        """
        self.root = root
        """The folder."""
        self.is_narrow = False
        """Whether documents of the folder were read at part of the model's width."""
        self.is_scanned = False
        """Whether files of the folder have pages that OCR could read."""
        self._watch = RootWatch(root, wake, clock, own)
        self._clock = clock
        self._lock = threading.Lock()
        self._problem = ""
        self._postponed_until: float | None = None
        self._is_incomplete = False
        self._must_read_again = False
        self._is_working = False

    @property
    def is_incomplete(self) -> bool:
        """Whether files or tokens are left to read after the last sweep."""
        with self._lock:
            return self._is_incomplete

    def status(self) -> dict[str, Any]:
        """The folder as the daemon's status lists it."""
        with self._lock:
            return {
                "root": str(self.root),
                "problem": self._problem or self._watch.problem,
                "busy": self._watch.is_due() or self._is_incomplete or self._is_working,
                "failing": self._postponed_until is not None,
            }

    # ---- the watch

    def start(self) -> None:
        """Watch the folder for changes."""
        self._watch.start()

    def stop(self) -> None:
        """Stop watching."""
        self._watch.stop()

    def rearm_if_broken(self) -> None:
        """Watch anew if the folder was replaced, a drive came or went, or the watch died."""
        self._watch.rearm_if_broken()

    def is_expecting(self) -> bool:
        """Whether changes were seen that have not calmed down yet."""
        return self._watch.is_expecting()

    # ---- what to do next

    def ask(self, read_again: bool = False) -> str:
        """Request a sweep at once, even of a postponed folder. Returns why changes are noticed late, or "".

        `read_again`: the sweep also reads the files again that failed or were read only in part.
        """
        with self._lock:
            self._postponed_until = None
            self._must_read_again = self._must_read_again or read_again
        self._watch.ask()
        return self._watch.problem

    def is_postponed(self) -> bool:
        """Whether indexing failed and must wait before it is tried again."""
        with self._lock:
            return self._postponed_until is not None and self._clock() < self._postponed_until

    def is_due(self) -> bool:
        """Whether to sweep the folder now."""
        return self._watch.is_due() and not self.is_postponed()

    # ---- what happened

    @contextmanager
    def working(self) -> Iterator[None]:
        """Report the folder as busy inside the `with` block."""
        with self._lock:
            self._is_working = True
        try:
            yield
        finally:
            with self._lock:
                self._is_working = False

    def begin_sweep(self) -> bool:
        """Note that a sweep begins: later changes are for the next one. Returns whether to read failed files again."""
        with self._lock:
            self._watch.begin_sweep()
            read_again, self._must_read_again = self._must_read_again, False
            return read_again

    def finish(self, problem: str, is_complete: bool, sweep_in_s: float | None) -> None:
        """Note that indexing ended without failing. `sweep_in_s`: seconds until the next sweep; None if unknown.

        `problem`: a problem that did not stop indexing, or "". `is_complete`: nothing is left to read.
        """
        with self._lock:
            self._problem = problem
            self._is_incomplete = not is_complete
            self._postponed_until = None
            self._watch.ask_in(sweep_in_s)

    def note_changed(self, is_changed: bool) -> None:
        """Note whether the index got text that has no vectors yet."""
        with self._lock:
            self._is_incomplete = self._is_incomplete or is_changed

    def postpone(self, problem: str) -> None:
        """Note that indexing failed, and postpone the folder for half a minute."""
        with self._lock:
            self._problem = problem
            self._is_incomplete = True
            self._postponed_until = self._clock() + POSTPONE_S

    def go_offline(self) -> None:
        """Note that the folder is gone. Its index stays; once the folder is back, `rearm_if_broken` makes it due."""
        with self._lock:
            self._watch.begin_sweep()
            self._problem = "the folder is away: its documents are found, and indexing goes on when it is back"
            self._is_incomplete = False
            self._postponed_until = None
