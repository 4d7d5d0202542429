"""Word documents and EPUBs: the text that a person reads, and hostile archives."""

import zipfile
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.extract.readers import archives, epub
from longsearch.indexer.extract.readers.office.word import document as docx
from tests.indexer.extract.book_writing import (
    WORD,
    archive,
    docx_parts,
    epub_parts,
    item,
    paragraph,
    table,
    write_docx,
    write_epub,
)
from tests.indexer.extracting import headings_of

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
BODY = (
    paragraph("The Annual Report", "Title")
    + paragraph("Findings", "Heading1")
    + "<w:p><w:r><w:t>The bridge</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r>"
    "<w:ins w:author='a'><w:r><w:t> still</w:t></w:r></w:ins>"
    "<w:del w:author='a'><w:r><w:delText> no longer</w:delText></w:r></w:del><w:r><w:t> stands.</w:t></w:r></w:p>"
    + item("first point")
    + item("second point")
    + table(("span", "load"), ("one", "10"))
    + paragraph("Outlook", "Heading2")
    + paragraph("More to come.")
)


def test_a_word_document_is_read_as_a_person_reads_it(tmp_path: Path) -> None:
    found = docx.read(write_docx(tmp_path / "a.docx", BODY, footnotes={2: "Seen in May."}))
    assert found.text == (
        "The Annual Report\n\nFindings\n\nThe bridge still stands.\n\nFootnote 1: Seen in May.\n\n"
        "- first point\n- second point\nspan | load\none | 10\n\nOutlook\n\nMore to come."
    )
    assert headings_of(found) == [(1, "The Annual Report"), (1, "Findings"), (2, "Outlook")]
    assert found.title == "The Annual Report"


@pytest.mark.parametrize(("given", "title"), [("A Title of Its Own", "A Title of Its Own"), ("Document1", "Findings")])
def test_a_word_document_has_its_metadata_title_unless_word_made_it_up(tmp_path: Path, given: str, title: str) -> None:
    path = write_docx(tmp_path / "a.docx", paragraph("Findings", "Heading1") + paragraph("words"), title=given)
    assert docx.read(path).title == title


def test_a_japanese_word_is_read_without_the_reading_above_it(tmp_path: Path) -> None:
    reading, word = "<w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt>", "<w:r><w:t>東京</w:t></w:r>"
    ruby = f"<w:r><w:ruby><w:rubyPr/>{reading}<w:rubyBase>{word}</w:rubyBase></w:ruby></w:r>"
    found = docx.read(write_docx(tmp_path / "a.docx", f"<w:p>{ruby}<w:r><w:t>の大学</w:t></w:r></w:p>"))
    assert found.text == "東京の大学"


def test_a_table_cell_keeps_its_paragraphs_apart(tmp_path: Path) -> None:
    cell = f"<w:tc>{paragraph('one')}{paragraph('two')}</w:tc>"
    found = docx.read(write_docx(tmp_path / "a.docx", f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>"))
    assert found.text == "one\n\ntwo"


def test_a_link_to_a_file_outside_the_archive_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words")
    parts = docx_parts(paragraph("open words"))
    relations = str(parts["word/_rels/document.xml.rels"])
    parts["word/_rels/document.xml.rels"] = relations.replace("footnotes.xml", secret.as_uri()).replace(
        'Id="r1"', 'Id="r1" TargetMode="External"'
    )
    assert "secret" not in docx.read(archive(tmp_path / "a.docx", parts)).text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_entities_are_refused_before_they_are_read(tmp_path: Path, encoding: str) -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE d [<!ENTITY e0 "ha">{bomb}]>'
    document = f"{head}<w:document {WORD}><w:body>{paragraph('&e11;')}</w:body></w:document>"
    parts = docx_parts("") | {"word/document.xml": document.encode(encoding)}
    with pytest.raises(ExtractionError, match="XML entities"):
        docx.read(archive(tmp_path / "a.docx", parts))


CHAPTERS = {
    "one.xhtml": "<h1>The Beginning</h1><p>It began<br/>well.</p>",
    "two%20more.xhtml": "<p>No heading stands here.</p>",
    "three.xhtml": "<script src='x'/><p>The end.</p>",
}
CONTENTS = "<ol><li><a href='two%20more.xhtml#x'>The Middle</a></li><li><a href='one.xhtml'>One</a></li></ol>"


def test_an_epub_is_read_chapter_by_chapter(tmp_path: Path) -> None:
    found = epub.read(write_epub(tmp_path / "a.epub", CHAPTERS, "A &amp; B", CONTENTS))
    assert found.text == "The Beginning\n\nIt began\nwell.\n\nNo heading stands here.\n\nThe end."
    assert found.title == "A & B"
    assert [found.text[start:][:3] for start in found.page_starts] == ["The", "No ", "The"]
    assert found.headings == ((1, "The Beginning", 0), (1, "The Middle", found.page_starts[1]))
    assert found.warning == ""


def test_what_a_style_sheet_of_the_book_hides_is_left_out(tmp_path: Path) -> None:
    parts = epub_parts({"a.xhtml": "<p class='x'>gone</p><p>kept</p>"})
    link = '<link href="../s.css" rel="stylesheet"/><link rel="stylesheet" href="none.css"/>'
    parts["OEBPS/a.xhtml"] = str(parts["OEBPS/a.xhtml"]).replace("<head>", f"<head>{link}")
    assert epub.read(archive(tmp_path / "a.epub", parts)).text == "gone\n\nkept"
    assert epub.read(archive(tmp_path / "b.epub", {**parts, "s.css": ".x { display: none }"})).text == "kept"


def test_an_epub_2_table_of_contents_names_the_chapters(tmp_path: Path) -> None:
    parts = epub_parts({"a.xhtml": "<p>words</p>"})
    parts["OEBPS/book.opf"] = str(parts["OEBPS/book.opf"]).replace(
        "<manifest>", '<manifest><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    )
    parts["OEBPS/toc.ncx"] = (
        '<ncx><navMap><navPoint id="n"><navLabel><text>Chapter the First</text></navLabel>'
        '<content src="a.xhtml"/></navPoint></navMap></ncx>'
    )
    assert epub.read(archive(tmp_path / "a.epub", parts)).headings == ((1, "Chapter the First", 0),)


def test_a_missing_chapter_makes_the_book_partial(extractor: ExtractorProcess, tmp_path: Path) -> None:
    parts = epub_parts(CHAPTERS)
    del parts["OEBPS/one.xhtml"]
    extraction = extractor.extract(archive(tmp_path / "a.epub", parts))
    assert extraction.partial_reason == "chapters missing from the file: 1 of 3"
    assert extraction.hint
    assert extraction.document.page_at(extraction.document.text.index("No heading")) == 2


def encryption(algorithm: str, target: str) -> str:
    return (
        '<encryption><enc:EncryptedData xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
        f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData><enc:CipherReference URI="{target}"/>'
        "</enc:CipherData></enc:EncryptedData></encryption>"
    )


def test_a_book_under_drm_is_refused_with_that_reason(tmp_path: Path) -> None:
    rights = encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/one.xhtml")
    with pytest.raises(ExtractionError, match="DRM") as caught:
        epub.read(archive(tmp_path / "a.epub", epub_parts(CHAPTERS) | {"META-INF/encryption.xml": rights}))
    assert caught.value.hint


def test_a_book_with_obfuscated_fonts_is_read(tmp_path: Path) -> None:
    fonts = encryption("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    found = epub.read(archive(tmp_path / "a.epub", epub_parts(CHAPTERS) | {"META-INF/encryption.xml": fonts}))
    assert "It began" in found.text


NOT_READ: list[tuple[str, bytes | dict[str, str | bytes], str]] = [
    ("a.docx", b"", "empty file"),
    ("a.docx", b"%PDF-1.7 and more", "not a Word document"),
    ("a.docx", b"PK\x03\x04" + bytes(200), "damaged or cut off"),
    ("a.docx", OLE, "before 2007"),
    ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted: needs a password"),
    ("a.docx", {"x.txt": "words"}, "a zip archive, but not a Word document"),
    ("a.docx", docx_parts("") | {"word/document.xml": "<w:doc"}, "damaged, or not a Word document"),
    ("a.docx", docx_parts(""), "no text in it"),
    ("a.epub", b"", "empty file"),
    ("a.epub", b"<html>404</html>", "not an EPUB"),
    ("a.epub", b"PK\x03\x04" + bytes(200), "damaged or cut off"),
    ("a.epub", {"x.txt": "words"}, "a zip archive, but not an EPUB"),
    ("a.epub", {"META-INF/container.xml": "<container/>"}, "without its list of contents"),
    ("a.epub", epub_parts({}), "without chapters"),
    ("a.epub", epub_parts({"a.xhtml": "<img src='x'/>"}), "no text in it"),
]


@pytest.mark.parametrize(("name", "content", "reason"), NOT_READ, ids=[f"{row[0]} {row[2]}" for row in NOT_READ])
def test_an_unreadable_file_is_refused_with_a_reason(
    extractor: ExtractorProcess, tmp_path: Path, name: str, content: bytes | dict[str, str | bytes], reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content) if isinstance(content, bytes) else archive(path, content)
    with pytest.raises(ExtractionError, match=reason) as caught:
        extractor.extract(path)
    assert caught.value.hint or reason in {"empty file", "no text in it"}


@pytest.mark.parametrize("name", ["a.docx", "a.epub"])
def test_a_zip_bomb_is_refused_for_its_compression_ratio(tmp_path: Path, name: str) -> None:
    zeros = b" " * 50_000_000
    parts = (
        docx_parts("") | {"word/document.xml": zeros}
        if name == "a.docx"
        else epub_parts({}) | {"OEBPS/book.opf": zeros}
    )
    path = archive(tmp_path / name, parts)
    assert path.stat().st_size < 100_000
    with pytest.raises(ExtractionError, match="times its size") as caught:
        (docx if name == "a.docx" else epub).read(path)
    assert caught.value.hint


def test_many_small_zip_bombs_are_refused_for_their_total_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_TEXT_FILE_BYTES", 1_000_000)
    parts = epub_parts({f"{n}.xhtml": " " * 100_000 for n in range(20)})
    with pytest.raises(ExtractionError, match="unpacks to more than"):
        epub.read(archive(tmp_path / "a.epub", parts))


def test_an_archive_with_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_ARCHIVE_MEMBERS", 5)
    with pytest.raises(ExtractionError, match="it holds 7 files"):
        epub.read(write_epub(tmp_path / "a.epub", CHAPTERS))


def test_other_compression_methods_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.docx", docx_parts(BODY), zipfile.ZIP_LZMA)
    with pytest.raises(ExtractionError, match="compressed by a method"):
        docx.read(path)


def test_an_archive_with_a_password_is_refused_with_that_reason(tmp_path: Path) -> None:
    data = bytearray(write_docx(tmp_path / "a.docx", BODY).read_bytes())
    for at in (index for index in range(len(data) - 4) if data[index : index + 4] == b"PK\x01\x02"):
        data[at + 8] |= 1  # "encrypted", in the central directory
    (tmp_path / "a.docx").write_bytes(data)
    with pytest.raises(ExtractionError, match="needs a password"):
        docx.read(tmp_path / "a.docx")
