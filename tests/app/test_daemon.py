"""The daemon in this process: watches, indexes and encodes, with the bundled model."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from homes import SAMPLES

from app import rpc, vectors
from app.backend import LocalBackend
from app.daemon import Daemon
from app.daemon_control import daemon_status, stop_daemon, watch
from app.paths import index_path, socket_path
from engine.errors import LongsearchError
from engine.types import FileState, SearchMode

PATIENCE_S = 60.0


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    daemon = Daemon()
    thread = threading.Thread(target=daemon.run)
    thread.start()
    wait_until(lambda: daemon_status() is not None)
    yield daemon
    assert stop_daemon()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.fixture
def root(home: Path) -> Path:
    root = home / "root"
    root.mkdir()
    for name in ("tides.md", "violin.md"):
        shutil.copy(SAMPLES / name, root)
    return root


def wait_until(condition: Callable[[], bool]) -> None:
    """Look again and again, PATIENCE_S at most: what happens in other threads tells nobody here."""
    pause = threading.Event()
    for _ in range(int(PATIENCE_S / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    pytest.fail("it did not happen")


def current(backend: LocalBackend) -> set[str]:
    return {file.path for file in backend.files() if file.state is FileState.CURRENT}


def test_a_watched_folder_becomes_current_and_stays_so(daemon: Daemon, root: Path) -> None:
    backend = LocalBackend(root)
    assert backend.progress().n_files == 0
    assert backend.start() == ""
    wait_until(lambda: current(backend) == {"tides.md", "violin.md"})
    shutil.copy(SAMPLES / "lease.txt", root)
    (root / "violin.md").unlink()
    wait_until(lambda: current(backend) == {"tides.md", "lease.txt"})
    found = backend.search("how much notice must be given", SearchMode.HYBRID)
    assert found.mode is SearchMode.HYBRID
    assert found.hits[0].path == str(root / "lease.txt")
    assert "LEASE" in backend.document(found.hits[0].content_id).text


def test_a_query_vector_from_the_daemon_is_the_models_own(daemon: Daemon) -> None:
    here, there = vectors.from_here("the moon", None), vectors.from_daemon("the moon", None)
    assert here.fingerprint == there.fingerprint
    assert here.vector @ there.vector == pytest.approx(1, abs=1e-4)


def test_a_second_daemon_refuses(daemon: Daemon) -> None:
    with pytest.raises(LongsearchError, match="already running"):
        Daemon().run()


def test_pausing_stops_the_indexing_and_resuming_goes_on(daemon: Daemon, root: Path) -> None:
    rpc.call(socket_path(), "pause", 5)
    watch(root)
    assert daemon_status()["paused"]  # type: ignore[index]
    assert not index_path(root).exists()
    rpc.call(socket_path(), "resume", 5)
    wait_until(lambda: len(current(LocalBackend(root))) == 2)


def test_index_lets_the_daemon_do_what_it_is_at_and_waits_for_it(
    daemon: Daemon, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.cli import main

    (root / "long.txt").write_text("\n\n".join((SAMPLES / "lease.txt").read_text() for _ in range(40)))
    watch(root)
    assert main(["index", "-q", str(root)]) == 0
    assert "3 files: 3 current" in capsys.readouterr().out


def test_a_root_that_is_gone_is_a_problem_and_not_an_end(daemon: Daemon, root: Path) -> None:
    watch(root)
    wait_until(lambda: len(current(LocalBackend(root))) == 2)
    root.rename(root.with_name("elsewhere"))
    rpc.call(socket_path(), "status", 5)
    wait_until(lambda: any(r["problem"] for r in daemon_status()["roots"]))  # type: ignore[index]
    assert len(current(LocalBackend(root))) == 2


def test_a_call_for_something_unknown_is_refused_with_a_hint(daemon: Daemon) -> None:
    with pytest.raises(LongsearchError, match="knows no 'dance'"):
        rpc.call(socket_path(), "dance", 5)
    with pytest.raises(LongsearchError, match="no folder"):
        rpc.call(socket_path(), "watch", 5, root="/nowhere")


def test_without_a_daemon_words_are_found_and_hybrid_says_why_it_is_less(home: Path, root: Path) -> None:
    from app.cli import main

    assert main(["index", "-q", str(root)]) == 0
    backend = LocalBackend(root)
    assert backend.search("the moon pul", SearchMode.WORDS).hits
    found = backend.search("the moon", SearchMode.HYBRID)
    assert (found.mode, found.note) == (SearchMode.WORDS, "words only: no daemon is running")
    with pytest.raises(LongsearchError, match="no daemon"):
        backend.search("the moon", SearchMode.MEANING)
