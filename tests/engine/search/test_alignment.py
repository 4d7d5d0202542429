"""A quotation is found in a text whose letters differ a little, and the fast way finds what the slow way finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.search.quotations.alignment import best_spans, normal_form, normal_text


def distance(first: str, second: str) -> int:
    """Return the edits between two texts, letter by letter."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        before, row = row, [number]
        for place, other in enumerate(second, start=1):
            row.append(min(before[place - 1] + (letter != other), before[place] + 1, row[-1] + 1))
    return row[-1]


def fewest_edits(quote: str, text: str) -> int:
    """Return the edits between the quotation and the nearest piece of the text, by trying every piece."""
    pieces = (text[first:last] for first in range(len(text) + 1) for last in range(first, len(text) + 1))
    return min(distance(quote, piece) for piece in pieces)


letters = st.text("abc d", max_size=12)


@given(st.text("abc d", min_size=1, max_size=6), st.lists(letters, min_size=1, max_size=3))
def test_the_nearest_piece_has_the_fewest_edits_of_all_pieces(quote: str, texts: list[str]) -> None:
    for text, match in zip(texts, best_spans(quote, texts), strict=True):
        assert match.n_edits == fewest_edits(quote, text)
        assert 0 <= match.first <= match.last <= len(text)
        assert distance(quote, text[match.first : match.last]) == match.n_edits


def test_an_exact_piece_is_found_where_it_stands() -> None:
    (match,) = best_spans("the valve", ["when the valve failed, the valve stuck"])
    assert (match.first, match.last, match.n_edits) == (5, 14, 0)


def test_nothing_is_found_in_no_text_and_an_empty_quotation_is_refused() -> None:
    assert best_spans("a", []) == []
    assert best_spans("ab", [""])[0].n_edits == 2
    with pytest.raises(ValueError, match="empty"):
        best_spans("", ["a"])


@pytest.mark.parametrize(
    ("printed", "plain"),
    [
        ("The “ﬁrst” valve — it’s open", "the first valve it s open"),
        ("infor-\nmation, infor- mation", "information information"),
        ("two\u2010year-old", "twoyearold"),
        ("café cafe\u0301", "cafe cafe"),
        ("Ｗｉｄｅ  Ⅻ", "wide xii"),
        ("Straße", "strasse"),
        ("  … !? ", ""),
        ("soft\u00adware", "software"),
        ("a\ud800b \U0001f600 c", "a b c"),
    ],
)
def test_the_normal_form_has_only_letters_and_digits(printed: str, plain: str) -> None:
    assert normal_form(printed).text == plain


@given(st.text(max_size=30) | st.text("a-\n \u00ad.é\u0301ﬁ", max_size=30))
def test_each_character_of_the_normal_form_knows_its_place(text: str) -> None:
    found = normal_form(text)
    assert found.text == normal_text(text)
    assert len(found.places) == len(found.text)
    assert found.places == sorted(found.places)
    assert all(0 <= place < len(text) for place in found.places)
    if found.text:
        start, stop = found.span(0, len(found.text))
        assert normal_form(text[start:stop]).text == found.text
