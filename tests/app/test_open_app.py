"""An open app and its daemon: the backend keeps a daemon at work on the folder, and shows why one cannot work."""

import shutil
import sys
from pathlib import Path

import pytest

import longsearch.app.backend
import longsearch.app.indexing.opening
from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.commands.open import preferences
from longsearch.app.daemon import daemon_control
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.daemon.daemon_control import watch
from longsearch.app.evidence.user_data import StoredUserData
from longsearch.app.paths import config_path, index_path
from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.store.store import Store
from longsearch.tui.backend.interface import InView, Question
from tests.app.app_helpers import Clock, current, running, status, wait_until
from tests.app.homes import SAMPLES


def test_an_open_app_keeps_its_daemon_from_idling_and_starts_a_dead_one_again(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longsearch.app.backend, "ASK_EVERY_S", 0.0)
    started: list[Path] = []
    backend = AppBackend(root)
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


def opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> AppBackend:
    """Return the backend of an open app, whose two documents are current. It checks its daemon at each poll."""
    monkeypatch.setattr(longsearch.app.backend, "ASK_EVERY_S", 0.0)
    backend = AppBackend(root)
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
        patch.setattr(longsearch.app.indexing.opening, "open_pipeline", fail)
        watch(root)
        wait_until(lambda: backend.progress().problem == "The disk is full (Make room)")
    watch(root)
    wait_until(lambda: backend.progress().problem == "")


def test_an_open_app_says_that_its_daemon_cannot_be_started(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longsearch.app.backend, "ASK_EVERY_S", 0.0)

    def fail(root: Path) -> str:
        raise LongsearchError("the daemon did not start", "see its log")

    monkeypatch.setattr(daemon_control, "watch", fail)
    for backend in (AppBackend(root), AppBackend()):
        assert backend.progress().problem == ""
    backend = AppBackend(root)
    with pytest.raises(LongsearchError):
        backend.start()
    assert backend.progress().problem == "the daemon did not start (see its log)"
    monkeypatch.setattr(daemon_control, "watch", lambda root: "")
    assert backend.progress().problem == ""


def test_the_colours_chosen_in_the_app_are_there_again_unless_the_config_file_names_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    assert preferences().theme == "longsearch-dark"
    assert preferences(is_light=True).theme == "longsearch-light"
    assert StoredUserData(None).keep_theme("nord") == ""
    assert preferences(is_light=True).theme == "nord"
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('theme = "gruvbox"')
    assert "until you leave" in StoredUserData(None).keep_theme("dracula")
    assert preferences().theme == "gruvbox"
    config_path().unlink()
    (home / "xdg_data_home" / "longsearch" / "app.json").write_text("{")
    assert preferences().theme == "longsearch-dark", "a damaged file is no reason to stop"


def test_the_app_offers_the_other_folders_the_last_one_used_first(home: Path, root: Path, samples: Path) -> None:
    third = home / "third"
    third.mkdir()
    for folder in (root, samples, third):
        Store.open(index_path(folder), folder).close()
    for folder in (third, samples):
        StoredUserData(folder).leave(InView(Question("valve")))
    assert [one.root for one in StoredUserData(root).folders()] == [str(samples), str(third)]
    assert len(StoredUserData(None).folders()) == 3


def test_the_first_start_in_a_terminal_offers_a_folder_and_the_samples(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert main([]) == 0
    said = capsys.readouterr().out
    assert said.startswith("No folder is indexed yet.") and "longsearch demo" in said
    assert main(["open"]) == 3
    assert "longsearch demo" in capsys.readouterr().err
