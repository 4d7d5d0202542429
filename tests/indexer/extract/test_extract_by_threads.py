"""Reading the child's pipes by threads, as on Windows, gives what reading them by selectors gives."""

import sys
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.engine.platforms.pipes import ThreadReader
from longsearch.indexer.extract import child_process, tools
from tests.indexer.extracting import OneChild
from tests.indexer.pdf_writing import lines_of, write_pdf


@pytest.fixture
def by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "reader_of", ThreadReader)
    monkeypatch.setattr(tools, "reader_of", ThreadReader)


def read(paths: list[Path]) -> list[object]:
    with OneChild() as one:
        return [str(found) if isinstance(found, ExtractionError) else found for _, found in one.extract_all(paths)]


def test_files_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    write_pdf(tmp_path / "a.pdf", [lines_of(f"The words of page {page}") for page in range(20)])
    (tmp_path / "b.md").write_text("# Title\n\n" + "many words\n" * 2_000)
    (tmp_path / "c.md").write_bytes(b"")
    paths = sorted(tmp_path.iterdir())
    expected = read(paths)
    request.getfixturevalue("by_threads")
    assert read(paths) == expected
    assert expected[2] == "empty file"


@pytest.mark.usefixtures("by_threads")
def test_a_programs_output_is_read_and_one_that_prints_too_much_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    file = tmp_path / "x"
    file.write_text("x")
    assert tools.text_from([sys.executable, "-c", "print('words ' * 50_000)"], str(file)) == b"words " * 50_000 + b"\n"
    with pytest.raises(ExtractionError, match="cannot read it: no such book"):
        tools.text_from([sys.executable, "-c", "import sys; sys.exit('no such book')"], str(file))
    monkeypatch.setattr(tools, "MAX_TEXT_FILE_BYTES", 100_000)
    with pytest.raises(ExtractionError, match="prints more than"):
        tools.text_from([sys.executable, "-c", "while True: print('words ' * 50_000)"], str(file))
