"""Hostile PDFs, and the child process that reads them: it is killed in time, replaced, and loses one page."""

import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.child_process import ChildProcess, TimeLimit
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from longsearch.indexer.extract.wire.limits import START_TIMEOUT_S
from longsearch.indexer.extract.wire.protocol import Message
from tests.indexer.extracting import page_text
from tests.indexer.pdf_writing import FORM, FORM_OF_ITSELF, TEXT_PAGES, looping_forms, pdf, stream, write_pdf


def test_a_page_tree_that_contains_itself_is_read_in_part(extract: Callable[..., Extraction]) -> None:
    extraction = extract(pdf(TEXT_PAGES[:1], extra={2: b"<< /Type /Pages /Count 3 /Kids [2 0 R 10 0 R] >>"}))
    assert "page called one" in extraction.document.text
    assert extraction.partial_reason


def test_an_outline_entry_that_links_to_itself_is_read_once(extract: Callable[..., Extraction]) -> None:
    loop = {16: b"<< /Title (The page) /Parent 5 0 R /Next 16 0 R /Dest [10 0 R /Fit] >>"}
    document = extract(pdf(TEXT_PAGES, outline=[("The page", 0)], extra=loop)).document
    assert [heading.title for heading in document.headings] == ["The page"]


def test_a_page_that_kills_the_child_is_skipped_and_reported(extract: Callable[..., Extraction]) -> None:
    bomb = {
        1000: stream(zlib.compress(b"q " * 20_000_000, 1), FORM + b"/Filter /FlateDecode")
    }  # pushes gigabytes of graphics states
    extraction = extract(pdf([TEXT_PAGES[0], b"/X0 Do", TEXT_PAGES[2]], extra=bomb))
    assert extraction.partial_reason.startswith("page 2 of 3 could not be read")
    assert page_text(extraction, 1).startswith("The page called one")
    assert page_text(extraction, 2) == ""
    assert page_text(extraction, 3).startswith("The page called three")


@pytest.mark.parametrize("forms", [FORM_OF_ITSELF, looping_forms(6, 12)], ids=["in a circle", "for hours"])
def test_a_page_that_never_ends_is_skipped(tmp_path: Path, forms: Mapping[int, bytes]) -> None:
    path = write_pdf(tmp_path / "slow.pdf", [TEXT_PAGES[0], b"/X0 Do", TEXT_PAGES[2]], extra=forms)
    with ExtractorProcess(page_timeout_s=3.0) as extractor:
        extraction = extractor.extract(path)
        quick = write_pdf(tmp_path / "quick.pdf", TEXT_PAGES)
        assert extractor.extract(quick).partial_reason == ""  # a new child takes over
    assert extraction.partial_reason.startswith("page 2 of 3 could not be read (")


def test_the_start_of_a_child_does_not_count_as_time_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    true_next = ChildProcess._next_message

    def noted(child: ChildProcess, timeout_s: float, limit: TimeLimit, stuck_s: float) -> Message:
        waits.append(timeout_s)
        return true_next(child, timeout_s, limit, stuck_s)

    monkeypatch.setattr(ChildProcess, "_next_message", noted)
    with ExtractorProcess(page_timeout_s=20.0, document_timeout_s=600.0) as extractor:
        extractor.extract(write_pdf(tmp_path / "a.pdf", TEXT_PAGES))
    assert waits[0] == START_TIMEOUT_S
    assert set(waits[1:]) == {20.0}


def test_a_document_that_takes_too_long_keeps_the_pages_read_so_far(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "slow.pdf", [TEXT_PAGES[0], b"/X0 Do", TEXT_PAGES[2]], extra=looping_forms(6, 12))
    with ExtractorProcess() as extractor:
        extractor.extract(
            write_pdf(tmp_path / "quick.pdf", TEXT_PAGES)
        )  # a busy machine needs seconds to start a child
        extractor.document_timeout_s = 1.5
        extraction = extractor.extract(path)
    assert extraction.partial_reason.startswith("pages 2 to 3 of 3 could not be read")
    assert extraction.document.text == "The page called one has words and a second line"


def test_a_child_that_was_killed_while_idle_is_replaced(extractor: ExtractorProcess, tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", TEXT_PAGES)
    extractor.extract(path)
    killed = extractor.child_pid
    assert killed is not None
    os.kill(killed, 9)
    while extractor.child_pid is not None:
        pass  # until the kernel has killed it
    assert extractor.extract(path).partial_reason == ""
    assert extractor.child_pid not in (None, killed)


def test_one_child_reads_file_after_file_and_ends_when_the_extractor_closes(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", TEXT_PAGES)
    with ExtractorProcess() as extractor:
        extractor.extract(path)
        child = extractor.child_pid
        with pytest.raises(ExtractionError):
            (tmp_path / "bad.pdf").write_bytes(b"bad")
            extractor.extract(tmp_path / "bad.pdf")
        extractor.extract(path)
        assert extractor.child_pid == child
    assert child is not None
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_pdf_with_too_much_text_is_partial(
    extractor: ExtractorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longsearch.indexer.extract.assembly.MAX_TEXT_CHARACTERS", 100)
    extraction = extractor.extract(write_pdf(tmp_path / "a.pdf", TEXT_PAGES))
    assert extraction.partial_reason.startswith("page 3 of 3 could not be read (more than 100 characters")


def test_a_pipe_a_missing_file_and_another_format_are_refused(extractor: ExtractorProcess, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    with pytest.raises(ExtractionError, match="not a regular file"):
        extractor.extract(tmp_path / "pipe.pdf")
    with pytest.raises(ExtractionError, match="gone"):
        extractor.extract(tmp_path / "missing.pdf")
    with pytest.raises(ExtractionError, match="not a format"):
        extractor.extract(tmp_path / "picture.png")


def test_a_file_whose_name_is_not_unicode_is_read(extractor: ExtractorProcess, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/na\xffme\n\x1b[31m.pdf"))
    try:
        write_pdf(path, TEXT_PAGES)
    except OSError:
        pytest.skip("this file system takes only Unicode names")
    assert "page called one" in extractor.extract(path).document.text
