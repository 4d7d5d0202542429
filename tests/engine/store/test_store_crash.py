"""A writer that is killed at any moment leaves only whole documents and whole batches of vectors."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.store.store_helpers import check_invariants, open_store

_WRITER = """
import sys
from pathlib import Path
from tests.engine.store.store_helpers import add, document, embed, open_store, record, unit_vectors

store = open_store(Path({path!r}))
store.use_model("model-a", 8)
for number in range(1_000_000):
    document_id = add(store, f"{{number % 7}}.pdf", str(number), 40)
    store.link(record(f"copy of {{number % 7}}.pdf"), document(str(number - 3), 40)[0])
    for first in range(0, 40, 20):
        store.add_vectors(document_id, first, unit_vectors(20), 9 * first, b"state" * 1000)
        print("batch", flush=True)
    if number % 2:
        store.finish_embedding(document_id, unit_vectors(1)[0], 361)
    store.move([(f"{{number % 7}}.pdf", record(f"moved {{number % 5}}.pdf"))])
    store.forget([f"moved {{(number + 1) % 5}}.pdf"])
"""


@pytest.mark.parametrize("n_batches", [1, 2, 7, 20, 45])
def test_a_killed_writer_leaves_a_consistent_index(tmp_path: Path, n_batches: int) -> None:
    path = tmp_path / "index.db"
    program = _WRITER.format(path=str(path))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None
        for _ in range(n_batches):
            assert child.stdout.readline() == b"batch\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    with open_store(path) as store:
        assert store.notes == ()
        check_invariants(store)
        assert store.progress().n_files > 0
        for pending in store.pending():
            assert (pending.state is not None) == (pending.n_passages_done > 0)
