"""Wrapping: properties of every wrapped text, and agreement with a slow, obvious implementation."""

import itertools
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from longsearch.tui.text.display import shown
from longsearch.tui.text.text_layout import MAX_LINE_CHARACTERS, TextLayout, soft_newlines, wrap, wrap_near

ODD = "ab \u00e9\u6f22\u5b57e\u0301\U0001f600\n\n\t-\x1b\u200b\u00ad\ufe0f\udc80."
TEXTS = st.text(alphabet=ODD, max_size=120) | st.text(max_size=80) | st.text(alphabet="abc  \n", max_size=300)
WIDTHS_IN_CELLS = st.integers(min_value=2, max_value=50)


def lines_of(layout: TextLayout) -> list[str]:
    return [layout.text[slice(*layout.span(line))] for line in range(len(layout))]


def width_of(text: str) -> int:
    return sum(cell_len(shown(character)) for character in text)


def obvious_wrap(text: str, width: int) -> list[str]:
    """Wrap paragraph by paragraph, character by character: the slow twin of `wrap`."""
    soft = dict(soft_newlines(text))
    lines, paragraph = [], ""
    for offset, character in enumerate(text):
        paragraph += character
        if character == "\n" and not soft[offset]:
            lines += obvious_lines(paragraph, width)
            paragraph = ""
    if paragraph or not text or text.endswith("\n"):
        lines += obvious_lines(paragraph, width)
    return lines


def obvious_lines(paragraph: str, width: int) -> list[str]:
    lines = []
    while True:
        n_fitting = 0
        while n_fitting < len(paragraph) and width_of(paragraph[: n_fitting + 1]) <= width:
            n_fitting += 1
        if n_fitting >= len(paragraph):
            return [*lines, paragraph]
        breaks = [index for index in range(n_fitting + 1) if paragraph[index] in " \n\t"]
        cut = breaks[-1] + 1 if breaks else n_fitting
        lines.append(paragraph[:cut])
        paragraph = paragraph[cut:]
        if not paragraph:
            return lines


@given(TEXTS, WIDTHS_IN_CELLS)
@example("", 5)
@example("\n", 5)
@example("a" * 40 + "\nb", 10)
def test_the_lines_joined_are_the_text(text: str, width: int) -> None:
    assert "".join(lines_of(wrap(text, width))) == text


@given(TEXTS, WIDTHS_IN_CELLS)
def test_no_line_is_wider_than_the_width_except_for_its_final_space(text: str, width: int) -> None:
    for line in lines_of(wrap(text, width)):
        seen = line[:-1] if line and line[-1] in " \n\t" else line
        assert width_of(seen) <= width
        assert cell_len(shown(seen)) <= width  # as the terminal shows it


@given(TEXTS, WIDTHS_IN_CELLS)
def test_line_at_finds_the_line_that_contains_the_offset(text: str, width: int) -> None:
    layout = wrap(text, width)
    for offset in range(len(text)):
        start, stop = layout.span(layout.line_at(offset))
        assert start <= offset < stop
    for line in range(len(layout)):
        start, stop = layout.span(line)
        assert start == stop or layout.line_at(start) == line


@given(TEXTS, WIDTHS_IN_CELLS)
def test_wrap_agrees_with_the_slow_implementation(text: str, width: int) -> None:
    assert lines_of(wrap(text, width)) == obvious_wrap(text, width)


@given(st.text(alphabet="ab \n", max_size=200), st.integers(0, 200), st.integers(0, 30))
@example("ab\n", 200, 0)
def test_wrap_near_keeps_the_whole_text(text: str, offset: int, reach: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("longsearch.tui.text.text_layout.REACH", reach)
        near = wrap_near(text, 7, offset)
    assert "".join(lines_of(near)) == text
    assert list(near.starts) == sorted(set(near.starts))


@given(st.lists(st.text(alphabet="abc ", max_size=12), max_size=30), st.integers(0, 300))
def test_wrap_near_wraps_like_wrap_between_line_ends(lines: list[str], offset: int) -> None:
    text = "\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("longsearch.tui.text.text_layout.REACH", 20)
        near = wrap_near(text, 7, offset)
    whole = wrap(text, 7)
    if offset < len(text):
        assert near.span(near.line_at(offset)) == whole.span(whole.line_at(offset))


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert lines_of(wrap("aaaaaaa bb", 3)) == ["aaa", "aaa", "a ", "bb"]


def test_wide_characters_take_two_cells() -> None:
    assert lines_of(wrap("漢字漢字漢", 5)) == ["漢字", "漢字", "漢"]


def test_a_combining_accent_stays_with_its_letter() -> None:
    assert lines_of(wrap("ab\u0301c", 2)) == ["ab\u0301", "c"]


def test_characters_without_width_do_not_make_a_line_endless() -> None:
    layout = wrap("a" + "\u0301" * (3 * MAX_LINE_CHARACTERS), 10)
    assert max(stop - start for start, stop in map(layout.span, range(len(layout)))) <= MAX_LINE_CHARACTERS


def test_a_width_below_two_counts_as_two() -> None:
    assert lines_of(wrap("漢字", -3)) == ["漢", "字"]


PROSE = "a line of prose that is about as long as those on a printed page\n"


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        (PROSE + "and goes on behind the end of the line", True),
        (PROSE + "(in brackets too)", True),
        (PROSE + "\nA new paragraph", False),
        (PROSE + "- an item", False),
        (PROSE + "12. an item", False),
        (PROSE + "  an indented line", False),
        ("A heading\nand what follows", False),
        ("Model      12.3  45.6  78.9  10.1  11.2  13.4  15.6  17.8\nOther", False),
        (PROSE + "its last line, which is full enough but shorter.\nThen a new one", False),
    ],
)
def test_only_the_line_breaks_of_a_printed_page_are_soft(text: str, flows: bool) -> None:
    assert list(soft_newlines(text))[-1][1] is flows


def test_soft_line_breaks_are_wrapped_to_the_width() -> None:
    text = "one two three four five six seven eight nine\nten eleven twelve"
    assert lines_of(wrap(text, 60)) == ["one two three four five six seven eight nine\nten eleven ", "twelve"]


SHREDS = "∑=\nn\ni\ni i x y\n1\n= y'x\n"


@pytest.mark.parametrize(
    ("text", "n_lines"),
    [
        ("The variance is\n" + SHREDS + "where all the vectors are real.\n", 3),
        ("\n\n (12)\nand so it goes on", 2),
        ("1\n2\n3\n4\n", 4),
        ("A\nB\nC\n", 3),
        ("x = 1\ny = 2\nz = 3\n", 3),
        ("a ≤ b\nc ≤ d\n", 2),
        ("Yes ±\nLater\nMaybe\n", 3),
    ],
)
def test_a_formula_in_shreds_is_one_line_and_a_column_is_none(text: str, n_lines: int) -> None:
    assert len([line for line in lines_of(wrap(text, 60)) if line]) == n_lines


def test_shreds_are_looked_at_once_however_many_there_are() -> None:
    assert n_calls_to_wrap("12\n" * 8_000) < 4.5 * n_calls_to_wrap("12\n" * 2_000)


def n_calls_to_wrap(text: str) -> int:
    """Return how many functions are called to wrap a text: a measure of the work that no slow machine changes."""
    calls = itertools.count()
    before = sys.getprofile()
    sys.setprofile(lambda *_: next(calls) and None)
    try:
        assert len(wrap(text, 76)) > 1_000
    finally:
        sys.setprofile(before)
    return next(calls)


def test_the_work_to_wrap_a_text_grows_with_its_length_and_no_faster() -> None:
    line = PROSE * 20 + "\n"
    assert n_calls_to_wrap(line * 800) < 4.5 * n_calls_to_wrap(line * 200)
