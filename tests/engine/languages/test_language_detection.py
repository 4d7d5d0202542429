"""The language of a text."""

import pytest

from longsearch.engine.languages.detection import forget_model, is_plainly_english, language_of
from longsearch.engine.languages.names import code_of, name_of

_SENTENCES = {
    "de": "Der Vertrag kann von beiden Seiten mit einer Frist von drei Monaten schriftlich gekündigt werden.",
    "fr": "Le contrat peut être résilié par écrit par les deux parties avec un préavis de trois mois.",
    "es": "El contrato puede ser rescindido por escrito por ambas partes con un preaviso de tres meses.",
    "ru": "Договор может быть расторгнут обеими сторонами в письменной форме за три месяца.",
    "uk": "Договір може бути розірваний обома сторонами у письмовій формі за три місяці.",
    "zh": "双方均可提前三个月以书面形式终止本合同。",
    "ja": "この契約は、三か月前に書面で通知することにより解除できます。",
    "ko": "이 계약은 양측이 3개월 전에 서면으로 통지하여 해지할 수 있다.",
    "th": "สัญญานี้อาจถูกยกเลิกเป็นลายลักษณ์อักษรโดยทั้งสองฝ่าย",
    "ar": "يمكن لأي من الطرفين إنهاء العقد كتابيا بإشعار مدته ثلاثة أشهر.",
    "hi": "कोई भी पक्ष तीन महीने की सूचना देकर अनुबंध समाप्त कर सकता है।",
    "en": "Either party may end the contract in writing with a notice period of three months.",
}


@pytest.mark.parametrize("language", sorted(_SENTENCES))
def test_a_sentence_is_enough_to_name_its_language(language: str) -> None:
    assert language_of(_SENTENCES[language]) == language


@pytest.mark.parametrize("text", ["", "42", "3.14 2.71 1.41 " * 50, "!!!", "\udcff", "x = 1"])
def test_a_text_that_is_no_language_has_none(text: str) -> None:
    assert language_of(text) == ""


def test_most_of_a_long_text_decides() -> None:
    assert language_of(_SENTENCES["en"] * 5 + _SENTENCES["de"] * 60) == "de"
    assert language_of(_SENTENCES["de"] * 5 + _SENTENCES["en"] * 60) == "en"


def test_plain_english_needs_no_model() -> None:
    english = "The state of the model is carried from one slice of the text to the next, and that is all of it. "
    assert is_plainly_english(english * 3)
    assert not any(is_plainly_english(sentence * 5) for code, sentence in _SENTENCES.items() if code != "en")
    assert not is_plainly_english(_SENTENCES["zh"] * 4 + " the and of to with" * 5)


def test_the_model_is_loaded_again_after_it_was_forgotten() -> None:
    forget_model()
    assert language_of(_SENTENCES["fr"]) == "fr"


@pytest.mark.parametrize("typed", ["de", "DE", "German", "german ", "GERMAN"])
def test_a_language_is_typed_as_code_or_name(typed: str) -> None:
    assert code_of(typed) == "de"


def test_a_language_without_a_known_name_has_its_code() -> None:
    assert (name_of("de"), name_of("gcf"), name_of(""), code_of("Klingon")) == ("German", "gcf", "unknown", "klingon")
