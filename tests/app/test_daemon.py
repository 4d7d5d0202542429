"""The daemon on a thread of this process, with the bundled model: it watches, indexes and encodes."""

import json
import os
import shutil
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from filelock import FileLock

from longsearch.app import rpc
from longsearch.app.backend import AppBackend
from longsearch.app.daemon import daemon_control
from longsearch.app.daemon.daemon import MODEL_IDLE_S, Daemon, end_if_stuck
from longsearch.app.daemon.daemon_control import daemon_status, retry, stop_daemon, watch
from longsearch.app.folders.indexes import known_roots
from longsearch.app.models import query_vectors as vectors
from longsearch.app.paths import index_path, socket_path
from longsearch.engine.errors import LongsearchError
from longsearch.engine.models.identity import identify
from longsearch.engine.types.progress import FileStatus
from longsearch.engine.types.results import SearchMode
from longsearch.indexer import retries
from tests.app.app_helpers import Clock, current, running, status, wait_until
from tests.app.homes import SAMPLES


def test_a_watched_folder_becomes_current_and_stays_so(daemon: Daemon, root: Path) -> None:
    backend = AppBackend(root)
    assert backend.progress().n_files == 0
    assert backend.start() == ""
    wait_until(lambda: current(backend) == {"tides.md", "violin.md"})
    shutil.copy(SAMPLES / "lease.txt", root)
    (root / "violin.md").unlink()
    wait_until(lambda: current(backend) == {"tides.md", "lease.txt"})
    found = backend.search("how much notice must be given", SearchMode.HYBRID)
    assert found.mode is SearchMode.HYBRID
    assert found.hits[0].path == str(root / "lease.txt")
    assert "LEASE" in backend.document(found.hits[0].document_id).text
    near = backend.passage_similarity(found.hits[0].document_id, "how much notice must be given", "")
    assert {(passage.start, passage.stop) for passage in found.hits[0].passages} <= {span[:2] for span in near}
    assert backend.passage_similarity(found.hits[0].document_id, "type:txt", "") == ()


def test_a_query_vector_from_the_daemon_equals_one_made_here(daemon: Daemon) -> None:
    here, there = vectors.from_here("the moon", None), vectors.from_daemon("the moon", None)
    assert here.fingerprint == there.fingerprint
    assert here.vector @ there.vector == pytest.approx(1, abs=1e-4)


def test_a_second_daemon_refuses(daemon: Daemon) -> None:
    with pytest.raises(LongsearchError, match="already running"):
        Daemon().run()


def test_pausing_stops_indexing_and_resuming_goes_on(daemon: Daemon, root: Path) -> None:
    rpc.call(socket_path(), "pause", 5)
    watch(root)
    assert daemon_status()["paused"]  # type: ignore[index]
    assert not index_path(root).exists()
    rpc.call(socket_path(), "resume", 5)
    wait_until(lambda: len(current(AppBackend(root))) == 2)


def test_index_waits_for_the_daemon_that_is_indexing_the_folder(
    daemon: Daemon, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from longsearch.app.cli import main

    (root / "long.txt").write_text("\n\n".join((SAMPLES / "lease.txt").read_text() for _ in range(5)))
    watch(root)
    assert main(["index", "-q", str(root)]) == 0
    assert "3 files: 3 current" in capsys.readouterr().out


def test_a_root_that_disappears_is_offline_and_becomes_current_again_when_it_returns(
    daemon: Daemon, root: Path
) -> None:
    watch(root)
    wait_until(lambda: len(current(AppBackend(root))) == 2)
    root.rename(root.with_name("elsewhere"))
    wait_until(lambda: "folder is away" in status()["roots"][0]["problem"])
    assert not status()["roots"][0]["busy"]
    assert len(current(AppBackend(root))) == 2
    shutil.copy(SAMPLES / "lease.txt", root.with_name("elsewhere"))
    root.with_name("elsewhere").rename(root)
    wait_until(lambda: len(current(AppBackend(root))) == 3)
    wait_until(lambda: not status()["roots"][0]["problem"])


@pytest.fixture
def unreadable(root: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event; until it is set, violin.md cannot be read."""
    is_readable, open_file = threading.Event(), Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "violin.md" and not is_readable.is_set():
            raise OSError(5, "Input/output error")
        return open_file(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    return is_readable


def with_status(wanted: FileStatus, root: Path) -> list[str]:
    return [file.path for file in AppBackend(root).files() if file.status is wanted]


def test_a_file_that_could_not_be_read_is_read_again_on_request(
    daemon: Daemon, root: Path, unreadable: threading.Event
) -> None:
    watch(root)
    wait_until(lambda: with_status(FileStatus.FAILED, root) == ["violin.md"])
    unreadable.set()
    retry(root)
    wait_until(lambda: len(current(AppBackend(root))) == 2)


def test_a_file_that_was_read_in_part_is_read_again_on_request(
    daemon: Daemon, root: Path, half_readable: threading.Event
) -> None:
    watch(root)
    wait_until(lambda: with_status(FileStatus.PARTIAL, root) == ["violin.md"])
    half_readable.set()
    watch(root)  # a sweep alone does not read it again
    wait_until(lambda: not status()["roots"][0]["busy"])
    assert with_status(FileStatus.PARTIAL, root) == ["violin.md"]
    retry(root)
    wait_until(lambda: len(current(AppBackend(root))) == 2)


def test_a_file_that_could_not_be_read_is_read_again_by_itself(
    daemon: Daemon, root: Path, unreadable: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "FIRST_S", 0.2)
    watch(root)
    wait_until(lambda: with_status(FileStatus.FAILED, root) == ["violin.md"])
    unreadable.set()
    wait_until(lambda: len(current(AppBackend(root))) == 2)


def test_an_idle_model_is_unloaded_and_a_sweep_without_new_text_does_not_load_it(
    daemon: Daemon, root: Path, clock: Clock
) -> None:
    watch(root)
    wait_until(lambda: len(current(AppBackend(root))) == 2)
    assert status()["model"]["loaded"]
    assert status()["model"]["fingerprint"] == identify("bundled").fingerprint
    clock.now += MODEL_IDLE_S
    wait_until(lambda: not status()["model"]["loaded"])
    os.utime(root / "tides.md", ns=(1, 1))
    shutil.copy(root / "tides.md", root / "copy.md")
    watch(root)
    wait_until(lambda: len(current(AppBackend(root))) == 3)
    assert not status()["model"]["loaded"]
    assert vectors.from_daemon("the moon", None).vector.shape
    assert not status()["model"]["loaded"]  # numpy encoded the query


def test_a_daemon_that_stays_watches_every_folder_that_has_an_index_and_never_ends_by_itself(
    home: Path, root: Path
) -> None:
    with running(Daemon()):
        watch(root)
        wait_until(lambda: len(current(AppBackend(root))) == 2)
    assert known_roots() == [root]
    index_path(home / "broken").write_bytes(b"not an index" * 500)
    with running(Daemon(stay=True, tick_s=0.01, idle_exit_s=0.0)):
        assert [kept["root"] for kept in status()["roots"]] == [str(root)]
        assert status()["stays"]
        shutil.copy(SAMPLES / "lease.txt", root)
        wait_until(lambda: len(current(AppBackend(root))) == 3)


def test_its_status_is_printed_as_text_and_as_json(
    daemon: Daemon, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from longsearch.app.cli import main

    watch(root)
    wait_until(lambda: len(current(AppBackend(root))) == 2)
    assert main(["daemon", "status"]) == 0
    said = capsys.readouterr().out
    assert "model bundled: loaded" in said
    assert str(root) in said
    assert main(["daemon", "status", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["running"]
    assert found["roots"][0]["root"] == str(root)
    assert main(["status", str(root)]) == 0
    assert "watched by the daemon" in capsys.readouterr().out


def test_without_a_daemon_its_status_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from longsearch.app.cli import main

    assert main(["daemon", "status"]) == 1
    assert capsys.readouterr().out == "no daemon is running\n"
    assert main(["daemon", "status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"running": False}


def test_an_unknown_method_or_folder_is_an_error(daemon: Daemon) -> None:
    with pytest.raises(LongsearchError, match="does not know 'dance'"):
        rpc.call(socket_path(), "dance", 5)
    with pytest.raises(LongsearchError, match="no folder"):
        rpc.call(socket_path(), "watch", 5, root="/nowhere")


def test_without_a_daemon_a_model_that_needs_no_torch_is_asked_here(home: Path, root: Path) -> None:
    from longsearch.app.cli import main

    assert main(["index", "-q", str(root)]) == 0
    found = AppBackend(root).search("the moon", SearchMode.HYBRID)
    assert (found.mode, found.note) == (SearchMode.HYBRID, "")


def test_without_a_daemon_hybrid_searches_by_words_and_says_why(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from longsearch.app.cli import main

    monkeypatch.setattr(vectors, "_light", lambda model: None)  # as for a model that needs torch
    assert main(["index", "-q", str(root)]) == 0
    backend = AppBackend(root)
    assert backend.search("the moon pul", SearchMode.WORDS).hits
    found = backend.search("the moon", SearchMode.HYBRID)
    assert (found.mode, found.note) == (
        SearchMode.WORDS,
        "words only: no daemon is running (start one: longsearch daemon start)",
    )
    with pytest.raises(LongsearchError, match="no daemon"):
        backend.search("the moon", SearchMode.MEANING)


def test_a_stopped_daemon_has_released_its_lock_and_its_socket(home: Path) -> None:
    daemon = Daemon()
    with running(daemon):
        pass
    with FileLock(socket_path().with_suffix(".lock"), timeout=0, mode=0o600):
        assert not socket_path().exists()


def test_a_daemon_from_before_an_update_gives_way_to_one_that_knows_the_new_schema(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Daemon(stay=True, tick_s=0.01)
    monkeypatch.setattr(old, "_status", lambda: {"pid": 1, "stays": True, "model": {}, "roots": []})
    started: list[bool] = []

    class Process:
        def poll(self) -> None: ...

    def spawn(stay: bool) -> Process:
        assert daemon_control.daemon_status() is None, "the old one has ended"
        started.append(stay)
        monkeypatch.setattr(daemon_control, "daemon_status", lambda: {"pid": 2, "schema": 99, "model": {}})
        return Process()

    monkeypatch.setattr(daemon_control, "_spawn", spawn)
    monkeypatch.setattr(daemon_control, "check_model", lambda _: None)
    thread = threading.Thread(target=old.run)
    thread.start()
    wait_until(lambda: daemon_control.daemon_status() is not None)
    assert daemon_control.ensure_daemon()["pid"] == 2
    thread.join()
    assert started == [True], "it stays, as the old one did"


def test_stopping_a_daemon_that_is_still_reading_says_that_it_ends_later(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_control, "PATIENCE_TO_STOP_S", 0.01)
    monkeypatch.setattr(daemon_control, "START_TIMEOUT_S", 0.0)
    monkeypatch.setattr(rpc, "call", lambda *_: {"stopping": True})
    with (
        FileLock(socket_path().with_suffix(".lock"), timeout=0, mode=0o600),
        pytest.raises(LongsearchError, match="has not ended"),
    ):
        stop_daemon()


class Killed:
    """Stands for the process that a daemon noted; a daemon that hangs, until it is killed."""

    def __init__(self, lock: FileLock, began_at: float) -> None:
        self._lock, self._began_at = lock, began_at
        self.killed: list[str] = []

    def create_time(self) -> float:
        return self._began_at

    def children(self, recursive: bool) -> list[Any]:
        return [SimpleNamespace(kill=partial(self.killed.append, "its child"))] if recursive else []

    def kill(self) -> None:
        self.killed.append("itself")
        self._lock.release()


@pytest.mark.parametrize("is_told", [True, False], ids=["that was told to stop", "that does not answer"])
def test_a_daemon_that_hangs_is_ended(home: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool) -> None:
    def call(*_: object) -> dict[str, bool]:
        if is_told:
            return {"stopping": True}
        raise rpc.DaemonUnreachableError("the daemon did not answer")

    monkeypatch.setattr(daemon_control, "PATIENCE_TO_STOP_S", 0.01)
    monkeypatch.setattr(rpc, "call", call)
    daemon_control.note_process()
    with FileLock(socket_path().with_suffix(".lock"), timeout=0, mode=0o600) as lock:
        hanging = Killed(lock, psutil.Process().create_time())
        monkeypatch.setattr(psutil, "Process", lambda pid: hanging if pid == os.getpid() else None)
        assert stop_daemon()
    assert hanging.killed == ["its child", "itself"]


def test_a_process_that_has_the_number_of_an_earlier_daemon_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_control, "PATIENCE_TO_STOP_S", 0.01)
    monkeypatch.setattr(daemon_control, "START_TIMEOUT_S", 0.0)
    daemon_control.note_process()
    with FileLock(socket_path().with_suffix(".lock"), timeout=0, mode=0o600) as lock:
        another = Killed(lock, psutil.Process().create_time() + 1.0)
        monkeypatch.setattr(psutil, "Process", lambda _: another)
        with pytest.raises(LongsearchError, match="has not ended"):
            stop_daemon()
    assert another.killed == []


def test_a_daemon_that_does_not_end_its_step_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    stopping, ended, calls = threading.Event(), threading.Event(), list[str]()
    stopping.set()
    with caplog.at_level("WARNING", "longsearch.daemon"):
        end_if_stuck(stopping, ended, lambda: calls.append("ended"), limit_s=0)
    ended.set()
    end_if_stuck(stopping, ended, lambda: calls.append("twice"))
    assert calls == ["ended"] and "in the middle of a step" in caplog.text
