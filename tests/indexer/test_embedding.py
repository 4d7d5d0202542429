"""Each document is embedded once, resumes where it stopped, and if it grew, only its new end is embedded."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import longsearch.indexer.pipeline as pipeline_module
from longsearch.engine.store import vectors
from longsearch.engine.store.records import PendingDocument
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer import embedding
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.token_cache import TokenCache
from tests.indexer.fake_encoder import FakeEncoder
from tests.indexer.pipeline_bench import Bench, check_vectors, document_ids


def test_a_document_stopped_in_the_middle_goes_on_and_gets_the_same_vectors(
    bench: Bench, tmp_path: Path, extractor: ExtractorProcess
) -> None:
    bench.write("a.txt", n_words=50)
    asked = 0

    def stop_after_a_while() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    bench.run(stop_after_a_while)
    (row,) = bench.store.files()
    assert row.status is FileStatus.WAITING
    assert 0 < row.n_tokens_embedded < 50
    bench.run()
    assert bench.encoder.tokens_read == 50  # no token twice
    (document_id,) = document_ids(bench.store)
    with Store.open(tmp_path / "other.sqlite", root=bench.root) as other:
        undisturbed = Bench(bench.root, other, extractor)
        undisturbed.run()
        with bench.store.reading() as db, other.reading() as other_db:
            (other_id,) = document_ids(other)
            found = vectors.of_passages(db, document_id)
            np.testing.assert_array_equal(found, vectors.of_passages(other_db, other_id))


def test_a_document_with_a_damaged_state_starts_again(bench: Bench) -> None:
    bench.write("a.txt", n_words=50)
    asked = iter([False] * 4 + [True] * 9)
    bench.run(lambda: next(asked))
    with bench.store.changing() as db:
        db.execute("UPDATE embeddings SET state = x'00'")
    bench.run()
    assert bench.statuses() == {"a.txt": FileStatus.CURRENT}


def test_to_embed_many_documents_the_store_lists_them_a_few_times(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        bench.write(f"{number}.txt")
    listed: list[int] = []
    true_pending = bench.store.pending

    def counted(limit: int) -> list[PendingDocument]:
        listed.append(limit)
        return true_pending(limit)

    monkeypatch.setattr(bench.store, "pending", counted)
    pipeline = bench.pipeline()
    pipeline.read()
    assert pipeline.embed(n_together=1)
    assert listed == [16, 16, 16]  # 16 documents, 4, and none
    check_vectors(bench)


def test_a_document_deleted_while_it_is_embedded_raises_nothing(bench: Bench, extractor: ExtractorProcess) -> None:
    bench.write("a.txt", n_words=50)
    pipeline = bench.pipeline()
    pipeline.read()
    true_stream = bench.encoder.stream

    def stream_and_forget(*arguments: object) -> Iterator[object]:
        bench.store.forget(["a.txt"])
        yield from true_stream(*arguments)  # type: ignore[arg-type]

    bench.encoder.stream = stream_and_forget  # type: ignore[assignment, method-assign]
    assert pipeline.embed()
    assert bench.store.files() == []


@pytest.mark.parametrize("batch_below_tokens", [0, 100])
def test_a_first_indexing_tokenises_each_text_once(bench: Bench, batch_below_tokens: int) -> None:
    bench.encoder.batch_below_tokens = batch_below_tokens
    for name in ("a.txt", "b.txt", "c.txt"):
        bench.write(name)
    bench.run()
    assert bench.encoder.n_tokenised == 3
    check_vectors(bench)


def test_a_text_whose_tokens_are_evicted_is_tokenised_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline_module, "TokenCache", lambda: TokenCache(max_tokens=25))
    for name in ("a.txt", "b.txt", "c.txt"):
        bench.write(name, n_words=12)
    bench.run()
    assert bench.encoder.n_tokenised == 4
    check_vectors(bench)


def test_short_documents_are_embedded_in_batches_and_long_ones_alone(bench: Bench) -> None:
    bench.encoder.batch_below_tokens = 20
    alone: list[int] = []
    true_stream = bench.encoder.stream
    bench.encoder.stream_many = lambda documents: pytest.fail(  # type: ignore[assignment, method-assign]
        "a single document needs no batch"
    )
    bench.write("only.txt", n_words=7)
    bench.run()
    del bench.encoder.stream_many

    def counted(tokens: list[str], *rest: object) -> Iterator[object]:
        alone.append(len(tokens))
        return true_stream(tokens, *rest)  # type: ignore[arg-type]

    bench.encoder.stream = counted  # type: ignore[assignment, method-assign]
    for i in range(8):
        bench.write(f"{i}.txt", n_words=5 + 2 * i)
    bench.write("long.txt", n_words=50)
    bench.run()
    assert sorted(alone) == [5, 7, 9, 11, 13, 15, 17, 19, 50]  # the fake encoder embeds a batch by single streams
    assert bench.encoder.tokens_read == 7 + sum(alone)
    assert set(bench.statuses().values()) == {FileStatus.CURRENT}
    check_vectors(bench)


def test_a_batch_stopped_in_the_middle_goes_on_from_there(bench: Bench) -> None:
    bench.encoder.batch_below_tokens = 100
    for i in range(5):
        bench.write(f"{i}.txt", n_words=40)
    asked = 0

    def stop_after_a_while() -> bool:
        nonlocal asked
        asked += 1
        return asked > 32

    bench.run(stop_after_a_while)
    n_before = bench.encoder.tokens_read
    assert 0 < n_before < 200
    assert sum(file.n_tokens_embedded for file in bench.store.files()) == n_before  # all work was saved
    bench.run()
    assert bench.encoder.tokens_read == 200
    check_vectors(bench)


def test_a_batch_goes_on_without_a_document_that_was_deleted(bench: Bench, extractor: ExtractorProcess) -> None:
    bench.encoder.batch_below_tokens = 100
    for i in range(3):
        bench.write(f"{i}.txt", n_words=30)
    pipeline = bench.pipeline()
    pipeline.read()
    true_many = bench.encoder.stream_many

    def forget_one(*arguments: object) -> Iterator[object]:
        for n, found in enumerate(true_many(*arguments)):  # type: ignore[arg-type]
            if n == 4:
                bench.store.forget(["1.txt"])
            yield found

    bench.encoder.stream_many = forget_one  # type: ignore[assignment, method-assign]
    assert pipeline.embed()
    assert bench.statuses() == {"0.txt": FileStatus.CURRENT, "2.txt": FileStatus.CURRENT}
    check_vectors(bench)


@pytest.fixture
def grown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A folder with an embedded document of 52 words, which can grow."""
    monkeypatch.setattr(embedding, "RESUME_FROM_TOKENS", 50)
    bench.write("a.txt", n_words=52)
    bench.run()
    bench.encoder.tokens_read = 0
    return bench


def test_only_the_new_end_of_a_grown_document_is_embedded(grown: Bench) -> None:
    grown.write("a.txt", n_words=63)
    grown.run()
    assert grown.encoder.tokens_read == 63 - 50  # the last passage began at 50
    check_vectors(grown)
    grown.write("a.txt", n_words=64)  # it grows by so little that no passage is finished
    grown.run()
    grown.write("a.txt", n_words=66)
    grown.run()
    assert grown.encoder.tokens_read == 63 - 50 + 64 - 60 + 66 - 60
    check_vectors(grown)


@pytest.mark.parametrize("word", [0, 30, 49])
def test_a_document_changed_before_its_end_is_embedded_again(grown: Bench, word: int) -> None:
    path = grown.write("a.txt", n_words=63)
    words = path.read_text().split()
    words[word] = "another"
    path.write_text(" ".join(words))
    grown.run()
    assert grown.encoder.tokens_read == 63
    check_vectors(grown)


def test_a_document_that_shrank_or_lost_all_its_text_is_embedded_again(grown: Bench) -> None:
    grown.write("a.txt", n_words=20)
    grown.run()
    assert grown.encoder.tokens_read == 20
    check_vectors(grown)
    (grown.root / "a.txt").write_text(" \n")
    grown.run()


def test_a_half_embedded_document_that_grew_goes_on_from_there(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.txt", n_words=50)
    asked = iter([False] * 6 + [True] * 9)
    bench.run(lambda: next(asked))
    half = bench.encoder.tokens_read
    assert 0 < half < 50
    bench.write("a.txt", n_words=70)
    bench.run()
    assert bench.encoder.tokens_read == 70
    check_vectors(bench)


def test_a_copy_keeps_its_vectors_when_the_original_grows(grown: Bench) -> None:
    shutil.copy(grown.root / "a.txt", grown.root / "b.txt")
    grown.run()
    grown.write("a.txt", n_words=70)
    grown.run()
    assert grown.encoder.tokens_read == 20
    check_vectors(grown)


def test_another_model_does_not_use_the_states_of_the_first(grown: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeEncoder, "fingerprint", "another")
    grown.run()
    grown.write("a.txt", n_words=53)
    monkeypatch.setattr(FakeEncoder, "fingerprint", "a third")
    grown.encoder.tokens_read = 0
    grown.run()
    assert grown.encoder.tokens_read == 53
