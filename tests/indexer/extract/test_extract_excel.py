"""Excel workbooks: cells as Excel shows them, comments, boxes, merged cells, and what Excel hides."""

from pathlib import Path

import pytest

from longsearch.indexer.extract.readers.office import sheets
from longsearch.indexer.extract.readers.office.excel.number_formats import BUILT_IN, general, shown_number, shown_text
from longsearch.indexer.extract.readers.office.excel.sheet import place_of
from tests.indexer.extract.book_writing import OFFICE, RELATIONS, archive
from tests.indexer.extract.office_writing import xlsx_parts

NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="r"'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.075, "0.0%", "7.5%"),
        (1067, "00000", "01067"),
        (4012345678901, "0", "4012345678901"),
        (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (-1234.5, "#,##0.00;[Red](#,##0.00)", "(1,234.50)"),
        (1234.5, "_-* #,##0.00 €_-;-* #,##0.00 €_-", "1,234.50 €"),
        (0, '#,##0;-#,##0;"-"', "-"),
        (5, ";;;", ""),
        (-5, '[<0]"loss" 0;"gain" 0', "loss 5"),
        (150, '[>=100]"big" 0;[<100]"small" 0', "big 150"),
        (15551234567, "(000) 000-0000", "(1555) 123-4567"),
        (123456789, "000-00-0000", "123-45-6789"),
        (1234567, '0.0,,"M"', "1.2M (1234567)"),
        (2.25, "# ?/?", "2 1/4"),
        (0.5, "?/8", "4/8"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (0.00012, "0.0E+0", "1.2E-4"),
        (3, 'General" pcs"', "3 pcs"),
        (-0.001, "0.0", "0.0"),
        (44197, "d. mmmm yyyy", "1. January 2021"),
        (44197, "[$-407]dddd, d. mmmm yyyy", "Freitag, 1. Januar 2021"),
        (44197, "[$-100C]d mmm yyyy", "1 janv 2021"),
        (44197, "[$-419]d mmmm yyyy;@", "1 января 2021"),
        (44197, "[$-es-MX]d mmmm yyyy", "1 enero 2021"),
        (44197, "[$-41E]d mmmm yyyy", "1 January 2021"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (44197, "mmm-yy", "Jan-21 (2021-01-01)"),
        (44197.5, "yyyy-mm-dd h:mm", "2021-01-01 12:00"),
        (44197.99999999, "yyyy-mm-dd hh:mm:ss", "2021-01-02 00:00:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (0.5, "h:mm AM/PM", "12:00 PM"),
        (0.0125, "mm:ss", "18:00"),
        (44197, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "Friday, January 01, 2021"),
        (44197, 'yyyy"年"m"月"d"日"', "2021年1月1日"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (-5, "yyyy-mm-dd", "-5"),
        (7, "x" * 9_000, "x" * 300),
    ],
)
def test_a_number_is_shown_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


def test_a_number_without_a_format_keeps_its_digits() -> None:
    assert [general(value) for value in (4012345678901.0, 4111111111111111.0, 1e20, 1e-7, 0.1 + 0.2, 3.0)] == [
        "4012345678901",
        "4111111111111111",
        "100000000000000000000",
        "0.0000001",
        "0.3",
        "3",
    ]
    assert (shown_text("7", '"No. "@'), shown_text("7", "0;0;0;[Red]@"), shown_text("7", "@")) == ("No. 7", "7", "7")
    assert shown_number(0, "yyyy-mm-dd", is_1904=True) == "1904-01-01"


def test_negative_numbers_of_formats_that_stand_in_no_file_are_in_brackets() -> None:
    assert [shown_number(-1234.5, BUILT_IN[number]) for number in (37, 40)] == ["(1,235)", "(1,234.50)"]


def test_a_cell_has_its_place() -> None:
    assert [place_of(name) for name in ("A1", "$XFD$1048576", "nothing")] == [(1, 0), (1048576, 16383), (0, 0)]


def text_of(folder: Path, sheet: str, parts: dict[str, tuple[str, str]] | None = None, book: str = "") -> str:
    """Return the text of a workbook of one sheet. `parts`: name -> (kind of the sheet's relation to it, content)."""
    members = xlsx_parts({"Stock": [["x"]]})
    members["xl/s1.xml"] = f"<worksheet {NS}>{sheet}</worksheet>"
    if book:
        members["xl/workbook.xml"] = f"<workbook {NS}>{book}</workbook>"
    links = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" Target="{name}"/>'
        for name, (kind, _) in (parts or {}).items()
    )
    members["xl/_rels/s1.xml.rels"] = f"<Relationships {RELATIONS}>{links}</Relationships>"
    members.update({f"xl/{name}": content for name, (_, content) in (parts or {}).items()})
    return sheets.read(archive(folder / "a.xlsx", members)).text


def cells(row: int, *values: str, attributes: str = "") -> str:
    inner = "".join(
        f'<c r="{chr(65 + column)}{row}" t="inlineStr"><is><t>{value}</t></is></c>'
        for column, value in enumerate(values)
        if value
    )
    return f'<row r="{row}" {attributes}>{inner}</row>'


def test_comments_stand_behind_their_row_and_threads_replace_old_ones(tmp_path: Path) -> None:
    old = (
        "<comments><authors><author>Ida</author><author>tc={1}</author></authors><commentList>"
        '<comment ref="B2" authorId="0"><text><r><t>Ida:\n</t></r><r><t>Two are apprentices.</t></r></text></comment>'
        '<comment ref="A3" authorId="1"><text><t>[Threaded comment] Comment: Really?</t></text></comment>'
        '<comment ref="D9" authorId="0"><text><t>Alone.</t></text></comment></commentList></comments>'
    )
    thread = (
        '<list><threadedComment ref="A3" personId="p" dT="2021-03-04T10:00:00"><text>Really?</text></threadedComment>'
        '<threadedComment ref="A3" personId="p"><text>Yes.</text></threadedComment></list>'
    )
    rows = cells(1, "Ship", "Crew") + cells(2, "Tern", "nine") + cells(3, "Gull", "four")
    parts = {"c.xml": ("comments", old), "t.xml": ("threadedComment", thread)}
    assert text_of(tmp_path, f"<sheetData>{rows}</sheetData>", parts) == (
        "Stock\nShip | Crew\nTern | nine\nComment at B2 by Ida: Two are apprentices.\nGull | four\n"
        "Comment at A3, 2021-03-04: Really?\nComment at A3: Yes.\n\nComment at D9 by Ida: Alone."
    )


def test_boxes_charts_captions_and_heads_follow_the_rows(tmp_path: Path) -> None:
    drawing = (
        "<d><sp><txBody><p><r><t>Before </t></r><r><t>the strike</t></r></p></txBody></sp>"
        '<graphicFrame><chart xmlns:r="r" r:id="x"/></graphicFrame></d>'
    )
    vml = (
        "<xml><shape><textbox><div><font>Press me</font></div></textbox><ClientData ObjectType='Button'/></shape>"
        "<shape><textbox><div>a note</div></textbox><ClientData ObjectType='Note'/></shape></xml>"
    )
    head = '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;10Harbour &amp;&amp; Sons&amp;CPage &amp;P</oddHeader>'
    sheet = f"<sheetData>{cells(1, 'x')}</sheetData>{head}<oddFooter>&amp;R&amp;P</oddFooter></headerFooter>"
    parts = {"d.xml": ("drawing", drawing), "v.vml": ("vmlDrawing", vml)}
    assert text_of(tmp_path, sheet, parts) == (
        "Stock\nx\n\nHeader: Harbour & Sons\n\nText box: Before the strike\n\nText box: Press me"
    )


def test_cells_that_are_merged_downwards_are_in_each_of_their_rows(tmp_path: Path) -> None:
    rows = cells(1, "Harbour", "Pier") + cells(2, "Norby", "east") + cells(3, "", "west") + cells(4, "", "")
    merged = '<mergeCells><mergeCell ref="A2:A4"/><mergeCell ref="C1:D1"/></mergeCells>'
    assert text_of(tmp_path, f"<sheetData>{rows}</sheetData>{merged}") == (
        "Stock\nHarbour | Pier\nNorby | east\nNorby | west"
    )


def test_what_was_hidden_by_hand_is_left_out_and_what_a_filter_or_a_group_hides_is_read(tmp_path: Path) -> None:
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    rows = cells(1, "a", "secret") + cells(2, "gone", attributes='hidden="1"')
    rows += cells(3, "group", attributes='hidden="1" outlineLevel="1"')
    assert text_of(tmp_path, f"{columns}<sheetData>{rows}</sheetData>") == "Stock\na\ngroup"
    filtered = '<sheetPr filterMode="1"/>' + f"<sheetData>{rows}</sheetData>"
    assert "gone" in text_of(tmp_path, filtered)
    book = '<sheets><sheet name="Stock" state="hidden" r:id="r1"/><sheet name="Open" r:id="r1"/></sheets>'
    assert text_of(tmp_path, "<sheetData/>" + "", book=book) == ""
    assert text_of(tmp_path, f"<sheetData>{cells(1, 'once')}</sheetData>", book=book) == "Open\nonce"


def test_strings_keep_their_runs_without_readings_and_errors_are_shown(tmp_path: Path) -> None:
    rows = (
        '<row><c t="inlineStr"><is><r><t>東京</t></r><rPh><t>トウキョウ</t></rPh><r><t>_x0020_駅</t></r></is></c>'
        '<c t="e"><v>#DIV/0!</v></c><c t="b"><v>1</v></c><c t="str"><f>A1</f><v>made</v></c><c><f>SUM(A1)</f></c></row>'
    )
    assert text_of(tmp_path, f"<sheetData>{rows}</sheetData>") == "Stock\n東京 駅 | #DIV/0! | TRUE | made"


def test_no_text_of_a_cell_is_cut(tmp_path: Path) -> None:
    long = "word " * 6_000
    assert text_of(tmp_path, f"<sheetData>{cells(1, long + 'end')}</sheetData>").endswith("word end")


def merged(*places: str) -> str:
    return f"<mergeCells>{''.join(f'<mergeCell ref={chr(34)}{place}{chr(34)}/>' for place in places)}</mergeCells>"


@pytest.mark.parametrize(
    ("rows", "places", "names"),
    [
        ((("Ship", "Cargo", "", "Crew"), ("", "coal", "salt", "")), ("A1:A2", "B1:C1"),
         "Ship | Cargo: coal | Cargo: salt | Crew"),
        ((("", "Cargo", "", "Crew"), ("Ship", "1889", "1890", "")), ("B1:C1",),
         "Ship | Cargo: 1889 | Cargo: 1890 | Crew"),
        ((("Dues of the port",), ("Ship", "coal", "salt", "men")), ("A1:D1",), "Ship | coal | salt | men"),
        ((("Ship", "Cargo", "", "Crew"), ("Tern", "oak", "elm", "nine")), ("B1:C1",), "Ship | Cargo |  | Crew"),
        ((("Ship", "Cargo", "", "Crew"), ("", "5", "7", "9")), ("A1:A2", "B1:C1"), "Ship | Cargo |  | Crew"),
    ],
    ids=["two rows", "years", "a title", "a wide cell over values", "numbers are no names"],
)  # fmt: skip
def test_a_head_over_several_columns_is_in_the_name_of_each(
    tmp_path: Path, rows: tuple[tuple[str, ...], ...], places: tuple[str, ...], names: str
) -> None:
    data = "".join(cells(number, *row) for number, row in enumerate((*rows, ("Gull", "4", "6", "8")), start=1))
    lines = text_of(tmp_path, f"<sheetData>{data}</sheetData>{merged(*places)}").split("\n")
    assert lines[1] == names
    assert lines[-1] == "Gull | 4 | 6 | 8"


def test_a_drawn_object_that_was_hidden_is_not_read(tmp_path: Path) -> None:
    box = '<sp><nvSpPr><cNvPr hidden="{}"/></nvSpPr><txBody><p><r><t>{}</t></r></p></txBody></sp>'.format
    drawing = f'<d>{box(1, "gone")}{box(0, "kept")}<grpSp><cNvPr hidden="1"/>{box(0, "gone too")}</grpSp></d>'
    sheet = f"<sheetData>{cells(1, 'x')}</sheetData>"
    assert text_of(tmp_path, sheet, {"d.xml": ("drawing", drawing)}) == "Stock\nx\n\nText box: kept"
