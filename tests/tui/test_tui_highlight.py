"""The query's words are lit in texts of other languages, in every form that the search finds."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.query_language.query import parse
from longsearch.tui.text.highlight import Span, highlighter, runs, word_pattern
from longsearch.tui.text.result_content import snippet
from longsearch.tui.text.wording import with_language

_LANGUAGES = ("de", "en", "ja", "ru", "th")


def lit(query: str, text: str, languages: tuple[str, ...] = _LANGUAGES) -> list[str]:
    return [text[slice(*place)] for place in highlighter(parse(query).terms, languages).places(text)]


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("Vertrag", "Die Verträge und der Vertrag, nicht vertraut", ["Verträge", "Vertrag"]),
        ("verträge", "Der VERTRAG", ["VERTRAG"]),
        ("книга", "Книги лежали рядом с книгой", ["Книги", "книгой"]),
        ("東大寺の大仏", "奈良の東大寺には大仏がある", ["東大寺", "大仏"]),
        ("寺", "東大寺", ["寺"]),
        ("บ้าน", "เก็บไว้ในบ้านของเมือง", ["บ้าน"]),
        ("valves Häuser", "the valve of a Haus", ["valve", "Haus"]),
        ('"東大寺"', "大寺 東大寺", ["東大寺"]),
        ('"東大寺の大仏"', "奈良の東大寺の大仏がある東大寺", ["東大寺の大仏"]),
        ('"ติดตั้งระบบ"', "วิธีการติดตั้งระบบและการติดตั้ง", ["ติดตั้งระบบ"]),
        ('"Linux の本"', "このLinuxの本", ["Linuxの本"]),
        ("e-mail", "an email or an e-mail", ["email", "e-mail"]),
        ("Mueller", "Müller und Mueller", ["Müller", "Mueller"]),
        ("OBrien", "O'Brien, OBrien, Brien", ["O'Brien", "OBrien"]),
    ],
)
def test_words_are_lit_by_their_stems_and_by_shared_characters(query: str, text: str, found: list[str]) -> None:
    assert lit(query, text) == found


def test_an_english_index_has_its_plain_pattern() -> None:
    text, terms = "Valves of houses; das Haus, der Verträge", parse("valve house vertrag").terms
    pattern = word_pattern(terms)
    assert pattern is not None
    for languages in (("", "en"), ()):
        assert highlighter(terms, languages).places(text) == [match.span() for match in pattern.finditer(text)]
    assert len(highlighter(terms, ("de",)).places(text)) == len(highlighter(terms, ()).places(text)) + 1


def test_common_endings_in_kana_are_lit_only_if_the_query_has_nothing_else() -> None:
    assert lit("大仏について", "像について") == []
    assert lit("について", "像について") == ["について"]


@given(st.text(max_size=30), st.text(max_size=60), st.integers(0, 20), st.integers(0, 60))
def test_places_are_in_order_apart_and_inside(query: str, text: str, start: int, stop: int) -> None:
    terms = parse(f"漢字 Wort {query}").terms
    places = highlighter(terms, _LANGUAGES).places(text, start, stop)
    assert places == sorted(places)
    assert all(start <= first < last <= max(stop, start) for first, last in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))


def test_lines_and_snippets_take_them_as_they_take_a_pattern() -> None:
    words = highlighter(parse("Vertrag").terms, _LANGUAGES)
    text = "Alle Verträge gelten."
    lit_runs = [
        text[run.start : run.stop] for run in runs(text, 0, len(text), [Span(0, 21, 1.0)], 0, words) if run.is_word
    ]
    assert lit_runs == ["Verträge"]
    assert snippet("nichts davon " * 30 + "die Verträge bleiben", words, 40, 1) == [
        "…davon nichts davon die Verträge bleiben"
    ]


def test_the_heading_names_a_language_that_is_not_english() -> None:
    assert with_language("Vertrag", "de") == "Vertrag · German"
    assert with_language("Contract", "en") == with_language("Contract", "") == "Contract"
