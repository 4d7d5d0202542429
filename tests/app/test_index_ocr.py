"""`longsearch index --ocr`: which files it reads again, and its errors."""

from pathlib import Path

import pytest

from longsearch.app.cli import EXIT_CANNOT, main
from longsearch.app.paths import index_path
from longsearch.engine.index.opening import open_index
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from longsearch.indexer.extract.wire.protocol import SCANNED


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_ocr_without_tesseract_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["index", str(tmp_path), "--ocr"]) == EXIT_CANNOT
    said = capsys.readouterr().err
    assert "tesseract, which is not installed" in said
    assert "apt install tesseract-ocr" in said


def test_a_bad_ocr_setting_is_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGSEARCH_OCR", "deu;eng")
    assert main(["index", str(tmp_path)]) == EXIT_CANNOT
    assert "LONGSEARCH_OCR is 'deu;eng'" in capsys.readouterr().err


def files_of(root: Path) -> dict[str, FileReport]:
    with open_index(index_path(root)) as store:
        return {file.path: file for file in store.files()}


def test_ocr_reads_only_files_with_scanned_pages_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def read(process: ExtractorProcess, path: Path, head_only: bool = False) -> Extraction:
        seen.append(path.name)
        text = path.read_text() + " And what the scanned page says." * (process.ocr is not None)
        reason = f"no text on page 2 of 2 ({SCANNED})" if process.ocr is None and "scanned" in path.name else ""
        return Extraction(DocumentText(text, (), path.name, n_scanned=bool(reason)), reason, "")

    monkeypatch.delenv("LONGSEARCH_OCR", raising=False)
    monkeypatch.setattr(ExtractorProcess, "extract", read)
    monkeypatch.setattr("longsearch.indexer.extract.pdf.ocr.require_tool", lambda: None)
    root = tmp_path / "papers"
    root.mkdir()
    for name in ("scanned.txt", "whole.txt"):
        (root / name).write_text(f"The first page of {name} has words.")
    assert main(["index", "-q", str(root)]) == 0
    assert sorted(seen) == ["scanned.txt", "whole.txt"]
    before = files_of(root)
    assert [file.status for file in before.values()] == [FileStatus.PARTIAL, FileStatus.CURRENT]
    assert main(["index", "-q", "--ocr", str(root)]) == 0
    assert seen[2:] == ["scanned.txt"]
    after = files_of(root)
    assert after["whole.txt"] == before["whole.txt"]
    assert after["scanned.txt"].status is FileStatus.CURRENT
    assert after["scanned.txt"].n_tokens > before["scanned.txt"].n_tokens
