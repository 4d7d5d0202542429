"""Sentences are cut whole: in wrapped lines, headings, lists, tables, speech and other languages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.sentences import PAGE_BREAK, cut_sentences

MANUAL = """Maintenance of the boiler

The boiler holds at most
80 litres of water, see vol. 2. Press
the valve slowly.
- First, open the tap.
- Then close it
Pressure\t3 bar
Limit\t4 bar
Warranty
The warranty lasts five years from the date on which the goods were
delivered. It covers the pump (cf. Sec. 3). "Why?" he asked.

3
***
"""


def cut(text: str, language: str = "en") -> list[str]:
    return [text[start:stop] for start, stop in cut_sentences(text, language)]


def test_headings_items_rows_and_wrapped_sentences_are_each_one() -> None:
    assert cut(MANUAL) == [
        "Maintenance of the boiler",
        "The boiler holds at most\n80 litres of water, see vol. 2.",
        "Press\nthe valve slowly.",
        "- First, open the tap.",
        "- Then close it",
        "Pressure\t3 bar",
        "Limit\t4 bar",
        "Warranty",
        "The warranty lasts five years from the date on which the goods were\ndelivered.",
        "It covers the pump (cf. Sec. 3).",
        '"Why?" he asked.',
        "3",
    ]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dr. Smith et al. found 3.5 % of U.S. users, e.g. Fig. 3.", "No. 5 is here."]),
        ("de", ["Der 3. Oktober ist z. B. ein Feiertag.", "Am 1. Mai war Prof. Dr. Müller da."]),
        ("de", ["Im 19. Jahrhundert und am 5. Sept. 1920 war es so.", "Die Zahl der Türme ist 12.", "Danach kam er."]),
        (
            "de",
            [
                "Offen ist sie jeden 1. und 3. Samstag für die 1. Klasse bis 4. Klasse.",
                "Dipl.-Ing. Maier von der Fa. Huber ist inkl. Hund da.",
            ],
        ),
        ("fr", ["M. Dupont est parti.", "Où est-il ?"]),
        ("fr", ["Le Dr. Martin, Mme. Curie et le prof. Dupont sont là.", "Il est 12 h."]),
        ("no", ["Den 3. mai kom han, f.eks. med båt.", "Han var nr. 12.", "Så gikk han."]),
        ("it", ["Nacque nel 44 a.C. a Roma.", "Morì nel 14 d.C. a Nola."]),
        ("tr", ["Tahta II. Mehmed geçti.", "19. yüzyılda kuruldu."]),
        ("ar", ["هل هذا صحيح؟", "نعم."]),
        ("hi", ["यह एक वाक्य है।", "दूसरा वाक्य।"]),
    ],
)
def test_abbreviations_and_marks_of_a_language_end_no_sentence_too_soon(language: str, sentences: list[str]) -> None:
    assert cut(" ".join(sentences), language) == sentences


def test_japanese_speech_stays_with_the_verb_that_says_it() -> None:
    assert cut("「本当？」と彼は聞いた。はい。", "ja") == ["「本当？」と彼は聞いた。", "はい。"]


@given(
    st.text(alphabet=st.sampled_from('ab A.\n\t|-1)。「」と ,"é\u0301\U0001d4b3'), max_size=200),
    st.sampled_from(["en", "ja", ""]),
)
def test_sentences_are_in_order_apart_trimmed_and_hold_every_letter(text: str, language: str) -> None:
    spans = cut_sentences(text, language)
    assert all(0 <= start < stop <= len(text) for start, stop in spans)
    assert all(stop <= after for (_, stop), (after, _) in pairwise(spans))
    assert all(text[start:stop] == text[start:stop].strip() for start, stop in spans)
    assert sum(map(str.isalnum, text)) == sum(sum(map(str.isalnum, text[start:stop])) for start, stop in spans)


def test_a_page_ends_what_no_mark_ends_unless_the_next_one_carries_on() -> None:
    slides = f"Two buckets of brown for each of green{PAGE_BREAK}Turning\nTurn the heap every ten days with the fork"
    assert [slides[slice(*span)] for span in cut_sentences(slides)][:2] == [
        "Two buckets of brown for each of green",
        "Turning",
    ]
    for after in ("12", "day heat rain\n3 60 0"):  # the number of the page, and a table on the next one
        ended = f"You may now define the data.\n{PAGE_BREAK}{after}"
        assert ended[slice(*cut_sentences(ended)[0])] == "You may now define the data."
    prose = f"The heap should rise within a day and then{PAGE_BREAK}fall again before the week has ended."
    assert [prose[slice(*span)] for span in cut_sentences(prose)] == [prose]


def test_the_number_and_the_name_of_an_item_are_no_sentence_of_their_own() -> None:
    text = "1. Rent. The rent is due in advance. It is 500 euros.\n\n2. The lease ends. It is not renewed."
    assert [text[start:stop] for start, stop in cut_sentences(text)] == [
        "1. Rent. The rent is due in advance.",
        "It is 500 euros.",
        "2. The lease ends.",
        "It is not renewed.",
    ]


def test_the_number_of_an_item_in_brackets_ends_no_sentence_too_late() -> None:
    text = (
        "(a) The lease ends. The tenant leaves.\n\n(iv) Rent. It is due. It is paid.\n\n(See there. It is so.) He left."
    )
    assert [text[start:stop] for start, stop in cut_sentences(text)] == [
        "(a) The lease ends.",
        "The tenant leaves.",
        "(iv) Rent. It is due.",
        "It is paid.",
        "(See there. It is so.) He left.",
    ]
