"""A folder is read by a real Ray cluster of two nodes on this machine, with a tiny model.

All tests with Ray are in this file, and pytest-xdist runs them in one process.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.cluster import embedding, running
from longsearch.app.cluster.connection import connected
from longsearch.app.cluster.pool import Outcome, WorkerLostError
from longsearch.app.cluster.running import share
from longsearch.app.cluster.work import Stretch, WorkerJob
from longsearch.app.paths import index_path, stand_in
from longsearch.engine import __version__
from longsearch.engine.arrays import Vectors
from longsearch.engine.index.opening import open_index
from longsearch.engine.models.identity import identify
from longsearch.engine.store import documents, vectors
from tests.app.homes import make_home
from tests.app.ray_cluster import Nodes, ray_cluster
from tests.engine.tiny_models import PROSE, save_embedder

ray = pytest.importorskip("ray", reason="the extra is not installed: pip install -e '.[cluster]'")
from longsearch.app.cluster import ray_pool  # noqa: E402
from longsearch.app.cluster.ray_pool import RayPool  # noqa: E402

pytestmark = [
    pytest.mark.xdist_group("ray"),
    # Ray leaves sockets and children behind that it no longer needs
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

STRETCH_TOKENS = 2000
N_LONG = 8


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        home = make_home(tmp_path_factory.mktemp("home"), patch)
        patch.setenv("LONGSEARCH_MODEL", str(save_embedder(home / "model", "mean")))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield home


@pytest.fixture(scope="module")
def nodes(home: Path) -> Iterator[Nodes]:
    """Two nodes of one core: the head, and `second`."""
    with ray_cluster() as nodes:
        yield nodes


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each long document its own packet, and read it in several stretches."""
    monkeypatch.setattr(embedding, "PACKET_TOKENS", STRETCH_TOKENS)
    monkeypatch.setattr(running, "PACKET_TOKENS", STRETCH_TOKENS)


@pytest.fixture
def all_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin only when all workers run, so that each of them gets some of the documents."""
    wait = RayPool.wait_for
    monkeypatch.setattr(RayPool, "wait_for", lambda pool, _: wait(pool, pool.n_wanted))


@pytest.fixture(scope="module")
def at_home(home: Path) -> "Index":
    """The index of the folder, made by one process."""
    root = make_folder(home / "one-process")
    assert main(["index", "-q", str(root)]) == 0
    return index_of(root)


def make_folder(folder: Path) -> Path:
    """Write notes, two of them the same, a file that cannot be read, and long documents, which keep a state."""
    folder.mkdir()
    for number in range(4):
        (folder / f"note-{number}.txt").write_text(f"Note {number}. {PROSE[number * 300 : number * 300 + 600]}")
    (folder / "copy.txt").write_bytes((folder / "note-3.txt").read_bytes())
    (folder / "broken.docx").write_bytes(b"no archive")
    for number in range(N_LONG):
        (folder / f"long-{number}.txt").write_text(f"Document {number}. {PROSE * 3}")
    return folder


@dataclass(frozen=True)
class Index:
    """What an index holds."""

    statuses: dict[str, str]
    rows: dict[str, tuple[object, ...]]
    """For each file hash, spans, lengths of the excerpts, tokens read, width, and where the saved state lies."""
    vectors: dict[str, tuple[Vectors, Vectors | None]]
    """Of the passages and of the document, for each file."""
    n_documents: int
    n_vectors: int

    def check_equals(self, other: "Index") -> None:
        """Check that both hold the same; the same text may be read in slices of other lengths, so not bit by bit."""
        assert (self.statuses, self.rows) == (other.statuses, other.rows)
        assert (self.n_documents, self.n_vectors) == (other.n_documents, other.n_vectors)
        for path, (passages, document) in self.vectors.items():
            np.testing.assert_allclose(
                (passages * other.vectors[path][0]).sum(-1), 1, atol=1e-5
            )  # a code may be off by one
            np.testing.assert_allclose(
                (document * other.vectors[path][1]).sum(-1), 1, atol=1e-5
            )  # a code may be off by one


_ROW = """
    SELECT hash, embeddings.n_passages_done, embeddings.n_tokens_done, embeddings.width, resume_points.n_tokens_done
    FROM contents JOIN embeddings ON embeddings.content_id = contents.id
    LEFT JOIN resume_points ON resume_points.content_id = contents.id WHERE contents.id = ?
"""
_EXCERPTS = """
    SELECT length(vectors) FROM excerpt_vectors JOIN passages ON passages.id = passage_id WHERE content_id = ?
    ORDER BY ordinal
"""


def index_of(root: Path) -> Index:
    with open_index(index_path(root.resolve())) as index:
        statuses = {report.path: str(report.status) for report in index.files()}
        rows, found, db = {}, {}, index.db
        for path in statuses:
            document = index.document_of(path)
            if document is None:
                continue
            spans = [(passage.start, passage.stop) for passage in documents.passages(db, document)]
            rows[path] = (*db.execute(_ROW, (document,)).fetchall(), *spans, *db.execute(_EXCERPTS, (document,)))
            found[path] = vectors.of_passages(db, document), vectors.of_document(db, document)
        counts = [db.execute(f"SELECT count(*) FROM {table}").get for table in ("contents", "passage_vectors")]
        assert index.progress().n_waiting == 0
    return Index(statuses, rows, found, *counts)


def on_first_stretch(monkeypatch: pytest.MonkeyPatch, act: Callable[[RayPool, Outcome], bool]) -> list[Outcome]:
    """Call `act` with unfinished stretches, as they arrive, until it returns True. Returns the one that it took."""
    taken: list[Outcome] = []
    wait = RayPool.outcome

    def outcome(pool: RayPool) -> Outcome | None:
        found = wait(pool)
        if not taken and found and isinstance(found.result, Stretch) and not found.result.is_done and act(pool, found):
            taken.append(found)
        return found

    monkeypatch.setattr(RayPool, "outcome", outcome)
    return taken


def test_a_worker_is_killed_and_another_reads_on_from_its_states(
    nodes: Nodes,
    home: Path,
    at_home: Index,
    all_started: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    nodes.add("second")
    root = make_folder(home / "killed-worker")

    def kill(pool: RayPool, outcome: Outcome) -> bool:
        os.kill(pool.pid(outcome.worker), signal.SIGKILL)
        return True

    killed = on_first_stretch(monkeypatch, kill)
    assert main(["index", "-q", "--on", "ray", str(root)]) == 0
    assert killed
    assert "note: 1 worker on " in capsys.readouterr().err
    index_of(root).check_equals(at_home)


def test_a_node_is_removed_and_the_other_reads_everything(
    nodes: Nodes, home: Path, at_home: Index, all_started: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes.add("second")
    root = make_folder(home / "removed-node")

    def remove(pool: RayPool, outcome: Outcome) -> bool:
        if not nodes.holds("second", pool.pid(outcome.worker)):
            return False
        nodes.kill("second")
        return True

    removed = on_first_stretch(monkeypatch, remove)
    assert main(["index", "-q", "--on", "ray", str(root)]) == 0
    assert removed
    index_of(root).check_equals(at_home)


@pytest.mark.slow  # test_object_store.py does it by workers in its own process
def test_an_object_store_gives_the_index_of_the_folder_that_has_the_same_files(
    nodes: Nodes, home: Path, at_home: Index
) -> None:
    nodes.add("second")
    url = f"file://{make_folder(home / 'objects')}"
    assert main(["index", "-q", "--on", "ray", url]) == 0
    index_of(stand_in(url)).check_equals(at_home)


def test_after_ctrl_c_ray_is_disconnected_and_the_next_run_ends_with_the_same_index(
    nodes: Nodes, home: Path, at_home: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_folder(home / "interrupted")

    def interrupt(pool: RayPool, outcome: Outcome) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        on_first_stretch(patch, interrupt)
        assert main(["index", "-q", "--on", "ray", str(root)]) == 130
    assert not ray.is_initialized()
    assert main(["index", "-q", "--on", "ray", str(root)]) == 0
    index_of(root).check_equals(at_home)


@pytest.fixture
def gpus(nodes: Nodes) -> Iterator[Nodes]:
    """A node of four cores that tells Ray of two GPUs, which it does not have."""
    nodes.add("gpus", cores=4, gpus=2)
    yield nodes
    nodes.kill("gpus")


def test_each_gpu_gets_one_worker_which_sees_no_other_gpu(gpus: Nodes, home: Path) -> None:
    with connected("ray") as resources:
        shares = share(resources, None)
        assert (shares.n_workers, shares.cores, shares.gpus) == (2, 2, 1)
        job = WorkerJob(
            version=__version__, model=os.environ["LONGSEARCH_MODEL"], device="cpu", dtype="float32", adapters={},
            fingerprint=identify(Path(os.environ["LONGSEARCH_MODEL"])).fingerprint, root=home, url="", entries=(),
            ocr=None, n_children=1, stretch_tokens=1, stretch_s=1.0,
        )  # fmt: skip
        with closing(RayPool(job, shares.n_workers, shares.cores, shares.gpus)) as pool:
            pool.wait_for(2)
            assert all(gpus.holds("gpus", pool.pid(worker)) for worker in (0, 1))
            visible = [
                ray.get(actor.handle.__ray_call__.remote(lambda _: os.environ["CUDA_VISIBLE_DEVICES"]))
                for actor in pool._actors.values()
            ]
            assert sorted(visible) == ["0", "1"]
            assert ray.available_resources().get("GPU", 0) == 0


class FakeRay:
    """What the pool uses of Ray, for workers that start at once and answer what the test has put into `answers`."""

    def __init__(self, answers: dict[str, object]) -> None:
        self._answers = answers

    def remote(self, *_: object) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda *_: self))

    def __getattr__(self, method: str) -> Any:
        return SimpleNamespace(remote=lambda ticket=None: (method, ticket))

    def wait(self, references: list[Any], **_: object) -> tuple[list[Any], list[Any]]:
        return references[:1], []

    def get(self, reference: Any) -> object:
        answer = ("a machine", 1) if reference[0] == "start" else self._answers[reference[1]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self, actor: object) -> None:
        pass


def test_the_last_result_of_a_lost_worker_counts_and_its_next_call_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: dict[str, object] = {"first": ray.exceptions.ActorDiedError(), "second": "a stretch"}
    monkeypatch.setattr(ray_pool, "ray", FakeRay(answers))
    pool = RayPool(Any, 1, 1, 0)
    pool.wait_for(1)
    worker = pool.free()
    assert worker is not None
    pool.call(worker, 1, "read_on", "first")
    pool.call(worker, 2, "read_on", "second")
    lost, last = pool.outcome(), pool.outcome()
    assert lost is not None and isinstance(lost.result, WorkerLostError)
    assert last is not None and (last.ticket, last.result) == (2, "a stretch")
    pool.call(worker, 3, "read_on", "third")
    refused = pool.outcome()
    assert refused is not None and refused.ticket == 3 and isinstance(refused.result, WorkerLostError)
    assert pool.n_lost == {"a machine": 1}
