"""`longsearch index --ocr`: what is said where it cannot be done, before anything is loaded or changed."""

from pathlib import Path

import pytest

from app.cli import EXIT_CANNOT, main


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_ocr_without_its_tool_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["index", str(tmp_path), "--ocr"]) == EXIT_CANNOT
    said = capsys.readouterr().err
    assert "tesseract, which is not installed" in said
    assert "apt install tesseract-ocr" in said


def test_a_setting_that_is_not_understood_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGSEARCH_OCR", "deu;eng")
    assert main(["index", str(tmp_path)]) == EXIT_CANNOT
    assert "LONGSEARCH_OCR is not understood" in capsys.readouterr().err
