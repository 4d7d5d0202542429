"""Files that could not be read: when the pipeline reads them again, and when it leaves them alone."""

import shutil
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_pipeline import Bench, bench  # noqa: F401

import indexer.pipeline as pipeline_module
from engine.errors import ExtractionError, PassingError
from engine.store.store import Store
from engine.types import DocumentText, FileReport, FileStatus
from indexer.extract.reader import Extraction, ExtractorProcess, Result
from indexer.pipeline import Pipeline


@contextmanager
def refusing() -> Iterator[None]:
    """A drive that answers with an error."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline_module, "hash_file", refuse)
        yield


def the_file(bench: Bench) -> FileReport:  # noqa: F811
    (file,) = bench.store.files()
    return file


def let_time_pass(bench: Bench, seconds: float) -> None:  # noqa: F811
    with bench.store.changing() as db:
        db.execute("UPDATE files SET retry_at = retry_at - ?", (seconds,))


def test_what_may_pass_is_read_again_after_a_minute_then_two_and_then_it_is_current(
    bench: Bench,  # noqa: F811
    tmp_path: Path,
    extractor: ExtractorProcess,
) -> None:
    bench.write("a.txt")
    with refusing():
        bench.run()
        first = the_file(bench)
        assert first.n_failures == 1
        assert first.retry_at == pytest.approx(time.time() + 60, abs=10)
        assert bench.run().n_failed == 0  # not yet
        let_time_pass(bench, 61)
        assert bench.run().n_failed == 1
    assert the_file(bench).n_failures == 2
    assert the_file(bench).retry_at == pytest.approx(time.time() + 120, abs=10)
    bench.store.close()
    with Store.open(tmp_path / "index.sqlite", root=bench.root) as store:  # another process, another day
        bench.store = store
        let_time_pass(bench, 121)
        assert bench.run().n_read == 1
        assert the_file(bench) == FileReport("a.txt", FileStatus.CURRENT, "", "", 0, 12, 12)


def test_what_only_a_change_can_help_is_read_again_only_on_request(bench: Bench) -> None:  # noqa: F811
    (bench.root / "b.pdf").write_bytes(b"no pdf at all" * 100)
    bench.run()
    assert (the_file(bench).n_failures, the_file(bench).retry_at) == (1, None)
    assert bench.run().n_failed == 0
    assert bench.store.read_again() == 1
    assert bench.run().n_failed == 1
    assert (the_file(bench).n_failures, the_file(bench).retry_at) == (2, None)
    assert bench.run().n_failed == 0


def test_a_request_reads_nothing_that_was_read_well(bench: Bench) -> None:  # noqa: F811
    bench.write("a.txt")
    bench.run()
    assert bench.store.read_again() == 0
    assert bench.run().n_read == 0


def test_a_reader_that_took_too_long_is_given_three_more_chances(
    bench: Bench,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench.write("a.txt")
    with ExtractorProcess(document_timeout_s=0) as hasty:
        for n_failures in range(1, 5):
            Pipeline(bench.root, bench.store, hasty, bench.encoder).read()
            assert the_file(bench).n_failures == n_failures
            assert "took more than" in the_file(bench).reason
            let_time_pass(bench, 7 * 3600)
    assert the_file(bench).retry_at is None


def test_a_file_that_changed_is_counted_from_the_start(bench: Bench) -> None:  # noqa: F811
    bench.write("a.txt")
    with refusing():
        bench.run()
        let_time_pass(bench, 61)
        bench.run()
        bench.write("a.txt", n_words=30)
        bench.run()
    assert the_file(bench).n_failures == 1


def test_a_renamed_file_keeps_its_turn(bench: Bench) -> None:  # noqa: F811
    path = bench.write("a.txt")
    with refusing():
        bench.run()
    before = the_file(bench)
    path.rename(bench.root / "A.txt")
    bench.run()
    assert (the_file(bench).path, the_file(bench).retry_at) == ("A.txt", before.retry_at)


class OneText:
    """An extractor that reads the same in every file, or fails."""

    def __init__(self, n_words: int, partial_reason: str = "", error: ExtractionError | None = None) -> None:
        document = DocumentText(" ".join(f"word{i}" for i in range(n_words)), (), "a title")
        self.result: Result = error or Extraction(document, partial_reason, "try a repaired copy")
        self.n_read = 0

    def extract_all(self, paths: Iterable[Path]) -> Generator[tuple[Path, Result]]:
        for path in paths:
            self.n_read += 1
            yield path, self.result


def run_with(bench: Bench, extractor: OneText) -> int:  # noqa: F811
    """How many files were read, by an indexer with this extractor."""
    pipeline = Pipeline(bench.root, bench.store, extractor, bench.encoder)
    pipeline.read()
    pipeline.embed()
    return extractor.n_read


@pytest.fixture
def partial(bench: Bench) -> Bench:  # noqa: F811
    """A file of which 20 words came."""
    bench.write("a.txt")
    assert run_with(bench, OneText(20, "page 2 of 2")) == 1
    assert the_file(bench).status is FileStatus.PARTIAL
    return bench


def test_what_was_read_in_part_is_read_again_only_on_request_and_may_be_whole_then(partial: Bench) -> None:
    assert run_with(partial, OneText(30)) == 0
    assert partial.store.read_again() == 1
    assert run_with(partial, OneText(30)) == 1
    assert the_file(partial) == FileReport("a.txt", FileStatus.CURRENT, "", "try a repaired copy", 0, 30, 30)
    assert partial.store.read_again() == 0


def test_what_is_no_better_the_second_time_keeps_its_vectors_and_is_left_alone(partial: Bench) -> None:
    before, embedded = the_file(partial), partial.encoder.tokens_read
    partial.store.read_again()
    assert run_with(partial, OneText(20, "page 2 of 2")) == 1
    assert the_file(partial) == before
    assert partial.encoder.tokens_read == embedded
    assert run_with(partial, OneText(30)) == 0


def test_what_cannot_be_read_at_all_the_second_time_keeps_what_came_the_first_time(partial: Bench) -> None:
    partial.store.read_again()
    assert run_with(partial, OneText(0, error=ExtractionError("no page could be read"))) == 1
    file = the_file(partial)
    assert (file.status, file.reason, file.retry_at) == (FileStatus.PARTIAL, "page 2 of 2", None)
    partial.store.read_again()
    assert run_with(partial, OneText(0, error=PassingError("a drive that fails"))) == 1
    file = the_file(partial)
    assert (file.status, file.n_tokens_embedded, file.n_failures) == (FileStatus.PARTIAL, 20, 2)
    assert file.retry_at == pytest.approx(time.time() + 120, abs=10)
    let_time_pass(partial, 121)
    assert run_with(partial, OneText(30)) == 1
    assert the_file(partial).status is FileStatus.CURRENT


def test_a_partial_file_that_changed_is_read_as_any_other(partial: Bench) -> None:
    partial.store.read_again()
    partial.write("a.txt", n_words=13)
    assert run_with(partial, OneText(0, error=ExtractionError("no page could be read"))) == 1
    assert the_file(partial).status is FileStatus.FAILED


def test_copies_of_a_partial_file_are_whole_together(partial: Bench) -> None:
    shutil.copy(partial.root / "a.txt", partial.root / "b.txt")
    assert run_with(partial, OneText(30)) == 0
    assert partial.store.read_again() == 2
    embedded = partial.encoder.tokens_read
    run_with(partial, OneText(30))
    assert partial.states() == {"a.txt": FileStatus.CURRENT, "b.txt": FileStatus.CURRENT}
    assert partial.encoder.tokens_read == embedded + 30
