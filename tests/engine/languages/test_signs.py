"""Signs that tell names apart are words of the index."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.languages.document_words import indexed
from longsearch.engine.languages.signs import as_typed, with_signs
from longsearch.engine.store import keywords


def tokens(text: str) -> list[str]:
    """The words of a text as the word index cuts it."""
    return keywords.tokenizer(apsw.Connection(":memory:"))(indexed(text, "en").encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C++", "C#"), ("C#", "C"), ("A+", "A"), ("A+", "A-"), ("F#", "F"), (".NET", "net"), ("§ 5", "5")],
)
def test_names_that_differ_by_a_sign_are_different_words(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++,", "c++"), ("(C++)", "C++"), ("C♯", "C#"), ("§5", "§ 5"), ("5 µm", "5 μm"), ("H₂O", "H2O"), ("m²", "m2")],
)
def test_two_spellings_of_one_sign_are_the_same_words(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_a_longer_name_is_found_without_its_sign_too() -> None:
    assert tokens("Notepad++")[0] == tokens("Notepad")[0]
    assert tokens("C++17") == [*tokens("C++"), "17"]


@pytest.mark.parametrize(
    "text", ["a+b", "18+ only", "x-ray", "ends here.Next", "issue#12", "ASP.NET", "and so on ...but"]
)
def test_a_sign_that_makes_no_name_changes_nothing(text: str) -> None:
    assert with_signs(text) == text


@given(st.text(alphabet=st.sampled_from("aAbC+#.-§♯−²µ₂ 1,\n\u2060"), max_size=40))
def test_signs_are_made_once(text: str) -> None:
    once = with_signs(text)
    assert with_signs(once) == once
    assert set(as_typed(once)).isdisjoint(map(chr, range(0xE003, 0xE008)))
