"""Slides, OpenDocument, spreadsheets and tables: what is read, and that each place has the name people use."""

from collections.abc import Callable

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.engine.types.documents import DocumentText
from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.readers.office.delimited import parse, separator_of
from longsearch.indexer.extract.readers.office.tables import Tables
from tests.indexer.extract.book_writing import OFFICE
from tests.indexer.extract.office_writing import (
    Parts,
    date_cell,
    odf_parts,
    odf_rows,
    pptx_parts,
    relations,
    shape,
    slide_table,
    xlsx_parts,
    zipped,
)
from tests.indexer.extracting import page_text

Extract = Callable[[bytes, str], Extraction]


def places(document: DocumentText) -> list[str]:
    return [heading.title for heading in document.headings]


def values(document: DocumentText, field: str) -> list[str]:
    return [value.value for value in document.metadata if value.field == field]


def test_slides_are_pages_in_the_order_of_the_presentation(extract: Extract) -> None:
    slides = [
        shape("Costs", kind="title") + shape("Steel", "Glass"),
        shape("no title here") + shape("9", kind="sldNum"),
    ]
    found = extract(zipped(pptx_parts(slides, {1: "mention the crane"}, "Our plan")), "a.pptx")
    document = found.document
    assert page_text(found, 1).strip() == "Costs\n\nSteel\nGlass\n\nNotes: mention the crane"
    assert page_text(found, 2) == "no title here"
    assert places(document) == ["Costs", "Slide 2"]
    assert (document.title, values(document, "author")) == ("Our plan", ["Ann Author"])


def test_a_table_on_a_slide_keeps_its_rows(extract: Extract) -> None:
    found = extract(zipped(pptx_parts([slide_table(("Year", "Sales"), ("2021", "7"))])), "a.pptx")
    assert found.document.text == "Year | Sales\n2021 | 7"


def test_diagrams_and_charts_of_a_slide_are_read_and_fallbacks_are_not(extract: Extract) -> None:
    both = f"<c:Choice>{shape('once')}</c:Choice><c:Fallback>{shape('twice')}</c:Fallback>"
    alternatives = f"<c:AlternateContent xmlns:c='x'>{both}</c:AlternateContent>"
    parts = pptx_parts([shape("Plan", kind="title") + alternatives])
    parts["ppt/slides/_rels/slide1.xml.rels"] = relations(("diagramData", "../diagrams/data1.xml"))
    parts["ppt/diagrams/data1.xml"] = '<d xmlns:a="a"><a:p><a:r><a:t>a step</a:t></a:r></a:p></d>'
    assert extract(zipped(parts), "a.pptx").document.text == "Plan\n\nonce\n\nDiagram: a step"


def test_a_formula_of_a_slide_is_one_line_in_its_sentence_and_what_older_programs_show_is_left_out(
    extract: Extract,
) -> None:
    part = "<m:{0}><m:r><m:t>{1}</m:t></m:r></m:{0}>"
    fraction = f"<m:oMath xmlns:m='m'><m:f>{part.format('num', 'dV')}{part.format('den', 'dt')}</m:f></m:oMath>"
    fallback = "<c:Fallback><a:r><a:t>[formula]</a:t></a:r></c:Fallback>"
    either = f"<c:AlternateContent xmlns:c='x'><c:Choice>{fraction}</c:Choice>{fallback}</c:AlternateContent>"
    slide = f"<p:sp><a:p><a:r><a:t>Let </a:t></a:r>{either}<a:r><a:t> be.</a:t></a:r></a:p></p:sp>"
    assert extract(zipped(pptx_parts([slide])), "a.pptx").document.text == "Let dV/dt be."


def test_a_hidden_slide_keeps_its_number_and_feet_and_comments_are_marked(extract: Extract) -> None:
    numbered = "".join(
        f'<a:p><a:pPr><a:buAutoNum type="alphaLcParenR"/></a:pPr><a:r><a:t>{word}</a:t></a:r></a:p>' for word in "xy"
    )
    slides = [shape("One") + shape("Secret", kind="ftr"), shape("gone"), f"<p:sp>{numbered}</p:sp>"]
    parts = pptx_parts(slides)
    parts["ppt/slides/slide2.xml"] = str(parts["ppt/slides/slide2.xml"]).replace("<p:sld ", '<p:sld show="0" ')
    parts["ppt/slides/_rels/slide3.xml.rels"] = relations(("comments", "../c.xml"))
    parts["ppt/c.xml"] = '<l><cm authorId="4" dt="2020-05-04T10:00"><text>Really?</text></cm></l>'
    parts["ppt/a.xml"] = '<l><cmAuthor id="4" name="Eva"/></l>'
    links = str(parts["ppt/_rels/presentation.xml.rels"])
    author = f'<Relationship Id="a" Type="{OFFICE}/commentAuthors" Target="a.xml"/></Relationships>'
    parts["ppt/_rels/presentation.xml.rels"] = links.replace("</Relationships>", author)
    found = extract(zipped(parts), "a.pptx")
    assert page_text(found, 1).strip() == "One\n\nFooter: Secret\n\nComment by Eva, 2020-05-04: Really?"
    assert [page_text(found, number).strip() for number in (2, 3)] == ["", "a) x\nb) y"]
    assert places(found.document) == ["Slide 1", "Slide 3"]


def test_an_object_of_a_slide_that_was_hidden_is_not_read(extract: Extract) -> None:
    hidden = '<p:nvSpPr><p:cNvPr id="1" name="n" hidden="1"/></p:nvSpPr><p:txBody>'
    gone = shape("gone").replace("<p:txBody>", hidden)
    group = f"<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden='true'/></p:nvGrpSpPr>{shape('gone too')}</p:grpSp>"
    assert extract(zipped(pptx_parts([gone + group + shape("kept")])), "a.pptx").document.text == "kept"


def test_cells_of_a_slide_that_are_merged_downwards_are_in_each_of_their_rows(extract: Extract) -> None:
    empty = "<a:txBody><a:p><a:r><a:t></a:t>"
    rows = slide_table(("Norby", "east"), ("", "west")).replace(f"<a:tc>{empty}", f'<a:tc vMerge="1">{empty}')
    assert extract(zipped(pptx_parts([rows])), "a.pptx").document.text == "Norby | east\nNorby | west"


def test_a_slide_that_is_cut_off_makes_the_presentation_partial(extract: Extract) -> None:
    parts = pptx_parts([shape("whole"), shape("begun") + shape("lost")])
    parts["ppt/slides/slide1.xml"] = str(parts["ppt/slides/slide1.xml"]).partition("lost")[0]
    found = extract(zipped(parts), "a.pptx")
    assert found.partial_reason == "damaged slides: 2"
    assert "begun" in found.document.text


def test_an_opendocument_text_has_headings_lists_tables_and_notes(extract: Extract) -> None:
    body = (
        '<text:h text:outline-level="1">Heat</text:h><text:p>It<text:s text:c="2"/>rises<text:note>'
        "<text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>See Carnot.</text:p></text:note-body></text:note>"
        ".</text:p>"
        "<text:list><text:list-item><text:p>first</text:p></text:list-item><text:list-item><text:p>second</text:p>"
        "</text:list-item></text:list><table:table>" + odf_rows(("Year", "Sales"), ("2021", "7")) + "</table:table>"
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">End</text:h>'
    )
    document = extract(zipped(odf_parts("text", body, "On heat")), "a.odt").document
    assert document.text == (
        "Heat\n\nIt rises.\n\nFootnote 1: See Carnot.\n\n- first\n- second\nYear | Sales\n2021 | 7\n\nEnd"
    )
    assert [(heading.level, heading.title) for heading in document.headings] == [(1, "Heat"), (2, "End")]
    assert (document.title, values(document, "author"), values(document, "tag")) == (
        "On heat",
        ["Ann Author"],
        ["heat"],
    )


def test_an_opendocument_presentation_has_a_page_for_each_slide(extract: Extract) -> None:
    body = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Costs</text:p></draw:text-box>'
        "</draw:frame><draw:frame><draw:text-box><text:p>Steel</text:p></draw:text-box></draw:frame>"
        '<presentation:notes><draw:frame presentation:class="notes"><text:p>say it</text:p></draw:frame>'
        "</presentation:notes></draw:page><draw:page><draw:frame><text:p>more</text:p></draw:frame></draw:page>"
    )
    found = extract(zipped(odf_parts("presentation", body)), "a.odp")
    assert page_text(found, 1).strip() == "Costs\n\nSteel\n\nNotes: say it"
    assert page_text(found, 2) == "more"
    assert places(found.document) == ["Costs", "Slide 2"]


def test_an_opendocument_text_is_read_without_the_readings_above_japanese_words(extract: Extract) -> None:
    ruby = "<text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>"
    assert extract(zipped(odf_parts("text", f"<text:p>{ruby}の大学</text:p>")), "a.odt").document.text == "東京の大学"


def test_an_opendocument_text_that_is_cut_off_keeps_what_came_before(extract: Extract) -> None:
    parts = odf_parts("text", "<text:p>kept words</text:p><text:p>half a par")
    parts["content.xml"] = str(parts["content.xml"]).partition("agraph")[0].partition("</office")[0]
    found = extract(zipped(parts), "a.odt")
    assert found.document.text == "kept words\n\nhalf a par"
    assert found.partial_reason.startswith("damaged: its XML cannot be read further")


@pytest.mark.parametrize("name", ["a.odt", "a.ods"])
def test_an_encrypted_opendocument_file_needs_a_password(extract: Extract, name: str) -> None:
    parts = odf_parts("text", "<text:p>x</text:p>")
    parts["META-INF/manifest.xml"] = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    parts["content.xml"] = bytes(range(256))
    with pytest.raises(ExtractionError, match="needs a password"):
        extract(zipped(parts), name)


BUDGET = [["Item", "Cost"], *([f"thing number {n}", n] for n in range(2, 60))]


def test_each_block_of_a_sheet_names_its_rows_and_repeats_the_columns(extract: Extract) -> None:
    found = extract(zipped(xlsx_parts({"Budget": BUDGET, "Other": [["alone"]]})), "plans.xlsx")
    document = found.document
    blocks = [place for place in places(document) if "Budget" in place]
    assert blocks[0].startswith('sheet "Budget" rows 2-')
    assert blocks[-1].endswith("-59")
    assert places(document)[-1] == 'sheet "Other" row 1'
    assert page_text(found, 2) == "Other\nalone"
    for heading in document.headings[:-1]:
        first = heading.title.split()[3].partition("-")[0]
        block = document.text[heading.start :].partition("\n\n")[0]
        assert block.removeprefix("Budget\n").startswith(f"Item | Cost\nthing number {first} | {first}\n")
    assert document.title == ""
    assert document.place_at(document.text.index("thing number 59")).heading == blocks[-1]


def test_dates_and_whole_numbers_of_a_sheet_are_written_as_a_person_reads_them(extract: Extract) -> None:
    parts = xlsx_parts({"A": [["When", "How many", "Share"], ["MARK", 3.0, 0.1 + 0.2]]})
    sheet = str(parts["xl/s1.xml"]).replace('<c r="A2" t="inlineStr"><is><t>MARK</t></is></c>', date_cell("A2", 44197))
    parts["xl/s1.xml"] = sheet
    assert extract(zipped(parts), "a.xlsx").document.text == "A\nWhen | How many | Share\n2021-01-01 | 3 | 0.3"


def test_an_opendocument_spreadsheet_is_read_with_its_properties(extract: Extract) -> None:
    body = f'<table:table table:name="Crew">{odf_rows(("Name", "Ship"), ("Ann", "Beagle"))}</table:table>'
    document = extract(zipped(odf_parts("spreadsheet", body, "Who sails")), "a.ods").document
    assert document.text == "Crew\nName | Ship\nAnn | Beagle"
    assert (document.title, values(document, "author")) == ("Who sails", ["Ann Author"])
    assert places(document) == ['sheet "Crew" row 2']


def test_a_mostly_empty_row_names_the_columns_of_its_cells() -> None:
    tables = Tables()
    tables.add([["Name", "Born", "Died", "Remark"], ["Ann", "", "", "sails"], ["Bob", "1801", "1880", ""]])
    assert tables.file_text().text == "Name | Born | Died | Remark\nName: Ann | Remark: sails\nBob | 1801 | 1880"


def test_a_title_above_a_table_is_not_taken_for_its_columns() -> None:
    tables = Tables()
    tables.add([["Budget of the harbour"], [], ["Item", "Cost"], ["Crane", "7"], ["Rope", "8"]])
    text = tables.file_text()
    assert text.text == "Item | Cost\nBudget of the harbour\nCrane | 7\nRope | 8"
    assert [title for _, title, _ in text.headings] == ["rows 1-5"]


def test_a_table_without_names_of_columns_is_read_as_it_is() -> None:
    assert parse("1,2\n3,4\n").text == "1 | 2\n3 | 4"


@pytest.mark.parametrize(
    ("source", "separator"),
    [
        ("a,b,c\n1,2,3\n", ","),
        ("a;b\n1,5;2\n3,7;4\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ('"x;y",b\n"z;w",d\n', ","),
        ("sep=|\na|b,c\n", "|"),
        ("only one column\nof words\n", ","),
    ],
)
def test_the_separator_of_a_table_is_found(source: str, separator: str) -> None:
    assert separator_of(source.split("\n")) == separator


def test_quoted_line_ends_stay_in_their_row() -> None:
    text = parse('Name,Remark\nAnn,"two\nlines"\nBob,"says ""hi"""\n')
    assert text.text == 'Name | Remark\nAnn | two lines\nBob | says "hi"'


def test_a_quotation_mark_that_never_closes_loses_nothing() -> None:
    rows = "".join(f"row {n},value\n" for n in range(100_000))
    text = parse('Name,Remark\nAnn,"open\n' + rows)
    assert "row 99999 | value" in text.text


def test_a_table_of_more_text_than_the_limit_is_partial(extract: Extract) -> None:
    data = "Name,Remark\n" + "someone,something that is quite long to say in one row of a table\n" * 90_000
    found = extract(data.encode(), "a.csv")
    assert found.partial_reason == "read to its limit for tables only, 5 million characters"
    assert len(found.document.text) < 6_500_000
    assert len(found.document.headings) <= 5_000


def test_a_workbook_that_is_damaged_or_is_something_else_says_so(extract: Extract) -> None:
    parts = xlsx_parts({"A": [["x"]]})
    parts["xl/s1.xml"] = "<worksheet><sheetData><row"
    for data in (zipped(parts), zipped({"a.txt": "x"})):
        with pytest.raises(ExtractionError, match="damaged, or not a spreadsheet"):
            extract(data, "a.xlsx")
    with pytest.raises(ExtractionError, match="does not begin like one"):
        extract(b"<html><table><tr><td>x</table>", "a.xlsx")


def test_a_sheet_with_cells_in_opposite_corners_is_read_like_any_other(extract: Extract) -> None:
    parts = xlsx_parts({"A": [["x"]]})
    corner = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>far</t></is></c></row></sheetData>'
    far = {**parts, "xl/s1.xml": str(parts["xl/s1.xml"]).replace("</sheetData>", corner)}
    document = extract(zipped(far), "far.xlsx").document
    assert document.text == "A\nx\nfar"
    assert places(document) == ['sheet "A" rows 1-1048576']


ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)


@pytest.mark.parametrize(
    ("name", "parts", "part"),
    [
        ("a.pptx", pptx_parts([shape("x")]), "ppt/slides/slide1.xml"),
        ("a.odt", odf_parts("text", "<text:p>x</text:p>"), "content.xml"),
        ("a.odp", odf_parts("presentation", "<draw:page/>"), "content.xml"),
    ],
)
def test_a_document_that_declares_entities_is_refused(extract: Extract, name: str, parts: Parts, part: str) -> None:
    laughing = {**parts, part: ENTITIES + str(parts[part]).replace("x<", "&j;<")}
    with pytest.raises(ExtractionError, match="declares XML entities"):
        extract(zipped(laughing), name)


@pytest.mark.parametrize(
    ("name", "parts", "part"),
    [
        ("a.pptx", pptx_parts([shape("x")]), "ppt/slides/slide1.xml"),
        ("a.odt", odf_parts("text", "<text:p>x</text:p>"), "content.xml"),
        ("a.xlsx", xlsx_parts({"A": [["x"]]}), "xl/s1.xml"),
        ("a.ods", odf_parts("spreadsheet", odf_rows(("x",))), "content.xml"),
    ],
)
def test_a_zip_bomb_is_refused_before_it_is_unpacked(extract: Extract, name: str, parts: Parts, part: str) -> None:
    with pytest.raises(ExtractionError, match="too large"):
        extract(zipped({**parts, part: str(parts[part]) + " " * 50_000_000}), name)
