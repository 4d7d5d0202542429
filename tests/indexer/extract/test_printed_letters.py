"""Finding a passage of the index in the raw text of its page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.page_image import Highlight, TextToHighlight
from longsearch.indexer.extract.pdf.repair import has_tex_ligatures, spelled_characters, with_tex_ligatures
from longsearch.indexer.extract.printed.letters import find_texts, letters_of


def found(raw: str, text: str, share: float = 0.0) -> str | None:
    """Return the piece of `raw` that says `text`."""
    (span,) = find_texts(raw, [TextToHighlight(text, share, Highlight.CURRENT)])
    return raw[span[0] : span[1]] if span else None


@pytest.mark.parametrize(
    ("raw", "text", "piece"),
    [
        ("A head\r\nthe valve had\r\nfailed again.", "the valve had failed", "the valve had\r\nfailed"),
        ("more infor-\r\nmation, later", "more information", "more infor-\r\nmation"),
        ("more infor\ufffe\r\nmation, later", "more information", "more infor\ufffe\r\nmation"),
        ("an e\ufb03cient, \ufb01ne way", "efficient, fine", "e\ufb03cient, \ufb01ne"),
        ("a uni\x0ced e\x0bect of it", "unified effect", "uni\x0ced e\x0bect"),
        ("\U0001d465 is 𝑥 of “this”", '"this"', "this"),
        ("Ge\u0301rard   says", "Gérard says", "Ge\u0301rard   says"),
    ],
    ids=["line ends", "hyphen", "pdfium's hyphen", "ligatures", "TeX's ligatures", "beyond the BMP", "accents, spaces"],
)
def test_a_passage_is_found_in_spite_of_print(raw: str, text: str, piece: str) -> None:
    assert found(raw, text) == piece


def test_of_places_that_say_the_same_the_nearest_is_taken() -> None:
    raw = "see below. " + "x" * 50 + " see below. " + "y" * 50
    spans = find_texts(raw, [TextToHighlight("see below", share, Highlight.PASSAGE) for share in (0.0, 0.5)])
    assert [span[0] for span in spans if span] == [0, raw.rindex("see")]


def test_a_few_wrong_letters_do_not_matter_but_other_words_do() -> None:
    raw = "The operators read the 1evel in the pressurizer and conc1uded wrong1y."
    said = "read the 1evel in the pressurizer and conc1uded"
    assert found(raw, "read the level in the pressurizer and concluded") == said
    assert found(raw, "Decay heat went on at six percent of full power") is None


@pytest.mark.parametrize("text", ["", "…", "\x1b[31m", "12" * 9_000])
def test_a_text_that_is_not_on_the_page_is_not_found(text: str) -> None:
    assert found("The page has other words.", text) is None
    assert found("", text) is None


def test_ligatures_are_spelled_as_in_the_index_and_a_line_end_is_no_ligature() -> None:
    raw = "uni\x0ced\r\nof the \x0brst"
    assert has_tex_ligatures(raw)
    assert "".join(spelled_characters(raw)).split("\r\n") == [with_tex_ligatures(line) for line in raw.split("\r\n")]


@given(st.text(max_size=60))
def test_every_letter_has_a_place_in_the_text(raw: str) -> None:
    letters = letters_of(raw)
    assert len(letters.text) == len(letters.places)
    assert all(0 <= place < len(raw) for place in letters.places)
    assert letters.places == sorted(letters.places)
