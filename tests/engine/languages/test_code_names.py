"""The words in the names of programs, which FTS5 takes for one word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.languages.document_words import indexed, parts_of_names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("DiffExecutor", ["diff", "executor"]),
        ("HTMLParser, parseHTML", ["html", "parser", "parse"]),
        ("utf8Decoder Int8Linear", ["utf", "decoder", "int", "linear"]),
        ("setX", ["set"]),
        ("PDFs and URLs of NASA, Executor, snake_case, UPPER_CASE, Über", []),
        ("a" * 30 + "B" + "c" * 40, []),
        ("", []),
    ],
)
def test_a_code_name_has_its_words_as_parts(text: str, parts: list[str]) -> None:
    assert parts_of_names(text) == parts


@given(st.text(alphabet="abzABZ059_ é.東", max_size=60))
def test_parts_are_distinct_pieces_of_the_text_in_small_letters(text: str) -> None:
    parts = parts_of_names(text)
    assert len(set(parts)) == len(parts)
    assert all(part in text.lower() and part == part.lower() and len(part) > 1 for part in parts)


def test_the_parts_follow_the_text_so_that_phrases_stay_whole() -> None:
    assert indexed("call getUserName first", "en") == "call getUserName first get user name"
    assert indexed("Call it first.", "en") == "Call it first."
