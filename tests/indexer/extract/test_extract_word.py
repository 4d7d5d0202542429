"""Word documents: numbers that Word counts, fields, parts beside the body, tables, and what Word does not show."""

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from longsearch.indexer.extract.readers import attachments
from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.readers.office.word import document
from longsearch.indexer.extract.wire.protocol import FileText
from tests.indexer.extract.book_writing import OFFICE, RELATIONS, WORD, archive, docx_parts, paragraph, table
from tests.indexer.extract.outlook_writing import ole

W = f'{WORD} xmlns:m="m" xmlns:v="v" xmlns:mc="mc" xmlns:wps="wps" xmlns:a="a" xmlns:c="c" xmlns:dgm="d" xmlns:r="r"'


def tag(name: str, *inner: str, attributes: str = "") -> str:
    """Return an element. `name` may be several, outermost first: "w:pict v:oval"."""
    names = name.split()
    opening = "".join(f"<{one}>" for one in names[:-1]) + f"<{names[-1]} {attributes}>"
    return opening + "".join(inner) + "".join(f"</{one}>" for one in reversed(names))


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def par(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def text_of(
    folder: Path, body: str, parts: Mapping[str, tuple[str, str | bytes]] | None = None, styles: str = ""
) -> str:
    """Return the text of a document; arguments as of `read`."""
    return read(folder, body, parts, styles).text


def read(
    folder: Path, body: str, parts: Mapping[str, tuple[str, str | bytes]] | None = None, styles: str = ""
) -> FileText:
    """Return what is read of a document. `parts`: name under word/, which is its id too -> (relation, content)."""
    members = docx_parts(body)
    members["word/document.xml"] = f"<w:document {W}><w:body>{body}</w:body></w:document>"
    links = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" Target="{name}"/>'
        for name, (kind, _) in (parts or {}).items()
    )
    relations = str(members["word/_rels/document.xml.rels"])
    members["word/_rels/document.xml.rels"] = relations.replace("</Relationships>", f"{links}</Relationships>")
    for name, (_, content) in (parts or {}).items():
        members[f"word/{name}"] = content
    if styles:
        members["word/styles.xml"] = f"<w:styles {W}>{styles}</w:styles>"
    return document.read(archive(folder / "a.docx", members))


def root(name: str, xml: str) -> str:
    return f"<w:{name} {W}>{xml}</w:{name}>"


def lvl(place: int, text: str, numeral_format: str = "decimal", more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/><w:numFmt w:val="{numeral_format}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbered(folder: Path, body: str, levels: str, lists: str, styles: str = "") -> list[str]:
    """Return the lines of a document with numbers."""
    xml = root("numbering", f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{lists}')
    return text_of(folder, body, {"numbering.xml": ("numbering", xml)}, styles).split("\n")


def clause(place: int, text: str, list_id: int = 1) -> str:
    return par(run(text), f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{list_id}"/></w:numPr>')


LIST = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'


def test_clauses_have_the_numbers_that_word_counts(tmp_path: Path) -> None:
    body = clause(0, "a") + clause(1, "b") + clause(2, "c") + clause(1, "d") + clause(0, "e") + clause(1, "f")
    levels = lvl(0, "%1.") + lvl(1, "%1.%2") + lvl(2, "(%3)", "lowerRoman")
    assert numbered(tmp_path, body, levels, LIST) == ["1. a", "1.1 b", "(i) c", "1.2 d", "2. e", "2.1 f"]


def test_a_list_that_starts_anew_does_so_once(tmp_path: Path) -> None:
    again = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>'
        "</w:lvlOverride></w:num>"
    )
    body = clause(0, "a") + clause(0, "b") + clause(0, "c", 2) + clause(0, "d", 2) + clause(0, "e")
    assert numbered(tmp_path, body, lvl(0, "%1)"), LIST + again) == ["1) a", "2) b", "5) c", "6) d", "7) e"]


def test_a_level_can_be_replaced_in_one_list(tmp_path: Path) -> None:
    own = (
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        + lvl(0, "Art. %1", "upperRoman")
        + "</w:lvlOverride></w:num>"
    )
    assert numbered(tmp_path, clause(0, "a") + clause(0, "b", 2), lvl(0, "%1."), LIST + own) == ["1. a", "Art. II b"]


def test_a_level_restarts_only_after_the_level_that_it_names(tmp_path: Path) -> None:
    body = clause(0, "a") + clause(1, "b") + clause(0, "c") + clause(1, "d")
    levels = lvl(0, "%1.") + lvl(1, "§ %2", more='<w:lvlRestart w:val="0"/>')
    assert numbered(tmp_path, body, levels, LIST) == ["1. a", "§ 1 b", "2. c", "§ 2 d"]


def test_legal_numbering_shows_digits_alone(tmp_path: Path) -> None:
    levels = lvl(0, "Article %1", "upperRoman") + lvl(1, "Section %1.%2", "decimalZero", "<w:isLgl/>")
    assert numbered(tmp_path, clause(0, "a") + clause(1, "b"), levels, LIST) == ["Article I a", "Section 1.1 b"]


def test_headings_are_numbered_by_their_styles(tmp_path: Path) -> None:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="H{n}"><w:name w:val="heading {n}"/><w:pPr><w:numPr>'
        f'<w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
        for n in (1, 2)
    )
    styles += '<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style>'
    levels = lvl(0, "%1", more='<w:pStyle w:val="H1"/>') + lvl(1, "%1.%2", more='<w:pStyle w:val="H2"/>')
    plain = '<w:pStyle w:val="H2"/><w:numPr><w:numId w:val="0"/></w:numPr>'
    body = paragraph("Water", "H1") + paragraph("Weir", "H2") + paragraph("Lock", "Mine") + par(run("Bare"), plain)
    assert numbered(tmp_path, body, levels, LIST, styles) == ["1 Water", "", "1.1 Weir", "", "1.2 Lock", "", "Bare"]


def test_a_list_can_take_its_levels_from_a_style_of_lists(tmp_path: Path) -> None:
    lists = (
        '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="Contract"/></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    )
    levels = '<w:styleLink w:val="Contract"/>' + lvl(0, "%1st part")
    assert numbered(tmp_path, clause(0, "a"), levels, lists) == ["1st part a"]


@pytest.mark.parametrize(
    ("number", "numeral_format", "written"),
    [
        (4, "upperRoman", "IV"),
        (28, "lowerLetter", "bb"),
        (3, "ordinal", "3rd"),
        (12, "ordinalText", "Twelfth"),
        (45, "cardinalText", "Forty-five"),
        (7, "decimalZero", "07"),
        (21, "chineseCounting", "二十一"),
        (2, "russianUpper", "Б"),
        (3, "ganada", "다"),
        (5, "decimalEnclosedCircle", "⑤"),
        (6, "chicago", "††"),
        (2, "aiueo", "ｲ"),
        (9, "a format of tomorrow", "9"),
        (0, "upperRoman", "0"),
    ],
)
def test_numbers_are_written_as_word_writes_them(number: int, numeral_format: str, written: str) -> None:
    assert numeral(number, numeral_format) == written


def field(instruction: str, result: str, kind: str = "separate") -> str:
    marks = [f'<w:r><w:fldChar w:fldCharType="{mark}"/></w:r>' for mark in ("begin", kind, "end")]
    return f"{marks[0]}<w:r><w:instrText> {instruction} </w:instrText></w:r>{marks[1]}{result}{marks[2]}"


def test_fields_show_their_results_and_not_their_instructions(tmp_path: Path) -> None:
    nested = field(
        "IF " + "</w:instrText></w:r>" + field("MERGEFIELD sex", run("f")) + "<w:r><w:instrText>", run("Mrs")
    )
    body = par(run("Dear ") + nested + run(" ") + f'<w:fldSimple w:instr="MERGEFIELD Name">{run("Abt")}</w:fldSimple>')
    body += par(run("See page ") + field("PAGEREF _x", run("12")) + run("."))
    assert text_of(tmp_path, body) == "Dear Mrs Abt\n\nSee page 12."


def test_fields_that_store_no_result_show_what_word_makes_of_them(tmp_path: Path) -> None:
    def made(instruction: str) -> str:
        marks = [f'<w:r><w:fldChar w:fldCharType="{mark}"/></w:r>' for mark in ("begin", "end")]
        return f"{marks[0]}<w:r><w:instrText> {instruction} </w:instrText></w:r>{marks[1]}"

    body = par(made("AUTONUM") + run("Scope")) + par(made("AUTONUM") + run("Dues"))
    body += par(made("AUTONUMLGL") + run("Port"), '<w:pStyle w:val="Heading1"/>')
    body += par(made("AUTONUMLGL") + run("Pier")) + par(made("LISTNUM") + run("one"))
    body += par(run("x = ") + made(r"EQ \f(a+1,\r(3,b)) \o\ac(c,d)"))
    assert text_of(tmp_path, body).split("\n\n") == [
        "1. Scope", "2. Dues", "1. Port", "1.1. Pier", "1) one", "x = (a+1)/(3√(b)) c d",
    ]  # fmt: skip


def test_boxes_to_be_ticked_and_lists_to_choose_from_show_their_state(tmp_path: Path) -> None:
    def form(data: str) -> str:
        begin = tag("w:r w:fldChar", tag("w:ffData", data), attributes='w:fldCharType="begin"')
        return begin + tag("w:r w:fldChar", attributes='w:fldCharType="end"')

    tick = form(tag("w:checkBox w:checked"))
    choice = form(tag("w:ddList", '<w:result w:val="1"/><w:listEntry w:val="oak"/><w:listEntry w:val="elm"/>'))
    assert text_of(tmp_path, par(tick + run(" wood: ") + choice)) == "☒ wood: elm"


def test_hidden_text_and_deletions_are_left_out(tmp_path: Path) -> None:
    styles = (
        '<w:style w:type="character" w:styleId="Ghost"><w:name w:val="Ghost"/><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Note"><w:name w:val="Note"/><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    body = (
        par(
            run("shown ")
            + run("gone", "<w:vanish/>")
            + run("kept", '<w:vanish w:val="0"/>')
            + run("x", '<w:rStyle w:val="Ghost"/>')
        )
        + paragraph("whole paragraph gone", "Note")
        + par("<w:moveFrom>" + run("moved away") + "</w:moveFrom><w:moveTo>" + run("moved here") + "</w:moveTo>")
        + "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>"
        + par(run("row gone"))
        + "</w:tc></w:tr></w:tbl>"
    )
    assert text_of(tmp_path, body, styles=styles) == "shown kept\n\nmoved here"


def test_a_drawing_that_was_hidden_is_not_read(tmp_path: Path) -> None:
    box = (
        '<w:r><w:drawing><a:anchor><a:docPr hidden="{}"/><w:txbxContent>{}</w:txbxContent></a:anchor></w:drawing></w:r>'
    )
    drawings = box.format("1", par(run("gone"))) + box.format("0", par(run("kept")))
    assert text_of(tmp_path, par(run("Sluice.") + drawings)) == "Sluice.\n\nText box: kept"


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next(tmp_path: Path) -> None:
    body = par(run("The weir "), "<w:rPr><w:del/></w:rPr>") + par(run("holds."))
    assert text_of(tmp_path, body + par(run("T"), '<w:framePr w:dropCap="drop"/>') + par(run("he end."))) == (
        "The weir holds.\n\nThe end."
    )


def test_heads_and_feet_are_read_once_each(tmp_path: Path) -> None:
    parts = {
        "h1.xml": ("header", root("hdr", par(run("Harbour Office")))),
        "h2.xml": ("header", root("hdr", par(run("Harbour Office")))),
        "f1.xml": ("footer", root("ftr", par(run("Page ") + field("PAGE", run("3"))))),
        "f2.xml": ("footer", root("ftr", par(run("Confidential")))),
    }
    refs = "".join(f'<w:headerReference w:type="default" r:id="{name}"/>' for name in parts)
    body = par(run("Dues rise."), f"<w:sectPr>{refs}</w:sectPr>") + par(run("More.")) + f"<w:sectPr>{refs}</w:sectPr>"
    assert text_of(tmp_path, body, parts) == "Dues rise.\n\nHeader: Harbour Office\n\nFooter: Confidential\n\nMore."


def test_comments_and_endnotes_stand_behind_their_paragraph(tmp_path: Path) -> None:
    comment = f'<w:comment w:id="7" w:author="Eva" w:date="2020-05-04T10:00:00Z">{par(run("Signed?"))}</w:comment>'
    parts = {
        "comments.xml": ("comments", root("comments", comment)),
        "endnotes.xml": (
            "endnotes",
            root(
                "endnotes",
                '<w:endnote w:id="-1" w:type="separator"/>'
                + f'<w:endnote w:id="1">{par(run("Folder 12."))}</w:endnote>',
            ),
        ),
    }
    body = par(
        run("The deed")
        + '<w:r><w:commentReference w:id="7"/></w:r>'
        + run(" is lost")
        + '<w:r><w:endnoteReference w:id="1"/></w:r>'
        + run(".")
    )
    assert (
        text_of(tmp_path, body, parts)
        == "The deed is lost.\n\nComment by Eva, 2020-05-04: Signed?\n\nEndnote 1: Folder 12."
    )


def test_comments_tracked_changes_and_highlighted_words_are_marks(tmp_path: Path) -> None:
    comment = f'<w:comment w:id="7" w:author="Eva">{par(run("Signed?"))}</w:comment>'
    body = par(
        run("The ")
        + '<w:commentRangeStart w:id="7"/>'
        + run("deed")
        + '<w:commentRangeEnd w:id="7"/><w:r><w:commentReference w:id="7"/></w:r>'
        + run(" is ")
        + '<w:del w:id="1" w:author="Bo"><w:r><w:delText>safe</w:delText></w:r></w:del>'
        + f'<w:ins w:id="2" w:author="Bo">{run("lost")}</w:ins>'
        + run(" at", '<w:highlight w:val="yellow"/>')
        + run(" sea", '<w:highlight w:val="yellow"/>')
        + run(".")
    )
    found = read(tmp_path, body, {"comments.xml": ("comments", root("comments", comment))})
    assert found.text.startswith("The deed is lost at sea.")
    assert found.marks == (
        ("comment", "", "deed", "The ", "Signed?", "Eva"),
        ("deletion", "", "safe", "The deed is ", "", "Bo"),
        ("insertion", "", "lost", "The deed is ", "", "Bo"),
        ("highlight", "#ffff00", "at sea", "The deed is lost", "", ""),
    )


def box(text: str, names: str = "w:pict v:oval v:textbox w:txbxContent") -> str:
    return tag(names, par(run(text)))


def test_text_boxes_of_every_form_are_read_once(tmp_path: Path) -> None:
    new = tag("mc:Choice", box("Valve", "w:drawing wps:wsp wps:txbx w:txbxContent"))
    both = tag("mc:AlternateContent", new, tag("mc:Fallback", box("Valve")))
    picture = tag("mc:AlternateContent", tag("mc:Choice w:drawing"), tag("mc:Fallback", box("Pump")))
    draft = tag("w:pict v:shape v:textpath", attributes='string="DRAFT"')
    body = par(run("Turn it ") + f"<w:r>{both}{picture}{draft}</w:r>" + run("off."))
    assert text_of(tmp_path, body) == "Turn it off.\n\nText box: Valve\n\nText box: Pump\n\nText box: DRAFT"


def test_diagrams_charts_and_documents_within_are_read(tmp_path: Path) -> None:
    seal = tag("dgm:t a:p a:r a:t", "Seal it")
    diagram = tag("dgm:m", tag("dgm:pt", seal), tag("dgm:pt", seal, attributes='type="pres"'), attributes=W)
    series = (
        tag("c:tx c:strRef c:strCache c:pt c:v", "Tons")
        + tag("c:cat c:strRef c:strCache c:pt c:v", "Rye")
        + tag("c:val c:numRef c:numCache c:pt c:v", "7")
    )
    chart = tag("c:chartSpace", tag("c:title a:p a:r a:t", "Harvest"), tag("c:ser", series), attributes=W)
    parts: dict[str, tuple[str, str | bytes]] = {
        "d.xml": ("diagramData", diagram),
        "c.xml": ("chart", chart),
        "inner.rtf": ("oleObject", b"{\\rtf1 Inner words.}"),
        "chunk.html": ("aFChunk", "<html><body><h1>Annex</h1><p>Own words.</p></body></html>"),
    }
    drawing = '<w:r><w:drawing><dgm:relIds r:dm="d.xml"/><c:chart r:id="c.xml"/></w:drawing></w:r>'
    body = par(run("See.") + drawing + '<w:object><o:OLEObject xmlns:o="o" r:id="inner.rtf"/></w:object>')
    assert text_of(tmp_path, body + '<w:altChunk r:id="chunk.html"/>', parts).split("\n\n") == [
        "See.",
        "Diagram: Seal it",
        "Chart: Harvest\n| Tons\nRye | 7",
        "Embedded document: inner.rtf",
        "Annex",
        "Own words.",
        "Embedded document: inner.rtf",
        "Inner words.",
    ]


def test_files_in_ole_objects_are_read_by_their_own_names_and_only_named_after_one_ended_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = b"\0\0\0\0\2\0Sluice plan.txt\0C:\\Sluice plan.txt\0\0\0\3\0" + struct.pack("<I", 3) + b"C:\0"
    packed += struct.pack("<I", 14) + b"Gates at noon."
    inner = archive(tmp_path / "inner.docx", docx_parts(par(run("Inner words.")))).read_bytes().ljust(4096, b"\0")
    parts: dict[str, tuple[str, str | bytes]] = {
        "o1.bin": ("oleObject", ole({("\x01Ole10Native",): packed.ljust(4096, b"\0")})),
        "o2.bin": ("oleObject", ole({("Package",): inner})),
        "o3.bin": ("oleObject", ole({("Package",): inner})[:600]),
    }
    body = "".join(par(f'<w:object><o:OLEObject xmlns:o="o" r:id="{name}"/></w:object>') for name in parts)
    found = text_of(tmp_path, body, parts)
    assert "Embedded document: Sluice plan.txt\n\nGates at noon." in found
    assert "Embedded document: o2.docx\n\nInner words." in found
    monkeypatch.setattr(attachments, "are_read", False)
    found = text_of(tmp_path, body, parts)
    assert "Embedded document: Sluice plan.txt" in found
    assert "Gates at noon." not in found


def tc(*texts: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(par(run(text)) for text in texts)}</w:tc>"


def test_a_row_is_a_line_whatever_its_cells_hold(tmp_path: Path) -> None:
    rows = (
        tc("Mill") + tc("Owner") + tc("Year"),
        tc("Esch", properties='<w:vMerge w:val="restart"/>') + tc("Konrad", "and his sister") + tc("1802"),
        tc("", properties="<w:vMerge/>") + tc("Lene") + tc("1655"),
        tc("") + tc("both", properties='<w:gridSpan w:val="2"/>'),
    )
    body = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"
    assert (
        text_of(tmp_path, body)
        == "Mill | Owner | Year\nEsch | Konrad and his sister | 1802\nEsch | Lene | 1655\n| both"
    )


def test_cells_after_one_over_two_columns_stand_under_their_heads(tmp_path: Path) -> None:
    wide = '<w:gridSpan w:val="2"/>'
    rows = (
        tc("Mill") + tc("Sold", properties=wide) + tc("Year"),
        tc("Esch") + tc("flour") + tc("oil") + tc("1802"),
        tc("Norby", properties=wide) + tc("none") + tc("1655"),
    )
    body = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"
    assert text_of(tmp_path, body) == (
        "Mill | Sold | Year\nMill | Sold |  | Year\nEsch | flour | oil | 1802\nNorby |  | none | 1655"
    )


def test_a_table_in_a_cell_keeps_its_rows_and_a_note_stays_outside_the_row(tmp_path: Path) -> None:
    inner = f"<w:tc>{par(run('left'))}{table(('a', 'b'), ('c', 'd'))}</w:tc>"
    noted = f"<w:tc>{par(run('right') + '<w:r>' + box('remark') + '</w:r>')}</w:tc>"
    assert text_of(tmp_path, f"<w:tbl><w:tr>{inner}{noted}</w:tr></w:tbl>") == (
        "left | right\na | b\nc | d\n\nText box: remark"
    )


def test_a_long_table_says_the_names_of_its_columns_again(tmp_path: Path) -> None:
    rows = [("Mill", "Owner"), *((f"mill {n}", "a miller of the valley with a long name") for n in range(100))]
    lines = text_of(tmp_path, table(*rows)).split("\n")
    assert lines.count("Mill | Owner") > 2
    assert [line for line in lines if line.startswith("mill")] == [" | ".join(row) for row in rows[1:]]


def test_formulas_stand_in_their_place(tmp_path: Path) -> None:
    def m(text: str) -> str:
        return tag("m:r m:t", text)

    power = tag("m:sSup", tag("m:e", m("x")), tag("m:sup", m("2")))
    half = tag("m:f", tag("m:num", m("a+b")), tag("m:den", m("2")))
    sign = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
    total = tag("m:nary", sign, tag("m:sub", m("i=1")), tag("m:sup", m("n")), tag("m:e", m("i")))
    root_of = tag("m:rad", tag("m:deg"), tag("m:e", m("y")))
    mean = tag("m:acc", '<m:accPr><m:chr m:val="\u0305"/></m:accPr>', tag("m:e", m("z")))
    formula = tag("m:oMath", mean, power, m("="), half, m("+"), total, root_of)
    body = par(run("So ") + formula + run(".")) + tag("m:oMathPara m:oMath", m("E=mc"))
    assert text_of(tmp_path, body) == "So z\u0305x^2=(a+b)/2+∑_(i=1)^ni√(y).\n\nE=mc"


def test_the_text_of_elements_that_are_not_known_is_kept(tmp_path: Path) -> None:
    body = (
        par(f"<w:bdo>{run('(0431)')}</w:bdo><w:tomorrow>{run(' runs')}<w:x> and bare words</w:x></w:tomorrow>")
        + f"<w:tomorrow>{par(run('a whole paragraph'))}stray words</w:tomorrow>"
        + par('<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>' + run("-rays<!-- x -->"))
    )
    assert text_of(tmp_path, body) == "(0431) runs and bare words\n\na whole paragraph\n\nα-rays"


def test_a_document_that_is_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    members = docx_parts("") | {
        "word/document.xml": f"<w:document {W}><w:body>{table(('a', 'b'))}<w:p><w:r><w:t>half a"
    }
    found = document.read(archive(tmp_path / "a.docx", members))
    assert found.text == "a | b\n\nhalf a"
    assert found.warning.startswith("damaged")


def test_a_document_with_another_main_part_is_read(tmp_path: Path) -> None:
    members = docx_parts("")
    members["word/document2.xml"] = f"<w:document {W}><w:body>{par(run('elsewhere'))}</w:body></w:document>"
    link = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="/word/document2.xml"/>'
    members["_rels/.rels"] = f"<Relationships {RELATIONS}>{link}</Relationships>"
    assert document.read(archive(tmp_path / "a.docx", members)).text == "elsewhere"
