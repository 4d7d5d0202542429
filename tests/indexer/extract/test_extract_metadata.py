"""What a file says of itself: cleaned, limited, and with where it was read."""

import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.dates import make_date
from longsearch.engine.languages.codes import language_code
from longsearch.engine.printable import printable
from longsearch.indexer.extract.metadata import MAX_VALUES, field_of, from_first_page, gathered
from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.readers import html, markdown, org, rst, tex
from longsearch.indexer.extract.sources import Held
from longsearch.indexer.extract.wire import protocol
from longsearch.indexer.extract.wire.limits import MAX_RAW_CHARACTERS, MAX_RAW_VALUES
from longsearch.indexer.extract.wire.protocol import Described
from longsearch.indexer.extract.wire.values import RawMetadata, limited
from longsearch.indexer.extract.xmp import parse_xmp, plain_xmp, xmp_by_pypdf
from tests.indexer.extract.book_writing import archive, docx_parts, epub_parts, paragraph
from tests.indexer.pdf_writing import INFO, Line, lines_of, pdf, stream

Extract = Callable[..., Extraction]
XMP = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF>
<rdf:Description rdf:about="" prism:doi="10.1145/1327452.1327492" xmp:CreateDate="2008-01-02T03:04:05Z">
<dc:title><rdf:Alt><rdf:li>MapReduce</rdf:li><rdf:li xml:lang="de">Anders</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>Jeffrey Dean</rdf:li><rdf:li>Sanjay Ghemawat</rdf:li></rdf:Seq></dc:creator>
<dc:subject/><prism:publicationDate>2008-01</prism:publicationDate>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


def values(raw: RawMetadata) -> dict[str, list[str]]:
    """The clean values of each field."""
    found: dict[str, list[str]] = {}
    for value in gathered(raw):
        found.setdefault(value.field, []).append(value.value)
    return found


def described(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(value.field, value.value, value.source) for value in extraction.document.metadata}


@pytest.mark.parametrize(
    ("text", "authors"),
    [
        ("Jeffrey Dean and Sanjay Ghemawat", ["Jeffrey Dean", "Sanjay Ghemawat"]),
        ("Leslie Lamport, Robert Shostak, and Marshall Pease", ["Leslie Lamport", "Robert Shostak", "Marshall Pease"]),
        ("Lamport, Leslie; Pease, Marshall", ["Lamport, Leslie", "Pease, Marshall"]),
        ("Lamport, Leslie", ["Lamport, Leslie"]),
        ("A. Turing <turing@example.org>", ["A. Turing"]),
        ("Administrator", []),
        ("Microsoft Office User", []),
        ("x", []),
        ("\x1b[31mred\x1b[0m Ann", ["red Ann"]),
    ],
)
def test_authors_are_told_apart_and_names_of_machines_are_none(text: str, authors: list[str]) -> None:
    assert values((("author", text, "x"),)).get("author", []) == authors


def test_ten_thousand_authors_are_cut_to_fifty_and_all_values_to_a_hundred() -> None:
    raw = tuple(("author", f"Author Number{n}", "x") for n in range(10_000))
    assert len(values(raw)["author"]) == 50
    many = raw + tuple((f"key-{n}", "value", "x") for n in range(10_000))
    assert len(gathered(many)) == MAX_VALUES


def test_the_first_source_gives_the_authors_and_all_sources_give_tags() -> None:
    raw = (
        ("author", "Ann Lee", "XMP"), ("author", "Bo Li", "XMP"), ("author", "A. Lee", "PDF info"),
        ("tag", "Bridges, #steel", "XMP"), ("tag", "steel; roads", "PDF info"),
        ("date", "0000", "XMP"), ("date", "2004-06", "PDF info"), ("created", "1970-01-01", "PDF info"),
    )  # fmt: skip
    assert values(raw) == {"author": ["Ann Lee", "Bo Li"], "tag": ["Bridges", "steel", "roads"], "date": ["2004-06"]}


@pytest.mark.parametrize(
    ("key", "field"),
    [("Authors", "author"), ("keywords", "tag"), ("Reading Status", "reading-status"), ("x" * 41, ""), ("a:b", "")],
)
def test_a_key_gets_our_name_or_one_that_can_be_typed(key: str, field: str) -> None:
    assert field_of(key) == field


@pytest.mark.parametrize(
    ("text", "code"),
    [("en-US", "en"), ("de_DE.UTF-8", "de"), ("eng", "en"), ("Deutsch", "de"), ("und", ""), ("yue", "yue"), ("x", "")],
)
def test_a_declared_language_becomes_an_iso_code(text: str, code: str) -> None:
    assert language_code(text) == code


raw_values = st.tuples(
    st.sampled_from(["author", "date", "created", "tag", "language", "doi", "arxiv", "title", "own key", "\x1b"]),
    st.text(max_size=400),
    st.text(max_size=60),
)


@given(st.lists(raw_values, max_size=150).map(tuple))
def test_any_values_become_few_short_printable_ones(raw: RawMetadata) -> None:
    found = gathered(raw)
    assert len(found) <= MAX_VALUES
    assert len({(value.field, value.value) for value in found}) == len(found)
    for value in found:
        for text in (value.field, value.value, value.source):
            assert printable(text) == text.replace("\u200c", "").replace("\u200d", "")
            assert "\n" not in text and len(text) <= 300
        if value.field in ("date", "created"):
            assert make_date(*map(int, value.value.split("-"))) == value.value


@given(st.lists(raw_values, max_size=20).map(tuple))
def test_values_pass_from_the_child_to_the_parent(raw: RawMetadata) -> None:
    sent = limited(raw)
    assert protocol.decode(protocol.encode(Described(sent))[4:]) == Described(sent)


def test_a_child_that_lies_about_the_number_and_length_of_values_is_cut_short() -> None:
    lies = Described((("tag", "x" * 10 * MAX_RAW_CHARACTERS, "y"),) * (10 * MAX_RAW_VALUES))
    received = protocol.decode(protocol.encode(lies)[4:])
    assert isinstance(received, Described)
    assert len(received.metadata) == MAX_RAW_VALUES
    assert max(len(text) for _, text, _ in received.metadata) == MAX_RAW_CHARACTERS


def test_the_stamp_of_arxiv_gives_the_identifier_and_its_month() -> None:
    page = "Attention\narXiv:1706.03762v5 [cs.CL] 6 Dec 2017\nWe cite arXiv:1601.00001. doi:10.1000/xyz(1)."
    assert values(from_first_page(page)) == {"arxiv": ["1706.03762"], "date": ["2017-06"], "doi": ["10.1000/xyz(1)"]}
    assert values(from_first_page("arXiv:hep-th/9901001v2 [hep-th] 1 Jan 1999")) == {
        "arxiv": ["hep-th/9901001"],
        "date": ["1999-01"],
    }
    assert from_first_page("as in arXiv:1601.00001 [12]") == ()
    assert values(from_first_page("https://doi.org/10.1145/3.4, and")) == {"doi": ["10.1145/3.4"]}


def test_xmp_gives_a_list_of_authors_and_what_publishers_write() -> None:
    assert values(parse_xmp(XMP.encode())) == {
        "title": ["MapReduce"],
        "author": ["Jeffrey Dean", "Sanjay Ghemawat"],
        "date": ["2008-01"],
        "doi": ["10.1145/1327452.1327492"],
        "created": ["2008-01-02"],
    }


def written(
    packet: str = "", language: str = "", compress: bool = False, password: str = "", twice: bool = False
) -> bytes:
    """A PDF with a packet of XMP and a language, written by pypdf; `twice`: another packet is appended afterwards."""
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    for _, own in zip(range(1 + twice), (packet, packet.replace("MapReduce", "Second")), strict=False):
        stream = pypdf.generic.DecodedStreamObject()
        stream.set_data(own.encode())
        catalogue = writer.root_object
        if packet:
            name = pypdf.generic.NameObject("/Metadata")
            catalogue[name] = writer._add_object(stream.flate_encode() if compress else stream)
        if language:
            catalogue[pypdf.generic.NameObject("/Lang")] = pypdf.generic.TextStringObject(language)
        if password:
            writer.encrypt("", password)
        out = BytesIO()
        writer.write(out)
        if twice:
            writer = pypdf.PdfWriter(BytesIO(out.getvalue()), incremental=True)
    return out.getvalue()


@pytest.mark.parametrize(
    ("look", "is_plain"),
    [
        ({"packet": XMP}, True),
        ({"packet": XMP, "language": "de"}, True),
        ({"language": "en"}, True),
        ({}, True),
        ({"packet": XMP, "twice": True}, True),
        ({"packet": XMP, "language": "de-AT"}, False),  # pypdf writes the hyphen as a number
        ({"packet": XMP, "compress": True}, False),
        ({"packet": XMP, "password": "x"}, False),
    ],
)
def test_xmp_that_stands_plainly_in_a_pdf_is_what_pypdf_finds(look: dict[str, Any], is_plain: bool) -> None:
    data = written(**look)
    packet, language = xmp_by_pypdf(Held("a.pdf", data))
    plain = plain_xmp(data)
    assert (plain is not None) is is_plain
    assert plain is None or (parse_xmp(plain[0]), plain[1]) == (parse_xmp(packet), language)
    assert b"Second" in packet or not look.get("twice")


def packed(catalogue: bytes, *later: bytes) -> bytes:
    """A PDF whose catalogue lies in a compressed stream of objects, as most programs of today write it."""
    pages = b"<< /Type /Pages /Kids [] /Count 0 >>"
    head = b"1 0 2 %d " % (len(catalogue) + 1)
    objects = zlib.compress(head + catalogue + b" " + pages)
    entries = b"/Type /ObjStm /Filter /FlateDecode /N 2 /First %d" % len(head)
    out = b"%PDF-1.7\n"
    places = {}
    for number, body in ((3, stream(objects, entries)), (4, stream(XMP.encode(), b"/Type /Metadata /Subtype /XML"))):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    rows = [(0, 0, 0), (2, 3, 0), (2, 3, 1), (1, places[3], 0), (1, places[4], 0), (1, len(out), 0)]
    table = stream(
        b"".join(kind.to_bytes(1) + at.to_bytes(4) + last.to_bytes(1) for kind, at, last in rows),
        b"/Type /XRef /Size 6 /W [1 4 1] /Root 1 0 R",
    )
    return out + b"5 0 obj\n%s\nendobj\n" % table + b"".join(later) + b"startxref\n%d\n%%%%EOF\n" % len(out)


@pytest.mark.parametrize("language", [b"", b" /Lang (de)"])
def test_xmp_of_a_catalogue_in_a_stream_of_objects_is_what_pypdf_finds(language: bytes) -> None:
    data = packed(b"<< /Type /Catalog /Pages 2 0 R /Metadata 4 0 R%s >>" % language)
    packet, said = xmp_by_pypdf(Held("a.pdf", data))
    assert plain_xmp(data) == (b"\n" + packet + b"\n", said)
    assert said == ("de" if language else None)
    assert b"MapReduce" in packet


def test_of_a_plain_and_a_packed_catalogue_none_is_chosen() -> None:
    later = b"1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    assert plain_xmp(packed(b"<< /Type /Catalog /Pages 2 0 R /Metadata 4 0 R >>", later)) is None


@given(st.binary(max_size=300), st.integers(0, len(XMP)))
def test_damaged_xmp_gives_what_stands_before_the_damage(noise: bytes, place: int) -> None:
    damaged = parse_xmp(XMP[:place].encode() + noise + XMP[place:].encode())
    found, is_text = values(damaged), damaged != ()
    for end, field, value in (("</dc:title>", "title", "MapReduce"), ("</prism:publicationDate>", "date", "2008-01")):
        if is_text and end in XMP[:place]:
            assert found[field] == [value]
    assert is_text or b"\0" in noise or place < XMP.index("<rdf:Description")


def test_a_pdf_gives_its_information_and_what_its_first_page_says(extract: Extract) -> None:
    info = (
        b"<< /Title (A Study of Bridges) /Author (Ann Lee; Bo Li) /Keywords (steel, roads)"
        b" /CreationDate (D:20040612103000Z) >>"
    )
    page = [*lines_of("A Study of Bridges", size=20), Line("arXiv:0704.00001v1 [cs.CL] 1 Apr 2007", 72, 600, 9)]
    found = described(extract(pdf([page], extra={INFO: info})))
    assert ("created", "2004-06-12", "PDF info") in found
    assert ("date", "2007-04", "arXiv id") in found
    assert ("author", "Ann Lee", "PDF info") in found and ("author", "Bo Li", "PDF info") in found
    assert ("tag", "roads", "PDF info") in found
    assert ("title", "A Study of Bridges", "PDF info") in found


def test_word_and_epub_give_their_properties(extract: Extract, tmp_path: Path) -> None:
    parts = docx_parts(paragraph("words"), "Bridges")
    core = str(parts["docProps/core.xml"]).replace(
        "</dc:title>",
        "</dc:title><dc:creator>Ann Lee</dc:creator><dcterms:created>2019-02-03T00:00:00Z</dcterms:created>",
    )
    found = described(extract(archive(tmp_path / "x", {**parts, "docProps/core.xml": core}).read_bytes(), "a.docx"))
    assert {("author", "Ann Lee", "Word properties"), ("created", "2019-02-03", "Word properties")} <= found
    book = epub_parts({"a.xhtml": "<p>words</p>"}, "Walden")
    (name,) = (name for name in book if name.endswith(".opf"))
    extra = (
        "</dc:title><dc:creator>Henry D. Thoreau</dc:creator><dc:language>en-US</dc:language><dc:date>1854</dc:date>"
    )
    book[name] = str(book[name]).replace("</dc:title>", extra)
    found = described(extract(archive(tmp_path / "y", book).read_bytes(), "a.epub"))
    assert found == {
        ("title", "Walden", "EPUB package"),
        ("author", "Henry D. Thoreau", "EPUB package"),
        ("language", "en", "EPUB package"),
        ("date", "1854", "EPUB package"),
    }


def test_a_web_page_gives_what_search_engines_read() -> None:
    page = """<html lang=de><head><title>Study - Site</title><meta name=citation_title content="A Study">
    <meta name=author content="Webmaster"><meta name=citation_author content="Lee, Ann"><meta name=citation_author
    content="Li, Bo"><meta property=article:published_time content="2021-05-17T10:00"><meta name=citation_doi
    content="doi:10.1000/1"><meta name=DC.Subject content="steel"></head><body>words"""
    found = html.parse(page)
    assert found.title == "A Study"
    assert values(found.metadata) == {
        "title": ["A Study"],
        "author": ["Lee, Ann", "Li, Bo"],
        "date": ["2021-05-17"],
        "language": ["de"],
        "tag": ["steel"],
        "doi": ["10.1000/1"],
    }
    assert ("author", "Lee, Ann", "citation_author") in found.metadata


@pytest.mark.parametrize(
    ("found", "source"),
    [
        (markdown.parse("---\nauthor: Ann Lee\ndate: 2021-05-17\nstatus: draft\n---\nwords"), "front matter"),
        (markdown.parse("+++\nauthors = ['Ann Lee']\ndate = 2021-05-17\nStatus = 'draft'\n+++\nwords"), "front matter"),
        (rst.parse(":Author: Ann Lee\n:Date: 2021-05-17\n:Status: draft\n\nwords"), "field list"),
        (rst.parse("Title\n=====\n\n:Author: Ann Lee\n:Date: 17 May 2021\n:Status: draft\n\nwords"), "field list"),
    ],
)
def test_markup_gives_authors_dates_and_its_own_keys(found: protocol.FileText, source: str) -> None:
    assert values(found.metadata) == {"author": ["Ann Lee"], "date": ["2021-05-17"], "status": ["draft"]}
    assert {value[2] for value in found.metadata} == {source}


def test_org_and_latex_give_title_author_and_date() -> None:
    found = org.parse("#+TITLE: On *steel*\n#+AUTHOR: Ann Lee\n#+DATE: <2021-05-17 Mon>\n#+FILETAGS: :a:b:\n\nwords")
    assert values(found.metadata) == {
        "title": ["On steel"],
        "author": ["Ann Lee"],
        "date": ["2021-05-17"],
        "tag": ["a", "b"],
    }
    found = tex.parse(r"\title{On steel}\author{Ann Lee \and Bo Li}\date{May 2021}\begin{document}words\end{document}")
    assert values(found.metadata) == {"title": ["On steel"], "author": ["Ann Lee", "Bo Li"], "date": ["2021-05"]}


def test_a_title_says_where_it_was_found(extract: Extract) -> None:
    for data, name, source in (
        (b"---\ntitle: Steel bridges\n---\nwords", "a.md", "front matter"),
        (b"# Steel bridges\n\nwords", "a.md", "heading"),
        (b"Steel bridges\n\nwords", "a.txt", "first line"),
        (b"<title>Steel bridges</title>words", "a.html", "HTML title"),
    ):
        assert described(extract(data, name)) == {("title", "Steel bridges", source)}
