import json
import os
import stat
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import pytest

from longsearch.app import rpc
from longsearch.app.rpc import DaemonUnreachableError, call, serve
from longsearch.engine.errors import LongsearchError
from longsearch.engine.platforms import local_sockets


def answer(method: str, params: dict[str, Any]) -> Any:
    match method:
        case "echo":
            return params
        case "refuse":
            raise LongsearchError("no", "ask nicely")
    return 1 / 0


def is_listening(path: Path) -> bool:
    with suppress(DaemonUnreachableError):
        return bool(call(path, "echo", 5, there=True))
    return False


@pytest.fixture
def socket(tmp_path: Path) -> Iterator[Path]:
    path, stopping = tmp_path / "s.sock", threading.Event()
    thread = threading.Thread(target=serve, args=(path, answer, stopping))
    thread.start()
    while not is_listening(path):
        thread.join(0.01)
    yield path
    stopping.set()
    with suppress(DaemonUnreachableError):  # it may have stopped after the last call
        call(path, "echo", 5)
    thread.join()


def test_a_call_passes_its_parameters_and_returns_the_answer(socket: Path) -> None:
    assert call(socket, "echo", 5, text="\udcff né", number=3) == {"text": "\udcff né", "number": 3}


def test_an_error_arrives_with_its_hint(socket: Path) -> None:
    with pytest.raises(LongsearchError) as caught:
        call(socket, "refuse", 5)
    assert (caught.value.message, caught.value.hint) == ("no", "ask nicely")


def test_a_defect_in_the_handler_reaches_the_caller_and_the_server_goes_on(socket: Path) -> None:
    with pytest.raises(LongsearchError, match="ZeroDivisionError"):
        call(socket, "divide", 5)
    assert call(socket, "echo", 5) == {}


def test_the_server_survives_a_caller_that_sends_nonsense_or_hangs_up(socket: Path) -> None:
    with Client(str(socket), family="AF_UNIX") as connection:
        connection.send_bytes(b"\xff not json")
    Client(str(socket), family="AF_UNIX").close()
    assert call(socket, "echo", 5) == {}


def test_a_connection_over_which_nothing_comes_ends(socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "IDLE_S", 0.01)
    with Client(str(socket), family="AF_UNIX") as silent, pytest.raises(EOFError):
        silent.recv_bytes()


def test_a_caller_that_stops_within_its_request_is_let_go(socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "IDLE_S", 0.01)
    with Client(str(socket), family="AF_UNIX") as slow:
        os.write(slow.fileno(), struct.pack("!i", 100) + b'{"method"')
        with pytest.raises(EOFError):
            slow.recv_bytes()


def test_a_server_that_stops_within_its_answer_keeps_nobody_waiting(tmp_path: Path) -> None:
    here, asked = local_sockets.door(tmp_path / "socket"), list[Any]()
    with local_sockets.listening(here) as listener, ExitStack() as kept_open:

        def begin_to_answer() -> None:
            connection = kept_open.enter_context(listener.accept())
            asked.append(json.loads(connection.recv_bytes()))
            os.write(connection.fileno(), struct.pack("!i", 100) + b'{"result"')

        server = threading.Thread(target=begin_to_answer)
        server.start()
        with pytest.raises(DaemonUnreachableError, match=r"within 0\.5 s"):
            call(here.file, "echo", 0.5)
        server.join()
    assert asked == [{"method": "echo", "params": {}}]


def test_a_server_that_accepts_nobody_keeps_nobody_waiting(tmp_path: Path) -> None:
    here = local_sockets.door(tmp_path / "socket")
    with local_sockets.listening(here), ExitStack() as waiting, pytest.raises(BlockingIOError):
        while True:  # until its queue is full
            waiting.enter_context(local_sockets.connect(here, timeout_s=0.01))


def test_many_callers_are_answered_at_once(socket: Path) -> None:
    answers: list[Any] = []

    def ask(i: int) -> None:
        answers.append(call(socket, "echo", 5, i=i)["i"])

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(20))


def test_the_socket_is_private(socket: Path) -> None:
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600


def test_a_call_to_a_missing_socket_says_how_to_start_the_daemon(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachableError) as caught:
        call(tmp_path / "none.sock", "echo", 1)
    assert "daemon start" in caught.value.hint
