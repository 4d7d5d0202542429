"""Compaction closes the holes in the vectors and loses none, even if it is killed."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.store.store import Store
from longsearch.engine.store.vec0 import compaction, storage_chunks
from tests.engine.store.store_helpers import DIM, add, check_invariants, embed, open_store, vectors_of_passages

_N_DOCUMENTS = 36
_KEPT = (2, 9, 17, 35)

_COMPACTING_PROGRAM = """
import os, signal, sys
from pathlib import Path
from longsearch.engine.store.vec0 import compaction
from longsearch.engine.store.store import Store

moved = 0
move = compaction.empty

def empty_and_die(*arguments):
    global moved
    moved += 1
    move(*arguments)
    if moved == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

compaction.empty = empty_and_die
with Store.open(Path(sys.argv[1])) as store:
    store.tidy()
"""


def fill_with_holes(store: Store) -> dict[int, np.ndarray]:
    """Fill an index with 10,800 vectors and delete all but 3,900; return these by document."""
    store.use_model("model-a", DIM)
    ids = [add(store, f"{n}.pdf", str(n), 300) for n in range(_N_DOCUMENTS)]
    given = [embed(store, document_id, seed=document_id) for document_id in ids]
    store.forget(f"{n}.pdf" for n in range(_N_DOCUMENTS) if n not in _KEPT and n % 4)
    return {ids[n]: given[n] for n in range(_N_DOCUMENTS) if n in _KEPT or not n % 4}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, np.ndarray]]:
    """The folder of an index with holes, to be copied, and the vectors that are left in it."""
    folder = tmp_path_factory.mktemp("filled")
    with open_store(folder / "index.db") as store:
        return folder, fill_with_holes(store)


@pytest.fixture
def with_holes(filled: tuple[Path, dict[int, np.ndarray]], tmp_path: Path) -> tuple[Path, dict[int, np.ndarray]]:
    """An index with holes, and the vectors that are left in it."""
    folder, kept = filled
    return shutil.copytree(folder, tmp_path / "copy") / "index.db", kept


def n_slots(store: Store) -> int:
    with store.reading() as db:
        return len(storage_chunks.directory(db).chunk_ids) * storage_chunks.SIZE


def check(store: Store, kept: dict[int, np.ndarray]) -> None:
    check_invariants(store)
    for document_id, vectors in kept.items():
        assert (vectors_of_passages(store, document_id) == vectors).all()


def test_compacting_closes_the_holes_and_keeps_every_vector(with_holes: tuple[Path, dict[int, np.ndarray]]) -> None:
    path, kept = with_holes
    with open_store(path) as store:
        before = n_slots(store)
        store.tidy()
        assert n_slots(store) < before / 2
        check(store, kept)
        after = n_slots(store)
        store.tidy()
        assert n_slots(store) == after


def test_a_few_holes_are_left_alone(tmp_path: Path) -> None:
    with open_store(tmp_path / "index.db") as store:
        store.use_model("model-a", DIM)
        for n in range(8):
            embed(store, add(store, f"{n}.pdf", str(n), 600))
        store.forget(["1.pdf", "2.pdf"])
        with store.reading() as db:
            assert compaction.half_empty(db) == []


@pytest.mark.parametrize("dies_at", [1, 4, 7])
def test_a_kill_in_the_middle_of_compaction_loses_nothing(
    with_holes: tuple[Path, dict[int, np.ndarray]], dies_at: int
) -> None:
    path, kept = with_holes
    command = [sys.executable, "-c", _COMPACTING_PROGRAM, str(path), str(dies_at)]
    child = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}, check=False)
    assert child.returncode == -signal.SIGKILL
    with open_store(path) as store:
        assert store.notes == ()
        check(store, kept)
        store.tidy()
        with store.reading() as db:
            assert compaction.half_empty(db) == []
        check(store, kept)
