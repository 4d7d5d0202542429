"""Documents of several widths in one index: each is read at one width, goes on at it, and can be read again at 1."""

from collections.abc import Iterator

import numpy as np
import pytest

from longsearch.engine.store import vectors
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer import embedding
from longsearch.indexer.pipeline import Pipeline
from tests.engine.store.store_helpers import as_stored
from tests.indexer.extracting import OneChild
from tests.indexer.fake_encoder import FakeEncoder
from tests.indexer.pipeline_bench import Bench, check_vectors, document_ids


def widths(store: Store) -> list[float]:
    """The widths of all documents, by the order of their ids."""
    with store.reading() as db:
        return [row[0] for row in db.execute("SELECT width FROM embeddings ORDER BY content_id")]


def stop_after(n: int) -> Iterator[bool]:
    yield from [False] * n
    while True:
        yield True


def check_vectors_at(bench: Bench, width: float) -> None:
    """Check that every document has the vectors of one pass at `width`."""
    encoder = FakeEncoder(width=width)
    for document_id in document_ids(bench.store):
        parts = list(encoder.stream(*encoder.split(bench.store.text(document_id).text)))
        with bench.store.reading() as db:
            found, whole = vectors.of_passages(db, document_id), vectors.of_document(db, document_id)
        np.testing.assert_array_equal(found, as_stored(np.concatenate([part.vectors for part in parts])))
        np.testing.assert_array_equal(whole, as_stored(np.atleast_2d(parts[-1].document_vector))[0])


@pytest.mark.parametrize("batch_below_tokens", [0, 100])
def test_new_documents_are_read_at_the_chosen_width_which_is_recorded(bench: Bench, batch_below_tokens: int) -> None:
    bench.encoder.batch_below_tokens = batch_below_tokens
    bench.encoder.chosen_width = 0.5
    for name in ("a.txt", "b.txt"):
        bench.write(name)
    bench.run()
    assert widths(bench.store) == [0.5, 0.5]
    check_vectors_at(bench, 0.5)
    bench.encoder.chosen_width = 1.0
    bench.write("c.txt")
    bench.run()
    assert widths(bench.store) == [0.5, 0.5, 1.0]  # what is read stays as it is
    assert (bench.encoder.at(0.5).tokens_read, bench.encoder.tokens_read) == (24, 12)


def test_the_choice_of_a_width_sees_how_many_tokens_wait(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(FakeEncoder, "width_for", lambda self, waiting: seen.append(waiting()) or 1.0)
    for name in ("a.txt", "b.txt"):
        bench.write(name)
    bench.run()
    assert seen == [24, 12]


@pytest.mark.parametrize(("first", "later"), [(0.5, 1.0), (1.0, 0.5), (0.25, 0.5)])
def test_a_document_stopped_in_the_middle_goes_on_at_its_own_width(bench: Bench, first: float, later: float) -> None:
    bench.encoder.chosen_width = first
    bench.write("a.txt", n_words=50)
    asked = stop_after(5)
    bench.run(lambda: next(asked))
    assert 0 < bench.store.progress().n_tokens_embedded < 50
    bench.encoder.chosen_width = later
    bench.run()
    assert bench.encoder.at(first).tokens_read == 50  # no token twice, none at the other width
    assert bench.encoder.at(later).tokens_read == 0
    check_vectors_at(bench, first)


@pytest.mark.parametrize(("first", "later"), [(0.5, 1.0), (1.0, 0.5)])
def test_a_grown_document_goes_on_at_the_width_of_its_saved_state(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, first: float, later: float
) -> None:
    monkeypatch.setattr(embedding, "RESUME_FROM_TOKENS", 50)
    bench.encoder.chosen_width = first
    bench.write("a.txt", n_words=52)
    bench.run()
    bench.encoder.chosen_width = later
    bench.write("a.txt", n_words=63)
    bench.run()
    assert bench.encoder.at(first).tokens_read == 52 + 63 - 50
    assert bench.encoder.at(later).tokens_read == 0
    assert widths(bench.store) == [first]
    check_vectors_at(bench, first)


def test_documents_of_two_widths_are_not_read_in_one_batch(bench: Bench) -> None:
    bench.encoder.batch_below_tokens = 100
    bench.encoder.chosen_width = 0.5
    for i in range(3):
        bench.write(f"{i}.txt", n_words=40)
    asked = stop_after(12)
    bench.run(lambda: next(asked))
    bench.encoder.chosen_width = 1.0
    bench.write("new.txt", n_words=40)
    bench.run()
    assert sorted(widths(bench.store)) == [0.5, 0.5, 0.5, 1.0]
    assert (bench.encoder.at(0.5).tokens_read, bench.encoder.tokens_read) == (120, 40)


@pytest.fixture
def narrow(bench: Bench) -> Bench:
    """A folder with two documents, read at half the width."""
    bench.encoder.chosen_width = 0.5
    bench.write("a.txt", n_words=50)
    bench.write("b.txt", n_words=12)
    bench.run()
    return bench


@pytest.mark.parametrize("batch_below_tokens", [0, 100])
def test_narrow_documents_are_read_again_at_full_width(narrow: Bench, batch_below_tokens: int) -> None:
    narrow.encoder.batch_below_tokens = batch_below_tokens
    assert narrow.store.progress().n_narrow == 2
    assert narrow.pipeline().deepen()
    assert narrow.encoder.tokens_read == 62
    assert widths(narrow.store) == [1.0, 1.0]
    check_vectors(narrow)
    assert narrow.pipeline().deepen()
    assert narrow.encoder.tokens_read == 62  # there is nothing left to do


def test_a_second_reading_stopped_in_the_middle_goes_on_and_the_file_stays_current(
    narrow: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stop_after(5)
    assert not narrow.pipeline(lambda: next(asked)).deepen()
    done = narrow.encoder.tokens_read
    assert 0 < done < 62
    progress = narrow.store.progress()
    assert (progress.n_tokens_embedded, progress.n_tokens_narrow) == (62, 62 - done)
    assert set(narrow.statuses().values()) == {FileStatus.CURRENT}
    assert narrow.pipeline().deepen()
    assert narrow.encoder.tokens_read == 62  # no token twice
    check_vectors(narrow)


def test_a_second_reading_with_a_damaged_state_starts_again(narrow: Bench) -> None:
    asked = stop_after(5)
    narrow.pipeline(lambda: next(asked)).deepen()
    with narrow.store.changing() as db:
        db.execute("UPDATE deepenings SET state = x'00'")
    assert narrow.pipeline().deepen()
    check_vectors(narrow)


def test_a_document_deleted_during_its_second_reading_raises_nothing(narrow: Bench, extractor: OneChild) -> None:
    true_stream = narrow.encoder.stream

    def stream_and_forget(*arguments: object) -> Iterator[object]:
        narrow.store.forget(["a.txt"])
        yield from true_stream(*arguments)  # type: ignore[arg-type]

    narrow.encoder.stream = stream_and_forget  # type: ignore[assignment, method-assign]
    assert Pipeline(narrow.root, narrow.store, extractor, narrow.encoder).deepen()
    assert list(narrow.statuses()) == ["b.txt"]
    check_vectors(narrow)


def test_a_document_read_again_keeps_a_state_of_full_width(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "RESUME_FROM_TOKENS", 50)
    bench.encoder.chosen_width = 0.5
    bench.write("a.txt", n_words=52)
    bench.run()
    bench.pipeline().deepen()
    bench.write("a.txt", n_words=63)
    bench.run()
    assert bench.encoder.tokens_read == 52 + 63 - 50
    assert bench.encoder.at(0.5).tokens_read == 52
    check_vectors(bench)


def test_the_activity_names_the_width_and_the_second_reading(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(Pipeline, "_report", lambda self, activity: said.append(activity))
    bench.encoder.chosen_width = 0.25
    bench.write("a.txt", n_words=5)
    bench.run()
    title = "a.txt0 a.txt1 a.txt2 a.txt3 a.txt4"
    assert f"at width 1/4: {title}" in said
    bench.pipeline().deepen()
    assert said[-2:] == [f"reading again {title}", ""]
