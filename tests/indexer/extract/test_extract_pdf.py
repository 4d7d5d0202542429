"""PDFs read by the child process: known words on known pages, and files that are refused or read in part."""

import io
from collections.abc import Callable

import pypdf
import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.wire.protocol import NO_LETTERS
from tests.indexer.extracting import page_text
from tests.indexer.pdf_writing import TEXT_PAGES, Line, assemble, lines_of, pdf, stream


def encrypted(data: bytes, user_password: str) -> bytes:
    writer, out = pypdf.PdfWriter(clone_from=io.BytesIO(data)), io.BytesIO()
    writer.encrypt(user_password, "owner", algorithm="AES-256")
    writer.write(out)
    return out.getvalue()


def test_page_starts_are_exact(extract: Callable[..., Extraction]) -> None:
    document = extract(pdf(TEXT_PAGES)).document
    assert document.page_starts[0] == 0
    assert len(document.page_starts) == 3
    for number, name in enumerate(("one", "two", "three"), 1):
        start = document.text.index(f"The page called {name}")
        assert document.page_starts[number - 1] == start
        assert document.page_at(start) == number


def test_lines_of_a_paragraph_are_joined_and_paragraphs_kept_apart(extract: Callable[..., Extraction]) -> None:
    text = "A first line of text that fills the width\nand goes on until it ends here.\n\nA new paragraph after a gap."
    assert extract(pdf([lines_of(text)])).document.text == (
        "A first line of text that fills the width and goes on until it ends here.\n\nA new paragraph after a gap."
    )


def test_a_word_hyphenated_at_a_line_end_is_rejoined(extract: Callable[..., Extraction]) -> None:
    text = "Recurrent models read the long docu-\nments from the first word to the last."
    assert "long documents from" in extract(pdf([lines_of(text)])).document.text


def test_a_word_hyphenated_at_a_page_end_stays_hyphenated(extract: Callable[..., Extraction]) -> None:
    extraction = extract(pdf([lines_of("Some lines end with an unfin-"), lines_of("ished word at a page's end")]))
    assert page_text(extraction, 1) == "Some lines end with an unfin-\n"
    assert page_text(extraction, 2).startswith("ished word")


def test_outline_entries_become_headings_at_their_words(extract: Callable[..., Extraction]) -> None:
    pages = [lines_of("Preface of the book\nwith words"), lines_of("Words come first.\n\nMethods\n\nThen more words.")]
    document = extract(
        pdf(pages, outline=[("Methods", 1), ("Preface of the book", 0), ("Not on its page", 1)])
    ).document
    assert [heading.title for heading in document.headings] == ["Preface of the book", "Not on its page", "Methods"]
    assert document.headings[1].start == document.page_starts[1]
    assert document.text[document.headings[2].start :].startswith("Methods")


@pytest.mark.parametrize("junk", ["", "Microsoft Word - draft7.doc", "untitled", "paper.dvi", "12-345"])
def test_text_in_the_largest_type_is_the_title_if_the_metadata_has_none(
    extract: Callable[..., Extraction], junk: str
) -> None:
    head = [Line("Proceedings of something", 760, size=9), Line("Reading Long Documents", 720, size=22)]
    pages = [
        [*head, Line("in Constant Memory", 695, size=22), *lines_of("Somebody Else\n\nBody text goes here", top=640)]
    ]
    assert extract(pdf(pages, title=junk)).document.title == "Reading Long Documents in Constant Memory"


def test_a_real_title_in_the_metadata_is_used(extract: Callable[..., Extraction]) -> None:
    assert extract(pdf(TEXT_PAGES, title="A Title of Its Own")).document.title == "A Title of Its Own"


@pytest.mark.parametrize(
    "head", ["Abstract", "1. INTRODUCTION", "To appear in Some Journal", "University of Somewhere", "BRICS"]
)
def test_a_section_or_a_publisher_in_large_type_is_not_the_title(extract: Callable[..., Extraction], head: str) -> None:
    lines = [Line(head, 740, size=22), Line("Reading Long Documents", 700, size=16)]
    assert extract(pdf([[*lines, *lines_of("Somebody Else\n\nBody text goes here", top=640)]])).document.title == (
        "Reading Long Documents"
    )


def test_running_heads_and_page_numbers_are_removed(extract: Callable[..., Extraction]) -> None:
    pages = [
        lines_of(f"Journal of Tests {n}\n\nWords of page {chr(96 + n)} here\nand more\n\n{n}") for n in range(1, 11)
    ]
    text = extract(pdf(pages)).document.text
    assert "Journal" not in text
    assert "10" not in text
    assert "Words of page j here" in text


def test_escape_sequences_and_controls_never_reach_the_text(extract: Callable[..., Extraction]) -> None:
    evil = "red \x1b[31m and bell \x07 words that are long enough to be text"
    title = "\ufeffA \x07title\u202e of\x9b words".encode("utf-16-be").decode("latin-1")
    document = extract(pdf([lines_of(evil)], title=title)).document
    assert document.text.isprintable()
    assert document.title == "A title of› words"


def test_characters_beyond_the_basic_plane_and_lone_surrogates_are_read(extract: Callable[..., Extraction]) -> None:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 1001 0 R >>"
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def"
        b" 1 begincodespacerange <00> <FF> endcodespacerange"
        b" 3 beginbfchar <41> <D835DC00> <42> <FB01> <43> <D800> endbfchar endcmap end end"
    )
    text = extract(
        pdf([lines_of("A short Bne line of CtextC\nand another line")], font=font, extra={1001: stream(cmap)})
    )
    assert text.document.text == "𝐀 short fine line of text and another line"


def test_a_pdf_with_a_password_is_refused_with_that_reason(extract: Callable[..., Extraction]) -> None:
    with pytest.raises(ExtractionError, match="encrypted: needs a password"):
        extract(encrypted(pdf(TEXT_PAGES), "secret"))


def test_a_pdf_without_pages_is_not_mistaken_for_the_encrypted_one_read_before(
    extract: Callable[..., Extraction],
) -> None:
    with pytest.raises(ExtractionError, match="encrypted"):
        extract(encrypted(pdf(TEXT_PAGES), "secret"))
    empty = io.BytesIO()
    pypdf.PdfWriter().write(empty)
    with pytest.raises(ExtractionError, match="without pages"):
        extract(empty.getvalue())


def test_a_pdf_with_an_empty_user_password_is_read(extract: Callable[..., Extraction]) -> None:
    assert "page called two" in extract(encrypted(pdf(TEXT_PAGES), "")).document.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty file"),
        (bytes(range(256)) * 40, "not a PDF"),
        (b"<!DOCTYPE html><html><body>404</body></html>", "not a PDF"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 40, "cut off: its end is missing"),
        (pdf(TEXT_PAGES)[:900], "cut off: its end is missing"),
        (pdf([b"q Q"] * 3), r"no text in 3 pages \(scanned\?\)"),
        (
            assemble({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Count 0 /Kids [] >>"}, 1),
            "without pages",
        ),
    ],
    ids=["empty", "binary", "web page", "binary behind a header", "truncated", "scanned", "no pages"],
)
def test_an_unreadable_file_is_refused_with_a_reason(
    extract: Callable[..., Extraction], data: bytes, reason: str
) -> None:
    with pytest.raises(ExtractionError, match=reason) as caught:
        extract(data)
    assert caught.value.hint or reason == "empty file"


def test_a_pdf_whose_end_is_missing_is_partial(extract: Callable[..., Extraction]) -> None:
    extraction = extract(pdf(TEXT_PAGES).removesuffix(b"%%EOF\n"))
    assert "page called three" in extraction.document.text
    assert "cut off" in extraction.partial_reason


def test_a_cover_sheet_before_a_scan_is_partial(extract: Callable[..., Extraction]) -> None:
    extraction = extract(pdf([TEXT_PAGES[0], b"q Q", b"q Q"]))
    assert extraction.partial_reason == "no text in 2 of 3 pages (scanned?)"
    assert "ocrmypdf" in extraction.hint


@pytest.mark.parametrize(("n_garbage", "is_kept"), [(2, True), (3, False)])
def test_a_figure_with_a_garbage_caption_is_unreadable_only_after_pages_of_garbage(
    extract: Callable[..., Extraction], n_garbage: int, is_kept: bool
) -> None:
    garbage = b"BT /F1 12 Tf 72 720 Td (" + b"\\001\\002\\003\\004\\005 " * 20 + b") Tj ET"
    labels = b"BT /F1 12 Tf 72 720 Td (Mirror and turntable, plunger, counterweight " + b"\\006" * 8 + b") Tj ET"
    extraction = extract(pdf([TEXT_PAGES[0], *[garbage] * n_garbage, labels]))
    n_lost = n_garbage if is_kept else n_garbage + 1
    assert f"pages 2 to {n_lost + 1} of {n_garbage + 2} could not be read" in extraction.partial_reason
    assert extraction.document.n_scanned == n_lost
    assert ("turntable" in extraction.document.text) is is_kept


def test_pages_whose_fonts_lack_letters_get_a_hint_about_ocr(extract: Callable[..., Extraction]) -> None:
    codes = b"\\001\\002\\003\\004\\005 " * 20
    extraction = extract(pdf([TEXT_PAGES[0], b"BT /F1 12 Tf 72 720 Td (" + codes + b") Tj ET"]))
    assert NO_LETTERS in extraction.partial_reason
    assert "longsearch index FOLDER --ocr" in extraction.hint
    assert "ocrmypdf --force-ocr" in extraction.hint
