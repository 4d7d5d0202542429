import gc
import sys

from longsearch.indexer.extract.child_process import ChildProcess


def test_a_forgotten_child_is_killed_and_its_pipes_are_closed() -> None:
    child = ChildProcess([sys.executable, "-c", "import sys; sys.stdin.read()"])
    process = child._process
    child.itself = child  # type: ignore[attr-defined]  # a cycle, as a forgotten screen or daemon holds its readers
    del child
    gc.collect()
    assert process.returncode is not None
    assert process.stdin is not None and process.stdin.closed
    assert process.stdout is not None and process.stdout.closed
