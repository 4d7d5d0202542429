"""The process behind the app, one a user: watches folders, indexes them, and turns queries into vectors.

It writes indexes and answers calls; it never searches (whoever searches reads the index file). It ends by itself when
everything is current and nobody has called for 15 minutes; one that is to stay watches every folder that has an index,
and ends when it is told to.
"""

import contextlib
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

from filelock import Timeout

from app import rpc
from app.daemon_control import daemon_lock
from app.encoders import chosen_model, tune
from app.library import IndexLockedError, known_roots, open_pipeline
from app.memory import resident_bytes
from app.pace import ThreadPace
from app.paths import data_folder, resolve_root, socket_path
from app.resident import ResidentModel
from engine import __version__
from engine.errors import LongsearchError
from engine.store.store import Store
from indexer.extract.ocr import ocr_languages
from indexer.retries import FIRST_S
from indexer.watch import RootWatch

log = logging.getLogger("longsearch.daemon")

IDLE_EXIT_S = 900.0
MODEL_IDLE_S = 300.0
"""Then the model is let go: to load it again takes a second, as the first query of a day may."""
_TICK_S = 0.5
_RETRY_S = 30.0


class Daemon:
    """The roots it keeps, the model it holds, and the thread that indexes."""

    def __init__(self, stay: bool = False, model: ResidentModel | None = None) -> None:
        self._stay = stay
        self._model = model or ResidentModel()
        self._watches: dict[Path, RootWatch] = {}
        self._problems: dict[Path, str] = {}
        self._retry_at: dict[Path, float] = {}
        self._incomplete: set[Path] = set()
        self._to_retry: set[Path] = set()
        self._working_on: Path | None = None
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._paused = False
        self._ocr = ocr_languages(os.environ)
        self._pace = ThreadPace()
        self._called_at = time.monotonic()

    def run(self) -> None:
        """Serve until told to stop or idle. Raises LongsearchError where another daemon runs."""
        path = socket_path()
        try:
            with daemon_lock(timeout_s=0):
                log.info("longsearch %s, pid %d", __version__, os.getpid())
                for root in known_roots() if self._stay else ():
                    self._watch(root)
                indexer = threading.Thread(target=self._index_until_stopped, args=(path,))
                indexer.start()
                rpc.serve(path, self.handle, self._stopping)
                indexer.join()
                for watch in self._watches.values():
                    watch.stop()
                path.unlink(missing_ok=True)
        except Timeout as error:
            raise LongsearchError("a daemon is already running", "see `longsearch daemon status`") from error

    def stop(self) -> None:
        """Have `run` return after the step it is in; from any thread or signal handler."""
        self._stopping.set()
        self._wake.set()

    def handle(self, method: str, params: dict[str, Any]) -> Any:
        """Answer one call; from any thread."""
        self._called_at = time.monotonic()
        match method:
            case "status":
                return self._status()
            case "encode":
                return self._model.encode_query(params["text"], params["instruction"]).to_json()
            case "watch":
                return self._watch(resolve_root(params["root"]))
            case "retry":
                root = resolve_root(params["root"])
                self._to_retry.add(root)
                return self._watch(root)
            case "pause" | "resume":
                self._paused = method == "pause"
                self._wake.set()
                return {"paused": self._paused}
            case "stop":
                self.stop()
                return {"stopping": True}
        raise LongsearchError(f"the daemon knows no {method!r}", "it may be older than this longsearch: restart it")

    def _status(self) -> dict[str, Any]:
        with self._lock:
            roots = [
                {
                    "root": str(root),
                    "problem": self._problems.get(root) or watch.problem,
                    "busy": watch.is_due() or root in self._incomplete or root == self._working_on,
                    "failing": root in self._retry_at,
                }
                for root, watch in self._watches.items()
            ]
        return {
            "version": __version__,
            "pid": os.getpid(),
            "stays": self._stay,
            "paused": self._paused,
            "roots": roots,
            "model": {"loaded": self._model.is_loaded, "name": chosen_model()},
            "memory_bytes": resident_bytes(),
        }

    def _watch(self, root: Path) -> dict[str, Any]:
        with self._lock:
            watch = self._watches.get(root)
            if watch is None:
                watch = self._watches[root] = RootWatch(root, self._wake.set, own=data_folder())
                watch.start()
        self._retry_at.pop(root, None)
        watch.ask()
        return {"root": str(root), "problem": watch.problem}

    def _index_until_stopped(self, path: Path) -> None:
        """The indexing thread: sweep what is due, else embed what is left, else wait."""
        while not self._stopping.is_set():
            self._wake.clear()
            for watch in self._all_watches():
                watch.rearm_if_broken()
            root = None if self._paused else self._next_root()
            if root is not None:
                self._index(root)
            elif self._is_idle():
                self._stopping.set()
            else:
                self._model.unload_if_idle(MODEL_IDLE_S)
                self._wake.wait(_TICK_S if any(w.is_expecting() for w in self._all_watches()) else 30 * _TICK_S)
        with contextlib.suppress(LongsearchError):
            rpc.call(path, "status", timeout_s=1)  # wakes the accept of `serve`

    def _all_watches(self) -> list[RootWatch]:
        with self._lock:
            return list(self._watches.values())

    def _next_root(self) -> Path | None:
        """The root to work on: one that is due before one that is only incomplete."""
        now = time.monotonic()
        with self._lock:
            ready = [root for root in self._watches if self._retry_at.get(root, 0) <= now]
            due = [root for root in ready if self._watches[root].is_due()]
        return next(iter(due), next((root for root in ready if root in self._incomplete), None))

    def _index(self, root: Path) -> None:
        """Sweep and embed one root until it is current or something else is due."""
        watch = self._watches[root]
        if not os.path.isdir(root):  # noqa: PTH112 - Path.is_dir raises where a folder above may not be entered
            self._go_offline(root)
            return
        self._working_on = root
        try:
            with open_pipeline(root, self._model, self._must_yield, self._ocr) as (pipeline, store):
                watch.begin_sweep()
                began_at = time.time()
                if root in self._to_retry:
                    self._to_retry.discard(root)
                    store.read_again()
                summary = pipeline.read()
                if store.pending(limit=1):
                    tune(self._model.loaded(), store)
                finished = pipeline.embed() and summary.finished
                self._problems[root] = "; ".join((*store.notes, *summary.problems))
                (self._incomplete.discard if finished else self._incomplete.add)(root)
                watch.ask_in(_until_retry_s(store, began_at))
        except IndexLockedError as error:
            self._put_off(root, error.message)
        except LongsearchError as error:
            log.warning("%s: %s (%s)", root, error.message, error.hint)
            self._put_off(root, f"{error.message} ({error.hint})")
        except Exception as error:
            log.exception("indexing %s", root)
            self._put_off(root, f"defect: {error!r}")
        finally:
            self._working_on = None

    def _go_offline(self, root: Path) -> None:
        """The root is not there: nothing is forgotten. When it comes back, its watch is armed anew, and due."""
        self._watches[root].begin_sweep()
        self._incomplete.discard(root)
        self._problems[root] = "the folder is not there: taken to be offline; nothing is lost"

    def _put_off(self, root: Path, problem: str) -> None:
        self._problems[root] = problem
        self._incomplete.add(root)
        self._retry_at[root] = time.monotonic() + _RETRY_S

    def _must_yield(self) -> bool:
        """Whether the pipeline must let go: told to stop, paused, or some root is due."""
        if self._model.is_loaded:
            self._pace.adapt()
        return self._stopping.is_set() or self._paused or any(watch.is_due() for watch in self._all_watches())

    def _is_idle(self) -> bool:
        idle_s = time.monotonic() - self._called_at
        return not self._stay and not self._incomplete and idle_s > IDLE_EXIT_S


def _until_retry_s(store: Store, swept_at: float) -> float | None:
    """How long until a file that could not be read is to be tried again; None where there is none.

    What was due at the sweep and still is lies where the sweep could not look, such as on a drive that is away.
    """
    retry_at = store.next_retry(after=swept_at)
    return None if retry_at is None else max(FIRST_S, retry_at - time.time())
