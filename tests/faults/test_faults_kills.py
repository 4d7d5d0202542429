"""An indexer that is killed at any point and started again ends with the same index as an undisturbed one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from longsearch.app.paths import index_path
from longsearch.engine.errors import NoIndexError
from longsearch.engine.index.opening import open_index
from longsearch.engine.index.sqlite import SqliteBackend
from longsearch.engine.store import vectors
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.store import Store
from longsearch.indexer.encoders import DocumentEncoder
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.pipeline import Pipeline
from tests.engine.store.store_helpers import check_invariants
from tests.faults.index_contents import assert_same, count_rows, index_contents
from tests.faults.restless_folder import RestlessFolder
from tests.indexer.extracting import OneChild
from tests.indexer.fake_encoder import FakeEncoder

_REPOSITORY = Path(__file__).parents[2]
_KILLS_PER_ROUND = 3


@dataclass(slots=True)
class Indexer:
    """Runs the indexing child over one folder, and may kill it."""

    root: Path
    encoder: str
    random: random.Random
    n_steps: int = 400
    """Number of writes of the last whole run; the write to die at is drawn from it."""
    run_s: float = 1.0
    """Time of the last whole run, without its start; the delay of a kill is drawn from it."""
    n_kills: int = 0

    def run_until_done(self) -> None:
        """Run the child until it ends. Kill it up to three times at random points, then let it through."""
        for _ in range(_KILLS_PER_ROUND):
            by_delay = self.random.random() < 0.5
            delay_s = self.random.random() * self.run_s if by_delay else None
            if self._run(0 if by_delay else self.random.randint(1, self.n_steps), delay_s):
                return
            self.n_kills += 1
            self._check_what_is_left()
        assert self._run(0, None)

    def _run(self, die_at: int, delay_s: float | None) -> bool:
        """Run the child. Returns whether it came to its end."""
        command = [sys.executable, "-m", "tests.faults.indexing_child", str(self.root), self.encoder, str(die_at)]
        environment = os.environ | {"PYTHONPATH": str(_REPOSITORY)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
            assert child.stdout is not None
            begun = child.stdout.readline()
            began = time.monotonic()
            if begun and delay_s is not None:
                try:
                    child.wait(delay_s)
                except subprocess.TimeoutExpired:
                    child.kill()
            said = child.stdout.read()
        assert child.returncode in (0, -signal.SIGKILL)
        if child.returncode == 0:
            self.n_steps, self.run_s = int(said), time.monotonic() - began
        return child.returncode == 0

    def _check_what_is_left(self) -> None:
        """Check that the index is consistent, or that there is none yet."""
        with suppress(NoIndexError), open_index(index_path(self.root)) as store:
            check_invariants(store)


@pytest.fixture(scope="module")
def extractor() -> Iterator[OneChild]:
    with OneChild() as process:
        yield process


def index_undisturbed(root: Path, path: Path, extractor: ExtractorProcess, encoder: DocumentEncoder) -> None:
    with Store.open(path, root=root) as store:
        pipeline = Pipeline(root, store, extractor, encoder)
        pipeline.read()
        pipeline.embed()


def check_search(store: Store, dim: int) -> None:
    """Check that the segments, which a kill may have left behind, find the same passages as the full vectors."""
    query = np.full(dim, dim**-0.5, np.float32)
    with store.reading() as db:
        expected = vectors.nearest_of_all(db, "passage_vectors", query, 10, None)
        found = SqliteBackend(Segments(db), len(query)).nearest_passages(query, 10)
    # segments hold vectors in twice 8 bits, which moves a cosine by less than 0.0001
    np.testing.assert_allclose([cosine for _, cosine in found], [cosine for _, cosine in expected], atol=1e-4)


def check_against_undisturbed(
    indexer: Indexer, path: Path, extractor: ExtractorProcess, encoder: DocumentEncoder, atol: float
) -> None:
    index_undisturbed(indexer.root, path, extractor, encoder)
    killed = index_path(indexer.root)
    with Store.open(killed, root=indexer.root) as store:
        assert store.notes == ()
        check_invariants(store)
        check_search(store, encoder.dim)
    assert_same(index_contents(killed), index_contents(path), atol)
    assert count_rows(killed) == count_rows(path)


def test_an_indexer_killed_at_any_point_ends_with_the_same_index_as_an_undisturbed_one(
    home: Path, rounds: int, extractor: ExtractorProcess, note: Callable[[str], None]
) -> None:
    folder = RestlessFolder(home / "root", seed=rounds)
    indexer = Indexer(folder.root, "fake", random.Random(rounds))
    n_rounds = 0
    while indexer.n_kills < rounds:
        folder.work(8)
        indexer.run_until_done()
        check_against_undisturbed(indexer, home / f"{n_rounds}.sqlite", extractor, FakeEncoder(), atol=0)
        n_rounds += 1
    note(f"{indexer.n_kills} kills in {n_rounds} rounds: 0 lost, doubled or orphaned rows; vectors equal by the bit")


def test_kills_do_not_change_the_vectors_of_the_bundled_model(
    home: Path, rounds: int, by_hand: bool, extractor: ExtractorProcess, note: Callable[[str], None]
) -> None:
    if not by_hand:
        pytest.skip("every start of the model takes seconds: only with --rounds")
    from tests.faults.indexing_child import make_encoder

    encoder = make_encoder("bundled")
    folder = RestlessFolder(home / "root", seed=rounds, n_words=1500)
    indexer = Indexer(folder.root, "bundled", random.Random(rounds))
    while indexer.n_kills < max(rounds // 20, 1):
        folder.work(3)
        indexer.run_until_done()
        check_against_undisturbed(indexer, home / f"{indexer.n_kills}.sqlite", extractor, encoder, atol=1e-6)
    note(f"{indexer.n_kills} kills with the bundled model: vectors equal to 1e-6")
