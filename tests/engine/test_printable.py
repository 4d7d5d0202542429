"""No character that controls a terminal passes `printable`."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.printable import condensed, printable

HOSTILE = st.text(
    st.one_of(
        st.characters(), st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), st.sampled_from("\x1b[]31m\t\n")
    )
)


@given(HOSTILE)
def test_no_control_surrogate_or_format_character_ever_comes_out(text: str) -> None:
    assert not {unicodedata.category(c) for c in printable(text)} & {"Cc", "Cs", "Cf", "Zl", "Zp"}


@given(HOSTILE)
def test_printable_text_can_be_encoded_and_stays_the_same(text: str) -> None:
    once = printable(text)
    once.encode("utf-8")
    assert printable(once) == once


@given(HOSTILE)
def test_only_the_characters_to_keep_are_kept(text: str) -> None:
    kept = printable(text, keep="\n")
    assert kept.count("\n") == text.count("\n")
    assert {c for c in kept if unicodedata.category(c) in ("Cc", "Cs", "Cf")} <= {"\n"}


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S"]) | st.just(" ")))
def test_safe_text_is_not_changed(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("\x9b2J", "\ufffd2J"),
        ("evil\u202etxt.exe", "evil\ufffdtxt.exe"),
        ("caf\udce9.pdf", "caf\ufffd.pdf"),
        ("so\u00adft", "soft"),
        ("a\tb", "a b"),
        ("two\u2028lines", "two\ufffdlines"),
        ("", ""),
    ],
)
def test_known_attacks_become_harmless(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_condensed_collapses_white_space_and_shortens_runs_of_one_mark() -> None:
    assert condensed("Values\n ........ 3\nOptions . . . . 4") == "Values … 3 Options … 4"
    assert condensed("Name: ______  a -> b ... wait!!! <==>") == "Name: … a -> b ... wait!!! <==>"
    assert condensed("=" * 90 + " aaaaaa 0000") == "… aaaaaa 0000"


@given(st.text(".-_ a\n"))
def test_condensed_loses_no_word_and_never_lengthens_the_text(text: str) -> None:
    assert len(condensed(text)) <= len(text)
    assert condensed(text).count("a") == text.count("a")
