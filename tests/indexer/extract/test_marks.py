"""A person's marks: those of PDFs as three viewers write them, and where they stand in the text."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from longsearch.engine.color_names import color_name
from longsearch.engine.store import metadata
from longsearch.engine.types.documents import MARKS, Mark
from longsearch.indexer.extract import okular
from longsearch.indexer.extract.marks import as_values, placed, with_marks
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from longsearch.indexer.sources.source import Folder
from tests.engine.store.store_helpers import document as made_document
from tests.engine.store.store_helpers import open_store, record
from tests.indexer.extract.test_pdf_beside import made
from tests.indexer.pdf_writing import lines_of, stream

Extract = Callable[..., Extraction]
TEXT = "Owner of the boathouse\nHolder of the long con-\ntract for seven years"
FORM = stream(b"0 1 0 rg 0 0 50 12 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 50 12]")


def annotation(kind: bytes, entries: bytes, rect: tuple[int, int, int, int]) -> bytes:
    return b"<< /Type /Annot /Subtype /%s /F 4 /Rect [%d %d %d %d] %s >>" % (kind, *rect, entries)


def quads(*boxes: tuple[int, int, int, int], order: str = "z") -> bytes:
    """Corners of each (left, low, right, high): in Z as Acrobat writes them, or around as the standard says."""
    points = []
    for left, low, right, high in boxes:
        around = [left, low, right, low, right, high, left, high]
        points += [left, high, right, high, left, low, right, low] if order == "z" else around
    return b"/QuadPoints [%s]" % b" ".join(b"%d" % point for point in points)


def test_a_highlight_of_acrobat_keeps_words_colour_note_and_author(extract: Extract) -> None:
    entries = quads((105, 716, 200, 730)) + b"/C [1 0.819611 0] /T (Ann) /Contents (who owns it?) /AP << /N 1001 0 R >>"
    found = extract(made([annotation(b"Highlight", entries, (105, 716, 200, 730))], [lines_of(TEXT)], o1001=FORM))
    (mark,) = found.document.marks
    assert (mark.kind, mark.color, mark.note, mark.author) == ("highlight", "#ffd100", "who owns it?", "Ann")
    assert found.document.text[mark.start : mark.stop] == "of the boathouse"


def test_marks_of_preview_cross_lines_and_a_word_broken_between_them(extract: Extract) -> None:
    boxes = (138, 702, 200, 716), (71, 688, 93, 702)
    marks = [
        annotation(b"Underline", quads(*boxes, order="around") + b"/C [0 0 1]", (70, 688, 220, 716)),
        annotation(b"Text", b"/Contents (ask the harbour) /T (Bo) /C [1 1 0.5] /Name /Note", (300, 716, 320, 730)),
    ]
    document = extract(made(marks, [lines_of(TEXT)])).document
    note, line = document.marks
    assert (line.kind, color_name(line.color)) == ("underline", "blue")
    assert "".join(document.text[line.start : line.stop].split()).replace("-", "").endswith("longcontract")
    assert (note.kind, note.note, note.start) == ("note", "ask the harbour", len("Owner of the boathouse"))
    assert [value.value for value in document.metadata if value.field == "note"] == ["ask the harbour"]
    assert {"yes", "blue", "yellow", "underline"} < {v.value for v in document.metadata if v.field == "marked"}


def test_what_okular_strikes_out_and_types_is_a_mark_and_hidden_marks_are_none(extract: Extract) -> None:
    marks = [
        annotation(b"StrikeOut", quads((72, 716, 104, 730)) + b"/C [1 0 0] /NM (okular-1)", (72, 716, 104, 730)),
        annotation(b"FreeText", b"/Contents (rent is due) /DA (/F1 9 Tf)", (300, 600, 400, 620)),
        annotation(b"Highlight", quads((72, 716, 104, 730)) + b"/Contents (secret)", (72, 716, 104, 730)).replace(
            b"/F 4", b"/F 2"
        ),
    ]
    document = extract(made(marks, [lines_of(TEXT)])).document
    said = [(mark.kind, mark.color, document.text[mark.start : mark.stop], mark.note) for mark in document.marks]
    assert said == [("strikeout", "#ff0000", "Owner", ""), ("text", "", "rent is due", "rent is due")]


def test_the_words_before_a_mark_tell_which_of_two_equal_words_is_meant() -> None:
    text = "the mast and the mast"
    (second,) = placed([("highlight", "", "mast", "and the", "", "")], text, 0, 21)
    assert (second.start, second.stop) == (17, 21)
    (gone,) = placed([("deletion", "", "sail", "the mast", "", "Bo")], text, 0, 21)
    assert gone == Mark("deletion", 8, 8, "sail", "", "Bo")
    assert placed([("highlight", "red", "keel", "", "", "")], text, 4, 21) == (Mark("highlight", 4, 4, "keel"),)


@pytest.mark.parametrize(
    ("color", "name"),
    [("#ffd400", "yellow"), ("#ff0000", "red"), ("#00ff00", "green"), ("#0000ff", "blue"), ("#ff8000", "orange"),
     ("#808080", "gray"), ("#ff99cc", "pink"), ("#a000ff", "purple")],
)  # fmt: skip
def test_colours_have_the_names_that_people_use(color: str, name: str) -> None:
    assert color_name(color) == name


def test_a_document_without_marks_says_nothing_of_them() -> None:
    assert as_values(()) == ()


def test_marks_are_kept_renewed_and_found_by_and_no_hit_lists_them(tmp_path: Path) -> None:
    store = open_store(tmp_path / "index.db")
    store.use_model("model-a", 8)
    content_hash, document, passages = made_document("a")
    noted = Mark("highlight", 0, 4, note="ask the harbour", color="#ffd400")
    first = store.add_document(record("a.pdf"), content_hash, with_marks(document, (noted,)), passages)
    with store.reading() as db:
        assert store.text(first).marks == (noted,)
        assert metadata.with_words(db, "note", metadata.as_words("the harbour")).tolist() == [first]
        assert metadata.with_words(db, "marked", " yellow ").tolist() == [first]
        assert not [value for value in metadata.of_documents(db, [first])[first] if value.source == MARKS]
    again = store.add_document(record("a.pdf", 7), b"another" * 4, with_marks(document, ()), passages)
    assert (again, store.text(again).marks) == (first, ())


OKULAR = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE documentInfo><documentInfo url="a.pdf"><pageList>
<page number="0"><annotationList><annotation type="4">
<base color="#00ff00" author="Kim" contents="whose?"><boundary l="0.1" t="0.1" r="0.2" b="0.2"/></base>
<hl type="2"><quad ax="0.1716" ay="0.0783" bx="0.31" by="0.0783" cx="0.31" cy="0.096" dx="0.1716" dy="0.096"/></hl>
</annotation><annotation type="1"><base contents="ask Bo"><boundary l="0.5" t="0.08" r="0.52" b="0.095"/></base>
<text/></annotation><annotation type="6"><base contents="a drawing"/></annotation></annotationList></page>
</pageList></documentInfo>"""


def test_marks_that_okular_keeps_apart_are_read_and_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "root").mkdir()
    file, source = tmp_path / "root" / "a.pdf", Folder(tmp_path / "root")
    file.write_bytes(made([], [lines_of(TEXT)]))
    before = source.listing().files["a.pdf"], source.hash_of(file)
    apart = okular.kept_beside(file, file.stat().st_size)
    apart.parent.mkdir(parents=True)
    apart.write_text(OKULAR)
    os.utime(apart, ns=(0, 2**62))
    after = source.listing().files["a.pdf"], source.hash_of(file)
    with ExtractorProcess() as process:
        document = process.extract(file).document
        apart.write_text("<documentInfo")
        assert process.extract(file).document.marks == ()
    line, note = document.marks
    assert (line.kind, line.color, line.note, line.author) == ("underline", "#00ff00", "whose?", "Kim")
    assert document.text[line.start : line.stop] == "of the boathouse"
    assert (note.kind, note.note, note.start) == ("note", "ask Bo", len("Owner of the boathouse"))
    assert after[0] == before[0] and after[0].ctime_ns != before[0].ctime_ns and after[1] != before[1]
