"""Files that could not be read: when the pipeline reads them again, and when it leaves them alone."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_pipeline import Bench, bench  # noqa: F401

import indexer.pipeline as pipeline_module
from engine.store.store import Store
from engine.types import FileState, FileStatus
from indexer.extract.reader import ExtractorProcess
from indexer.pipeline import Pipeline


@contextmanager
def refusing() -> Iterator[None]:
    """A drive that answers with an error."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline_module, "_hash", refuse)
        yield


def the_file(bench: Bench) -> FileStatus:  # noqa: F811
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
        assert the_file(bench) == FileStatus("a.txt", FileState.CURRENT, "", "", 0, 12, 12)


def test_what_only_a_change_can_help_is_read_again_only_on_request(bench: Bench) -> None:  # noqa: F811
    (bench.root / "b.pdf").write_bytes(b"no pdf at all" * 100)
    bench.run()
    assert (the_file(bench).n_failures, the_file(bench).retry_at) == (1, None)
    assert bench.run().n_failed == 0
    assert bench.store.retry_failed() == 1
    assert bench.run().n_failed == 1
    assert (the_file(bench).n_failures, the_file(bench).retry_at) == (2, None)
    assert bench.run().n_failed == 0


def test_a_request_reads_nothing_that_was_read_well(bench: Bench) -> None:  # noqa: F811
    bench.write("a.txt")
    bench.run()
    assert bench.store.retry_failed() == 0
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
