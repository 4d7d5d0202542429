"""Starts, finds and stops the daemon from another process."""

import os
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from longsearch.app import rpc
from longsearch.app.locks import LockBusyError, held
from longsearch.app.models.encoders import chosen_model
from longsearch.app.paths import data_folder, expanded, in_shell, socket_path, url_of
from longsearch.app.settings.schema import variable_of
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object, replace_object
from longsearch.engine.models.identity import identify
from longsearch.engine.platforms.processes import outliving
from longsearch.engine.store.schema import MIGRATIONS

START_TIMEOUT_S = 15.0
PATIENCE_TO_STOP_S = 9.0
"""A daemon that is told to stop and has not ended after this time is killed."""
_CALL_TIMEOUT_S = 5.0
_LOOK_AGAIN_S = 0.2


def log_path() -> Path:
    """Return the log file of a daemon that was started in the background."""
    return data_folder() / "daemon.log"


def daemon_lock(timeout_s: float) -> AbstractContextManager[None]:
    """Return the lock that a daemon holds while it lives. Entering it raises LockBusyError if it does not get free."""
    return held(socket_path().with_suffix(".lock"), timeout_s)


def daemon_status() -> dict[str, Any] | None:
    """Return the daemon's status, or None if no daemon answers."""
    try:
        answer: dict[str, Any] = rpc.call(socket_path(), "status", _CALL_TIMEOUT_S)
    except rpc.DaemonUnreachableError:
        return None
    return answer


def root_status(root: Path) -> dict[str, Any] | None:
    """Return the status of this root in the daemon, or None if no daemon watches it."""
    return root_in(daemon_status(), root)


def root_in(status: dict[str, Any] | None, root: Path) -> dict[str, Any] | None:
    """Return the status of this root in the status of a daemon, or None if that daemon does not watch it."""
    return next((kept for kept in status["roots"] if kept["root"] == str(root)), None) if status else None


def check_model(status: dict[str, Any] | None) -> None:
    """Raise LongsearchError if the daemon with this status runs another model than the one chosen here.

    An index holds the vectors of one model, so the two processes would undo each other's work. A daemon that was
    started before an update of longsearch has the same name of the model, but may have other weights.
    """
    if status is None:
        return
    hint = "stop it, and the next uses your model: longsearch daemon stop (if installed: longsearch daemon install)"
    model, theirs = status["model"].get("name", "bundled"), status["model"].get("fingerprint")
    if model != chosen_model():
        raise LongsearchError(
            f"the daemon runs with another model ({model}) than the one chosen here ({chosen_model()})", hint
        )
    if theirs and theirs != identify(model).fingerprint:
        raise LongsearchError("the daemon runs with the model's weights from before an update", hint)


def ensure_daemon(stay: bool = False) -> dict[str, Any]:
    """Start a daemon if none runs, and return its status. `stay`: it keeps running when there is nothing to do.

    One that was started before an update of longsearch cannot open indexes of the new schema: another takes its place.
    Raises LongsearchError if it does not start, or runs with another model.
    """
    status = daemon_status()
    if status is not None and status.get("schema", 0) < len(MIGRATIONS):
        stop_daemon()
        stay, status = stay or bool(status.get("stays")), None
    if status is None:
        process = _spawn(stay)
        deadline = time.monotonic() + START_TIMEOUT_S
        while (status := daemon_status()) is None:
            if process.poll() not in (None, 0) or time.monotonic() > deadline:
                raise LongsearchError(
                    "the daemon did not start", f"see {log_path()}; end one that hangs: longsearch daemon stop"
                )
            time.sleep(0.05)
    check_model(status)
    return status


def watch(root: Path) -> str:
    """Make the daemon keep the index of this root current. Returns why changes are noticed late, or ""."""
    ensure_daemon()
    if url := url_of(root):
        return unwatched(url)
    answer = rpc.call(socket_path(), "watch", _CALL_TIMEOUT_S, root=str(root))
    return str(answer["problem"])


def unwatched(url: str) -> str:
    """Say how to keep the index of an object store current, which the daemon never reads."""
    return f"nobody watches an object store: longsearch index {in_shell(url)}"


def retry(root: Path) -> None:
    """Make the daemon read the failed and partial files of this root again at once."""
    if url := url_of(root):
        raise LongsearchError("nobody watches an object store", f"longsearch index --retry-failed {url}")
    ensure_daemon()
    rpc.call(socket_path(), "retry", _CALL_TIMEOUT_S, root=str(root))


def note_process() -> None:
    """Write down which process the daemon is, for `stop_daemon`."""
    import psutil  # takes 30 ms

    replace_object(_process_file(), {"pid": os.getpid(), "began_at": psutil.Process().create_time()})


def stop_daemon() -> bool:
    """Stop the daemon and wait until it has ended: 10 s at most, whatever it does. Returns False if none runs.

    One that hangs, or is stopped itself, is ended. Raises LongsearchError if it cannot be.
    """
    was_told, deadline = False, time.monotonic() + PATIENCE_TO_STOP_S
    while (left_s := deadline - time.monotonic()) > 0:
        with suppress(rpc.DaemonUnreachableError):
            was_told = was_told or bool(rpc.call(socket_path(), "stop", min(left_s, _CALL_TIMEOUT_S)))
        with suppress(LockBusyError), daemon_lock(max(0.0, deadline - time.monotonic()) if was_told else _LOOK_AGAIN_S):
            return was_told
    _end_noted_process()
    try:
        with daemon_lock(START_TIMEOUT_S):
            return True
    except LockBusyError as error:
        raise LongsearchError("the daemon has not ended", f"end its process; see {log_path()}") from error


def _process_file() -> Path:
    return socket_path().with_suffix(".process")


def _end_noted_process() -> None:
    """Kill the daemon's process with its children, unless another has its number by now."""
    import psutil

    with suppress(psutil.Error, ValueError, KeyError, TypeError):
        noted = load_object(_process_file())
        process = psutil.Process(noted["pid"])
        if process.create_time() == noted["began_at"]:
            for one in (*process.children(recursive=True), process):
                one.kill()


def _environment() -> dict[str, str]:
    """Return the environment of the daemon. In its working folder a relative path to a model would mean another one."""
    variable = variable_of("model")
    return {**os.environ, **({variable: chosen_model()} if os.environ.get(variable, "").strip() else {})}


def _spawn(stay: bool) -> subprocess.Popen[bytes]:
    log = os.open(log_path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-P", "-m", "longsearch.app.cli", "daemon", "run", *(["--stay"] if stay else [])],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home if (home := expanded("~")).is_dir() else "/",
            env=_environment(),
            **outliving(),
        )
    finally:
        os.close(log)
    threading.Thread(target=process.wait, daemon=True).start()  # else a killed daemon stays a zombie and seems to live
    return process
