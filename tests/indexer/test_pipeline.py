"""The pipeline with a real folder, store and extractor, and a fake encoder."""

import os
import shutil
from pathlib import Path

import pytest

from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.index.opening import open_index
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer.extract import formats
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.pipeline import Pipeline, ReadSummary
from longsearch.indexer.sources import source
from tests.indexer.fake_encoder import FakeEncoder
from tests.indexer.pipeline_bench import Bench


def test_new_files_become_current_and_a_second_run_does_nothing(bench: Bench) -> None:
    bench.write("a.txt")
    bench.write("b.md")
    assert bench.run() == ReadSummary(2, 0, 0, 0, (), finished=True)
    assert bench.statuses() == {"a.txt": FileStatus.CURRENT, "b.md": FileStatus.CURRENT}
    read = bench.encoder.tokens_read
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)
    assert bench.encoder.tokens_read == read == 24


def test_files_of_a_format_whose_reader_has_learnt_more_are_read_again_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = bench.root / "a.html"
    page.write_text("<p>The mill is closed.</p>")
    page.with_name("copy.html").write_bytes(page.read_bytes())
    bench.write("b.md")
    with monkeypatch.context() as before:
        before.setattr(formats, "_READER_VERSIONS", formats._READER_VERSIONS | {formats.Format.HTML: 0})
        bench.run()
    with bench.store.changing() as db:
        db.execute("UPDATE contents SET title = 'as an older reader named it' WHERE title = ''")
    os.utime(page, ns=(1, 1))  # a new time alone does not hide that the reader is newer
    read = bench.encoder.tokens_read
    assert bench.run() == ReadSummary(2, 0, 0, 0, (), finished=True)
    assert bench.encoder.tokens_read == read  # the text is as before
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)
    with bench.store.reading() as db:
        assert db.execute("SELECT count(*) FROM contents WHERE title LIKE 'as an older%'").get == 0


def test_an_index_follows_the_excerpt_weight_of_its_model_without_reading_anew(bench: Bench) -> None:
    bench.write("a.txt")
    bench.run()
    read = bench.encoder.tokens_read
    bench.encoder.excerpt_weight = 0.8
    bench.run()
    with open_index(bench.store.path) as index:
        assert index.excerpt_weight == 0.8
    assert bench.encoder.tokens_read == read


def test_renames_copies_and_touches_embed_nothing(bench: Bench) -> None:
    path = bench.write("a.txt")
    bench.run()
    read = bench.encoder.tokens_read
    path.rename(bench.root / "b.txt")
    shutil.copy(bench.root / "b.txt", bench.root / "c.txt")
    os.utime(bench.root / "b.txt", ns=(1, 1))
    bench.run()
    assert bench.statuses() == {"b.txt": FileStatus.CURRENT, "c.txt": FileStatus.CURRENT}
    assert bench.encoder.tokens_read == read


def test_files_that_exchange_their_names_are_embedded_once(bench: Bench) -> None:
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
    assert set(bench.statuses()) == {"a.txt", "b.txt", "c.txt"}


def test_a_document_without_a_title_is_named_after_its_file_and_renamed_with_it(bench: Bench) -> None:
    words = " ".join(f"word{i}" for i in range(200))  # one paragraph, so that no line of it is a title
    (bench.root / "first name.txt").write_text(words)
    bench.run()
    read = bench.encoder.tokens_read
    assert [hit.title for hit in bench.hits("word7")] == ["first name"]
    (bench.root / "first name.txt").rename(bench.root / "second name.txt")
    bench.run()
    assert [hit.title for hit in bench.hits("second")] == ["second name"]
    assert bench.hits("first") == ()
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


@pytest.mark.parametrize("knows_ctime", [True, False])
def test_a_file_that_is_replaced_with_the_same_size_and_time_is_found(bench: Bench, knows_ctime: bool) -> None:
    path = bench.root / "a.txt"
    path.write_text("The old words.")
    bench.run()
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_text("The new words.")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with bench.store.changing() as db:
        if not knows_ctime:
            db.execute("UPDATE files SET ctime_ns = 0")
    if not knows_ctime:
        assert bench.run().n_read == 0
        bench.store.reread()
    assert bench.run().n_read == 1
    assert bench.run().n_read == 0


def test_a_file_whose_bytes_are_compared_is_not_extracted_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.txt")
    bench.run()
    bench.run()
    bench.store.reread()
    given: list[Path] = []
    extract = bench.extractor.extract_all
    monkeypatch.setattr(
        bench.extractor, "extract_all", lambda paths, **_: extract(given.append(one) or one for one in paths)
    )
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)
    assert given == []
    monkeypatch.undo()
    (bench.root / "a.txt").write_text("b words")
    bench.store.reread()
    assert bench.run().n_read == 1


def test_a_file_that_changes_in_the_tick_of_the_clock_in_which_it_was_read_is_found(bench: Bench) -> None:
    path = bench.write("a.txt", n_words=20)
    bench.write("b.txt", n_words=30)
    bench.run()
    path.write_text(path.read_text().replace("a", "e"))
    with bench.store.changing() as db:  # as a file system says it whose clock has not ticked since
        now = path.stat()
        db.execute("UPDATE files SET mtime_ns = ? WHERE path = ?", (now.st_mtime_ns, b"a.txt"))
        db.execute("UPDATE files SET ctime_ns = ? WHERE path = ? AND ctime_ns > 1", (now.st_ctime_ns, b"a.txt"))
    assert bench.run() == ReadSummary(1, 0, 0, 0, (), finished=True)
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)


def test_a_file_that_cannot_be_read_fails_and_is_read_again_only_when_it_changes(bench: Bench) -> None:
    bench.write("a.txt")
    (bench.root / "b.pdf").write_bytes(b"no pdf at all" * 100)
    assert bench.run().n_failed == 1
    row = next(file for file in bench.store.files() if file.path == "b.pdf")
    assert row.status is FileStatus.FAILED
    assert row.reason
    assert bench.run() == ReadSummary(0, 0, 0, 0, (), finished=True)
    (bench.root / "b.pdf").write_bytes(b"")
    assert bench.run().n_failed == 1


def test_a_file_that_cannot_be_opened_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.txt")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source, "hash_file", refuse)
    bench.run()
    (row,) = bench.store.files()
    assert (row.status, row.reason) == (FileStatus.FAILED, "cannot be opened: Permission denied")


def written_while_it_is_read(bench: Bench, name: str, patch: pytest.MonkeyPatch) -> None:
    """Write 30 words to the file at the end of each reading."""
    true_extract = ExtractorProcess.extract

    def extract_and_write(self: ExtractorProcess, path: Path, head_only: bool = False) -> object:
        extraction = true_extract(self, path, head_only)
        bench.write(name, n_words=30)
        return extraction

    patch.setattr(ExtractorProcess, "extract", extract_and_write)


def test_a_file_that_changes_while_it_is_read_fails_and_is_read_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.write("a.txt")
    with monkeypatch.context() as patch:
        written_while_it_is_read(bench, "a.txt", patch)
        assert bench.run().n_failed == 1
    assert bench.statuses() == {"a.txt": FileStatus.FAILED}
    os.utime(path, ns=(2, 2))
    bench.run()
    (row,) = bench.store.files()
    assert (row.status, row.n_tokens) == (FileStatus.CURRENT, 30)


def test_a_known_file_keeps_its_old_text_while_it_is_being_written(
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


def test_an_empty_root_counts_as_offline_and_forgets_nothing(bench: Bench) -> None:
    path = bench.write("a.txt")
    bench.run()
    path.unlink()
    (problem,) = bench.run().problems
    assert "offline" in problem
    assert bench.statuses() == {"a.txt": FileStatus.CURRENT}


def test_a_missing_root_raises_and_forgets_nothing(bench: Bench) -> None:
    bench.write("a.txt")
    bench.run()
    bench.root.rename(bench.root.with_name("elsewhere"))
    with pytest.raises(LongsearchError):
        bench.run()
    assert bench.statuses() == {"a.txt": FileStatus.CURRENT}


def test_another_model_embeds_every_document_again_and_reads_no_file_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("a.txt")
    bench.run()
    monkeypatch.setattr(FakeEncoder, "fingerprint", "another")
    assert bench.run().n_read == 0
    assert bench.encoder.tokens_read == 24
    assert bench.statuses() == {"a.txt": FileStatus.CURRENT}


def test_a_model_that_cannot_be_loaded_does_not_drop_the_vectors_of_the_last_model(
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
    assert bench.statuses() == {"a.txt": FileStatus.CURRENT}


def test_a_file_that_was_read_is_stored_before_the_pipeline_stops(bench: Bench) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        bench.write(name)
    while len(bench.statuses()) < 3:  # each run is stopped after its first file, and the runs come to an end
        n_known, asked = len(bench.statuses()), iter([False])
        bench.run(lambda asked=asked: next(asked, True))  # type: ignore[misc]
        assert len(bench.statuses()) > n_known


def test_while_texts_are_read_the_activity_counts_the_files_that_are_to_be_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(Pipeline, "_report", lambda self, activity: said.append(activity))
    bench.write("a.txt")
    bench.write("b.md")
    bench.run()
    assert said[:2] == ["reading 1 of 2: a.txt", "reading 2 of 2: b.md"]
