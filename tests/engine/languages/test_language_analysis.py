"""Words of any language as the word index takes them: what is indexed is found, and English stays as it is."""

import re
import unicodedata

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.languages.analysis import MADE, analysed, folded, made
from longsearch.engine.languages.scripts import UNSPACED_RUN

_TEXTS = {
    "de": "Die Häuser der Gärtner standen größer da als die Straßen.",
    "fr": "Les élèves ont aimé les leçons données à l'école.",
    "ru": "Книги лежали на полках старых библиотек.",
    "ar": "الكُتُب في المكتبات القديمة",
    "hi": "किताबें पुस्तकालयों में हिन्दी भाषा की हैं",
    "ja": "東大寺の仏像では、大仏の高さは約15メートルである。",
    "th": "ประเทศไทยมีภูเขาและทะเลที่สวยงาม",
    "km": "ព្រះរាជាណាចក្រកម្ពុជា",
    "my": "မြန်မာနိုင်ငံသည် အရှေ့တောင်အာရှတွင် ရှိသည်။",
    "ko": "한국어를 배우는 학생들이 많다.",
    "he": "הספרים בספריות הישנות",
    "el": "Τα βιβλία στις παλιές βιβλιοθήκες",
}


def tokens(text: str) -> list[str]:
    """The words that FTS5's tokenizer takes out of a text."""
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')")
    db.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, instance)")
    db.execute("INSERT INTO words VALUES (?)", (text,))
    return [row[0] for row in db.execute('SELECT term FROM vocabulary ORDER BY "offset"')]


@given(
    st.text(alphabet=st.characters(max_codepoint=0x24F, exclude_characters="+#.-§²³¹µ"), max_size=80),
    st.sampled_from(["", "en"]),
)
def test_english_text_is_left_as_it_is(text: str, language: str) -> None:
    assert analysed(text, language) == text


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("he", ["ספרים", "הספרים", "והספרים", "שבספרים", "לספרים"]),  # books; the, and the, that in, to
        ("bn", ["বাংলাদেশ", "বাংলাদেশের", "বাংলাদেশে"]),  # Bangladesh; of, in
    ],
)
def test_forms_of_a_hebrew_and_of_a_bengali_word_are_one_word(language: str, words: list[str]) -> None:
    assert len({made(word, language) for word in words}) == 1


def test_a_short_hebrew_word_keeps_its_letters() -> None:
    assert made("של", "he") == "של" + MADE
    assert made("הבית", "he") == made("בית", "he")


@pytest.mark.parametrize("language", sorted(_TEXTS))
def test_every_word_made_passes_fts5s_tokenizer_unchanged(language: str) -> None:
    words = re.findall(r"[^\s.,'、。၊။]+", analysed(_TEXTS[language], language))
    assert len(words) >= 3
    assert tokens(" ".join(words)) == words


@given(
    st.text(alphabet=st.characters(categories=["L", "M", "N"]), min_size=1, max_size=12),
    st.sampled_from(sorted(_TEXTS)),
)
def test_no_word_of_any_script_is_torn_or_changed_by_fts5(word: str, language: str) -> None:
    for piece in analysed(word, language).split():
        if piece.endswith(MADE):
            assert tokens(piece) == [piece]


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", ["Haus", "Häuser", "Häusern", "hauser"]),
        ("fr", ["leçon", "leçons", "LECONS"]),
        ("ru", ["книга", "книги", "Книгой"]),
        ("es", ["canción", "canciones"]),
        ("ar", ["كتاب", "كِتَاب"]),
        ("pl", ["książka", "książki", "ksiazki"]),
        ("tr", ["İstanbul", "istanbul"]),
        ("vi", ["tiếng", "tieng"]),
        ("uk", ["книги", "книга"]),
    ],
)
def test_forms_of_one_word_become_one_word(language: str, forms: list[str]) -> None:
    assert len({made(form, language) for form in forms}) == 1


def test_a_run_without_spaces_becomes_pairs_and_its_last_character() -> None:
    assert analysed("東大寺", "ja").split() == ["東大", "大寺", "寺"]
    assert analysed("see 東大寺 in Nara", "en").split() == ["see", "東大", "大寺", "寺", "in", "Nara"]


def test_signs_stay_with_their_letters_in_pairs() -> None:
    thai = analysed("ที่นี่", "th").split()
    assert len(thai) == 2  # a pair of letters with their vowels and tones, and the last letter
    assert all(len(tokens(word)) == 1 for word in thai)


def test_numbers_and_words_of_another_script_are_left_to_fts5() -> None:
    assert analysed("15 Computers", "ja").split() == ["15", "Computers"]
    assert analysed("covid19 2021", "de").split() == ["covid19", "2021"]
    assert analysed("книга", "de") == "книга"


@given(st.text(max_size=60))
def test_any_text_can_be_analysed_in_any_language(text: str) -> None:
    for language in ("", "en", "de", "ja", "hi", "xx"):
        analysed(text, language)


@given(st.text(min_size=1, max_size=30))
def test_folding_twice_changes_nothing(word: str) -> None:
    once = folded(word)
    assert folded(once) == once or any(unicodedata.category(sign)[0] == "L" for sign in once)


def test_full_width_and_half_width_forms_are_one() -> None:
    assert analysed("ｶﾀｶﾅ", "ja").split() == analysed("カタカナ", "ja").split()
    assert UNSPACED_RUN.fullmatch("ｶﾀｶﾅ")
