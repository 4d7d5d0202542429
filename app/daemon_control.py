"""Start, find and stop the daemon from another process."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from app import rpc
from app.encoders import MODEL_VARIABLE, chosen_model
from app.paths import data_folder, socket_path
from engine.errors import LongsearchError

START_TIMEOUT_S = 15.0
_CALL_TIMEOUT_S = 5.0


def log_path() -> Path:
    """Where a daemon started in the background writes."""
    return data_folder() / "daemon.log"


def daemon_lock(timeout_s: float) -> FileLock:
    """What the daemon holds as long as it lives; to be entered, it raises Timeout where it is not free by then."""
    return FileLock(socket_path().with_suffix(".lock"), timeout=timeout_s, mode=0o600)


def daemon_status() -> dict[str, Any] | None:
    """What the daemon says of itself, or None where none answers."""
    try:
        answer: dict[str, Any] = rpc.call(socket_path(), "status", _CALL_TIMEOUT_S)
    except rpc.DaemonUnreachableError:
        return None
    return answer


def root_status(root: Path) -> dict[str, Any] | None:
    """What the daemon says of this root; None where no daemon keeps it."""
    status = daemon_status()
    return next((kept for kept in status["roots"] if kept["root"] == str(root)), None) if status else None


def check_model(status: dict[str, Any] | None) -> None:
    """Raise LongsearchError where a daemon runs with another model than is chosen here: the two would undo each
    other's work, for an index holds the vectors of one model.
    """
    model = chosen_model() if status is None else status["model"].get("name", "bundled")
    if model != chosen_model():
        message = f"the daemon runs with another model ({model}) than is chosen here ({chosen_model()})"
        raise LongsearchError(
            message,
            "stop it, and it starts with yours: longsearch daemon stop (installed ones: longsearch daemon install)",
        )


def ensure_daemon(stay: bool = False) -> dict[str, Any]:
    """Its status, after starting one where none runs (to `stay` even when there is nothing to do). Raises
    LongsearchError where it does not come up, or runs with another model.
    """
    status = daemon_status()
    if status is None:
        process = _spawn(stay)
        deadline = time.monotonic() + START_TIMEOUT_S
        while (status := daemon_status()) is None:
            if process.poll() not in (None, 0) or time.monotonic() > deadline:
                raise LongsearchError("the daemon did not start", f"see {log_path()}")
            time.sleep(0.05)
    check_model(status)
    return status


def watch(root: Path) -> str:
    """Have the daemon keep this root's index current. "" or why it cannot be kept so at once."""
    ensure_daemon()
    answer = rpc.call(socket_path(), "watch", _CALL_TIMEOUT_S, root=str(root))
    return str(answer["problem"])


def retry(root: Path) -> None:
    """Have the daemon read again, at once, the files of this root that could not be read, or only in part."""
    ensure_daemon()
    rpc.call(socket_path(), "retry", _CALL_TIMEOUT_S, root=str(root))


def stop_daemon() -> bool:
    """Tell it to stop after the step it is in; False where none runs. Returns when it has let go.

    LongsearchError where it has not after 15 s: a file that is being read is read to its end.
    """
    try:
        rpc.call(socket_path(), "stop", _CALL_TIMEOUT_S)
    except rpc.DaemonUnreachableError:
        return False
    try:
        with daemon_lock(START_TIMEOUT_S):
            return True
    except Timeout as error:
        raise LongsearchError("the daemon ends when the file it reads is read", "look again in a minute") from error


def _spawn(stay: bool) -> subprocess.Popen[bytes]:
    log = os.open(log_path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-P", "-m", "app.cli", "daemon", "run", *(["--stay"] if stay else [])],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=Path.home() if Path.home().is_dir() else "/",
            env={**os.environ, MODEL_VARIABLE: chosen_model()},  # a relative one is of another folder there
        )
    finally:
        os.close(log)
    threading.Thread(target=process.wait, daemon=True).start()  # unless it is waited for, a killed one seems to live
    return process
