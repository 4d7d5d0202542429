"""The twins of Windows, as far as they run elsewhere: readers by threads, doors with a key, job objects of a fake."""

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import psutil
import pytest

from longsearch.engine.platforms import local_sockets, processes
from longsearch.engine.platforms.job_objects import ExtendedLimits, Job
from longsearch.engine.platforms.local_sockets import Door, connect, door, listening
from longsearch.engine.platforms.pipes import PipeReader, SelectReader, ThreadReader, reader_of

READERS = [SelectReader, ThreadReader]
both_readers = pytest.mark.parametrize("make", READERS)


class Pipe:
    """A pipe with both ends open."""

    def __init__(self) -> None:
        inner, outer = os.pipe()
        self.reading, self.writing = os.fdopen(inner, "rb", 0), os.fdopen(outer, "wb", 0)

    def close(self) -> None:
        self.writing.close()
        self.reading.close()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.close()


@both_readers
def test_a_reader_gives_the_bytes_that_come_and_then_the_end_once(make: Callable[..., PipeReader], pipe: Pipe) -> None:
    reader = make([pipe.reading])
    pipe.writing.write(b"hello")
    assert reader.read(20) == (0, b"hello")
    assert reader.read(0) is None
    pipe.writing.close()
    assert reader.read(20) == (0, b"")
    reader.close()


@both_readers
def test_a_reader_of_two_pipes_gives_all_bytes_of_a_program_in_order(make: Callable[..., PipeReader]) -> None:
    program = "import sys; [(sys.stdout.write(f'{n} ' * 999), sys.stderr.write(f'{n}!')) for n in range(2000)]"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        reader, held, n_open = make([process.stdout, process.stderr]), (bytearray(), bytearray()), 2
        while n_open:
            found = reader.read(60)
            assert found is not None
            n_open -= not found[1]
            held[found[0]].extend(found[1])
        reader.close()
    assert bytes(held[0]) == b"".join(b"%d " % n * 999 for n in range(2000))
    assert bytes(held[1]) == b"".join(b"%d!" % n for n in range(2000))


def test_a_thread_that_nobody_listens_to_ends_when_its_reader_is_closed(pipe: Pipe) -> None:
    before = set(threading.enumerate())
    reader = ThreadReader([pipe.reading])
    for _ in range(4):
        pipe.writing.write(b"x" * 100)
    (thread,) = set(threading.enumerate()) - before
    reader.close()
    pipe.writing.close()
    thread.join(20)
    assert not thread.is_alive()


def test_windows_reads_by_threads_and_others_by_selectors(pipe: Pipe) -> None:
    for platform, kind in (("win32", ThreadReader), ("linux", SelectReader), ("darwin", SelectReader)):
        reader = reader_of([pipe.reading], platform)
        assert type(reader) is kind
        reader.close()


# ---- doors


def test_a_door_is_a_socket_or_on_windows_a_named_pipe_with_a_key(tmp_path: Path) -> None:
    path = tmp_path / "daemon-1.sock"
    assert door(path, "linux") == Door("AF_UNIX", str(path), path, has_key=False)
    there = door(path, "win32")
    assert (there.family, there.address) == ("AF_PIPE", r"\\.\pipe\longsearch-daemon-1")
    assert (there.file, there.has_key) == (tmp_path / "daemon-1.key", True)
    with pytest.raises(FileNotFoundError):
        _ = there.key


@pytest.fixture
def keyed(tmp_path: Path) -> Door:
    """A door like that of Windows, over a Unix socket."""
    return Door("AF_UNIX", str(tmp_path / "s"), tmp_path / "s.key", has_key=True)


def test_both_sides_of_a_door_with_a_key_must_know_it(keyed: Door) -> None:
    with listening(keyed) as listener:
        assert len(keyed.key or b"") == 32
        assert keyed.file.stat().st_mode & 0o777 == 0o600
        refused: list[BaseException] = []

        def stranger(key: bytes) -> None:
            try:
                Client(keyed.address, family=keyed.family, authkey=key)
            except AuthenticationError as error:
                refused.append(error)

        thread = threading.Thread(target=stranger, args=(b"guessed",))
        thread.start()
        with pytest.raises(AuthenticationError):
            listener.accept()
        thread.join()
        assert len(refused) == 1
        thread = threading.Thread(target=lambda: connect(keyed, 5.0).send_bytes(b"friend"))
        thread.start()
        with listener.accept() as connection:
            assert connection.recv_bytes() == b"friend"
        thread.join()
    assert not keyed.file.exists()


def test_each_server_has_a_new_key(keyed: Door) -> None:
    keyed.file.write_bytes(b"left by a server that died")
    keys = []
    for _ in range(2):
        with listening(keyed):
            keys.append(keyed.key)
    assert len(set(keys)) == 2 and b"left by a server that died" not in keys


# ---- processes


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_a_process_runs_until_it_has_ended(platform: str) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert processes.is_running(process.pid, platform)
    assert not processes.is_running(process.pid, platform)
    assert processes.is_running(1, platform)


def test_a_program_outlives_this_one_in_a_session_or_detached() -> None:
    assert processes.outliving("linux") == {"start_new_session": True}
    assert processes.outliving("win32") == {"creationflags": 0x208}


def test_killing_a_session_kills_what_its_process_has_started() -> None:
    program = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **processes.outliving("linux")
    ) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        group = processes.group_of(process, 1 << 30, "linux")
        group.kill()
        process.wait()
        group.kill()
        group.close()
        process.stdout.read()  # ends when the grandchild has let go of the pipe, a moment before it is a zombie
    assert any(has_ended(grandchild) or threading.Event().wait(0.05) for _ in range(1200))


def has_ended(pid: int) -> bool:
    """Return whether the process is gone, or waits for its parent to notice its end."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class FakeKernel:
    """Notes the calls of a job object."""

    def __init__(self, refuses: str = "") -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.limits = ExtendedLimits()
        self._refuses = refuses

    def __getattr__(self, name: str) -> Callable[..., int]:
        def called(*arguments: Any) -> int:
            self.calls.append((name, *arguments))
            if name == "SetInformationJobObject":
                assert arguments[3] == ctypes.sizeof(ExtendedLimits)
                ctypes.memmove(ctypes.byref(self.limits), arguments[2], arguments[3])
            return 0 if name == self._refuses else 77

        return called


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes are those of 64-bit Windows")
def test_the_limits_of_a_job_have_the_layout_of_win32() -> None:
    assert ctypes.sizeof(ExtendedLimits) == 144
    offsets = {name: getattr(ExtendedLimits, name).offset for name, _ in ExtendedLimits._fields_}
    assert (offsets["IoInfo"], offsets["ProcessMemoryLimit"], offsets["PeakJobMemoryUsed"]) == (64, 112, 136)


def test_a_job_limits_memory_and_ends_its_processes_together() -> None:
    kernel = FakeKernel()
    job = Job(kernel, 1 << 30)
    assert kernel.limits.ProcessMemoryLimit == 1 << 30
    assert kernel.limits.BasicLimitInformation.LimitFlags == 0x2000 | 0x400 | 0x100
    job.add(5)
    job.kill()
    job.close()
    job.kill()
    job.close()
    assert kernel.calls[2:] == [("AssignProcessToJobObject", 77, 5), ("TerminateJobObject", 77, 1), ("CloseHandle", 77)]


@pytest.mark.parametrize("refuses", ["CreateJobObjectW", "SetInformationJobObject", "AssignProcessToJobObject"])
def test_a_job_that_windows_refuses_is_an_error(refuses: str) -> None:
    with pytest.raises(OSError, match="Windows"):
        Job(FakeKernel(refuses), 1 << 30).add(5)


def test_the_door_of_this_platform_is_the_default(tmp_path: Path) -> None:
    assert local_sockets.door(tmp_path / "s.sock") == door(tmp_path / "s.sock", sys.platform)
