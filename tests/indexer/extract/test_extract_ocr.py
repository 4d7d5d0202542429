"""OCR on request: which pages tesseract gets, how its output is used, and what happens without tesseract.

A script takes the place of tesseract, so that each page's output is known.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError, ReadingStoppedError
from longsearch.indexer.extract import pool
from longsearch.indexer.extract.pdf import ocr
from longsearch.indexer.extract.pdf.ocr import lines_of as ocr_lines_of
from longsearch.indexer.extract.pdf.ocr import require_tool
from longsearch.indexer.extract.pdf.recognition import Recognition, known_lines
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from longsearch.indexer.extract.wire import jail
from tests.indexer.pdf_writing import lines_of, pdf, write_pdf

TEXT_PAGE = lines_of("The page with text has words\nof its own")
SCANNED = b"0.5 g 100 100 200 300 re f"
"""The content of a page that shows a box and holds no text."""

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make a script called `tesseract` the only program on the PATH. Its Python `body` finds the image in `picture`.

    There is no jail, in which a script could not note its calls; test_extract_jail has OCR in it.
    """
    monkeypatch.setattr(jail, "version", lambda: 0)

    def install(body: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        tool = folder / "tesseract"
        tool.write_text(f"#!{sys.executable} -I\nimport sys, time, os\npicture = sys.stdin.buffer.read()\n{body}\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return folder

    return install


@pytest.fixture
def extractor(install: Install) -> Iterator[ExtractorProcess]:
    with ExtractorProcess(ocr=Recognition()) as extractor:
        yield extractor


def read(extractor: ExtractorProcess, tmp_path: Path, *pages: object) -> Extraction:
    return extractor.extract(write_pdf(tmp_path / "a.pdf", list(pages)))  # type: ignore[arg-type]


def test_only_pages_without_text_are_read_by_ocr(install: Install, extractor: ExtractorProcess, tmp_path: Path) -> None:
    install("print('Words of a\\nscanned pa-\\nge.\\n\\nMore.')")
    extraction = read(extractor, tmp_path, SCANNED, TEXT_PAGE, SCANNED)
    scanned = "Words of a scanned page.\n\nMore."
    assert extraction.document.text == f"{scanned}\n\nThe page with text has words of its own\n{scanned}"
    assert extraction.partial_reason == ""
    assert len(extraction.document.page_starts) == 3


def test_tesseract_gets_the_picture_of_the_page(install: Install, extractor: ExtractorProcess, tmp_path: Path) -> None:
    install(
        "header, pixels = picture[:17], picture[17:]\n"
        "kind, width, height, most = header.split()\n"
        "print(kind.decode(), int(width) * int(height) == len(pixels), width.decode(), *sorted(set(pixels)))"
    )
    assert read(extractor, tmp_path, SCANNED).document.text == "P5 True 2550 128 255"


def test_ocr_does_not_run_unless_it_is_asked_for(install: Install, tmp_path: Path) -> None:
    folder = install("open(os.path.join(os.path.dirname(sys.argv[0]), 'ran'), 'w')")
    with ExtractorProcess() as extractor, pytest.raises(ExtractionError, match=r"scanned\?") as caught:
        read(extractor, tmp_path, SCANNED)
    assert "longsearch index FOLDER --ocr" in caught.value.hint
    assert os.listdir(folder) == ["tesseract"]
    assert caught.value.n_scanned == 1


def test_without_tesseract_the_error_says_how_to_install_it(
    tmp_path: Path, extractor: ExtractorProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExtractionError, match="tesseract, which is not installed") as caught:
        read(extractor, tmp_path, SCANNED)
    assert "apt install tesseract-ocr" in caught.value.hint
    assert caught.value.n_scanned == 1
    with pytest.raises(ExtractionError, match="not installed"):
        require_tool()


def test_the_error_message_of_tesseract_becomes_the_reason(
    install: Install, extractor: ExtractorProcess, tmp_path: Path
) -> None:
    install("print('Failed loading \\x1b[31mlanguage deu', file=sys.stderr)\nsys.exit(1)")
    extraction = read(extractor, tmp_path, TEXT_PAGE, SCANNED)
    assert extraction.partial_reason == "page 2 of 2 could not be read (OCR failed: Failed loading language deu)"
    assert "tesseract --list-langs" in extraction.hint
    assert extraction.document.n_scanned == 0


def test_tesseract_is_killed_when_a_page_takes_too_long(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(
        "print(os.getpid(), file=open(os.path.join(os.path.dirname(sys.argv[0]), 'pid'), 'w'))\ntime.sleep(600)"
    )
    monkeypatch.setattr(ocr, "OCR_PAGE_TIMEOUT_S", 0.5)
    with pytest.raises(ocr.OcrFailedError, match="took more than"):
        ocr.recognise(ocr.Picture(1, 1, b"\0", 300), "")
    assert not Path(f"/proc/{(folder / 'pid').read_text().strip() or 'none'}").exists()


def test_killing_the_child_also_kills_tesseract(install: Install, extractor: ExtractorProcess, tmp_path: Path) -> None:
    install("time.sleep(600)")
    read(extractor, tmp_path, TEXT_PAGE)  # so that its child has started
    extractor.page_timeout_s = 3.0
    extraction = read(extractor, tmp_path, TEXT_PAGE, SCANNED)
    assert extraction.partial_reason == "page 2 of 2 could not be read (took more than 3 s)"
    program, deadline = str(tmp_path / "bin" / "tesseract"), time.monotonic() + 10
    while _runs(program) and time.monotonic() < deadline:
        pass  # a killed process needs a moment on a busy machine
    assert not _runs(program)


def _runs(program: str) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if program in (process / "cmdline").read_text():
                return True
        except OSError:
            continue
    return False


def test_a_page_on_which_ocr_finds_nothing_is_reported(
    install: Install, extractor: ExtractorProcess, tmp_path: Path
) -> None:
    install("print('\\f')")
    with pytest.raises(ExtractionError, match=r"no text in 1 page \(OCR found none\)") as caught:
        read(extractor, tmp_path, SCANNED)
    assert caught.value.n_scanned == 0


def test_the_languages_are_passed_to_tesseract(install: Install, tmp_path: Path) -> None:
    install("print(*sys.argv[1:])")
    with ExtractorProcess(ocr=Recognition("deu+eng")) as extractor:
        assert read(extractor, tmp_path, SCANNED).document.text == "stdin stdout --dpi 300 -l deu+eng"


def test_a_huge_page_is_rendered_at_a_lower_resolution(
    install: Install, extractor: ExtractorProcess, tmp_path: Path
) -> None:
    install("print('header', picture[:12].decode())")
    path = tmp_path / "poster.pdf"
    path.write_bytes(pdf([SCANNED]).replace(b"[0 0 612 792]", b"[0 0 9999 9999]"))
    width = int(extractor.extract(path).document.text.split()[2])
    assert 4000 < width <= 4500


def test_lines_are_joined_within_a_paragraph() -> None:
    assert (
        "".join(ocr_lines_of("One line\n and two\n\n \nNext para-\ngraph\f"))
        == "One line and two\n\nNext paragraph\n\n"
    )
    assert "".join(ocr_lines_of("对 国 防 问 题 的\n意 见")) == "对国防问题的意见\n\n"


COUNTING = (
    "import tempfile\n"
    "calls = os.path.join(os.path.dirname(os.path.dirname(sys.argv[0])), 'calls')\n"
    "tempfile.mkstemp(dir=calls)\n"  # an empty file: the sandbox lets nobody write into one
)


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    folder = tmp_path / "calls"
    folder.mkdir()
    return folder


def test_a_page_is_recognised_once_and_a_changed_file_costs_its_new_pages(
    install: Install, tmp_path: Path, calls: Path
) -> None:
    install(f"{COUNTING}print('Words of page', min(picture[17:]))")
    pages = [f"{level} g 100 100 200 300 re f".encode() for level in (0.1, 0.5, 0.9)]
    ocr = Recognition("", tmp_path / "cache")
    with ExtractorProcess(ocr=ocr) as extractor:
        first = read(extractor, tmp_path, pages[0], pages[1]).document
        assert (len(os.listdir(calls)), first.ocr_pages, first.n_scanned) == (2, (1, 2), 0)
        changed = read(extractor, tmp_path, TEXT_PAGE, pages[1], pages[2], pages[0]).document
    assert len(os.listdir(calls)) == 3
    assert (changed.ocr_pages, changed.n_scanned) == ((2, 3, 4), 0)
    assert [line for line in changed.text.split("\n") if line][1] == first.text.split("\n")[-1]
    assert ocr.n_pages == 3 and ocr.took_s > 0
    with ExtractorProcess(ocr=Recognition("", tmp_path / "cache", known_only=True)) as extractor:
        known = read(extractor, tmp_path, pages[2], SCANNED.replace(b"300", b"301")).document
    assert (known.ocr_pages, known.n_scanned, len(os.listdir(calls))) == ((1,), 1, 3)
    with ExtractorProcess(ocr=Recognition("deu", tmp_path / "cache")) as extractor:  # other languages: other words
        read(extractor, tmp_path, pages[0])
    assert len(os.listdir(calls)) == 4


def test_without_ocr_pages_are_counted_and_empty_ones_are_not(tmp_path: Path) -> None:
    with ExtractorProcess() as extractor:
        extraction = read(extractor, tmp_path, TEXT_PAGE, SCANNED, b"", TEXT_PAGE)
    assert (extraction.partial_reason, extraction.document.n_scanned, extraction.document.ocr_pages) == ("", 1, ())


def test_a_page_of_one_colour_is_not_given_to_tesseract(install: Install, tmp_path: Path, calls: Path) -> None:
    install(f"{COUNTING}print('words')")
    with ExtractorProcess(ocr=Recognition()) as extractor:
        read(extractor, tmp_path, TEXT_PAGE, b"1 g 0 0 612 792 re f")
    assert os.listdir(calls) == []


def test_a_reading_that_is_stopped_in_a_file_goes_on_at_its_page(
    install: Install, tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(f"{COUNTING}time.sleep(600 if len(os.listdir(calls)) == 2 else 0)\nprint('Words of', min(picture[17:]))")
    monkeypatch.setattr(pool, "STOP_CHECK_S", 0.05)
    path = write_pdf(tmp_path / "a.pdf", [f"{level} g 0 0 200 300 re f".encode() for level in (0.1, 0.5, 0.9)])
    ocr = Recognition("", tmp_path / "cache")
    with ExtractorPool(1, ocr, should_stop=lambda: len(os.listdir(calls)) == 2) as stopped:
        with pytest.raises(ReadingStoppedError):
            list(stopped.extract_all([path]))
        assert ocr.n_pages == 1
        (calls / "more").touch()
        ((_, result),) = stopped.extract_all([path])
    assert isinstance(result, Extraction)
    assert result.document.ocr_pages == (1, 2, 3)
    assert len(os.listdir(calls)) == 5  # page 1 once, page 2 twice, page 3 once, and the file of this test


@pytest.mark.parametrize("content", [b"", b"no database" * 200])
def test_a_cache_that_cannot_be_used_counts_as_empty(install: Install, tmp_path: Path, content: bytes) -> None:
    install("print('Words of a scanned page')")
    cache = tmp_path / "cache"
    cache.write_bytes(content)
    with ExtractorProcess(ocr=Recognition("", cache)) as extractor:
        assert read(extractor, tmp_path, SCANNED).document.text == "Words of a scanned page"
    assert known_lines(str(tmp_path / "none"), "key") is None
