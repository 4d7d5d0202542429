"""`longsearch marks`, and the marks that agents see."""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from longsearch.app.agents.readable_folders import ReadableFolders
from longsearch.app.agents.tools import Tools
from longsearch.app.cli import main
from longsearch.app.evidence.highlighting import highlight
from longsearch.app.paths import index_path
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.errors import LongsearchError
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Mark, Passage
from longsearch.indexer.extract.marks import with_marks
from longsearch.indexer.extract.reader import ExtractorProcess
from tests.indexer.pdf_writing import lines_of, pdf

TEXT = "The keel is oak.\nThe mast is ash, says the builder.\n\nThe sail is *linen*."
MARKS = (
    Mark("note", 16, 16, note="check\x1b this", author="Bo"),
    Mark("highlight", 17, 32, color="#ffd400"),
    Mark("deletion", 52, 52, quote="perhaps", author="Ann"),
)


@pytest.fixture
def folder(home: Path) -> Path:
    root = home / "boats"
    root.mkdir()
    (root / "boat.pdf").write_text("x")
    with Store.open(index_path(root), root=root) as store:
        document = with_marks(DocumentText(TEXT, (0, 53), "Boats"), MARKS)
        store.add_document(FileStamp("boat.pdf", 1, 1, 1), b"1" * 32, document, [Passage(0, len(TEXT), 20)])
    return root


def test_marks_are_listed_with_page_colour_note_and_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["marks", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "p. 1: note by Bo: check" in said and "> The keel is oak." in said and "\x1b" not in said
    assert "p. 1: highlight (yellow)\n     > The mast is ash" in said
    assert main(["marks", str(folder), "--json"]) == 0
    note, lit, gone = json.loads(capsys.readouterr().out)["marks"]
    assert (note["text"], note["note"], note["page"]) == ("The keel is oak.", MARKS[0].note, 1)
    assert (lit["text"], lit["color"], lit["kind"]) == ("The mast is ash", "#ffd400", "highlight")
    assert (gone["text"], gone["author"]) == ("perhaps", "Ann")


def test_marks_are_exported_as_the_basket_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["marks", str(folder), "-o", str(folder / "marks.md")]) == 0
    text = (folder / "marks.md").read_text()
    assert text.startswith("## Boats") and "> The mast is ash" in text and "[p. 1](file:" in text
    assert "highlight (yellow)" in text
    assert main(["marks", str(folder), "--to", "csv"]) == 0
    assert "perhaps" in capsys.readouterr().out


def test_queries_find_documents_by_marks_and_notes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for query, code in (("marked:yes", 0), ("marked:yellow", 0), ("marked:red", 1), ('note:"check this"', 0)):
        assert main(["search", query, str(folder), "--mode", "words"]) == code, query
    assert main(["search", "--mode", "words", "--", "-marked:yes", str(folder)]) == 1
    capsys.readouterr()


def test_a_folder_without_marks_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "plain").mkdir()
    Store.open(index_path(home / "plain"), root=home / "plain").close()
    assert main(["marks", str(home / "plain")]) == 1
    assert "nobody has marked anything" in capsys.readouterr().out


def test_agents_read_marks_behind_the_headings_part_by_part(folder: Path) -> None:
    tools = Tools(ReadableFolders())
    first = tools.outline("longsearch://documents/boats/boat.pdf", max_tokens=60)
    assert first["next_cursor"]
    rest = tools.outline("longsearch://documents/boats/boat.pdf", cursor=first["next_cursor"])
    kinds = [one["kind"] for one in (*first["marks"], *rest["marks"])]
    assert kinds == ["note", "highlight", "deletion"] and rest["next_cursor"] is None


@pytest.mark.parametrize("turned", [0, 90])
def test_the_basket_is_written_as_highlights_into_a_copy(home: Path, turned: int) -> None:
    pages = [
        lines_of("Owner of the boathouse\nHolder of the long con-"),
        lines_of("tract for seven years\nKeel and mast"),
    ]
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(pages))))
    for page in writer.pages:
        page.rotate(turned)
    writer.write(home / "a.pdf")
    before = (home / "a.pdf").read_bytes()
    root = home / "kept"
    root.mkdir()
    with Store.open(index_path(root), root=root) as store:
        store.add_document(FileStamp("a.pdf", 1, 1, 1), b"1" * 32, DocumentText("x", (0,), "A"), [Passage(0, 1, 1)])
    one = Evidence(
        "the boathouse", str(root / "a.pdf"), "A", page=1, root=str(root), content=(b"1" * 32).hex(), note="ours"
    )
    (home / "a.pdf").rename(root / "a.pdf")
    copies, notes = highlight(
        [one, replace(one, quote="Keel and mast", page=2), replace(one, quote="nobody says")], home
    )
    assert copies == [(home / "a.marked.pdf", 2)] and len(notes) == 1
    with ExtractorProcess() as process:
        document = process.extract(home / "a.marked.pdf").document
    said = [(document.text[mark.start : mark.stop], mark.note, mark.color) for mark in document.marks]
    assert said == [("the boathouse", "ours", "#ffd400"), ("Keel and mast", "ours", "#ffd400")]
    assert (root / "a.pdf").read_bytes() == before
    with pytest.raises(LongsearchError, match="exists already"):
        highlight([one], home)
