"""The pure functions of extraction: cleaning, layout, pages, titles, quality, repairs, messages."""

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
from longsearch.indexer.extract.pdf.layout import Line, title_in, with_separators
from longsearch.indexer.extract.pdf.pages import join_pages, without_running_lines
from longsearch.indexer.extract.pdf.quality import DOUBTFUL_SHARE, UNREADABLE_SHARE, garbage_share
from longsearch.indexer.extract.pdf.repair import has_tex_ligatures, with_glyph_numbers, with_tex_ligatures
from longsearch.indexer.extract.titles import choose_title, is_title, page_confirms
from longsearch.indexer.extract.wire import protocol
from longsearch.indexer.extract.wire.protocol import FileText, Opened, Outline, Page

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a\x00b\x07c\x9b", "abc"),
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


def line(text: str, y: float, left: float = 72, right: float | None = None, size: float = 10) -> Line:
    return Line(text, left, left + 5 * len(text) if right is None else right, y, y, size)


def test_a_short_line_that_ends_a_sentence_ends_a_paragraph() -> None:
    lines = [line("A line that fills the whole width of the column", 700), line("and stops here.", 688)]
    assert "".join(with_separators([*lines, line("Another paragraph begins with this line", 676)])) == (
        "A line that fills the whole width of the column and stops here.\n\nAnother paragraph begins with this line\n"
    )


def test_rows_of_a_table_stay_apart() -> None:
    rows = [
        line("model 10", 700),
        line("other 20", 688),
        line("third 30", 676),
        line("now a sentence that is as wide as the column is", 664),
    ]
    assert "".join(with_separators(rows)).startswith("model 10\nother 20\nthird 30\n")


def test_a_paragraph_continues_in_the_next_column() -> None:
    lines = [line("the left column ends within", 100), line("the same sentence on the right", 700, left=320)]
    assert with_separators(lines)[0] == "the left column ends within "


def test_a_heading_in_larger_type_stands_alone() -> None:
    lines = [line("1 Introduction", 700, size=14), line("The text of the section begins", 686)]
    assert with_separators(lines)[0] == "1 Introduction\n\n"


def test_a_sentence_continues_after_its_large_initial() -> None:
    lines = [line("AN IMPORTANT class of problems", 700, size=14), line("in communication and control is", 688)]
    assert with_separators(lines)[0] == "AN IMPORTANT class of problems "


def test_lines_without_positions_keep_their_ends() -> None:
    assert with_separators([Line("one two-"), Line("three"), Line("Four")]) == ("one two", "three\n", "Four\n")


def test_chinese_lines_are_joined_without_a_space() -> None:
    lines = [line("这是一个很长的句子没有", 700, right=200), line("结束因为它继续下去到这", 688, right=200)]
    assert with_separators(lines)[0] == "这是一个很长的句子没有"


def test_a_sentence_that_begins_with_large_words_is_not_a_title() -> None:
    lines = [line("AN IMPORTANT class of theoretical and practical", 700, size=14)]
    assert title_in([*lines, *(line("problems in communication", 688 - 12 * n) for n in range(5))]) == ""
    assert title_in([*lines, *(line("by R. E. Kalman", 688 - 12 * n) for n in range(5))]) == lines[0].text


def test_a_page_in_one_type_size_has_no_title() -> None:
    assert title_in([line("Body text of one size", 700), line("and more of it", 688)]) == ""
    assert title_in([]) == ""


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
    assert choose_title((junk,), "") == ""


def test_the_stamp_of_a_repository_is_removed_from_the_title() -> None:
    assert choose_title(("[inria-00555588, v1] A comprehensive study",), "") == "A comprehensive study"
    assert choose_title(("[inria-00555588, v1]",), "Its first line") == "Its first line"
    assert choose_title(("[Draft] A comprehensive study",), "") == "[Draft] A comprehensive study"


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
    assert choose_title(("",), "word " * 100 + "\nLate line") == ""


def test_odd_and_even_pages_may_have_different_running_heads() -> None:
    pages = [[("Left head\n" if n % 2 else f"{n} Right head\n"), f"text {chr(97 + n)}\n", "end\n"] for n in range(12)]
    assert without_running_lines(pages)[3] == ["text d\n"]


def test_a_line_that_repeats_on_few_pages_stays() -> None:
    pages = [
        [f"Chapter {n}\n" if n % 3 == 0 else f"{chr(97 + n)} words\n", "more\n", f"{chr(97 + n)}\n"] for n in range(12)
    ]
    assert without_running_lines(pages) == pages


def test_rows_of_numbers_are_not_running_heads() -> None:
    pages = [[f"{n} {n} {n} {n}\n", f"row {chr(97 + n)}\n", f"end {chr(97 + n)}\n"] for n in range(12)]
    assert without_running_lines(pages) == pages


@given(st.lists(st.text(alphabet="ab.\n ", max_size=6)))
def test_each_page_stands_at_its_start_in_the_joined_text(pages: list[str]) -> None:
    text, starts = join_pages(pages)
    assert len(starts) == max(1, len(pages)) if pages else starts == (0,)
    for index, page in enumerate(pages):
        stop = starts[index + 1] if index + 1 < len(starts) else len(text)
        assert text[starts[index] : stop].startswith(page)
        assert text[starts[index] : stop].removeprefix(page) in ("", "\n", "\n\n")


def test_garbage_is_distinguished_from_text() -> None:
    assert garbage_share("A plain sentence with words, and f(x) = y\ufffe2 too.") == 0
    assert garbage_share("\x16\x17\x18\x15\x11 \x19\x1a\x11\x12\x1b \x04\x14\x11\x04\x1a\x1c" * 2) > UNREADABLE_SHARE
    assert garbage_share("DEG\x98FI]HK\x8dJML¥¢ONP§ \x9aFQ¯°F ¨I`R\x06TS #UW³V>") == 1
    assert garbage_share("short \x01") == 0
    assert garbage_share("A figure \x01\x02\x03 in a page of sound words and sentences") < DOUBTFUL_SHARE


def test_ligatures_of_old_tex_fonts_are_spelled_out() -> None:
    raw = "A uni\x0ced theory of e\x0bective \row where \x0b is a symbol"
    assert has_tex_ligatures(raw)
    assert with_tex_ligatures(raw) == "A unified theory of effective flow where \x0b is a symbol"
    assert not has_tex_ligatures("Copyright \rc 2008 and \x0b alone")


def test_glyph_numbers_are_turned_into_letters() -> None:
    assert with_glyph_numbers("/65 /98/114/105/101/102 /12/110") == "A brief fin"
    assert with_glyph_numbers("a path /10/20 in a sentence of words") == "a path /10/20 in a sentence of words"


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
