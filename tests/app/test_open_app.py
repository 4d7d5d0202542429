"""An open app and its daemon: the backend keeps a daemon at work on the folder, and shows why one cannot work."""

import shutil
from pathlib import Path

import pytest
from app_helpers import Clock, current, running, status, wait_until
from homes import SAMPLES

import longsearch.app.background.daemon
import longsearch.app.local_backend
from longsearch.app.background import daemon_control
from longsearch.app.background.daemon import Daemon
from longsearch.app.background.daemon_control import watch
from longsearch.app.local_backend import LocalBackend
from longsearch.app.paths import index_path
from longsearch.engine.errors import StoreError


def test_an_open_app_keeps_its_daemon_from_idling_and_starts_a_dead_one_again(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longsearch.app.local_backend, "ASK_EVERY_S", 0.0)
    started: list[Path] = []
    backend = LocalBackend(root)
    backend.progress()  # before `start` it asks for no daemon
    clock = Clock()
    with running(Daemon(clock=clock)) as daemon:
        backend.start()
        monkeypatch.setattr(daemon_control, "watch", started.append)
        clock.now = 100.0
        assert daemon.idle_s == 100.0
        backend.progress()
        assert daemon.idle_s == 0.0
        assert started == []
    backend.progress()
    assert started == [root]


def opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> LocalBackend:
    """Return the backend of an open app, whose two documents are current. It checks its daemon at each poll."""
    monkeypatch.setattr(longsearch.app.local_backend, "ASK_EVERY_S", 0.0)
    backend = LocalBackend(root)
    backend.start()
    wait_until(lambda: current(backend) == {"tides.md", "violin.md"})
    return backend


def test_an_open_app_makes_a_new_daemon_watch_its_folder(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(Daemon()):
        backend = opened(root, monkeypatch)
    with running(Daemon()):
        backend.progress()
        assert [kept["root"] for kept in status()["roots"]] == [str(root)]
        shutil.copy(SAMPLES / "lease.txt", root)
        wait_until(lambda: current(backend) == {"tides.md", "violin.md", "lease.txt"})


def test_an_index_deleted_under_an_open_app_is_rebuilt(
    daemon: Daemon, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened(root, monkeypatch)
    wait_until(lambda: not any(kept["busy"] for kept in status()["roots"]))
    for file in index_path(root).parent.glob(f"{index_path(root).name}*"):
        file.unlink()
    backend.progress()
    wait_until(lambda: len(current(backend)) == 2)


def test_an_open_app_shows_why_the_daemon_cannot_index(
    daemon: Daemon, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened(root, monkeypatch)
    assert backend.progress().activity == ""

    def fail(*_: object) -> None:
        raise StoreError("The disk is full", "Make room")

    with monkeypatch.context() as patch:
        patch.setattr(longsearch.app.background.daemon, "open_pipeline", fail)
        watch(root)
        wait_until(lambda: backend.progress().activity == "The disk is full (Make room)")
    watch(root)
    wait_until(lambda: backend.progress().activity == "")
