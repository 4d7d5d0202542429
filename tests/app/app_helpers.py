"""Shared by tests of `app`: a clock that a test sets, polling, and a daemon on a thread with what it reports."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.daemon.daemon_control import daemon_status, stop_daemon
from longsearch.engine.types.progress import FileStatus

PATIENCE_S = 60.0


class Clock:
    """A monotonic clock that stands still until a test moves it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll `condition`, which another thread makes true. Fail after PATIENCE_S."""
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    pytest.fail("it did not happen")


@contextmanager
def running(daemon: Daemon) -> Iterator[Daemon]:
    """Run the daemon on a thread, and stop it at the end of the `with` block."""
    thread = threading.Thread(target=daemon.run)
    thread.start()
    wait_until(lambda: daemon_status() is not None)
    yield daemon
    assert stop_daemon()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def status() -> dict[str, Any]:
    """Return the status of the running daemon."""
    found = daemon_status()
    assert found is not None
    return found


def current(backend: AppBackend) -> set[str]:
    """Return the paths of the files that are current."""
    return {file.path for file in backend.files() if file.status is FileStatus.CURRENT}
