"""The process behind the app, one per user: watches folders, indexes them, and turns queries into vectors.

The daemon writes indexes and answers calls. It searches only for news of saved searches: else a search reads the index
file directly. The daemon ends by itself when every index is current and nobody has called for 15 minutes. A daemon
that stays (`--stay`) watches every folder that has an index, and ends only when it is told to.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from longsearch.app import rpc
from longsearch.app.daemon import idle_work
from longsearch.app.daemon.daemon_control import daemon_lock, note_process
from longsearch.app.daemon.thread_limit import ThreadLimit
from longsearch.app.daemon.watched_folder import WatchedFolder
from longsearch.app.folders.indexes import IndexLockedError, roots_to_keep
from longsearch.app.indexing.opening import opens_here
from longsearch.app.indexing.recipe import Job, index_folder
from longsearch.app.locks import LockBusyError
from longsearch.app.models.folder_models import folder_model
from longsearch.app.models.resident import ResidentModel
from longsearch.app.models.turns import MODEL_IDLE_S, Models
from longsearch.app.paths import data_folder, resolve_root, socket_path
from longsearch.app.settings.reading import current
from longsearch.engine import __version__
from longsearch.engine.errors import LongsearchError, in_words
from longsearch.engine.store.schema import MIGRATIONS
from longsearch.indexer.process_priority import on_battery

log = logging.getLogger("longsearch.daemon")

IDLE_EXIT_S = 900.0
TICK_S = 0.5
STOP_S = 8.0
"""A daemon that is told to stop ends its step in this time, or is ended."""
QUIET_S = 60.0
"""Narrow documents are read again only if nobody has searched for this long."""


class Daemon:
    """Holds the folders to keep indexed, the model, and the thread that indexes."""

    def __init__(
        self,
        stay: bool = False,
        model: ResidentModel | None = None,
        clock: Callable[[], float] = time.monotonic,
        tick_s: float = TICK_S,
        idle_exit_s: float = IDLE_EXIT_S,
        is_on_battery: Callable[[], bool] = on_battery,
        end: Callable[[], None] | None = None,
    ) -> None:
        """`tick_s`: seconds between looks at folders whose changes have not calmed down; other pauses last 30 ticks.

        `idle_exit_s`: seconds without a call after which a daemon that does not `stay` ends. `end` ends the process; it
        is called if a daemon that is to stop has not done so in `STOP_S`.
        """
        self._stay = stay
        self._models = Models(model, clock)
        self._clock = clock
        self._tick_s = tick_s
        self._idle_exit_s = idle_exit_s
        self._folders: dict[Path, WatchedFolder] = {}
        self._lock = threading.Lock()  # for `_folders`; each WatchedFolder has a lock of its own
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._end = end
        self._paused = False
        current("ocr", "deepen")  # a wrong variable is refused at the start
        self._is_on_battery = is_on_battery
        self._threads = ThreadLimit(is_on_battery)
        self._called_at = self._wanted_at = clock()

    @property
    def idle_s(self) -> float:
        """Seconds since the last call."""
        return self._clock() - self._called_at

    def run(self) -> None:
        """Serve until told to stop or idle. Raises LongsearchError if another daemon runs."""
        path = socket_path()
        try:
            with daemon_lock(timeout_s=0):
                log.info("longsearch %s, pid %d", __version__, os.getpid())
                for root in roots_to_keep() if self._stay else ():
                    self._watch(root)
                if self._end is not None:
                    note_process()
                    limit = partial(end_if_stuck, self._stopping, self._ended, self._end)
                    threading.Thread(target=limit, daemon=True).start()
                indexer = threading.Thread(target=self._index_until_stopped, args=(path,))
                indexer.start()
                rpc.serve(path, self.handle, self._stopping)
                indexer.join()
                for folder in self._watched():
                    folder.stop()
                path.unlink(missing_ok=True)
        except LockBusyError as error:
            raise LongsearchError("a daemon is already running", "see `longsearch daemon status`") from error
        finally:
            self._ended.set()

    def stop(self) -> None:
        """Make `run` return after its current step; safe from any thread or signal handler."""
        self._stopping.set()
        self._wake.set()

    def handle(self, method: str, params: dict[str, Any]) -> Any:
        """Answer one call; safe from any thread."""
        self._called_at = self._clock()
        if method != "status":
            self._wanted_at = self._called_at
        match method:
            case "status":
                return self._status()
            case "encode":
                model = self._models.for_query(params.get("model"))  # an older longsearch sends no model, and no steps
                return model.encode_query(params["text"], params["instruction"], params.get("steps")).to_json()
            case "watch" | "retry":
                return self._watch(resolve_root(params["root"]), read_again=method == "retry")
            case "forget":
                return self._forget(**params)
            case "pause" | "resume":
                self._paused = method == "pause"
                self._wake.set()
                return {"paused": self._paused}
            case "stop":
                self.stop()
                return {"stopping": True}
        raise LongsearchError(
            f"the daemon does not know {method!r}", "it may be older than this longsearch; restart it"
        )

    def _status(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "schema": len(MIGRATIONS),
            "pid": os.getpid(),
            "stays": self._stay,
            "paused": self._paused,
            "roots": [folder.status() for folder in self._watched()],
            "model": {**self._models.status(), "may_deepen": current().deepen},
            "memory_bytes": _resident_bytes(),
        }

    def _watch(self, root: Path, read_again: bool = False) -> dict[str, Any]:
        with self._lock:
            folder = self._folders.get(root)
            if folder is None:
                folder = self._folders[root] = WatchedFolder(root, self._wake.set, own=data_folder(), clock=self._clock)
                folder.start()
        return {"root": str(root), "problem": folder.ask(read_again)}

    def _forget(self, root: str) -> dict[str, Any]:
        """Stop watching a folder; work on it ends at its next step."""
        with self._lock:
            folder = self._folders.pop(Path(root), None)
        folder.stop() if folder else None
        return {"root": root, "was_watched": folder is not None}

    def _watched(self) -> list[WatchedFolder]:
        with self._lock:
            return list(self._folders.values())

    def _index_until_stopped(self, path: Path) -> None:
        """Sweep folders that are due, else embed what is left, else wait."""
        while not self._stopping.is_set():
            self._wake.clear()
            for folder in self._watched():
                folder.rearm_if_broken()
            chosen = None if self._paused else self._next()
            if chosen is not None:
                with chosen.working():
                    self._at_work(chosen, self._index)
            elif idle := self._next_idle():
                self._at_work(idle[0], partial(self._while_idle, idle[1]))
            elif self._is_idle():
                self._stopping.set()
            else:
                self._models.unload_if_idle(MODEL_IDLE_S)
                is_expecting = any(folder.is_expecting() for folder in self._watched())
                self._wake.wait(self._tick_s if is_expecting else 30 * self._tick_s)
        with contextlib.suppress(LongsearchError):
            rpc.call(path, "status", timeout_s=1)  # ends the `accept` that `serve` waits in

    def _next(self) -> WatchedFolder | None:
        """Return the folder to work on. A folder that is due for a sweep comes before one that is only incomplete."""
        ready = [
            folder
            for folder in self._watched()
            if not folder.is_postponed() and not self._models.must_wait(folder.root)
        ]
        due = next((folder for folder in ready if folder.is_due()), None)
        return due or next((folder for folder in ready if folder.is_incomplete), None)

    def _next_idle(self) -> tuple[WatchedFolder, idle_work.Work] | None:
        """Return a folder with work for which nobody must wait, if the moment is good."""
        is_good = not self._paused and self._is_quiet() and not self._is_on_battery()
        return idle_work.next_work(self._watched()) if is_good else None

    def _at_work(self, folder: WatchedFolder, work: Callable[[WatchedFolder], None]) -> None:
        """Do this work on a folder. A folder where it fails is postponed."""
        self._models.widths.asked = current().width
        try:
            work(folder)
        except IndexLockedError as error:
            folder.postpone(error.message)
        except LongsearchError as error:
            log.warning("%s: %s (%s)", folder.root, error.message, error.hint)
            folder.postpone(in_words(error))
        except Exception as error:
            log.exception("indexing %s", folder.root)
            folder.postpone(f"defect: {error!r}")
        finally:
            self._models.widths.rest()

    def _index(self, folder: WatchedFolder) -> None:
        """Sweep and embed one folder until it is current or another one is due."""
        if not os.path.isdir(folder.root):  # noqa: PTH112 - Path.is_dir raises if a folder above may not be entered
            folder.go_offline()
            return
        job = Job(ocr=current().ocr, wants_retry=folder.begin_sweep, must_stop=partial(self._must_yield, folder))
        outcome = index_folder(folder.root, job, opens_here(self._models))
        folder.is_narrow, folder.is_scanned = outcome.is_narrow, outcome.is_scanned
        folder.finish("; ".join(outcome.summary.problems), outcome.is_complete, outcome.retry_in_s)

    def _while_idle(self, work: idle_work.Work, folder: WatchedFolder) -> None:
        """Do this work on a folder until the moment is no longer good."""
        work(folder, self._models.of(folder_model(folder.root).model), partial(self._must_not_deepen, folder))

    def _must_not_deepen(self, at: WatchedFolder) -> bool:
        # the limit of threads looks at the battery only while a model is loaded
        is_on_battery = self._threads.is_on_battery or self._is_on_battery()
        return self._must_yield(at) or is_on_battery or not self._is_quiet()

    def _is_quiet(self) -> bool:
        return self._clock() - self._wanted_at > QUIET_S

    def _must_yield(self, at: WatchedFolder) -> bool:
        """Whether work on a folder must stop: the daemon ends or is paused, others come first, or this is forgotten."""
        if self._models.in_memory:
            self._threads.adapt()
        watched = self._watched()
        is_over = self._stopping.is_set() or self._paused or at not in watched or self._models.must_wait(at.root)
        return is_over or any(folder.is_due() and not self._models.must_wait(folder.root) for folder in watched)

    def _is_idle(self) -> bool:
        folders = self._watched()
        has_work = any(folder.is_incomplete for folder in folders) or bool(idle_work.next_with_scans(folders))
        return not self._stay and not has_work and self.idle_s > self._idle_exit_s


def end_if_stuck(
    stopping: threading.Event, ended: threading.Event, end: Callable[[], None], limit_s: float = STOP_S
) -> None:
    """Wait until a daemon is to stop; call `end` if it has not ended after `limit_s`, as in the middle of a step."""
    stopping.wait()
    if not ended.wait(limit_s):
        log.warning("ended in the middle of a step; what was stored stays")
        end()


def end_process() -> None:
    """End this process and its children at once. A transaction that is under way is rolled back by the next writer."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    os._exit(0)


def _resident_bytes() -> int:
    """Return the resident memory of this process."""
    import psutil  # takes 30 ms: only the status needs it

    return int(psutil.Process().memory_info().rss)
