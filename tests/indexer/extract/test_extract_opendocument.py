"""OpenDocument files: numbers of lists, what lies beside the text, sheets as they are shown, flat files."""

from collections.abc import Callable

import pytest

from longsearch.indexer.extract.reader import Extraction
from tests.indexer.extract.office_writing import odf_parts, odf_rows, zipped

Extract = Callable[[bytes, str], Extraction]
STYLES = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"'
    ' style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"'
    ' text:display-levels="1"/></text:list-style><text:outline-style><text:outline-level-style text:level="1"'
    ' style:num-format="I"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    "</text:outline-style>"
    '<style:style style:name="Ghost"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="Away"><style:table-properties table:display="false"/></style:style>'
)


def odf(kind: str, body: str, heads: str = "") -> bytes:
    parts = odf_parts(kind, body)
    parts["content.xml"] = str(parts["content.xml"]).replace("<office:body>", f"<x>{STYLES}</x><office:body>")
    parts["styles.xml"] = f"<styles>{heads}</styles>"
    return zipped(parts)


def item(text: str, inner: str = "") -> str:
    return f"<text:list-item><text:p>{text}</text:p>{inner}</text:list-item>"


def test_items_and_headings_have_the_numbers_that_are_shown(extract: Extract) -> None:
    inner = f"<text:list>{item('x')}{item('y')}</text:list>"
    body = (
        f'<text:h text:outline-level="1">Water</text:h><text:h text:outline-level="2">Weir</text:h>'
        f'<text:list text:style-name="L">{item("one", inner)}{item("two", "<text:p>more of two</text:p>")}</text:list>'
        f'<text:p>between</text:p><text:list text:style-name="L" text:continue-numbering="true">{item("three")}'
        '<text:list-item text:start-value="9"><text:p>nine</text:p></text:list-item></text:list>'
        f'<text:list text:style-name="L">{item("anew")}</text:list>'
    )
    assert extract(odf("text", body), "a.odt").document.text == (
        "I Water\n\nI.1 Weir\n\n1. one\na) x\nb) y\n2. two\n\nmore of two\n\nbetween\n\n3. three\n9. nine\n1. anew"
    )


def test_comments_boxes_and_notes_follow_their_paragraph_and_heads_the_text(extract: Extract) -> None:
    comment = (
        "<office:annotation xmlns:dc='d'><dc:creator>Eva</dc:creator><dc:date>2020-05-04T10:12:00</dc:date>"
        "<text:p>Which one?</text:p></office:annotation>"
    )
    box = "<draw:frame><draw:text-box><text:p>Valve</text:p></draw:text-box><svg:title>alt</svg:title></draw:frame>"
    body = "<text:note-citation>i</text:note-citation><text:note-body><text:p>Folder 12.</text:p></text:note-body>"
    end = f"<text:note text:note-class='endnote'>{body}</text:note>"
    heads = "<style:header><text:p>Harbour Office</text:p></style:header>"
    heads += "<style:footer><text:p>3</text:p></style:footer>"
    body = f"<text:p>The weir {comment}was {box}re{end}paired.</text:p>"
    assert extract(odf("text", body, heads * 2), "a.odt").document.text.split("\n\n") == [
        "The weir was repaired.",
        "Comment by Eva, 2020-05-04: Which one?",
        "Text box: Valve",
        "Endnote 1: Folder 12.",
        "Header: Harbour Office",
    ]


def test_hidden_text_and_sections_are_left_out_and_unknown_elements_are_kept(extract: Extract) -> None:
    body = (
        '<text:p>shown <text:span text:style-name="Ghost">gone</text:span><text:new>kept</text:new></text:p>'
        '<text:section text:display="none"><text:p>gone</text:p></text:section><text:new>stray words</text:new>'
        '<text:p>gone<text:hidden-paragraph text:is-hidden="true"/> too</text:p>'
        '<text:p>here<text:hidden-paragraph text:is-hidden="false"/></text:p>'
    )
    assert extract(odf("text", body), "a.odt").document.text == "shown kept\n\nstray words\n\nhere"


def test_a_long_table_of_a_text_says_the_names_of_its_columns_again(extract: Extract) -> None:
    def row(*cells: str) -> str:
        inner = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
        return f"<table:table-row>{inner}</table:table-row>"

    body = row("Name", "Remark") + "".join(row(f"Mill {number}", "word " * 10) for number in range(60))
    text = extract(odf("text", f"<table:table>{body}</table:table>"), "a.odt").document.text
    assert text.split("\n").count("Name | Remark") == 3


def test_fields_formulas_and_numbered_paragraphs_are_read_as_they_are_shown(extract: Extract) -> None:
    controls = (
        '<form:text form:id="c1" form:current-value="Eva"/><form:checkbox form:label="Sober" form:state="checked"/>'
    )
    fraction = "<m:math xmlns:m='m'><m:mfrac><m:mi>a</m:mi><m:mi>b</m:mi></m:mfrac></m:math>"
    body = (
        f"<office:forms xmlns:form='f'><form:form>{controls}</form:form></office:forms>"
        '<text:h text:outline-level="1" text:is-list-header="true">Preface</text:h>'
        '<text:h text:outline-level="1">Water</text:h>'
        '<text:p>Name:<draw:control draw:control="c1"/> <text:hidden-text text:is-hidden="true">gone</text:hidden-text>'
        f'<text:variable-set text:display="none">gone</text:variable-set>{fraction}</text:p>'
        '<text:numbered-paragraph text:list-id="z" text:level="1" text:style-name="L"><text:p>one</text:p>'
        "</text:numbered-paragraph>"
        '<text:numbered-paragraph text:list-id="z" text:level="1" text:style-name="L"><text:p>two</text:p>'
        "</text:numbered-paragraph>"
    )
    assert extract(odf("text", body), "a.odt").document.text.split("\n\n") == [
        "Preface",
        "I Water",
        "Name: a/b",
        "Eva",
        "1. one\n2. two",
        "☒ Sober",
    ]


def cell(text: str, attributes: str = "") -> str:
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def test_a_sheet_is_read_as_it_is_shown(extract: Extract) -> None:
    twice = cell("x", 'table:number-columns-repeated="2"')
    rows = (
        f"<table:table-row>{cell('Harbour')}{cell('Share')}</table:table-row>"
        '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Norby</text:p></table:table-cell>'
        + cell("7.5%", 'office:value-type="percentage" office:value="0.075"')
        + "</table:table-row><table:table-row><table:covered-table-cell/>"
        + cell("8%<office:annotation><text:p>Check.</text:p></office:annotation>")
        + "</table:table-row>"
        '<table:table-row table:visibility="collapse">'
        + cell("gone")
        + "</table:table-row>"
        + f'<table:table-row table:number-rows-repeated="2">{twice}</table:table-row>'
        '<table:table-row table:number-rows-repeated="1048000">'
        '<table:table-cell table:number-columns-repeated="16384"/>'
        "</table:table-row>" + f"<table:table-row>{cell('far')}</table:table-row>"
    )
    body = (
        f'<table:table table:name="Dues">{rows}</table:table><table:table table:style-name="Away">{odf_rows(("gone",))}'
    )
    found = extract(odf("spreadsheet", body + "</table:table>"), "a.ods").document
    assert found.text == "Dues\nHarbour | Share\nNorby | 7.5%\nNorby | 8%\nComment: Check.\nx | x\nx | x\nfar"
    assert [heading.title for heading in found.headings] == ['sheet "Dues" rows 2-1048006']


def test_a_cell_that_does_not_say_how_it_looks_is_read_by_its_value(extract: Extract) -> None:
    cells = "".join(
        f"<table:table-cell {value}/>"
        for value in ('office:value="4012345678901"', 'office:date-value="2020-05-04"', 'office:string-value="Norby"')
    )
    body = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    assert extract(odf("spreadsheet", body), "a.ods").document.text == "S\n4012345678901 | 2020-05-04 | Norby"


@pytest.mark.parametrize(
    ("name", "kind", "body", "text"),
    [
        ("a.fodt", "text", "<text:p>Flat words.</text:p>", "Flat words."),
        ("a.fods", "spreadsheet", f'<table:table table:name="S">{odf_rows(("a", "b"))}</table:table>', "S\na | b"),
        (
            "a.fodg",
            "drawing",
            "<draw:page><draw:rect><text:p>Plan of the lock</text:p></draw:rect></draw:page>",
            "Plan of the lock",
        ),
        (
            "a.fodp",
            "presentation",
            "<draw:page><draw:frame><text:p>Slide words</text:p></draw:frame></draw:page>",
            "Slide words",
        ),
    ],
)
def test_flat_files_are_read_like_archives(extract: Extract, name: str, kind: str, body: str, text: str) -> None:
    parts = odf_parts(kind, body, "Its title")
    meta = str(parts["meta.xml"]).partition("<office:meta>")[2].partition("</office:meta>")[0]
    meta = f"<office:meta xmlns:dc='d'>{meta}</office:meta>"
    flat = str(parts["content.xml"]).replace("<office:body>", f"{meta}<office:body>")
    document = extract(flat.encode(), name).document
    assert (document.text, document.title) == (text, "Its title")


def test_a_head_over_several_columns_of_a_sheet_is_in_the_name_of_each(extract: Extract) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    over = ' table:number-columns-spanned="2"'
    rows = (
        cell("", "Ship") + cell(over, "Cargo") + "<table:covered-table-cell/>",
        "<table:table-cell/>" + cell("", "coal") + cell("", "salt"),
        cell("", "Tern") + cell("", "5") + cell("", "7"),
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    found = extract(odf("spreadsheet", f'<table:table table:name="S">{body}</table:table>'), "a.ods").document
    assert found.text == "S\nShip | Cargo: coal | Cargo: salt\nTern | 5 | 7"


def test_a_foot_that_the_master_of_slides_holds_is_read_once(extract: Extract) -> None:
    box = '<draw:frame presentation:class="{}"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'.format
    master = box("footer", "Harbour Office") + box("outline", "Click to edit") + box("footer", "7")
    styles = f"<office:master-styles><style:master-page>{master}</style:master-page></office:master-styles>"
    slide = f"<draw:page>{box('outline', 'The weir.')}</draw:page>"
    assert extract(odf("presentation", slide * 2, styles * 2), "a.odp").document.text == (
        "The weir.\n\nThe weir.\n\nFooter: Harbour Office"
    )
