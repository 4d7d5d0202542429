"""The driver's side of indexing on many machines, with workers that are simulated: no Ray, no model."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.cluster import embedding, reading
from longsearch.app.cluster.connection import Resources, check_address, connected
from longsearch.app.cluster.embedding import RemoteEncoder
from longsearch.app.cluster.pool import CALLS_PER_WORKER, MAX_LOSSES, Outcome, WorkerLostError
from longsearch.app.cluster.reading import RemoteExtractor
from longsearch.app.cluster.running import Share, share
from longsearch.app.cluster.work import Extracted, TextTokens, UnknownPacketError, WorkerJob
from longsearch.app.cluster.worker import Worker
from longsearch.engine import __version__
from longsearch.engine.errors import ExtractionError, LongsearchError
from longsearch.engine.types.documents import DocumentText
from longsearch.indexer.extract.assembly import Extraction
from longsearch.indexer.sources.source import Folder
from tests.indexer.fake_encoder import FakeEncoder

STRETCH_TOKENS = 10


class FakeWorker(Worker):
    """A worker with the encoder that knows no model; a file holds its own name."""

    def __init__(self) -> None:
        super().__init__(job())
        self._encoder: Any = FakeEncoder()

    def extract(self, paths: Any, head_only: bool) -> list[Extracted]:
        texts = [DocumentText(path.name, (), "") for path in paths]
        return [Extracted(Extraction(text, "", ""), self._encoder.split(text.text)[1], 1) for text in texts]


@dataclass
class FakePool:
    """Workers that answer in turn, in this thread. `is_lost` says before which calls a worker is lost."""

    n_wanted: int = 2
    is_lost: Callable[[str, tuple[Any, ...]], bool] = lambda method, arguments: False
    forgets: bool = False
    """Whether workers have forgotten their packets when they are to read on."""
    calls: deque[tuple[int, object, str, tuple[Any, ...]]] = field(default_factory=deque)
    made: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    most_calls: int = 0

    def __post_init__(self) -> None:
        self._workers = {number: FakeWorker() for number in range(self.n_wanted)}

    def free(self) -> int | None:
        number = min(self._workers, key=self.n_calls)
        return number if self.n_calls(number) < CALLS_PER_WORKER else None

    def n_calls(self, worker: int) -> int:
        return sum(call[0] == worker for call in self.calls)

    def call(self, worker: int, ticket: object, method: str, *arguments: object) -> None:
        self.calls.append((worker, ticket, method, arguments))
        self.made.append((method, arguments))
        self.most_calls = max(self.most_calls, len(self.calls))

    def outcome(self) -> Outcome | None:
        worker, ticket, method, arguments = self.calls.popleft()
        if self.is_lost(method, arguments):
            self._workers[worker] = FakeWorker()
            return Outcome(ticket, worker, WorkerLostError())
        try:
            if self.forgets and method == "read_on":
                self._workers[worker] = FakeWorker()
            return Outcome(ticket, worker, getattr(self._workers[worker], method)(*arguments))
        except UnknownPacketError as error:
            return Outcome(ticket, worker, error)

    def forget_calls(self) -> None:
        self.calls.clear()


def job(**changes: Any) -> WorkerJob:
    given: dict[str, Any] = {
        "version": __version__, "model": "bundled", "fingerprint": "fake", "device": "cpu", "dtype": "float32",
        "adapters": {}, "root": Path(__file__).parent, "url": "", "entries": (Path(__file__).name,), "ocr": None,
        "n_children": 1, "stretch_tokens": STRETCH_TOKENS, "stretch_s": 3600.0,
    }  # fmt: skip
    return WorkerJob(**given | changes)


def texts(n: int = 9, n_words: int = 47) -> dict[int, str]:
    return {key: " ".join(f"w{key}-{i}" for i in range(n_words + key)) for key in range(n)}


def read(pool: FakePool, given: dict[int, str]) -> dict[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Read the texts by the pool; check that no vector comes twice. Returns the vectors of each."""
    encoder = RemoteEncoder(FakeEncoder(), pool, 1.0)
    found: dict[int, list[Any]] = {key: [] for key in given}
    documents = ((key, *encoder.split(text), None) for key, text in given.items())
    for key, part in encoder.at(1.0).stream_many(documents):
        assert part.first_passage == sum(len(before.vectors) for before in found[key])
        found[key].append(part)
    assert all(parts[-1].is_last for parts in found.values())
    return {
        key: (np.concatenate([p.vectors for p in parts]), parts[-1].document_vector) for key, parts in found.items()
    }


def check(found: dict[int, tuple[Any, Any]], given: dict[int, str]) -> None:
    """Check that each document has the vectors of one pass over it at home."""
    assert found.keys() == given.keys()
    encoder = FakeEncoder()
    for key, text in given.items():
        parts = list(encoder.stream(*encoder.split(text)))
        np.testing.assert_array_equal(found[key][0], np.concatenate([part.vectors for part in parts]))
        np.testing.assert_array_equal(found[key][1], parts[-1].document_vector)


@pytest.fixture(autouse=True)
def small_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PACKET_TOKENS", 100)
    monkeypatch.setattr(reading, "FILES_PER_CALL", 2)


def test_documents_read_in_stretches_have_the_vectors_of_one_pass() -> None:
    pool = FakePool()
    check(read(pool, texts()), texts())
    assert {method for method, _ in pool.made} == {"begin", "read_on"}


def test_a_lost_worker_costs_no_vector_and_repeats_none() -> None:
    lost = iter([False, True, False, False, True, True, False, True])
    check(read(FakePool(is_lost=lambda *_: next(lost, False)), texts()), texts())


def test_a_document_resumes_from_the_last_state_that_came_back() -> None:
    lost = iter([False, True])
    pool = FakePool(n_wanted=1, is_lost=lambda *_: next(lost, False))
    check(read(pool, texts(1)), texts(1))
    begun = [documents for method, (_, documents, *_) in ((m, a) for m, a in pool.made if m == "begin")]
    assert [document.state is None for documents in begun for document in documents] == [True, False]


def test_a_worker_that_has_forgotten_a_packet_begins_it_from_its_states() -> None:
    check(read(FakePool(forgets=True), texts()), texts())


def test_calls_under_way_are_bounded_by_the_workers_and_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, taken = FakePool(n_wanted=2), list[int]()

    def documents(encoder: RemoteEncoder) -> Iterator[Any]:
        for key, text in texts(60).items():
            taken.append(key)
            yield key, *encoder.split(text), None

    encoder = RemoteEncoder(FakeEncoder(), pool, 1.0)
    next(encoder.at(1.0).stream_many(documents(encoder)))
    assert pool.most_calls <= 2 * CALLS_PER_WORKER
    assert len(taken) < 20
    monkeypatch.setattr(embedding, "MAX_BYTES", 1)
    pool = FakePool(n_wanted=2)
    check(read(pool, texts()), texts())
    assert pool.most_calls == 1


def test_the_first_packets_are_small_so_that_every_worker_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PACKET_TOKENS", 10_000)
    monkeypatch.setattr(embedding, "FIRST_TOKENS", 100)
    pool = FakePool(n_wanted=3)
    check(read(pool, texts(30, 20)), texts(30, 20))
    sizes = [sum(document.n_tokens for document in a[1]) for method, a in pool.made if method == "begin"]
    assert max(sizes[:3]) <= 100 < max(sizes[3:6]) <= 200


def test_a_document_that_loses_every_worker_is_named_and_ends_the_run() -> None:
    given = texts(3)

    def is_lost(method: str, arguments: tuple[Any, ...]) -> bool:
        return method == "begin" and any(document.key == 1 for document in arguments[1])

    pool = FakePool(is_lost=is_lost)
    with pytest.raises(LongsearchError, match="w1-0"):
        read(pool, given)
    assert sum(any(d.key == 1 for d in arguments[1]) for m, arguments in pool.made if m == "begin") == MAX_LOSSES


def test_the_rest_of_a_packet_moves_to_a_worker_without_work() -> None:
    pool, given = FakePool(), texts(3, 300)
    given[1] = "its worker has soon nothing to do"
    check(read(pool, given), given)
    resumed = [document for method, a in pool.made if method == "begin" for document in a[1] if document.state]
    assert resumed


def extracted(pool: FakePool, names: list[str]) -> list[tuple[str, Any]]:
    encoder = RemoteEncoder(FakeEncoder(), pool, 1.0)
    extractor = RemoteExtractor(pool, encoder, Folder(Path()), None)
    return [(path.name, result) for path, result in extractor.extract_all(map(Path, names))]


def test_files_come_back_in_order_also_when_workers_are_lost() -> None:
    names = [f"{number}.txt" for number in range(25)]
    for losses in ([], [True, False, False, True, True]):
        lost = iter(losses)
        found = extracted(FakePool(is_lost=lambda *_, lost=lost: next(lost, False)), names)
        assert [(name, result.document.text) for name, result in found] == [(name, name) for name in names]


def test_files_under_way_are_bounded_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BATCH_BYTES", 10)
    monkeypatch.setattr(reading, "MAX_BYTES", 25)
    paths = [tmp_path / f"{number}.txt" for number in range(12)]
    for path in paths:
        path.write_bytes(b"ten bytes.")
    pool, taken = FakePool(n_wanted=4), list[Path]()
    extractor = RemoteExtractor(pool, RemoteEncoder(FakeEncoder(), pool, 1.0), Folder(tmp_path), None)
    results = extractor.extract_all(taken.append(path) or path for path in paths)  # type: ignore[func-returns-value]
    assert next(results)[0] == paths[0]
    assert len(taken) == 3
    assert [path for path, _ in results] == paths[1:]


def test_a_file_that_loses_every_worker_fails_alone() -> None:
    pool = FakePool(is_lost=lambda method, arguments: any(path.name == "3.txt" for path in arguments[0]))
    found = dict(extracted(pool, [f"{number}.txt" for number in range(8)]))
    assert isinstance(found.pop("3.txt"), ExtractionError)
    assert all(isinstance(result, Extraction) for result in found.values())
    assert len(found) == 7


def test_the_passages_that_a_worker_has_cut_are_not_cut_again() -> None:
    local, text = FakeEncoder(), "a text of several words, which are cut"
    encoder = RemoteEncoder(local, FakePool(), 1.0)
    passages = FakeEncoder().split(text)[1]
    encoder.expect(Extracted(Extraction(DocumentText(text, (), ""), "", ""), passages, 8))
    assert encoder.split(text)[1] == passages
    assert local.n_tokenised == 0
    assert encoder.split(text)[1] == passages
    assert local.n_tokenised == 1


def test_a_state_from_another_run_is_checked_at_home() -> None:
    local = FakeEncoder()
    tokens, passages = local.split("one two three four five six seven")
    state = next(local.stream(tokens, passages)).saved_state()
    reader = RemoteEncoder(local, FakePool(), 1.0).at(1.0)
    assert reader.can_resume(TextTokens("one two three four five six seven", 7), passages, state)
    assert not reader.can_resume(TextTokens("six two three four five six seven", 7), passages, state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "0"}, "runs longsearch"),
        ({"entries": ("no such file",)}, "does not see"),
        ({"fingerprint": "another"}, "another model"),
        ({"device": "cuda:99"}, "cannot use its GPU: there is no CUDA device cuda:99"),
    ],
)
def test_a_machine_that_lacks_something_says_what(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LongsearchError, match=message):
        Worker(job(**changes)).start()


def test_each_gpu_gets_a_worker_and_else_each_few_cores() -> None:
    assert share(Resources((16.0, 16.0, 4.0), (2.0, 1.0, 0.0)), None) == Share(3, 4, 1)
    assert share(Resources((16.0, 6.0), (0.0, 0.0)), None) == Share(5, 4, 0)
    assert share(Resources((2.0, 2.0), (0.0, 0.0)), None) == Share(2, 2, 0)
    assert share(Resources((16.0, 6.0), (0.0, 0.0)), 1) == Share(22, 1, 0)
    with pytest.raises(LongsearchError, match="has 8 cores"):
        share(Resources((4.0, 4.0), (0.0, 0.0)), 8)


def test_a_cluster_is_named_ray_or_by_its_address() -> None:
    assert [check_address(text) for text in ("ray", "ray://head:10001")] == ["ray", "ray://head:10001"]
    for text in ("", "spark", "ray:", "ray://", "ray://head", "ray://head:x", "ray://:10001"):
        with pytest.raises(ValueError):
            check_address(text)


def test_without_ray_the_error_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(LongsearchError) as raised, connected("ray"):
        pass
    assert "longsearch[cluster]" in raised.value.hint


def test_scanned_pages_and_unknown_clusters_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["index", "--on", "spark", str(home)])
    assert "'spark' is no cluster" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["index", "--on", "ray", "--worker-cores", "0", str(home)])
