"""When the pipeline retries a failed or partial file, and when it does not."""

import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError, TemporaryError
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess, Result
from longsearch.indexer.pipeline import Pipeline
from longsearch.indexer.sources import source
from tests.indexer.extracting import OneChild
from tests.indexer.pipeline_bench import Bench


@contextmanager
def refusing() -> Iterator[None]:
    """Make opening any file fail."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "hash_file", refuse)
        yield


def the_file(bench: Bench) -> FileReport:
    (file,) = bench.store.files()
    return file


def let_time_pass(bench: Bench, seconds: float) -> None:
    with bench.store.changing() as db:
        db.execute("UPDATE files SET retry_at = retry_at - ?", (seconds,))


def test_a_temporary_error_is_retried_after_one_minute_then_two_until_the_file_is_current(
    bench: Bench, tmp_path: Path, extractor: ExtractorProcess
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
    with Store.open(tmp_path / "index.sqlite", root=bench.root) as store:  # as in another process
        bench.store = store
        let_time_pass(bench, 121)
        assert bench.run().n_read == 1
        assert the_file(bench) == FileReport("a.txt", FileStatus.CURRENT, "", "", 0, 12, 12)


def test_an_error_that_only_a_change_of_the_file_can_mend_is_retried_only_on_request(bench: Bench) -> None:
    (bench.root / "b.pdf").write_bytes(b"no pdf at all" * 100)
    bench.run()
    assert (the_file(bench).n_failures, the_file(bench).retry_at) == (1, None)
    assert bench.run().n_failed == 0
    assert bench.store.read_again() == 1
    assert bench.run().n_failed == 1
    assert (the_file(bench).n_failures, the_file(bench).retry_at) == (2, None)
    assert bench.run().n_failed == 0


def test_a_request_to_retry_reads_no_file_that_is_current(bench: Bench) -> None:
    bench.write("a.txt")
    bench.run()
    assert bench.store.read_again() == 0
    assert bench.run().n_read == 0


def test_a_file_that_takes_too_long_is_retried_three_times(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.txt")
    with OneChild(document_timeout_s=0) as hasty:
        for n_failures in range(1, 5):
            Pipeline(bench.root, bench.store, hasty, bench.encoder).read()
            assert the_file(bench).n_failures == n_failures
            assert "took more than" in the_file(bench).reason
            let_time_pass(bench, 7 * 3600)
    assert the_file(bench).retry_at is None


def test_failures_are_counted_from_the_last_change_of_the_file(bench: Bench) -> None:
    bench.write("a.txt")
    with refusing():
        bench.run()
        let_time_pass(bench, 61)
        bench.run()
        bench.write("a.txt", n_words=30)
        bench.run()
    assert the_file(bench).n_failures == 1


def test_a_renamed_file_keeps_the_time_of_its_retry(bench: Bench) -> None:
    path = bench.write("a.txt")
    with refusing():
        bench.run()
    before = the_file(bench)
    path.rename(bench.root / "A.txt")
    bench.run()
    assert (the_file(bench).path, the_file(bench).retry_at) == ("A.txt", before.retry_at)


class OneText:
    """An extractor that reads the same text from every file, or fails."""

    def __init__(self, n_words: int, partial_reason: str = "", error: ExtractionError | None = None) -> None:
        document = DocumentText(" ".join(f"word{i}" for i in range(n_words)), (), "a title")
        self.result: Result = error or Extraction(document, partial_reason, "try a repaired copy")
        self.n_read = 0

    def extract_all(
        self, paths: Iterable[Path], head_only: bool = False, before_waiting: Callable[[], None] = lambda: None
    ) -> Generator[tuple[Path, Result]]:
        for path in paths:
            self.n_read += 1
            yield path, self.result


def run_with(bench: Bench, extractor: OneText) -> int:
    """Index with this extractor. Returns how many files it read."""
    pipeline = Pipeline(bench.root, bench.store, extractor, bench.encoder)
    pipeline.read()
    pipeline.embed()
    return extractor.n_read


@pytest.fixture
def partial(bench: Bench) -> Bench:
    """An index with one partial file: only 20 of its words could be read."""
    bench.write("a.txt")
    assert run_with(bench, OneText(20, "page 2 of 2")) == 1
    assert the_file(bench).status is FileStatus.PARTIAL
    return bench


def test_a_partial_file_is_read_again_only_on_request_and_may_then_be_whole(partial: Bench) -> None:
    assert run_with(partial, OneText(30)) == 0
    assert partial.store.read_again() == 1
    assert run_with(partial, OneText(30)) == 1
    assert the_file(partial) == FileReport("a.txt", FileStatus.CURRENT, "", "try a repaired copy", 0, 30, 30)
    assert partial.store.read_again() == 0


def test_a_second_reading_with_the_same_result_keeps_the_vectors_and_is_not_repeated(partial: Bench) -> None:
    before, embedded = the_file(partial), partial.encoder.tokens_read
    partial.store.read_again()
    assert run_with(partial, OneText(20, "page 2 of 2")) == 1
    assert the_file(partial) == before
    assert partial.encoder.tokens_read == embedded
    assert run_with(partial, OneText(30)) == 0


def test_a_second_reading_that_fails_keeps_the_text_of_the_first(partial: Bench) -> None:
    partial.store.read_again()
    assert run_with(partial, OneText(0, error=ExtractionError("no page could be read"))) == 1
    file = the_file(partial)
    assert (file.status, file.reason, file.retry_at) == (FileStatus.PARTIAL, "page 2 of 2", None)
    partial.store.read_again()
    assert run_with(partial, OneText(0, error=TemporaryError("a drive that fails"))) == 1
    file = the_file(partial)
    assert (file.status, file.n_tokens_embedded, file.n_failures) == (FileStatus.PARTIAL, 20, 2)
    assert file.retry_at == pytest.approx(time.time() + 120, abs=10)
    let_time_pass(partial, 121)
    assert run_with(partial, OneText(30)) == 1
    assert the_file(partial).status is FileStatus.CURRENT


def test_a_partial_file_that_changed_is_read_as_any_changed_file(partial: Bench) -> None:
    partial.store.read_again()
    partial.write("a.txt", n_words=13)
    assert run_with(partial, OneText(0, error=ExtractionError("no page could be read"))) == 1
    assert the_file(partial).status is FileStatus.FAILED


def test_copies_of_a_partial_file_become_whole_together(partial: Bench) -> None:
    shutil.copy(partial.root / "a.txt", partial.root / "b.txt")
    assert run_with(partial, OneText(30)) == 0
    assert partial.store.read_again() == 2
    embedded = partial.encoder.tokens_read
    run_with(partial, OneText(30))
    assert partial.statuses() == {"a.txt": FileStatus.CURRENT, "b.txt": FileStatus.CURRENT}
    assert partial.encoder.tokens_read == embedded + 30
