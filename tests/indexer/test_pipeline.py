"""The pipeline over a real folder, store and extractor, with an encoder that costs nothing."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_encoder import FakeEncoder

import indexer.pipeline as pipeline_module
from engine.errors import LongsearchError, ModelError
from engine.search.searcher import search
from engine.store.store import Store
from engine.types import FileStatus, SearchMode
from indexer import embedding
from indexer.extract.reader import ExtractorProcess
from indexer.pipeline import Pipeline, ReadSummary
from indexer.rate import Rate
from indexer.token_cache import TokenCache


class Bench:
    """A root, its store and a pipeline made anew for each run, as another process would."""

    def __init__(self, root: Path, store: Store, extractor: ExtractorProcess) -> None:
        self.root, self.store, self._extractor = root, store, extractor
        self.encoder = FakeEncoder()

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> ReadSummary:
        pipeline = Pipeline(self.root, self.store, self._extractor, self.encoder, should_stop)
        summary = pipeline.read()
        pipeline.embed()
        return summary

    def states(self) -> dict[str, FileStatus]:
        return {file.path: file.status for file in self.store.files()}

    def write(self, name: str, n_words: int = 12) -> Path:
        path = self.root / name
        path.write_text(" ".join(f"{name}{i}" for i in range(n_words)))
        return path


@pytest.fixture
def bench(tmp_path: Path, extractor: ExtractorProcess) -> Iterator[Bench]:
    root = tmp_path / "root"
    root.mkdir()
    with Store.open(tmp_path / "index.sqlite", root=root) as store:
        yield Bench(root, store, extractor)


def test_new_files_become_current_and_a_second_run_does_nothing(bench: Bench) -> None:
    bench.write("a.txt")
    bench.write("b.md")
    assert bench.run() == ReadSummary(2, 0, 0, 0, (), finished=True)
    assert bench.states() == {"a.txt": FileStatus.CURRENT, "b.md": FileStatus.CURRENT}
    read = bench.encoder.tokens_read
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)
    assert bench.encoder.tokens_read == read == 24


def test_renames_copies_and_touches_embed_nothing(bench: Bench) -> None:
    path = bench.write("a.txt")
    bench.run()
    read = bench.encoder.tokens_read
    path.rename(bench.root / "b.txt")
    shutil.copy(bench.root / "b.txt", bench.root / "c.txt")
    os.utime(bench.root / "b.txt", ns=(1, 1))
    bench.run()
    assert bench.states() == {"b.txt": FileStatus.CURRENT, "c.txt": FileStatus.CURRENT}
    assert bench.encoder.tokens_read == read


def test_files_that_change_names_with_each_other_are_embedded_once(bench: Bench) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        bench.write(name)
    bench.run()
    read = bench.encoder.tokens_read
    for old, new in (("a.txt", "spare"), ("b.txt", "a.txt"), ("c.txt", "b.txt"), ("spare", "c.txt")):
        (bench.root / old).rename(bench.root / new)
    assert bench.run() == ReadSummary(0, 0, 3, 0, (), finished=True)
    assert bench.encoder.tokens_read == read
    with bench.store.reading() as db:
        held = dict(db.execute("SELECT path, content_id FROM files"))
    assert bench.store.text(held[b"c.txt"]).text.startswith("a.txt0")
    bench.run()
    assert set(bench.states()) == {"a.txt", "b.txt", "c.txt"}


def test_a_file_without_a_title_is_called_after_its_name_and_renamed_with_it(bench: Bench) -> None:
    words = " ".join(f"word{i}" for i in range(200))  # one paragraph, so that no line of it is a title
    (bench.root / "first name.txt").write_text(words)
    bench.run()
    read = bench.encoder.tokens_read
    assert [hit.title for hit in search(bench.store, "word7", SearchMode.WORDS).hits] == ["first name"]
    (bench.root / "first name.txt").rename(bench.root / "second name.txt")
    bench.run()
    assert [hit.title for hit in search(bench.store, "second", SearchMode.WORDS).hits] == ["second name"]
    assert search(bench.store, "first", SearchMode.WORDS).hits == ()
    assert bench.encoder.tokens_read == read


def test_a_changed_file_is_read_again_and_a_deleted_one_forgotten(bench: Bench) -> None:
    bench.write("a.txt")
    gone = bench.write("b.txt")
    bench.run()
    bench.write("a.txt", n_words=20)
    gone.unlink()
    assert bench.run() == ReadSummary(1, 0, 0, 1, (), finished=True)
    (file,) = bench.store.files()
    assert (file.path, file.n_tokens, file.n_tokens_embedded) == ("a.txt", 20, 20)


def test_a_file_that_cannot_be_read_is_a_row_and_is_tried_again_only_when_it_changes(bench: Bench) -> None:
    bench.write("a.txt")
    (bench.root / "b.pdf").write_bytes(b"no pdf at all" * 100)
    assert bench.run().n_failed == 1
    row = next(file for file in bench.store.files() if file.path == "b.pdf")
    assert row.status is FileStatus.FAILED
    assert row.reason
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)
    (bench.root / "b.pdf").write_bytes(b"")
    assert bench.run().n_failed == 1


def test_a_file_that_may_not_be_opened_is_a_row(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.txt")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pipeline_module, "hash_file", refuse)
    bench.run()
    (row,) = bench.store.files()
    assert (row.status, row.reason) == (FileStatus.FAILED, "cannot be opened: Permission denied")


def written_while_it_is_read(bench: Bench, name: str, patch: pytest.MonkeyPatch) -> None:
    """From now on each reading ends with 30 words in the file."""
    true_extract = ExtractorProcess.extract

    def extract_and_write(self: ExtractorProcess, path: Path) -> object:
        extraction = true_extract(self, path)
        bench.write(name, n_words=30)
        return extraction

    patch.setattr(ExtractorProcess, "extract", extract_and_write)


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_what_it_was(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.write("a.txt")
    with monkeypatch.context() as patch:
        written_while_it_is_read(bench, "a.txt", patch)
        assert bench.run().n_failed == 1
    assert bench.states() == {"a.txt": FileStatus.FAILED}
    os.utime(path, ns=(2, 2))
    bench.run()
    (row,) = bench.store.files()
    assert (row.status, row.n_tokens) == (FileStatus.CURRENT, 30)


def test_a_known_file_that_is_being_written_stays_searchable_as_it_was_until_it_can_be_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.write("log.txt")
    bench.run()
    bench.write("log.txt", n_words=20)
    with monkeypatch.context() as patch:
        written_while_it_is_read(bench, "log.txt", patch)
        summary = bench.run()
    assert (summary.n_read, summary.n_failed) == (0, 0)
    (row,) = bench.store.files()
    assert (row.status, row.n_tokens) == (FileStatus.CURRENT, 12)
    os.utime(path, ns=(2, 2))
    bench.run()
    (row,) = bench.store.files()
    assert (row.status, row.n_tokens) == (FileStatus.CURRENT, 30)


def test_a_document_stopped_in_the_middle_goes_on_from_there_with_the_same_vectors(
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
    assert bench.encoder.tokens_read == 50  # none of them twice
    (content,) = _contents(bench.store)
    with Store.open(tmp_path / "other.sqlite", root=bench.root) as other:
        undisturbed = Bench(bench.root, other, extractor)
        undisturbed.run()
        np.testing.assert_array_equal(
            bench.store.passage_vectors(content), other.passage_vectors(next(iter(_contents(other))))
        )


def test_a_damaged_state_costs_a_fresh_start_and_nothing_else(bench: Bench) -> None:
    bench.write("a.txt", n_words=50)
    asked = iter([False] * 4 + [True] * 9)
    bench.run(lambda: next(asked))
    with bench.store.changing() as db:
        db.execute("UPDATE embeddings SET state = x'00'")
    bench.run()
    assert bench.states() == {"a.txt": FileStatus.CURRENT}


def test_a_document_deleted_while_it_is_embedded_ends_quietly(bench: Bench, extractor: ExtractorProcess) -> None:
    bench.write("a.txt", n_words=50)
    pipeline = Pipeline(bench.root, bench.store, extractor, bench.encoder)
    pipeline.read()
    true_stream = bench.encoder.stream

    def stream_and_forget(*arguments: object) -> Iterator[object]:
        bench.store.forget(["a.txt"])
        yield from true_stream(*arguments)  # type: ignore[arg-type]

    bench.encoder.stream = stream_and_forget  # type: ignore[assignment, method-assign]
    assert pipeline.embed()
    assert bench.store.files() == []


def test_an_empty_root_is_taken_to_be_offline_and_forgets_nothing(bench: Bench) -> None:
    path = bench.write("a.txt")
    bench.run()
    path.unlink()
    (problem,) = bench.run().problems
    assert "offline" in problem
    assert bench.states() == {"a.txt": FileStatus.CURRENT}


def test_a_missing_root_is_an_error_and_forgets_nothing(bench: Bench) -> None:
    bench.write("a.txt")
    bench.run()
    bench.root.rename(bench.root.with_name("elsewhere"))
    with pytest.raises(LongsearchError):
        bench.run()
    assert bench.states() == {"a.txt": FileStatus.CURRENT}


def test_another_model_embeds_everything_again_and_reads_nothing_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("a.txt")
    bench.run()
    monkeypatch.setattr(FakeEncoder, "fingerprint", "another")
    assert bench.run().n_read == 0
    assert bench.encoder.tokens_read == 24
    assert bench.states() == {"a.txt": FileStatus.CURRENT}


def test_a_model_that_cannot_be_loaded_costs_no_vector_of_the_one_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("a.txt")
    bench.run()

    def fail() -> None:
        raise ModelError("the weights are damaged")

    monkeypatch.setattr(bench.encoder, "fingerprint", "another")
    monkeypatch.setattr(bench.encoder, "ensure_loaded", fail)
    with pytest.raises(ModelError, match="damaged"):
        bench.run()
    assert bench.store.model_in_use() == ("fake", 8)
    assert bench.states() == {"a.txt": FileStatus.CURRENT}


@pytest.mark.parametrize("together_below", [0, 100])
def test_a_first_indexing_tokenises_each_text_once(bench: Bench, together_below: int) -> None:
    bench.encoder.together_below = together_below
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


def test_a_rate_is_that_of_the_last_moments() -> None:
    now = [0.0]
    rate = Rate(clock=lambda: now[0])
    assert rate.per_s() == 0
    for _ in range(10):
        now[0] += 1
        rate.add(100)
    assert rate.per_s() == pytest.approx(100)
    for _ in range(60):
        now[0] += 1
        rate.add(10)
    assert rate.per_s() == pytest.approx(10)


def _contents(store: Store) -> set[int]:
    with store.reading() as db:
        return {row[0] for row in db.execute("SELECT id FROM contents")}


def test_short_documents_are_read_together_and_long_ones_alone(bench: Bench) -> None:
    bench.encoder.together_below = 20
    alone: list[int] = []
    true_stream = bench.encoder.stream
    bench.encoder.stream_many = lambda documents: pytest.fail(  # type: ignore[assignment, method-assign]
        "one is not many"
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
    assert sorted(alone) == [5, 7, 9, 11, 13, 15, 17, 19, 50]  # the fake reads many by streams of one
    assert bench.encoder.tokens_read == 7 + sum(alone)
    assert set(bench.states().values()) == {FileStatus.CURRENT}
    check_vectors(bench)


def test_a_group_stopped_in_the_middle_goes_on_from_there(bench: Bench) -> None:
    bench.encoder.together_below = 100
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
    assert sum(file.n_tokens_embedded for file in bench.store.files()) == n_before  # of every document that was begun
    bench.run()
    assert bench.encoder.tokens_read == 200
    check_vectors(bench)


def test_a_group_goes_on_without_one_that_was_deleted(bench: Bench, extractor: ExtractorProcess) -> None:
    bench.encoder.together_below = 100
    for i in range(3):
        bench.write(f"{i}.txt", n_words=30)
    pipeline = Pipeline(bench.root, bench.store, extractor, bench.encoder)
    pipeline.read()
    true_many = bench.encoder.stream_many

    def forget_one(*arguments: object) -> Iterator[object]:
        for n, found in enumerate(true_many(*arguments)):  # type: ignore[arg-type]
            if n == 4:
                bench.store.forget(["1.txt"])
            yield found

    bench.encoder.stream_many = forget_one  # type: ignore[assignment, method-assign]
    assert pipeline.embed()
    assert bench.states() == {"0.txt": FileStatus.CURRENT, "2.txt": FileStatus.CURRENT}
    check_vectors(bench)


@pytest.fixture
def grown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A document of 52 words that was embedded whole."""
    monkeypatch.setattr(embedding, "RESUME_FROM_TOKENS", 50)
    bench.write("a.txt", n_words=52)
    bench.run()
    bench.encoder.tokens_read = 0
    return bench


def test_of_a_grown_document_only_the_end_is_embedded(grown: Bench) -> None:
    grown.write("a.txt", n_words=63)
    grown.run()
    assert grown.encoder.tokens_read == 63 - 50  # the last passage began at 50
    check_vectors(grown)
    grown.write("a.txt", n_words=64)  # it may grow again, even by so little that no passage is finished
    grown.run()
    grown.write("a.txt", n_words=66)
    grown.run()
    assert grown.encoder.tokens_read == 63 - 50 + 64 - 60 + 66 - 60
    check_vectors(grown)


@pytest.mark.parametrize("word", [0, 30, 49])
def test_a_document_changed_before_its_end_is_embedded_anew(grown: Bench, word: int) -> None:
    path = grown.write("a.txt", n_words=63)
    words = path.read_text().split()
    words[word] = "another"
    path.write_text(" ".join(words))
    grown.run()
    assert grown.encoder.tokens_read == 63
    check_vectors(grown)


def test_a_document_that_shrank_or_lost_all_its_text_is_embedded_anew(grown: Bench) -> None:
    grown.write("a.txt", n_words=20)
    grown.run()
    assert grown.encoder.tokens_read == 20
    check_vectors(grown)
    (grown.root / "a.txt").write_text(" \n")
    grown.run()


def test_a_document_that_grew_while_it_was_half_embedded_goes_on_from_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("a.txt", n_words=50)
    asked = iter([False] * 6 + [True] * 9)
    bench.run(lambda: next(asked))
    half = bench.encoder.tokens_read
    assert 0 < half < 50
    bench.write("a.txt", n_words=70)
    bench.run()
    assert bench.encoder.tokens_read == 70
    check_vectors(bench)


def test_a_copy_keeps_its_vectors_when_the_other_grows(grown: Bench) -> None:
    shutil.copy(grown.root / "a.txt", grown.root / "b.txt")
    grown.run()
    grown.write("a.txt", n_words=70)
    grown.run()
    assert grown.encoder.tokens_read == 20
    check_vectors(grown)


def test_another_model_goes_on_from_no_state_of_the_first(grown: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeEncoder, "fingerprint", "another")
    grown.run()
    grown.write("a.txt", n_words=53)
    monkeypatch.setattr(FakeEncoder, "fingerprint", "a third")
    grown.encoder.tokens_read = 0
    grown.run()
    assert grown.encoder.tokens_read == 53


def check_vectors(bench: Bench) -> None:
    """Every document's vectors are those of one pass over what its file holds."""
    encoder = FakeEncoder()
    for content in _contents(bench.store):
        parts = list(encoder.stream(*encoder.split(bench.store.text(content).text)))
        np.testing.assert_array_equal(bench.store.passage_vectors(content), np.concatenate([p.vectors for p in parts]))
        np.testing.assert_array_equal(bench.store.document_vector(content), parts[-1].document_vector)


def test_what_was_read_is_kept_when_it_is_to_stop(bench: Bench) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        bench.write(name)
    while len(bench.states()) < 3:  # each time told to stop as soon as it has begun: it comes to an end all the same
        n_known, asked = len(bench.states()), iter([False])
        bench.run(lambda asked=asked: next(asked, True))  # type: ignore[misc]
        assert len(bench.states()) > n_known
