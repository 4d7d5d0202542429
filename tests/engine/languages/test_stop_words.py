"""Stop words of languages other than English: which language a question is in, and what is left of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.languages.scripts import SPACED_WORD
from longsearch.engine.languages.stop_words import STOP_WORDS, language_of_question, without_article
from longsearch.engine.query_language.query import in_languages, parse

CODES = ("de", "fr", "it", "ru")


def left(text: str, codes: tuple[str, ...], prefix_last: bool = False) -> list[str]:
    return [term.text for term in in_languages(parse(text, prefix_last), codes).words]


def test_every_stop_word_is_one_word_in_small_letters() -> None:
    for code, words in STOP_WORDS.items():
        assert all(word == word.casefold() for word in words), code
        assert all(SPACED_WORD.fullmatch(word) and not any(map(str.isdigit, word)) for word in words), code


@pytest.mark.parametrize(
    ("question", "among", "language"),
    [
        ("wer hat die brücke gebaut", ("de", "fr"), "de"),
        ("quelle est la hauteur du pont", ("de", "fr"), "fr"),
        ("quelle est la hauteur", ("de",), ""),
        ("who built the bridge in rome", ("de", "en", "it"), ""),
        ("die casting", ("de", "en"), ""),
        ("die brücke", ("de",), "de"),
        ("il ponte e la torre", ("en", "it"), "it"),
        ("भारत की राजधानी क्या है", ("hi", "en"), "hi"),
        ("বাংলাদেশের রাজধানী কোথায়", ("bn",), "bn"),
        ("ποιος έχτισε τη γέφυρα", ("el", "en"), "el"),
        ("bridge", CODES, ""),
        ("", CODES, ""),
    ],
)
def test_a_question_is_in_the_language_of_most_of_its_stop_words(
    question: str, among: tuple[str, ...], language: str
) -> None:
    assert language_of_question(question, among) == language


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What do the letters ICAO stand for?", ["letters", "ICAO", "stand"]),
        ("dog scratches can cause what...", ["dog", "scratches", "cause"]),
        ("was bedeutet die Brücke für?", ["bedeutet", "Brücke"]),
        ("Is C++ an A+?", ["C++", "A+?"]),
    ],
)
def test_a_mark_at_the_end_of_a_question_hides_no_stop_word(question: str, words: list[str]) -> None:
    assert left(question, ("de", "en")) == words


@pytest.mark.parametrize(
    ("word", "language", "bare"),
    [
        ("l'histoire", "fr", "histoire"),
        ("L’Église", "fr", "Église"),
        ("qu'il", "fr", "il"),
        ("aujourd'hui", "fr", "aujourd'hui"),
        ("dell'Ottocento", "it", "Ottocento"),
        ("l'histoire", "de", "l'histoire"),
        ("l'", "fr", "l'"),
    ],
)
def test_an_elided_article_is_no_part_of_a_word(word: str, language: str, bare: str) -> None:
    assert without_article(word, language) == bare


def test_stop_words_of_the_questions_language_are_not_looked_up() -> None:
    assert left("quelle est l'histoire de l'Église", ("fr",)) == ["histoire", "Église"]
    assert left("wer hat die Brücke gebaut", ("de", "en")) == ["Brücke", "gebaut"]
    assert left("Кто построил этот мост", ("ru",)) == ["построил", "мост"]


def test_stop_words_are_known_by_their_small_letters_and_with_their_vowel_signs() -> None:
    assert left("ΠΏΣ ΚΑΙ πώς έγινε", ("el",)) == ["έγινε"]
    assert left("भारत की राजधानी क्या है", ("hi",)) == ["भारत", "राजधानी"]


def test_stop_words_are_looked_up_if_nothing_else_is_left_or_if_the_index_does_not_speak_their_language() -> None:
    assert left("où est il", ("fr",)) == ["où", "est", "il"]
    assert left("der die das", ("de",)) == ["der", "die", "das"]
    assert left("wer hat die Brücke gebaut", ("en",)) == ["wer", "hat", "die", "Brücke", "gebaut"]


def test_a_word_that_is_still_being_typed_is_looked_up() -> None:
    assert left("die Brücke was wer", ("de",), prefix_last=True)[-1] == "wer"


def test_phrases_and_exclusions_keep_their_stop_words() -> None:
    query = in_languages(parse('wer sah "die Brücke" -der'), ("de",))
    assert [term.text for term in query.phrases] == ["die Brücke"]
    assert [term.text for term in query.excluded] == ["der"]
    assert [term.text for term in query.words] == ["sah"]


@given(st.text(max_size=60))
def test_any_text_keeps_a_word_if_it_had_one(text: str) -> None:
    query = parse(f"x {text}")
    assert in_languages(query, CODES).words
