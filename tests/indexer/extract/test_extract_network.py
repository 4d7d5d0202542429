"""The process that reads files has no network, and a command that a person names for a format has it."""

import multiprocessing
import platform
import socket
import sys
from pathlib import Path

import pytest

from longsearch.indexer.extract.formats import use_adapters
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.extract.wire.network import leave_network

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="the filter is one of Linux"
)
_TRY = "import socket\ntry:\n    socket.socket().close()\n    print('online')\nexcept OSError:\n    print('offline')\n"


def _families(queue: "multiprocessing.Queue[object]") -> None:
    queue.put(leave_network())
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        try:
            socket.socket(family).close()
            queue.put("opened")
        except PermissionError:
            queue.put("refused")


def test_a_process_that_left_the_network_opens_local_sockets_alone() -> None:
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    child = spawn.Process(target=_families, args=(queue,))
    child.start()
    found = [queue.get(timeout=60) for _ in range(4)]
    child.join()
    if not found[0]:
        pytest.skip("this kernel has no filter of system calls")
    assert found[1:] == ["refused", "refused", "opened"]


def test_a_command_that_a_person_names_keeps_the_network(tmp_path: Path) -> None:
    use_adapters({".ask": (sys.executable, "-c", _TRY)})
    try:
        (tmp_path / "plain.txt").write_text("plain words")
        (tmp_path / "other.ask").write_text("a question")
        with ExtractorProcess() as reader:
            for name, said in (("plain.txt", "plain words"), ("other.ask", "online"), ("plain.txt", "plain words")):
                assert said in reader.extract(tmp_path / name).document.text
    finally:
        use_adapters({})
