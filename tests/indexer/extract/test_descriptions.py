"""What people wrote of pictures: read once, beside the text, in each format that keeps it."""

from collections.abc import Callable

import pytest

from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers import html as html_text
from longsearch.indexer.extract.readers import markdown as markdown_text
from longsearch.indexer.extract.readers.descriptions import Descriptions
from tests.indexer.extract.book_writing import docx_parts
from tests.indexer.extract.office_writing import odf_parts, pptx_parts, relations, shape, xlsx_parts, zipped

Extract = Callable[[bytes, str], Extraction]
MILL = "The mill of Vik before the fire"


@pytest.mark.parametrize(
    "text",
    [
        "Picture 3", "IMG_2041.JPG", "logo", "Screenshot 2021-05-17 at 10.12.33", "*", "https://vik.example/a.png",
        "A picture containing water\n\nDescription automatically generated", "3f9c2e71-0b1d-4c55-9a77-aa",
        "Ein Bild, das Wasser enthält.\n\nKI-generierte Inhalte können fehlerhaft sein.", "{\\displaystyle a+b}",
        "mill-1890.final.tiff", "C:\\Users\\ane\\mill", "", None,
    ],
)  # fmt: skip
def test_what_a_program_calls_a_picture_is_left_out(text: str | None) -> None:
    assert Descriptions().line(text) == ""


@pytest.mark.parametrize(
    "text", [MILL, "Map", "Logo of the Vik line", "Figure 3: high tides", "The gate closes by itself"]
)
def test_what_a_person_wrote_is_kept(text: str) -> None:
    assert Descriptions().line(text) == f"Picture: {text}"


def test_a_description_is_said_once_and_a_title_only_if_it_says_more(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = Descriptions()
    assert pictures.line("The mill", MILL) == f"Picture: {MILL}"
    assert pictures.line(MILL) == ""
    assert pictures.line("Pier", "From the sea") == "Picture: Pier: From the sea"
    monkeypatch.setattr(draft, "is_read", True)
    assert Descriptions().line(MILL) == ""


def drawing(inner: str, properties: str) -> str:
    return f"<w:r><w:drawing><wp:inline><wp:docPr id='1' name='P' {properties}/>{inner}</wp:inline></w:drawing></w:r>"


def test_descriptions_of_word_follow_their_paragraph_and_hide_nothing(extract: Extract) -> None:
    names = 'xmlns:wp="urn:wp" xmlns:pic="urn:pic" xmlns:mc="urn:mc" xmlns:v="urn:v"'
    own = drawing(f'<pic:cNvPr id="2" name="a.png" descr="{MILL}"/>', f'descr="{MILL}"')
    hidden = drawing("", 'hidden="1" descr="A covert map"')
    box = "<w:pict><v:shape alt='A boat'><v:textbox><w:txbxContent><w:p><w:r><w:t>Old box</w:t></w:r></w:p>"
    box += "</w:txbxContent></v:textbox></v:shape></w:pict>"
    new = drawing("", "descr='A boat'")
    both = f"<mc:AlternateContent><mc:Choice>{new}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    split = f"<w:p><w:r><w:t>The mi</w:t></w:r>{own}<w:r><w:t>ll.</w:t></w:r></w:p>"
    body = f"{split}<w:p>{hidden}{own}</w:p><w:p>{both}</w:p>"
    parts = docx_parts(body)
    parts["word/document.xml"] = str(parts["word/document.xml"]).replace("<w:document ", f"<w:document {names} ", 1)
    text = extract(zipped(parts), "a.docx").document.text
    assert text == f"The mill.\n\nPicture: {MILL}\n\nPicture: A boat\n\nText box: Old box"


def test_descriptions_of_slides_and_sheets_are_read_unless_hidden(extract: Extract) -> None:
    def picture(description: str, more: str = "") -> str:
        return f'<p:pic><p:nvPicPr><p:cNvPr id="4" name="a.png" descr="{description}" {more}/></p:nvPicPr></p:pic>'

    inner = shape("Mills", kind="title") + picture(MILL) + picture("gone", 'hidden="1"') + shape("By the brook.")
    text = extract(zipped(pptx_parts([inner, picture(MILL)])), "a.pptx").document.text
    assert text == f"Mills\n\nPicture: {MILL}\nBy the brook."

    parts = xlsx_parts({"Stock": [["Ship"], ["Tern"]]})
    parts["xl/_rels/s1.xml.rels"] = relations(("drawing", "drawings/d.xml"))
    parts["xl/drawings/d.xml"] = (
        f"<x xmlns:p='urn:p'>{picture(MILL)}{picture('gone', 'hidden=&quot;1&quot;')}</x>".replace("&quot;", '"')
    )
    assert extract(zipped(parts), "a.xlsx").document.text == f"Stock\nShip\nTern\n\nPicture: {MILL}"


def test_descriptions_of_opendocument_follow_their_paragraph(extract: Extract) -> None:
    frame = (
        f"<draw:frame><draw:image/><svg:title xmlns:svg='urn:s'>The mill</svg:title><svg:desc xmlns:svg='urn:s'>{MILL}"
    )
    frame += "</svg:desc></draw:frame>"
    text = extract(zipped(odf_parts("text", f"<text:p>The mi{frame}ll.</text:p>")), "a.odt").document.text
    assert text == f"The mill.\n\nPicture: {MILL}"


def test_descriptions_of_rtf_follow_their_paragraph(extract: Extract) -> None:
    written = "{\\sp{\\sn shapeType}{\\sv 75}}{\\sp{\\sn wzDescription}{\\sv The m\\'fchle}}"
    picture = f"{{\\pict{{\\*\\picprop{written}}}\\wmetafile8 0102}}"
    text = extract(f"{{\\rtf1\\ansi\\ansicpg1252\\pard The mi{picture}ll.\\par}}".encode(), "a.rtf").document.text
    assert text == "The mill.\n\nPicture: The mühle"


def test_descriptions_of_a_page_follow_their_block_and_are_not_said_twice() -> None:
    page = (
        f"<p>The mi<img alt='{MILL}'>ll.</p><figure><img alt='The weir'><figcaption>The weir</figcaption></figure>"
        "<table><tr><th>Ship</th><th>Sail</th></tr><tr><td>Tern</td><td>red<img title='Tern at sea'></td></tr></table>"
        "<p><a><img alt='Home'>Home</a> <img alt='gone' role='presentation'><img alt='' title=''></p>"
        "<svg aria-label='Tides of May'><text>12 h</text></svg><p><span role='img' aria-label='gone'>🎉</span></p>"
        "<p hidden><img alt='gone'></p>"
    )
    assert html_text.parse(page).text == (
        f"The mill.\n\nPicture: {MILL}\n\nThe weir\n\nShip | Sail\nTern | red\n\nPicture: Tern at sea\n\n"
        "Home\n\n12 h\n\nPicture: Tides of May\n\n🎉"
    )


def test_descriptions_of_markdown_follow_their_block() -> None:
    source = f"See ![{MILL}](a.png) here.\n\n- ![The *weir*](b.png) by night\n\n"
    source += "| a |\n| - |\n| ![Pier](c.png) x |\n\n![](d.png)"
    assert markdown_text.parse(source).text == (
        f"See here.\n\nPicture: {MILL}\n\n- by night\n\nPicture: The weir\n\na\nx\n\nPicture: Pier"
    )


def test_descriptions_of_html_in_markdown_are_read() -> None:
    source = (
        "<img src=a.png alt='The mill'>\n\nText <img alt=\"A pier\" src=b> on.\n\n<div hidden><img alt='gone'></div>"
    )
    assert markdown_text.parse(source).text == "Picture: The mill\n\nText on.\n\nPicture: A pier"


def test_descriptions_of_latex_are_read_without_the_other_options(extract: Extract) -> None:
    picture = "\\begin{figure}\\includegraphics[width=3cm, alt={The mill}]{a.png}\\caption{By night}\\end{figure}"
    source = f"\\documentclass{{article}}\\begin{{document}}Vik.\n\n{picture}\\end{{document}}"
    assert extract(source.encode(), "a.tex").document.text == "Vik.\n\nPicture: The mill\n\nBy night"


def test_descriptions_of_rst_and_fictionbook_are_read(extract: Extract) -> None:
    source = "Vik\n===\n\n.. figure:: a.png\n   :alt: The mill\n\n   By night.\n"
    assert extract(source.encode(), "a.rst").document.text == "Vik\n\nPicture: The mill\n\nBy night."
    book = "<FictionBook><body><section><p>One.</p><image alt='The mill'/><p>Two.</p></section></body></FictionBook>"
    assert extract(book.encode(), "a.fb2").document.text == "One.\n\nPicture: The mill\n\nTwo."
