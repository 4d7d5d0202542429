"""Markdown, HTML and plain text: the text that a person reads, the offsets of headings, and hostile files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import SelectolaxError

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.dispatch import read_text
from longsearch.indexer.extract.formats import Format
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.extract.readers import decoding
from longsearch.indexer.extract.readers import html as html_text
from longsearch.indexer.extract.readers import markdown as markdown_text
from longsearch.indexer.extract.readers import plain as plain_text
from tests.indexer.extracting import headings_of

MARKDOWN = """---
title: "Notes on *Mamba*"
tags: [a]
---
# The `first` *heading*

Some **bold** text with a [link](https://example.org/x) and
a soft line end, ![the mill](p.png) and [[Other note|an alias]].

1. one
2. two

| model | size |
| ----- | ---- |
| small | 10   |

```python
x = a[b](c)  # kept
```

Second
------

<div>html &amp; words</div>
"""

HTML = """<html><head><title>Rivers &amp; Bridges</title><style>p {}</style></head><body><nav>Home | About</nav>
<h1>The <i>first</i> heading</h1><p>Some <b>bold</b>ly  set
text<br>on two lines</p><ul><li>one<li><p>two</p></ul>
<table><tr><td>small</td><td>10</td></tr></table><pre>a
  b</pre><script>alert(1)</script><h2>Second</h2>tail</body></html>"""


def test_markdown_is_read_as_a_person_reads_it() -> None:
    found = markdown_text.parse(MARKDOWN)
    assert found.title == "Notes on *Mamba*"
    assert found.text == (
        "Tags: a\n\nThe first heading\n\nSome bold text with a link and a soft line end, and an alias.\n\n"
        "Picture: the mill\n\n"
        "1. one\n2. two\nmodel | size\nsmall | 10\n\nx = a[b](c)  # kept\n\nSecond\n\nhtml &amp; words"
    )
    assert headings_of(found) == [(1, "The first heading"), (2, "Second")]


def test_markdown_without_front_matter_is_titled_by_its_outermost_heading() -> None:
    assert markdown_text.parse("## Lesser\n\n# Greater\n").title == "Greater"


def test_html_is_read_as_a_person_reads_it() -> None:
    found = html_text.parse(HTML)
    assert found.title == "Rivers & Bridges"
    assert found.text == (
        "The first heading\n\nSome boldly set text\non two lines\n\n"
        "- one\n- two\nsmall | 10\n\na\n  b\n\nSecond\n\ntail"
    )
    assert headings_of(found) == [(1, "The first heading"), (2, "Second")]


@pytest.mark.parametrize("depth", [9, 30, 300])
def test_no_item_of_a_deep_outline_is_left_out(tmp_path: Path, depth: int) -> None:
    (tmp_path / "a.md").write_text("".join(f"{'  ' * level}- item {level}\n" for level in range(depth)) + "\nend\n")
    lines = read_text(tmp_path / "a.md", Format.MARKDOWN).text.split("\n")
    assert [line.strip() for line in lines if line] == [*(f"- item {level}" for level in range(depth)), "end"]


def test_deeply_nested_html_is_read() -> None:
    assert html_text.parse("<div>" * 5000 + "deep").text == "deep"


def test_html_that_needs_too_much_memory_is_refused_with_that_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: str) -> None:
        raise SelectolaxError("Can't parse HTML.")

    monkeypatch.setattr(html_text, "LexborHTMLParser", fail)
    with pytest.raises(ExtractionError, match="1 GB of memory"):
        html_text.parse("<p>words")


@given(st.text(alphabet=st.sampled_from(list("#*[]()`|-\n \t<>/abé&;27x\x1b\x00\ud800ﬁ")), max_size=80))
def test_headings_of_any_markdown_and_html_stand_at_their_offsets(source: str) -> None:
    for found in (markdown_text.parse(source), html_text.parse(f"<h1>{source}</h1><p>{source}")):
        assert not {"\x1b", "\x00", "\ud800", "ﬁ"} & set(found.text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve café".encode(), "naïve café"),
        ("naïve café".encode("utf-8-sig"), "naïve café"),
        ("naïve café".encode("utf-16"), "naïve café"),
        (b"\xfe\xff" + "naïve café".encode("utf-16-be"), "naïve café"),
        ("naïve “café”".encode("cp1252"), "naïve “café”"),
        ("ten naïve café notes".encode() + b"\xff", "ten naïve café notes\ufffd"),
    ],
    ids=["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252", "utf-8 with a broken byte"],
)
def test_the_encoding_of_a_text_is_detected(data: bytes, text: str) -> None:
    assert decoding.decode(data) == text


OLD_ENCODINGS = {
    "gb18030": "这是一个关于开源软件许可证的文档，它解释了如何选择合适的许可证。",
    "big5": "這是一份關於開源軟體授權的文件，說明如何為專案選擇授權。",
    "cp932": "この文書はオープンソースのライセンスについて説明します。",
    "euc_jp": "この文書はオープンソースのライセンスについて説明します。",
    "iso2022_jp": "この文書はオープンソースのライセンスについて説明します。",
    "cp949": "이 문서는 오픈소스 라이선스에 대해 설명합니다. 먼저 읽어 주세요.",
    "cp1251": "Этот документ объясняет лицензии открытого программного обеспечения.",
    "koi8_r": "Этот документ объясняет лицензии открытого программного обеспечения.",
    "cp1253": "Αυτό το έγγραφο εξηγεί τις άδειες του λογισμικού ανοιχτού κώδικα.",
    "cp1255": "מסמך זה מסביר רישיונות של תוכנה בקוד פתוח.",
    "cp1256": "تشرح هذه الوثيقة تراخيص البرمجيات مفتوحة المصدر وكيفية اختيارها.",
    "cp874": "เอกสารนี้อธิบายใบอนุญาตของซอฟต์แวร์โอเพนซอร์ส",
    "cp1250": "Ustawa określa zasady udzielania licencji, także twórców z zagranicy. Każdy może z niej skorzystać.",
    "cp1254": "Bu belge açık kaynak yazılım lisanslarını açıklar ve çalışmanın güvenliği için gereklidir.",
    "cp1252": "Le système déjà en place n'a pas été modifié par les propriétaires à Besançon.",
}


@pytest.mark.parametrize("encoding", OLD_ENCODINGS)
def test_text_of_before_unicode_is_read_by_what_it_seems_to_be(encoding: str) -> None:
    text = OLD_ENCODINGS[encoding]
    assert decoding.decode(text.encode(encoding)) == text
    far = "# only ASCII\n" * 60_000 + text  # chardet itself would look at the beginning alone
    assert decoding.decode(far.encode(encoding)) == far


def test_the_reading_above_a_japanese_word_is_left_out() -> None:
    page = (
        "<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>の<ruby>大<rt>だい</rt>学<rt>がく</rt></ruby>へ</p>"
    )
    assert html_text.parse(page).text == "東京の大学へ"


def test_html_is_decoded_with_the_charset_that_it_names() -> None:
    page = '<html><head><meta charset="koi8-r"></head><body>привет</body></html>'
    assert "привет" in decoding.decode_html(page.encode("koi8-r"))
    assert "x" in decoding.decode_html(b'<meta charset="no-such-thing">x')


@pytest.mark.parametrize("data", [b"\x7fELF\x00\x00words", bytes(range(1, 32)) * 10 + b"words"])
def test_binary_data_with_a_text_suffix_is_refused(data: bytes) -> None:
    with pytest.raises(ExtractionError, match="not text: binary data"):
        decoding.decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    for decode in (decoding.decode, decoding.decode_html):
        try:
            assert isinstance(decode(data), str)
        except ExtractionError as error:
            assert error.hint


def test_form_feeds_separate_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Page one ends.\fPage two goes\f\fPage four\f")
    found = plain_text.read(path)
    assert found.text == "Page one ends.\n\nPage two goes\nPage four"
    assert found.page_starts == (0, 16, 30, 30)


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.txt", "\n\n====\nThe Title\n====\n\nwords\n", "The Title"),
        ("a.org", "# x\n#+TITLE: Plans for the year\n* One\n", "Plans for the year"),
        ("a.tex", "\\documentclass{article}\n\\title{On Reading}\n", "On Reading"),
        ("meeting notes.txt", "12 34\n", ""),
        ("a.md", "just words of a note\n", "just words of a note"),
        ("x.html", "<p>just words of a page", "just words of a page"),
        ("evil.txt", "\x1b]0;pwned\x07The \x1b[31mtitle\n", "The title"),
        ("long.txt", "word " * 30 + "\n", "word " * 29 + "word"),
    ],
)
def test_a_title_is_one_line_of_the_file_or_none(
    extractor: ExtractorProcess, tmp_path: Path, name: str, text: str, title: str
) -> None:
    (tmp_path / name).write_text(text)
    assert extractor.extract(tmp_path / name).document.title == title


def test_a_format_without_pages_gives_no_page_numbers(extractor: ExtractorProcess, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(MARKDOWN)
    document = extractor.extract(tmp_path / "a.md").document
    assert document.page_starts == ()
    assert document.page_at(5) is None
    assert document.place_at(len(document.text)).heading == "Second"


def test_a_hundred_thousand_empty_lines_become_one(extractor: ExtractorProcess, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("above" + "\n" * 100_000 + "below")
    assert extractor.extract(tmp_path / "a.txt").document.text == "above\n\nbelow"


@pytest.mark.parametrize("name", ["a.md", "a.html", "a.txt"])
def test_a_file_without_words_is_refused_with_that_reason(
    extractor: ExtractorProcess, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("\n--\n")
    with pytest.raises(ExtractionError, match="no text in it"):
        extractor.extract(tmp_path / name)


def test_a_text_file_that_is_too_large_is_refused_unread(extractor: ExtractorProcess, tmp_path: Path) -> None:
    with (tmp_path / "dump.txt").open("wb") as file:
        file.truncate(100_000_001)  # sparse, so it takes no space on the disk
    with pytest.raises(ExtractionError, match="the limit is 100 MB") as caught:
        extractor.extract(tmp_path / "dump.txt")
    assert ".longsearchignore" in caught.value.hint


def test_markdown_that_is_too_hard_to_parse_is_read_as_plain_text(
    tmp_path: Path, extractor: ExtractorProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longsearch.indexer.extract.formats.MAX_MARKUP_BYTES", 10)
    (tmp_path / "a.md").write_text("# A heading of *words*\n")
    document = extractor.extract(tmp_path / "a.md").document
    assert document.text == "# A heading of *words*"
    assert document.headings == ()


def test_markdown_that_takes_too_long_is_read_as_plain_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("| a | b |\n|--|--|\n" + "| *x* | [y](z) `q` |\n" * 80_000)
    with ExtractorProcess(document_timeout_s=6.0) as extractor:  # half of it for Markdown, which takes 5 s or more
        assert "[y](z)" in extractor.extract(tmp_path / "a.md").document.text
