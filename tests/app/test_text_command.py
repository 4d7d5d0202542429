"""`longsearch text FILE` and `longsearch doctor FILE`: what was read of a file, and how."""

import json
from pathlib import Path

import pytest

from longsearch.app.cli import main
from tests.indexer.pdf_writing import CATALOG, lines_of, pdf


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A PDF with the pages i, ii and 1."""
    labels = b"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >> >>"
    path = tmp_path / "book.pdf"
    pages = [lines_of(f"The {name} leaf") for name in ("first", "second", "third")]
    path.write_bytes(pdf(pages, extra={CATALOG: labels}))
    return path


def test_the_text_of_a_file_is_printed_whole_or_by_page(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["text", str(book)]) == 0
    assert capsys.readouterr().out == "The first leaf\n\nThe second leaf\n\nThe third leaf\n"
    for wanted, words in (("ii", "The second leaf\n"), ("3", "The third leaf\n"), ("1", "The third leaf\n")):
        assert main(["text", str(book), "--page", wanted]) == 0
        assert capsys.readouterr().out == words
    assert main(["text", str(book), "--page", "9"]) == 3
    assert "there is no page 9" in capsys.readouterr().err


def test_the_json_of_a_text_has_pages_with_their_printed_numbers(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["text", str(book), "--json", "--page", "ii"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pages"] == [{"page": 2, "page_label": "ii", "ocr": False, "text": "The second leaf\n"}]
    assert (told["from"], told["missing"], told["headings"]) == ("file", "", [])


def test_doctor_says_how_a_file_was_read(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(book), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["reader"].startswith("pdf") and told["pages"] == 3 and told["labels"] == "i to 1"
    broken = book.with_name("broken.pdf")
    broken.write_bytes(b"no PDF")
    assert main(["doctor", str(broken)]) == 3
    assert "not a PDF" in capsys.readouterr().out
