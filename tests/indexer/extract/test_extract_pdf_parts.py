"""The pure functions for PDF pages: layout, running heads, text quality, repairs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.indexer.extract.pdf.layout import Line, title_in, with_separators
from longsearch.indexer.extract.pdf.pages import join_pages, line_of_page, without_running_lines
from longsearch.indexer.extract.pdf.quality import DOUBTFUL_SHARE, UNREADABLE_SHARE, garbage_share
from longsearch.indexer.extract.pdf.repair import has_tex_ligatures, with_glyph_numbers, with_tex_ligatures


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


@pytest.mark.parametrize(
    ("line", "close"),
    [
        ("关 于 红 军 作 战 的 原 则", "关于红军作战的原则"),
        ("（ 一 九 三 七 年 八 月 ）", "（一九三七年八月）"),
        ("目 录", "目录"),
        ("联 合 起 来 A B", "联合起来 A B"),
        ("张三 李四 王五", "张三 李四 王五"),  # names in a table
        ("价格是 商品 的货币表现", "价格是 商品 的货币表现"),
        ("아홉 번 고장 났다", "아홉 번 고장 났다"),  # Korean parts its words by spaces
        ("one  two\tthree", "one two three"),
    ],
)
def test_the_characters_of_wide_set_chinese_stand_together(line: str, close: str) -> None:
    assert line_of_page(line) == close


def test_a_sentence_that_begins_with_large_words_is_not_a_title() -> None:
    lines = [line("AN IMPORTANT class of theoretical and practical", 700, size=14)]
    assert title_in([*lines, *(line("problems in communication", 688 - 12 * n) for n in range(5))]) == ""
    assert title_in([*lines, *(line("by R. E. Kalman", 688 - 12 * n) for n in range(5))]) == lines[0].text


def test_a_title_at_the_top_of_the_page_is_found_though_it_is_drawn_last() -> None:
    text = [line(f"the price of line {n} of the text", 600 - 12 * n) for n in range(40)]
    drawn_last = [line("How the Hidden Hand Shapes the Market", 720, size=20), line("Ken Birman", 690)]
    assert title_in([*text, *drawn_last]) == drawn_last[0].text
    assert title_in([*text, line("A figure of large letters", 130, size=20)]) == ""


def test_the_address_of_an_author_in_large_type_is_no_title() -> None:
    text = [line(f"the price of line {n} of the text", 600 - 12 * n) for n in range(9)]
    assert title_in([line("Lov Grover, Murray Hill, lov@bell.example", 700, size=20), *text]) == ""


def test_a_page_in_one_type_size_has_no_title() -> None:
    assert title_in([line("Body text of one size", 700), line("and more of it", 688)]) == ""
    assert title_in([]) == ""


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
