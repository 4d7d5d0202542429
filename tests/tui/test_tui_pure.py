"""Pure functions of display: texts that fit, words of a query, snippets, lit lines, the strip."""

import re
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.style import Style

from longsearch.engine.amounts import duration, quantity
from longsearch.engine.query_language.query import MAX_TERMS, parse
from longsearch.engine.types.documents import DocumentText, Heading, Mark
from longsearch.engine.types.results import Term
from longsearch.tui.text.display import bar, below_home, clip, shorten_middle, shown
from longsearch.tui.text.highlight import NO_WORDS, Highlighter, MarksOf, Span, runs, word_pattern
from longsearch.tui.text.place import find_place
from longsearch.tui.text.result_content import snippet
from longsearch.tui.text.text_layout import TextLayout
from longsearch.tui.widgets.preview import as_marked
from longsearch.tui.widgets.relevance_strip import strip_rows

VALVE = Highlighter([Term("valve")])
ANY = st.text(max_size=60) | st.text(alphabet="a漢é/. \u0301\u202e\x1b", max_size=60)


# Display


@given(ANY)
def test_shown_text_is_one_line_without_control_characters(text: str) -> None:
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown(text))


@given(ANY, st.integers(0, 40))
def test_clipped_and_shortened_texts_fit(text: str, width: int) -> None:
    assert cell_len(clip(shown(text), width)) <= width
    assert cell_len(shorten_middle(shown(text), width)) <= width


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (40, "reports/2011/final/unit-2.pdf"),
        (24, "reports/2011…/unit-2.pdf"),
        (12, "…/unit-2.pdf"),
        (10, "uni…-2.pdf"),
        (1, "…"),
        (0, ""),
    ],
)
def test_a_long_path_is_cut_in_its_middle(width: int, expected: str) -> None:
    assert shorten_middle("reports/2011/final/unit-2.pdf", width) == expected


@pytest.mark.parametrize(
    ("home", "path", "expected"),
    [
        ("/home/ada", "/home/ada/papers", "~/papers"),
        ("/home/ada", "/home/ada", "~"),
        ("/home/ada", "/home/adam/papers", "/home/adam/papers"),
        ("/", "/srv/papers", "/srv/papers"),
    ],
)
def test_a_path_below_home_begins_with_a_tilde(home, path, expected, monkeypatch):
    monkeypatch.setenv("HOME", home)
    assert below_home(path) == expected


@given(st.floats(allow_nan=False), st.integers(0, 20))
def test_a_bar_has_its_width_for_any_share(share: float, width: int) -> None:
    full, rest = bar(share, width)
    assert len(full + rest) == width


def test_quantities_and_durations_are_short() -> None:
    assert [quantity(n) for n in (0, 999, 1_000, 12_400, 310_000, 3_100_000, 2_000_000_000)] == [
        "0", "999", "1.0k", "12.4k", "310k", "3.1M", "2.0G",
    ]  # fmt: skip
    assert [duration(s) for s in (0.2, 40, 720, 3_600, 12_000, 86_400 * 2 + 3_600)] == [
        "1 s", "40 s", "12 min", "1 h", "3 h 20 min", "2 d 1 h",
    ]  # fmt: skip


# Words of a query


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("why did the valve fail", "The valve failed; Valves fail, valveless", ["valve", "failed", "Valves", "fail"]),
        ('"loss of coolant" pump', "a LOSS of\ncoolant, coolant loss, pumps", ["LOSS of\ncoolant", "pumps"]),
        ("cooling -turbine -\"hot leg\" “pump a”", "cooling turbine hot leg pump a", ["cooling", "pump a"]),
        ("rea", "reactors reach an area", ["reactors", "reach"]),
        ("rea ", "reactors", []),
        ("to be or not", "not to be bold", ["not", "to", "be"]),
        ("state-of-the-art", "State of the art, the state", ["State of the art"]),
        ("c++ it's", "c and c++ and it's", ["c", "c", "it's"]),
        ("Qβ 漢字", "qβ これは漢字です", ["qβ", "漢字"]),
        ("user name", "getUserName user_name username NAMES", ["User", "Name", "user", "name", "NAMES"]),
        ("executor ", "DiffExecutor, ExecutorsMap, executorships", ["Executor", "Executors"]),
        ('"user"', "getUserName user", ["user"]),
        ("licence colour", "a License, licensed; the color red", ["License", "licensed", "color"]),
        ('"licence"', "a license, a licence", ["licence"]),
        ('"unfinished phr', "an unfinished phr", ["unfinished phr"]),
        ('rent in:law -in:"old drafts" type:pdf lease', "law rent old drafts pdf lease", ["rent", "lease"]),
    ],
)  # fmt: skip
def test_the_words_and_phrases_of_a_query_are_found_in_any_case(query: str, text: str, found: list[str]) -> None:
    pattern = word_pattern(parse(query, prefix_last=True).terms)
    assert pattern is not None
    assert pattern.findall(text) == found


@pytest.mark.parametrize("terms", [(), (Term("?!"),), (Term("?!", is_phrase=True),)])
def test_terms_without_words_highlight_nothing(terms: tuple[Term, ...]) -> None:
    assert word_pattern(terms) is None


@given(st.lists(st.builds(Term, ANY, st.booleans(), st.booleans())))
def test_a_term_is_highlighted_where_it_stands_alone(terms: list[Term]) -> None:
    for term in terms:
        text = f"before {term.text} after"
        start, stop = ((match := re.search(r"\w(?:.*\w)?", term.text, re.DOTALL)) and match.span()) or (0, 0)
        covered = {at for place in Highlighter(terms).places(text) for at in range(*place)}
        assert {len("before ") + start, len("before ") + stop - 1} <= covered or start == stop


def test_a_pasted_page_highlights_only_its_first_words() -> None:
    pattern = word_pattern(parse(" ".join(f"word{n}" for n in range(1_000))).terms)
    assert pattern is not None
    assert pattern.pattern.count("|") == MAX_TERMS - 1


# Snippets


def test_a_snippet_begins_with_the_passage_if_the_query_word_fits() -> None:
    assert snippet("The valve stayed open for two hours.", VALVE, 20, 2) == ["The valve stayed", "open for two hours."]


def test_a_snippet_begins_shortly_before_a_late_query_word() -> None:
    lines = snippet("nothing here " * 30 + "then the valve stayed open", VALVE, 40, 1)
    assert lines == ["…nothing here then the valve stayed open"]


@given(ANY, st.integers(2, 30), st.integers(1, 3))
def test_a_snippet_fits(passage: str, width: int, n_lines: int) -> None:
    lines = snippet(passage * 5, Highlighter([Term("a")]), width, n_lines)
    assert len(lines) <= n_lines
    assert all(cell_len(line) <= width for line in lines)


# Lit lines and the strip


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20), st.integers(0, 19)), max_size=5),
    st.integers(0, 40),
    st.integers(0, 20),
)
def test_runs_cover_the_line_and_say_which_passage_lights_each_character(
    given_spans: list[tuple[int, int, int]], start: int, length: int
) -> None:
    text = "a b " * 15
    spans = [Span(low, low + size, 0.5, (low + min(lead, size), low + size)) for low, size, lead in given_spans]
    stop = min(start + length, len(text))
    pieces = runs(text, start, stop, spans, 0, Highlighter([Term("b")]))
    assert "".join(text[piece.start : piece.stop] for piece in pieces) == text[start:stop]
    for piece in pieces:
        for offset in range(piece.start, piece.stop):
            over = [index for index, span in enumerate(spans) if span.start <= offset < span.stop]
            assert piece.passage == (over[0] if over else None)
            assert piece.is_word is (text[offset] == "b")
            first, last = spans[0].excerpt or (0, 0) if spans else (0, 0)
            assert piece.is_excerpt is (first <= offset < last)


def test_the_current_passage_lies_on_top() -> None:
    spans = [Span(0, 10, 0.5), Span(5, 8, 0.4)]
    assert [piece.passage for piece in runs("x" * 10, 0, 10, spans, 1, NO_WORDS)] == [0, 1, 0]


def test_only_the_current_passages_excerpt_is_lit() -> None:
    spans = [Span(0, 10, 0.5, (2, 4)), Span(12, 20, 0.4, (15, 18))]
    for current, excerpt in ((0, (2, 4)), (1, (15, 18))):
        lit = [piece for piece in runs("x" * 30, 0, 30, spans, current, NO_WORDS) if piece.is_excerpt]
        assert [(piece.start, piece.stop, piece.passage) for piece in lit] == [(*excerpt, current)]
    assert not any(piece.is_excerpt for piece in runs("x" * 30, 0, 30, spans, -1, NO_WORDS))


def test_each_character_has_the_mark_that_begins_last_and_notes_on_no_words_have_none() -> None:
    long, short, note = Mark("highlight", 2, 20), Mark("underline", 6, 8), Mark("note", 9, 9)
    marks = MarksOf(DocumentText("x" * 30, (), "", marks=(long, short, note)))
    assert (marks.between(7, 9), marks.between(19, 30), marks.between(0, 2)) == ([long, short], [long], [])
    pieces = runs("x" * 30, 5, 10, [], -1, NO_WORDS, marks=marks.between(5, 10))
    assert [(piece.start, piece.stop, piece.mark) for piece in pieces] == [(5, 6, long), (6, 8, short), (8, 10, long)]


def test_marks_look_as_they_do_on_paper() -> None:
    ground = Style(color="#eeeeee", bgcolor="#101010")
    assert as_marked(Mark("highlight", 0, 1, color="#ffd400"), ground).bgcolor == RichColor.parse("#63540a")
    assert as_marked(Mark("strikeout", 0, 1, color="#ff0000"), ground).strike
    assert as_marked(Mark("underline", 0, 1, color="#0000ff"), ground) == Style(underline=True, color="#0000ff")
    assert as_marked(Mark("comment", 0, 1), ground) == Style(underline=True)


def test_a_heading_is_bold_where_the_text_says_it_and_not_where_a_bookmark_has_other_words() -> None:
    text = "Introduction\n\nThe valve failed.\n\n2. How it\nfailed\n\nIt stuck."
    headings = (Heading(1, "Introduction", 0), Heading(1, "2. How it failed", 33), Heading(1, "What it cost", 51))
    marks = MarksOf(DocumentText(text, (), "", headings))
    lines = ((0, 12), (14, 31), (33, 43), (43, 49), (51, 60))
    said = [[text[mark.start : mark.stop] for mark in marks.between(*line)] for line in lines]
    assert said == [["Introduction"], [], ["2. How it\nfailed"], ["2. How it\nfailed"], []]
    (mark,) = marks.between(0, 12)
    assert as_marked(mark, Style()) == Style(bold=True)


def test_the_strip_shows_where_the_passages_are() -> None:
    spans = [Span(0, 10, 0.5), Span(55, 60, 0.9), Span(99, 100, 0.2)]
    rows = strip_rows(spans, 1, 100, (50, 70), 5)
    assert [(row.upper, row.lower) for row in rows] == [(1, 0), (0, 0), (0, 1), (0, 0), (0, 1)]
    assert [row.current for row in rows] == [False, False, True, False, False]
    assert [row.on_screen for row in rows] == [False, False, True, True, False]


@given(st.lists(st.integers(0, 999), max_size=4), st.integers(0, 1_000), st.integers(0, 30))
def test_a_strip_has_its_height_and_shows_every_passage(starts: list[int], length: int, height: int) -> None:
    rows = strip_rows([Span(start, start + 1, 0.5) for start in starts], 0, length, (0, 0), height)
    assert len(rows) == height
    assert not starts or not height or any(row.current for row in rows)


def test_the_heading_names_the_page_of_the_sentence_that_answers() -> None:
    document = DocumentText("The answer.\n\nWhat follows, on the next page.", (0, 13), "")
    place = find_place(
        document, TextLayout(document.text, 40, array("i", (0, 12, 13))), [Span(0, 44, 1.0, (0, 11))], 0, 0, 5
    )
    assert place.page == 1
