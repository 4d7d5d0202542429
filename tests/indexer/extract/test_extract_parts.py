"""The pure functions of extraction: cleaning, formats, titles, messages, assembly."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.errors import ExtractionError
from longsearch.engine.printable import printable
from longsearch.indexer.extract.assembly import PdfParts, assemble_pdf
from longsearch.indexer.extract.child import COMMAND
from longsearch.indexer.extract.clean import clean_block, clean_characters, one_line
from longsearch.indexer.extract.formats import Format, format_of, is_readable
from longsearch.indexer.extract.titles import choose_title, is_title, page_confirms
from longsearch.indexer.extract.wire import protocol
from longsearch.indexer.extract.wire.protocol import FileText, Opened, Outline, Page

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a\x00b\x07c\x9b", "abc›"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
        ("eﬃcient ﬁsh", "efficient fish"),
        ("co\xadoperate", "cooperate"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("x\ud800y", "xy"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("a\xa0b\u3000c", "a b c"),
        ("\uf0b7 point", "• point"),
        ("e\u0301", "é"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_a_harmful_character_is_removed(dirty: str, clean: str) -> None:
    assert clean_characters(dirty) == clean


@given(st.text())
def test_cleaned_text_is_printable_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean_block(text)
    assert clean_block(cleaned) == cleaned
    cleaned.encode("utf-8")
    assert "\n\n\n" not in cleaned
    shown = printable(cleaned, keep="\n\t\u200c\u200d")
    # Only rare format characters inside scripts (Arabic number signs and the like) are left to `printable`.
    assert all(a == b or ord(a) > 0x5FF for a, b in zip(cleaned, shown, strict=True))


def test_a_long_line_is_cut_between_words() -> None:
    assert one_line("some  words\nin a line", 12) == "some words…"
    assert len(one_line("x" * 1000, 300)) == 300


@pytest.mark.parametrize(
    "name", ["a.PDF", b"na\xffme.md", "x.Markdown", "a.htm", "b.tex", "dir/c.rst", "d.DOCX", "e.epub"]
)
def test_known_suffixes_are_read(name: str | bytes) -> None:
    assert is_readable(name)


@pytest.mark.parametrize("name", ["a.png", "pdf", ".pdf", "a.pdf.part", "", b"\xff"])
def test_other_names_are_not_read(name: str | bytes) -> None:
    assert not is_readable(name)
    assert format_of(name) is None
    assert format_of("a.pdf") is Format.PDF


@pytest.mark.parametrize(
    "junk",
    [
        "Microsoft Word - x.doc",
        "untitled",
        "paper.dvi",
        "arXiv:math/9404236v1 [math.HO]",
        "a@b.org",
        "123-45",
        "X",
        "Slide 1",
    ],
)
def test_a_default_title_of_a_program_is_not_a_title(junk: str) -> None:
    assert not is_title(junk)
    assert choose_title(((junk, "x"),), "")[0] == ""


def test_the_stamp_of_a_repository_is_removed_from_the_title() -> None:
    named = lambda title, text: choose_title(((title, "PDF info"),), text)  # noqa: E731
    assert named("[inria-00555588, v1] A comprehensive study", "") == ("A comprehensive study", "PDF info")
    assert named("[inria-00555588, v1]", "Its first line") == ("Its first line", "first line")
    assert named("[Draft] A comprehensive study", "")[0] == "[Draft] A comprehensive study"


def test_a_metadata_title_must_be_confirmed_by_the_first_page() -> None:
    page = "Dynamo: Amazon's Highly Available Key-value Store\n\nThe system is used by services at Amazon."
    large = "Dynamo: Amazon's Highly Available Key-value Store"
    assert not page_confirms("System Model", large, page)
    assert page_confirms("Dynamo: a highly available store", large, page)
    assert page_confirms("The system at Amazon", large, page)
    assert page_confirms("System Model", "", page), "there is no large text to compare with"


@pytest.mark.parametrize(
    "title", ["Paxos Made Simple", "Über Bücher", "深度学习", "TCP/IP Illustrated, Volume 1", "Dune"]
)
def test_real_titles_are_accepted(title: str) -> None:
    assert is_title(title)


def test_a_document_that_begins_with_a_paragraph_has_no_title() -> None:
    assert choose_title((), "word " * 100 + "\nLate line")[0] == ""


def test_a_title_in_metadata_loses_the_markup_of_its_publisher() -> None:
    for written, title in (
        ('The problem: <Emphasis Type="Italic">Unconditional</Emphasis> sender', "The problem: Unconditional sender"),
        ("H<sub>2</sub>O and <mml:mi>x</mml:mi>", "H2O and x"),
        ("Why List<Integer> is not List<int>", "Why List<Integer> is not List<int>"),
        ("If a < b and b > c", "If a < b and b > c"),
        ("Okapi at TREC{3", "Okapi at TREC\u20133"),
        ("The set f{x} of x", "The set f{x} of x"),
    ):
        assert choose_title(((written, "PDF info"),), "")[0] == title


@given(
    st.one_of(
        st.builds(Opened, st.integers(0, 99), st.text(), st.text()),
        st.builds(Page, st.integers(0, 99), st.lists(st.text()).map(tuple), st.text(), st.text()),
        st.builds(Outline, st.lists(st.tuples(st.integers(0, 9), st.text(), st.integers(0, 99))).map(tuple)),
        st.builds(FileText, st.text(), st.just((0, 5)), st.text(), st.just(((1, "a", 0),))),
        st.builds(protocol.Failed, st.text(), st.text()),
        st.just(protocol.Ended()),
    )
)
def test_a_message_is_decoded_as_it_was_sent(message: protocol.Message) -> None:
    frame = protocol.encode(message)
    assert protocol.HEADER.unpack(frame[:4]) == (len(frame) - 4,)
    assert protocol.decode(frame[4:]) == message


@pytest.mark.parametrize(
    "lie",
    [
        ["Opened", {"n_pages": -1, "title": "", "warning": ""}],
        ["Opened", {"n_pages": True, "title": "", "warning": ""}],
        ["Page", {"index": 0, "lines": [1], "large_text": "", "problem": ""}],
        ["Outline", {"entries": [[1, "x"]]}],
        ["Request", {}],
        ["Page", {}],
        [],
        7,
    ],
)
def test_a_malformed_message_is_refused(lie: object) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        protocol.decode(json.dumps(lie).encode())


def test_pages_out_of_order_are_refused() -> None:
    parts = PdfParts()
    parts.take(Opened(3, ""))
    with pytest.raises(ExtractionError, match="changed"):
        parts.take(Page(1, ("x\n",)))
    with pytest.raises(ExtractionError, match="changed"):
        parts.take(Opened(4, ""))


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        ([2], "page 3 of 20 could not be read (damaged)"),
        ([2, 6], "pages 3 and 7 of 20 could not be read (damaged)"),
        ([0, 2, 3, 4, 11], "pages 1, 3 to 5 and 12 of 20 could not be read (damaged)"),
        (range(0, 16, 2), "pages 1, 3, 5, 7, 9 and 3 more of 20 could not be read (damaged)"),
    ],
)
def test_lost_pages_are_listed_in_the_reason(lost: list[int], reason: str) -> None:
    parts = PdfParts()
    parts.take(Opened(20, ""))
    for index in range(20):
        parts.take(Page(index, (), problem="damaged") if index in lost else Page(index, ("some words\n",)))
    assert assemble_pdf(parts).partial_reason == reason


@pytest.mark.parametrize(
    "module", ["longsearch.indexer.extract.child", "longsearch.indexer.extract.reader", "longsearch.indexer.walk"]
)
def test_the_parent_and_the_child_start_without_torch_or_a_pdf_library(module: str) -> None:
    heavy = {"torch", "transformers", "numpy", "pypdf", "pypdfium2", "apsw"}
    code = f"import sys, {module}; print(*({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_neither_the_current_folder_nor_ours_hides_the_standard_library_from_the_child(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise ImportError('the wrong json')")
    (tmp_path / "probe.py").write_text("def main():\n    import json, sys\n    print(json.__name__, sys.path[-1])")
    command = [*COMMAND[:-2], str(tmp_path), "probe"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["json", str(tmp_path)]


def test_a_message_of_brackets_in_brackets_is_none() -> None:
    with pytest.raises(ValueError, match="nested"):
        protocol.decode(b'["Opened", ' + b"[" * 100_000)
