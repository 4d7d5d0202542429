"""RTF, notebooks and FB2."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.engine.types.documents import DocumentText
from longsearch.indexer.extract.reader import Extraction
from tests.indexer.extracting import page_text

Extract = Callable[[bytes, str], Extraction]

RTF = (
    r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Arial;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\ql\sbasedon0 heading 1;}{\s12\b heading 2;}}"
    r"{\info{\title On \'e9cole}{\author Ann Author}{\creatim\yr2004\mo5\dy3\hr1}}"
    r"\pard\s1 First part\par\pard\s0 It cost 5 \u8364?, said \ldblquote Ann\rdblquote.{\footnote See Carnot.}\par "
    r"\pard\s12 A section\par\pard {\f1 \'ef\'f0\'e8}\par "
    r"{\pict\pngblip " + "0a1b" * 5_000 + r"}\trowd a\cell b\cell\row\pard the end\par}"
)


def headings(document: DocumentText) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in document.headings]


def values(document: DocumentText, field: str) -> list[str]:
    return [value.value for value in document.metadata if value.field == field]


def test_rtf_has_headings_notes_tables_and_properties(extract: Extract) -> None:
    document = extract(RTF.encode("ascii"), "a.rtf").document
    assert document.text == (
        "First part\n\nIt cost 5 €, said “Ann”.\n\nFootnote 1: See Carnot.\n\nA section\n\nпри\n\na | b\n\nthe end"
    )
    assert headings(document) == [(1, "First part"), (2, "A section")]
    assert document.title == "On école"
    assert values(document, "author") == ["Ann Author"]
    assert values(document, "created") == ["2004-05-03"]


def test_a_picture_stored_as_bytes_is_no_text(extract: Extract) -> None:
    data = rb"{\rtf1 before {\pict\bin9 }{\x\\par} after}"
    assert extract(data, "a.rtf").document.text.split() == ["before", "after"]


def test_rtf_that_is_cut_off_keeps_its_text_and_other_files_are_refused(extract: Extract) -> None:
    assert "said “Ann”" in extract(RTF.encode("ascii")[:420], "a.rtf").document.text
    for data in (b"just words", b"PK\x03\x04"):
        with pytest.raises(ExtractionError, match="not RTF"):
            extract(data, "b.rtf")


def test_rtf_with_a_hundred_thousand_open_groups_is_read(extract: Extract) -> None:
    assert extract(b"{\\rtf1 words " + b"{" * 100_000, "a.rtf").document.text == "words"


def test_the_heading_with_which_a_text_begins_is_its_title_though_it_looks_unlike_one(extract: Extract) -> None:
    words = "The mill burnt down in that year, they say.\n"
    assert extract(f"# 1887\n\n{words}".encode(), "a.md").document.title == "1887"
    invoice = f"Invoice 2020-0815\n=================\n\n{words}".encode()
    assert extract(invoice, "a.rst").document.title == "Invoice 2020-0815"
    assert extract(f"# 1\n\n{words}".encode(), "b.md").document.title == words.strip()
    assert extract(f"{words}\n# 1887\n".encode(), "c.md").document.title == words.strip()


def notebook(*cells: dict[str, Any], **metadata: Any) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": cells}).encode()


def test_each_cell_of_a_notebook_is_a_page(extract: Extract) -> None:
    outputs = [
        {"output_type": "stream", "text": ["10 rows\n", "\x1b[31mred\x1b[0m"]},
        {"output_type": "execute_result", "data": {"text/plain": "DataFrame", "text/html": "<b>no</b>"}},
        {"output_type": "display_data", "data": {"text/html": "<b>only</b> <i hidden>gone</i>a page"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "too hot", "traceback": ["long"]},
        {"output_type": "stream", "text": "x" * 5_000},
    ]
    found = extract(
        notebook(
            {"cell_type": "markdown", "source": ["# Heat *flow*\n", "\n", "We load the data."]},
            {"cell_type": "code", "source": "import numpy\nload()", "outputs": outputs},
            {"cell_type": "code", "source": ""},
            {"cell_type": "raw", "source": "raw words"},
            authors=[{"name": "Ann Author"}],
        ),
        "a.ipynb",
    )
    document = found.document
    assert page_text(found, 1).strip() == "Heat flow\n\nWe load the data."
    assert page_text(found, 2).startswith(
        "import numpy\nload()\n\n10 rows\nred\n\nDataFrame\n\nonly a page\n\nValueError: too hot\n\nxxx"
    )
    assert len(page_text(found, 2)) < 1_200
    assert page_text(found, 4) == "raw words"
    assert (document.title, values(document, "author"), len(document.page_starts)) == ("Heat flow", ["Ann Author"], 4)


def test_a_notebook_of_the_old_format_is_read(extract: Extract) -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": "Old"}, {"cell_type": "code", "input": ["x = 1"]}]
    found = extract(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode(), "a.ipynb").document
    assert (found.text, headings(found)) == ("Old\n\nx = 1", [(2, "Old")])


@pytest.mark.parametrize(
    "data",
    [b'{"cells": [', b"[" * 200_000, b"[]", b'{"cells": 3}', b'{"cells": [null, 3]}', b'{"worksheets": {"a": 1}}'],
)
def test_a_file_that_is_no_notebook_is_refused(extract: Extract, data: bytes) -> None:
    with pytest.raises(ExtractionError, match="notebook"):
        extract(data, "a.ipynb")


def test_odd_values_in_a_notebook_are_passed_over(extract: Extract) -> None:
    cell = {
        "cell_type": ["x"],
        "source": [1, "words", None],
        "outputs": [3, {"data": [], "text": {"a": 1}, "ename": 4}],
    }
    assert extract(notebook(cell, {"source": 7}, title=["T"], authors={"a": 1}), "a.ipynb").document.text == "words"


FB2 = """<?xml version="1.0" encoding="{encoding}"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><genre>sf</genre>
<author><first-name>Лев</first-name><last-name>Толстой</last-name></author><book-title>Война и мир</book-title>
<annotation><p>О войне.</p></annotation><keywords>война, мир</keywords><date value="1869-01-01">1869</date>
<lang>ru</lang><translator><first-name>Не</first-name><last-name>Автор</last-name></translator></title-info>
<document-info><author><nickname>scanner</nickname></author></document-info></description>
<body><title><p>Война</p><p>и мир</p></title><section><title><p>Часть первая</p></title>
<section><title><p>I</p></title><p>Ну,&nbsp;что, <emphasis>князь</emphasis>?</p>
<poem><stanza><v>Строка один</v><v>строка два</v></stanza></poem>
<table><tr><td>а</td><td>б</td></tr></table></section></section></body>
<body name="notes"><section><title><p>1</p></title><p>Примечание.</p></section></body>
<binary id="cover.jpg" content-type="image/jpeg">AAAA</binary></FictionBook>"""


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "utf-16"])
def test_a_book_in_fb2_has_sections_verses_notes_and_a_description(extract: Extract, encoding: str) -> None:
    source = FB2.format(encoding=encoding).replace("&nbsp;", "&nbsp;" if encoding == "utf-8" else "\xa0")
    document = extract(source.encode(encoding), "a.fb2").document
    assert document.text == (
        "О войне.\n\nВойна и мир\n\nЧасть первая\n\nI\n\nНу, что, князь?\n\n"
        "Строка один\nстрока два\nа | б\n\n1\n\nПримечание."
    )
    assert headings(document)[:3] == [(1, "Война и мир"), (1, "Часть первая"), (2, "I")]
    assert document.title == "Война и мир"
    assert values(document, "author") == ["Лев Толстой"]
    assert (values(document, "date"), values(document, "language")) == (["1869-01-01"], ["ru"])
    assert values(document, "tag") == ["война", "мир"]


def test_cells_of_a_table_in_fb2_stand_under_their_columns(extract: Extract) -> None:
    rows = (
        "<tr><th>Load</th><th colspan='2'>Span</th><th>Note</th></tr>",
        "<tr><td>1</td><td>2</td><td>3</td><td>4</td></tr>",
        "<tr><td colspan='99999'>5</td><td>6</td></tr>",
    )
    table = f"<body><section><p>Bridges.</p><table>{''.join(rows)}</table></section></body>"
    found = extract(f"<FictionBook>{table}</FictionBook>".encode(), "a.fb2").document.text
    assert found.split("\n")[2:] == ["Load | Span | Note", "Load | Span |  | Note", "1 | 2 | 3 | 4", "5 | 6"]


def test_an_fb2_book_that_is_cut_off_is_partial(extract: Extract) -> None:
    found = extract(FB2.format(encoding="utf-8").partition("князь")[0].encode(), "a.fb2")
    assert "Часть первая" in found.document.text
    assert found.partial_reason.startswith("damaged: its XML cannot be read further")


def test_an_fb2_book_that_declares_entities_or_is_something_else_is_refused(extract: Extract) -> None:
    laughing = FB2.format(encoding="utf-8").replace("?>", '?><!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>', 1)
    with pytest.raises(ExtractionError, match="declares XML entities"):
        extract(laughing.encode(), "a.fb2")
    with pytest.raises(ExtractionError, match="not an FB2 book"):
        extract(b"<html><p>words</p></html>", "b.fb2")


def test_an_fb2_book_of_a_hundred_thousand_nested_sections_is_read(extract: Extract) -> None:
    data = "<FictionBook><body>" + "<section><p>x</p>" * 100_000
    assert extract(data.encode(), "a.fb2").document.text.count("x") == 100_000
