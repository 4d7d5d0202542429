"""A word is found in its other spellings: British and American, with and without signs and umlauts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.languages.spelling import other_spelling, respelt

BRITISH = [
    "colour", "colours", "coloured", "neighbourhood", "favourite", "behavioural", "labourer", "organise", "organised",
    "organisation", "analyse", "analysing", "centre", "theatres", "fibre", "licence", "licensing", "defence",
    "offences", "dialogue", "catalogues", "anaemia", "haemoglobin", "paediatric", "artefacts", "grey", "mouldy",
    "programme", "sceptical", "sulphur", "judgement",
]  # fmt: skip
AMERICAN = [
    "color", "colors", "colored", "neighborhood", "favorite", "behavioral", "laborer", "organize", "organized",
    "organization", "analyze", "analyzing", "center", "theaters", "fiber", "license", "licencing", "defense",
    "offenses", "dialog", "catalogs", "anemia", "hemoglobin", "pediatric", "artifacts", "gray", "moldy", "program",
    "skeptical", "sulfur", "judgment",
]  # fmt: skip


@pytest.mark.parametrize(("british", "american"), zip(BRITISH, AMERICAN, strict=True))
def test_a_word_has_its_spelling_of_the_other_side(british: str, american: str) -> None:
    assert other_spelling(british) == american
    assert other_spelling(american.capitalize()) == british


@pytest.mark.parametrize("word", ["for", "four", "our", "tour", "scour", "score", "scored", "hour", "dog", "rise"])
def test_two_words_are_never_taken_for_two_spellings(word: str) -> None:
    assert other_spelling(word) == ""


@given(st.text())
def test_any_text_has_another_spelling_or_none(text: str) -> None:
    assert not text or other_spelling(text) != text


@pytest.mark.parametrize(
    ("typed", "others"),
    [
        ("O'Brien", ["OBrien"]),
        ("OBrien", ["O'Brien"]),
        ("dArtagnan", ["d'Artagnan"]),
        ("e-mail", ["email"]),
        ("U.S.A.", ["USA"]),
        ("a.txt", []),
        ("Jones'", []),
        ("Müller", ["mueller"]),
        ("Mu\u0308ller", ["mueller"]),
        ("Mueller", ["muller"]),
        ("Quelle", []),  # ue behind q is no ü
        ("naïve", []),
    ],
)
def test_a_word_is_spelt_as_others_type_it(typed: str, others: list[str]) -> None:
    assert list(respelt(typed, ("de", "en"))) == others


def test_two_letters_are_an_umlaut_only_where_a_language_has_them() -> None:
    assert respelt("Mueller", ("en", "fr")) == ()
