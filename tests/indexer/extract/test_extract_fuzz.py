"""Any bytes with any suffix give text without control characters, or an error with a reason."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract import child
from longsearch.indexer.extract.clean import clean_any_characters, clean_characters
from longsearch.indexer.extract.pdf.ocr import lines_of as ocr_lines_of
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.extract.wire.protocol import Ended, Failed, FileText, Page, Request
from tests.indexer.extract.book_writing import docx_parts, epub_parts, item, paragraph, table
from tests.indexer.extract.mail_writing import eml, mbox
from tests.indexer.extract.office_writing import odf_parts, odf_rows, pptx_parts, shape, slide_table, xlsx_parts
from tests.indexer.extracting import result_of
from tests.indexer.pdf_writing import lines_of, pdf


def zipped(parts: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # stored, so that a mutation changes the text and not just its checksum
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


SOUND = {
    "docx": zipped(docx_parts(paragraph("Title", "Heading1") + item("point") + table(("a", "b")), footnotes={2: "n"})),
    "epub": zipped(epub_parts({"a.xhtml": "<h1>One</h1><p>words &amp; more</p>"}, "T", "<a href='a.xhtml'>x</a>")),
    "md": b"---\ntitle: x\ntags: [a, b]\n---\n# One\n\n- a *b* [c](d)\n\n| a | b |\n|--|--|\n| c | d |\n",
    "html": b"<h1>One</h1><table><tr><td>a<td>b</table><pre>x\n y</pre><ul><li>z",
    "org": b"#+TITLE: x\n* TODO One :a:\n:D:\n:END:\n| a |\n#+begin_src c\nx\n#+end_src\n- [ ] [[a][b]] *c*\n",
    "rst": b"One\n===\n\n- a *b* ``c`` :ref:`d <e>` |f|_\n\n.. note:: x\n\n== ==\na  b\n== ==\n\n.. [#] z\n",
    "tex": b"\\title{x}\\begin{document}\\section{A} $a_b$ \\cite{c}%\n\\begin{x}\\item d\\end{x}\\end{document}",
    "txt": b"words\fmore\n",
    "pptx": zipped(pptx_parts([shape("One", kind="title") + shape("words"), slide_table(("a", "b"))], {1: "note"})),
    "odt": zipped(odf_parts("text", "<text:h>One</text:h><text:p>a<text:s/>b</text:p>" + odf_rows(("c", "d")), "T")),
    "odp": zipped(
        odf_parts("presentation", '<draw:page><draw:frame class="title"><text:p>x</text:p></draw:frame></draw:page>')
    ),
    "ods": zipped(odf_parts("spreadsheet", f'<table:table table:name="S">{odf_rows(("a", "b"))}</table:table>')),
    "xlsx": zipped(xlsx_parts({"S": [["Name", "Cost"], ["a", 1.5], ["b", 2.0]]}, "T")),
    "eml": eml("words\n> quoted", attachments=[("a.csv", b"a,b\nc,d\n"), ("b.md", b"# One\n\nword")], html="<p>x</p>"),
    "mbox": mbox([eml("one"), eml("two", attachments=[("a.txt", b"note")])]),
    "rtf": rb"{\rtf1\ansi{\stylesheet{\s1 heading 1;}}{\info{\title T}}\s1 One\par a\u233?b\'e9 {\footnote c}"
    rb"\par d\cell e\row}",
    "ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["# One"]}, '
    b'{"source": "x", "outputs": [{"text": "y"}]}]}',
    "fb2": b"<FictionBook><description><title-info><book-title>T</book-title></title-info></description><body>"
    b"<section><title><p>One</p></title><p>words</p><v>verse</v><table><tr><td>a</td></tr></table></section></body>"
    b"</FictionBook>",
    "csv": b'Name;Cost\na;1\n"b ""c""";2\n',
    "pdf": pdf([lines_of("some words\nand more"), lines_of("a second page")], title="x", outline=[("One", 0)]),
}
SUFFIXES = sorted(SOUND)
Splice = tuple[float, int, bytes]
splices = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=12)), min_size=1, max_size=4)
quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def spliced(data: bytes, changes: list[Splice]) -> bytes:
    """Return `data` with pieces cut out and others inserted."""
    for place, n_cut, piece in changes:
        at = int(place * len(data))
        data = data[:at] + piece + data[at + n_cut :]
    return data


def assert_readable(texts: list[str]) -> None:
    text = "".join(texts)
    assert not [character for character in text if ord(character) < 32 and character not in "\n\t"]
    assert not {"\x7f", "\x9b", "\ufeff", "\ud800", "\u202e"} & set(text)


def read_in_process(folder: Path, suffix: str, data: bytes) -> None:
    path = folder / f"a.{suffix}"
    path.write_bytes(data)
    *messages, last = child.answer(Request(str(path), format_name(suffix)))
    assert isinstance(last, Ended | Failed)
    if isinstance(last, Failed):
        assert last.message
    for message in messages:
        match message:
            case FileText():
                assert_readable([message.text, message.title, *(title for _, title, _ in message.headings)])
                assert all(0 <= start <= len(message.text) for _, _, start in message.headings)
                assert list(message.page_starts) == sorted(message.page_starts)
            case Page():
                assert_readable([*message.lines, message.large_text])


def format_name(suffix: str) -> str:
    from longsearch.indexer.extract.formats import format_of

    found = format_of(f"a.{suffix}")
    assert found is not None
    return found.value


@quick
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.binary(max_size=300))
@example(data=b"")
@example(data=b"PK\x05\x06" + bytes(18))
@example(data=b"\xff\xfe\x1b[31m\x00")
def test_any_bytes_give_text_or_an_error(tmp_path: Path, suffix: str, data: bytes) -> None:
    read_in_process(tmp_path, suffix, data)


@quick
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(changes=splices)
def test_damaged_files_give_text_or_an_error(tmp_path: Path, suffix: str, changes: list[Splice]) -> None:
    read_in_process(tmp_path, suffix, spliced(SOUND[suffix], changes))


MARKS = st.text(alphabet=st.sampled_from(list("#*=-_:|+[]{}()<>\\$&%`.~^\n \tax1é\x1b\x07\u202e")), max_size=120)


@quick
@pytest.mark.parametrize("suffix", ["html", "md", "org", "rst", "tex"])
@given(source=MARKS)
def test_any_sequence_of_markup_characters_is_read(tmp_path: Path, suffix: str, source: str) -> None:
    read_in_process(tmp_path, suffix, ("words " + source).encode())


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(suffix=st.sampled_from(SUFFIXES), other=st.sampled_from(SUFFIXES), changes=splices)
def test_a_file_with_another_formats_suffix_gives_text_or_an_error(
    extract: Callable[[Path], object], tmp_path: Path, suffix: str, other: str, changes: list[Splice]
) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(spliced(SOUND[other], changes))
    extract(path)


@pytest.fixture
def extract(extractor: ExtractorProcess) -> Callable[[Path], object]:
    def extract(path: Path) -> object:
        result = result_of(extractor, path)
        if isinstance(result, ExtractionError):
            assert result.message
            assert "crashed" not in result.message
        else:
            assert_readable([result.document.text, result.document.title])
        return result

    return extract


@given(st.text(alphabet=st.characters(min_codepoint=0, max_codepoint=0x2400), max_size=30) | st.text(max_size=30))
def test_the_shortcut_for_clean_text_changes_nothing(text: str) -> None:
    assert clean_characters(text) == clean_any_characters(text)


@given(MARKS)
def test_any_output_of_tesseract_becomes_readable_lines(text: str) -> None:
    assert_readable(list(ocr_lines_of(text)))
