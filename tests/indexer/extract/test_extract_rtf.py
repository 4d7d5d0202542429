"""RTF: what lies beside the text, rows, numbers of lists, and what is hidden."""

from collections.abc import Callable

import pytest

from longsearch.indexer.extract.reader import Extraction

Extract = Callable[[bytes, str], Extraction]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"A weir{\footnote \chftn  Folder 12.} holds.\par More.", "A weir holds.\n\nFootnote 1: Folder 12.\n\nMore."),
        (r"It{\footnote\ftnalt See there.} is.", "It is.\n\nEndnote 1: See there."),
        (r"A {\*\atnid EL}{\*\atnauthor Eva}\chatn{\*\annotation Signed?}deed.", "A deed.\n\nComment by Eva: Signed?"),
        (r"{\header Norby Port}{\headerf Norby Port}{\footer Page {\field{\*\fldinst PAGE}{\fldrslt 3}}}Dues.\par",
         "Header: Norby Port\n\nDues."),
        (r"Turn {\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Valve\par}}{\shprslt Valve}}it.",
         "Turn it.\n\nText box: Valve"),
        (r"shown {\v gone}{\deleted gone}\v gone\v0 kept", "shown kept"),
        (r"{\field{\*\fldinst MERGEFIELD x}{\fldrslt Abt}} and {\upr{old}{\*\ud{new}}}", "Abt and new"),
        (r"{\listtext 2.2\tab}Duties\par {\pntext a)\tab}of all\par", "2.2 Duties\na) of all"),
        (r"{\mmath{\*\moMath{\mr E=mc}}{\mmathPict gone}} {\*\new gone}{\new kept}{\object{\*\objdata 0}{\result on}}",
         "E=mc kepton"),
        (r"{\fonttbl{\f3\fcharset2 Symbol;}}{\f3 a}-rays \emdash  x\~y\_z\line end", "α-rays — x y-z\nend"),
    ],
)  # fmt: skip
def test_rtf_is_read_as_it_is_shown(extract: Extract, source: str, text: str) -> None:
    assert extract(f"{{\\rtf1\\ansi {source}}}".encode(), "a.rtf").document.text == text


def test_a_long_table_of_rtf_says_the_names_of_its_columns_again(extract: Extract) -> None:
    rows = "".join(rf"\trowd\intbl Mill {number}\cell {'word ' * 10}\cell\row " for number in range(60))
    source = rf"{{\rtf1 \trowd\intbl Name\cell Remark\cell\row {rows}\pard end\par}}"
    assert extract(source.encode(), "a.rtf").document.text.split("\n").count("Name | Remark") == 3


def test_rows_of_rtf_are_lines_whatever_their_cells_hold(extract: Extract) -> None:
    head = r"\trowd\clvmgf\cellx100\cellx200 "
    below = r"\trowd\clvmrg\cellx100\cellx200 "
    rows = (
        rf"{head}\pard\intbl Norby\cell east\par side{{\footnote Note.}}\cell\row"
        rf"{below}\pard\intbl\cell west\cell\row\pard after\par"
        r"\pard\intbl\itap2 in\nestcell ner\nestcell{\*\nesttableprops\trowd\nestrow}{\nonesttables\par gone}"
        r"\intbl\itap1 outer\cell\row\pard end\par"
    )
    assert extract(f"{{\\rtf1 {rows}}}".encode(), "a.rtf").document.text == (
        "Norby | east side\n\nFootnote 1: Note.\n\nNorby | west\n\nafter\n\nouter\nin | ner\n\nend"
    )


def test_cells_after_one_over_two_columns_stand_under_their_heads(extract: Extract) -> None:
    rows = (
        r"\trowd\cellx100\cellx200\cellx300\pard\intbl Mill\cell Owner\cell Year\cell\row"
        r"\trowd\cellx200\cellx300\pard\intbl Esch\cell 1802\cell\row"
        r"\trowd\cellx100\clmgf\cellx200\clmrg\cellx300\pard\intbl Norby\cell none\cell\cell\row"
    )
    assert extract(f"{{\\rtf1 {rows}}}".encode(), "a.rtf").document.text == (
        "Mill | Owner | Year\nEsch |  | 1802\nNorby | none"
    )


def test_a_title_of_rtf_has_no_control_characters(extract: Extract) -> None:
    found = extract(b"{\\rtf1{\\info{\\title A\x01 \x1b[2Jtitle}}words\\par}", "a.rtf").document
    assert found.title == "A title"


def test_numbers_of_lists_that_stand_only_in_the_table_of_lists_are_counted(extract: Extract) -> None:
    levels = (
        r"{\listlevel\levelnfc0\levelnfcn0\levelstartat1{\leveltext\leveltemplateid5\'02\'00.;}{\levelnumbers\'01;}}"
        r"{\listlevel\levelnfc4\levelstartat1{\leveltext\'05(\'00.\'01);}{\levelnumbers\'02\'04;}}"
    )
    bullet = r"{\list{\listlevel\levelnfc23{\leveltext\'01\'b7;}{\levelnumbers;}}\listid9}"
    names = (
        r"{\listoverride\listid-7\listoverridecount0\ls1}{\listoverride\listid9\ls2}"
        r"{\listoverride\listid-7\listoverridecount1{\lfolevel\listoverridestartat\levelstartat6}\ls3}"
    )
    head = rf"{{\*\listtable{{\list{levels}{{\listname a;}}\listid-7}}{bullet}}}{{\*\listoverridetable{names}}}"
    body = (
        r"\pard\ls1\ilvl0 Parties\par Water\par\pard\ls1\ilvl1 height\par duties\par"
        r"{\listtext\pard 3.\tab}\pard\ls1\ilvl0 Rent\par\pard\ls1\ilvl0\outlinelevel0 Term\par"
        r"\pard Between\par\pard\ls2 pump\par\pard\ls3 Fees\par\trowd\cellx1\pard\intbl\ls1 Ice\cell\row"
    )
    assert extract(f"{{\\rtf1\\ansi {head}{body}}}".encode(), "a.rtf").document.text == (
        "1. Parties\n2. Water\n(2.a) height\n(2.b) duties\n3. Rent\n\n4. Term\n\nBetween\n\n- pump\n6. Fees\n7. Ice"
    )


def test_numbers_of_before_the_table_of_lists_are_counted_unless_they_stand_in_the_text(extract: Extract) -> None:
    def old(look: str, text: str) -> str:
        return f"\\pard{{\\*\\pn{look}}}{text}\\par"

    simple = "\\pnlvlbody\\pndec\\pnstart3{\\pntxta .}"
    outer, inner = "\\pnlvl1\\pnucrm\\pnstart1{\\pntxta .}", "\\pnlvl2\\pndec\\pnstart1\\pnprev{\\pntxta .}"
    body = (
        old(simple, "Parties") + old(simple, "Water") + "\\pard Between.\\par" + old(simple, "Anew")
        + old("\\pnlvlblt{\\pntxtb\\'b7}", "bullet") + old(outer, "Scope") + old(inner, "Duty") + old(inner, "Right")
        + old("\\pnlvlcont", "goes on") + old(outer, "Terms")
        + f"{{\\*\\pn{outer}}}And more\\par"
        + "\\pard{\\pntext c)\\tab}{\\*\\pn\\pnlvlbody\\pnlcltr\\pnstart3{\\pntxta )}}written\\par still\\par"
    )  # fmt: skip
    text = extract(f"{{\\rtf1\\ansi{body}}}".encode(), "a.rtf").document.text
    assert text.split("\n\n") == [
        "3. Parties\n4. Water", "Between.", "3. Anew\n- bullet\nI. Scope\nI.1. Duty\nI.2. Right", "goes on",
        "II. Terms\nIII. And more\nc) written\nd) still",
    ]  # fmt: skip
