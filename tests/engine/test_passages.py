"""Documents are cut without overlaps or gaps, where a reader would cut them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.passages import MAX_TOKENS, MIN_TOKENS, cut_excerpts, cut_passages
from longsearch.engine.types.documents import Passage
from tests.engine.tiny_models import BUNDLED, byte_level_bpe

WORDS = TextTokenizer.load(BUNDLED)
BYTES = TextTokenizer(byte_level_bpe(), None)
BYTES_WITH_SPACES = TextTokenizer(byte_level_bpe(trim_offsets=False), None)

_CLAUSE = st.sampled_from(
    ["the state of the model is carried on", "we saw e.g. Fig. 3", "Dr. Smith et al. (2024) say so", "è vero", "x^2"]
)
_END = st.sampled_from([". ", "! ", "?\n", ".\n\n", "\n", "\n\n", " \n \n  ", ", ", "。", "\t", "\x1c", "\u2003"])
_CJK = st.text("文書全体読。、", max_size=80)
TEXTS = st.one_of(
    st.lists(st.one_of(_CLAUSE, _END, _CJK), max_size=200).map("".join),
    st.lists(st.tuples(_CLAUSE, _END), max_size=120).map(lambda pairs: "".join(a + b for a, b in pairs)),
    st.text(max_size=1500),
    st.text(" \n\t\u00a0", max_size=600),
)


def place_words(text: str) -> NDArray[np.int64]:
    """Return the starts of tokens, where each run of non-space characters is a token that can be counted by eye."""
    starts = [i for i, c in enumerate(text) if not c.isspace() and (i == 0 or text[i - 1].isspace())]
    return np.array(starts, dtype=np.int64)


def cut(text: str) -> list[Passage]:
    return cut_passages(text, place_words(text))


def shown(text: str) -> list[str]:
    return [text[p.start : p.stop] for p in cut(text)]


def sentences(*lengths: int) -> list[str]:
    """Return numbered sentences of these numbers of words."""
    return [f"Sentence{i} " + "word " * (n - 2) + "end." for i, n in enumerate(lengths)]


@pytest.mark.parametrize("tokenizer", [WORDS, BYTES, BYTES_WITH_SPACES], ids=["word pieces", "bytes", "with spaces"])
@settings(max_examples=60)
@given(text=TEXTS)
def test_passages_tile_any_text(tokenizer: TextTokenizer, text: str) -> None:
    tokens = tokenizer.tokenize(text)
    passages = cut_passages(text, tokens.starts)
    assert passages == cut_passages(text, tokens.starts)
    borders = [0, *(offset for p in passages for offset in (p.start, p.stop)), len(text)]
    assert borders == sorted(borders)
    if len(tokens):
        left_out = "".join(text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True))
        assert not left_out.strip()
    for p in passages:
        assert text[p.start : p.stop] == text[p.start : p.stop].strip() != ""
        assert 1 <= p.n_tokens <= 200
    assert all(p.n_tokens <= MAX_TOKENS for p in passages[:-1])
    n_tokens = sum(p.n_tokens for p in passages)
    assert n_tokens <= len(tokens)
    # a long run of white space may fill a passage, which is left out
    if text.strip() and not re.search(r"\s{12}", text):
        assert n_tokens == len(tokens)


@settings(max_examples=60)
@given(lengths=st.lists(st.integers(2, 60), max_size=60))
def test_in_prose_every_passage_consists_of_whole_sentences(lengths: list[int]) -> None:
    text = " ".join(sentences(*lengths))
    passages = cut(text)
    for p in passages:
        assert text[p.start :].startswith("Sentence")
        assert text[: p.stop].endswith("end.")
    assert sum(p.n_tokens for p in passages) == sum(lengths)
    assert all(MIN_TOKENS <= p.n_tokens <= MAX_TOKENS for p in passages[:-1])


def test_a_text_without_tokens_has_no_passages() -> None:
    assert cut_passages("", np.empty(0, np.int64)) == []
    assert cut_passages(" \n ", np.empty(0, np.int64)) == []


def test_a_short_text_is_one_passage_without_the_space_around_it() -> None:
    assert cut("\n  two words \n") == [Passage(3, 12, 2)]


def test_a_passage_ends_at_a_paragraph_rather_than_at_a_later_sentence() -> None:
    text = " ".join(sentences(60, 60)) + "\n\n" + " ".join(sentences(20, 60))
    assert [p.n_tokens for p in cut(text)] == [120, 80]


def test_a_passage_ends_at_a_sentence_rather_than_at_a_later_line() -> None:
    text = " ".join(sentences(60, 60)) + " " + "And so on\n" * 40
    assert [p.n_tokens for p in cut(text)] == [120, 120]


def test_a_text_with_hard_line_breaks_is_cut_at_its_sentences() -> None:
    words = " ".join(sentences(*[37] * 12)).split()
    text = "\n".join(" ".join(words[i : i + 10]) for i in range(0, len(words), 10))
    assert all(part.startswith("Sentence") and part.endswith("end.") for part in shown(text))


def test_a_text_without_sentences_is_cut_at_its_lines() -> None:
    text = "\n".join(f"row {i} 0.5 0.25 97" for i in range(100))
    assert all(part.startswith("row ") and part.endswith(" 97") for part in shown(text))


def test_a_text_without_any_ends_is_cut_every_160_tokens() -> None:
    assert [p.n_tokens for p in cut("word " * 500)] == [160, 160, 180]


def test_a_heading_belongs_to_the_text_after_it() -> None:
    text = " ".join(sentences(60, 60)) + "\n\n2 Related Work\n\n2.1 Embedders\n\n" + " ".join(sentences(60, 60))
    first, second = shown(text)
    assert first.endswith("end.")
    assert second.startswith("2 Related Work")


@pytest.mark.parametrize(
    "dots",
    [
        "See e.g. Fig. 3 of it",
        "As Dr. Smith and Prof. Jones and Mrs. Doe hold",
        "By Wang et al. (2024) and others",
        "In Eq. 4 and Sec. 5 and No. 7 there",
        "Of Albert Q. Jiang and A. B. Sablayrolles here",
        "Yet cf. Table 2 and pp. 36 onward",
    ],
)
def test_an_abbreviation_ends_no_sentence(dots: str) -> None:
    text = " ".join([*sentences(110), dots, "word " * 80])
    assert shown(text)[0].endswith("end.")


def test_the_number_of_a_list_item_stays_with_the_item() -> None:
    text = " ".join(sentences(100)) + "\n" + "\n".join(f"{i}. Item of a list" for i in range(1, 30))
    assert not any(part.endswith(tuple(f"\n{i}." for i in range(1, 30))) for part in shown(text))


@pytest.mark.parametrize("end", ["end.", "end?", "end!", 'end."', "end.)", "end.”", "end…", "end.*"])
def test_a_passage_ends_after_any_kind_of_sentence_end(end: str) -> None:
    text = "word " * 119 + f"{end} Next " + "word " * 100
    assert shown(text)[0].endswith(end)


def test_chinese_and_japanese_sentences_need_no_space_after_them() -> None:
    text = "".join(f"これは文書の{i}番目の文です。" for i in range(100))
    tokens = WORDS.tokenize(text)
    passages = cut_passages(text, tokens.starts)
    assert len(passages) > 5
    assert all(text[: p.stop].endswith("。") for p in passages)


def test_a_tail_of_few_tokens_joins_the_passage_before() -> None:
    assert [p.n_tokens for p in cut("word " * (160 + 39))] == [199]
    assert [p.n_tokens for p in cut("word " * (160 + 40))] == [160, 40]


def test_characters_before_the_first_token_belong_to_the_first_passage() -> None:
    (passage,) = cut_passages("\u200b\u200bword", np.array([2], dtype=np.int64))
    assert (passage.start, passage.stop) == (0, 6)


def test_long_runs_of_white_space_take_linear_time() -> None:
    text = ("word" + "\n" * 5_000 + "." + " \n" * 5_000 + "." + " " * 20_000 + "x" + '."' + ")" * 20_000) * 5
    assert len(cut(text)) == 1


def test_a_hard_cut_falls_between_words() -> None:
    text = "antidisestablishmentarianism " * 100
    tokens = WORDS.tokenize(text)
    passages = cut_passages(text, tokens.starts)
    assert len(passages) > 3
    assert all(set(text[p.start : p.stop].split()) == {"antidisestablishmentarianism"} for p in passages)


def excerpts(text: str) -> list[str]:
    return [text[start:stop] for start, stop in cut_excerpts(text)]


@settings(max_examples=60)
@given(text=TEXTS)
def test_excerpts_tile_any_text(text: str) -> None:
    cuts = cut_excerpts(text)
    borders = [0, *(offset for cut_ in cuts for offset in cut_), len(text)]
    assert borders == sorted(borders)
    if re.search(r"\w", text):
        assert not "".join(text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True)).strip()
    assert all(text[start:stop] == text[start:stop].strip() != "" for start, stop in cuts)


def test_sentences_of_13_to_26_words_are_the_excerpts() -> None:
    parts = sentences(14, 20, 25)
    assert excerpts(" ".join(parts)) == parts


def test_short_sentences_share_an_excerpt_and_a_long_sentence_has_several() -> None:
    short, long = sentences(4, 4, 4), "A long one goes on " + "and on " * 30 + "to its end."
    assert excerpts(" ".join(short)) == [" ".join(short)]
    assert len(excerpts(long)) > 2
    assert " ".join(excerpts(long)) == long


def test_punctuation_marks_count_as_words_so_code_has_several_excerpts() -> None:
    code = "\n".join(f"x[{i}] = f(x[{i - 1}], y[{i}])" for i in range(12))
    assert len(excerpts(code)) > 4
    assert all(part.startswith("x[") and part.endswith("])") for part in excerpts(code))


def test_a_text_without_words_has_no_excerpts() -> None:
    assert cut_excerpts("") == cut_excerpts(" \n ") == []
