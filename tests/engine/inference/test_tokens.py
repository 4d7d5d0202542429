"""Tokenising in pieces gives the tokens of the whole text, and the offset of every token is right."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from longsearch.engine.inference import tokens as tokens_module
from longsearch.engine.inference.tokens import PIECE_CHARACTERS, TextTokenizer, pieces
from tests.engine.tiny_models import BUNDLED, EOS, PROSE, byte_level_bpe

WORD_PIECES = TextTokenizer.load(BUNDLED)
BYTES = TextTokenizer(byte_level_bpe(), None)
BYTES_WITH_SPACES = TextTokenizer(byte_level_bpe(trim_offsets=False), None)
EACH = pytest.mark.parametrize(
    "tokenizer", [WORD_PIECES, BYTES, BYTES_WITH_SPACES], ids=["word pieces", "bytes", "bytes with spaces"]
)

_ASCII = st.sampled_from(PROSE.split(" ")) | st.sampled_from(["it's", "don't", "x+y=z", "3.14", "(see", "e.g.,", "a"])
_OTHER = st.sampled_from(
    ["naïve", "e\u0301te\u0301", "文書を読む", "Ωμέγα", "🙂🙃", "a\u200bb", "\ufffd", "ﬁn", "İ", "ß"]
)
_SURROGATES = st.text(st.characters(categories=["Cs"]) | st.just("x"), min_size=1, max_size=3)
_SPACES = st.sampled_from([" ", " ", " ", "  ", "\n", "\n\n", " \n ", "\t", "\u00a0", "\r\n"])
TEXTS = st.lists(st.tuples(_ASCII | _OTHER | _SURROGATES, _SPACES), max_size=60).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)
SIZES = st.tuples(st.integers(1, 40), st.integers(1, 30))


@contextmanager
def small_pieces(size: int, window: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_module, "pieces", partial(pieces, size=size, window=window))
        yield


def is_cut_where_tokenizers_cut(text: str, size: int, window: int) -> bool:
    """Return whether every cut is before a space that follows a visible character."""
    return all(text[stop].isspace() and not text[stop - 1].isspace() for _, stop in pieces(text, size, window)[:-1])


@given(st.text(max_size=300), SIZES)
def test_pieces_tile_any_text(text: str, sizes: tuple[int, int]) -> None:
    spans = pieces(text, *sizes)
    assert "".join(text[start:stop] for start, stop in spans) == text
    assert all(0 < stop - start <= sum(sizes) for start, stop in spans)


@EACH
@settings(max_examples=150)
@given(text=TEXTS, sizes=SIZES)
def test_pieces_give_the_tokens_of_the_whole_text(tokenizer: TextTokenizer, text: str, sizes: tuple[int, int]) -> None:
    whole = tokenizer.tokenize(text)
    if not is_cut_where_tokenizers_cut(text, *sizes):
        sizes = (sizes[0], len(text))  # a window that surely has a place to cut, or no cut at all
    with small_pieces(*sizes):
        parts = tokenizer.tokenize(text)
    assert parts.ids.tolist() == whole.ids.tolist()
    # a blank token may begin at its start or at its end, depending on its neighbours; it is never shown alone
    blank = [not tokenizer.tokenizer.decode([i]).strip() for i in whole.ids.tolist()]
    assert parts.starts[np.logical_not(blank)].tolist() == whole.starts[np.logical_not(blank)].tolist()


@EACH
@settings(max_examples=60)
@given(text=st.text("abc文🙂é\ud800", min_size=50, max_size=300), sizes=SIZES)
def test_in_a_text_without_spaces_tokens_may_differ_but_no_text_is_lost(
    tokenizer: TextTokenizer, text: str, sizes: tuple[int, int]
) -> None:
    with small_pieces(*sizes):
        parts = tokenizer.tokenize(text)
    assert parts.starts.tolist() == sorted(parts.starts.tolist())
    if tokenizer is not WORD_PIECES:  # it lower-cases and strips accents, which cannot be undone
        assert parts.starts[0] == 0
        assert tokenizer.tokenizer.decode(parts.ids.tolist()) == text.replace("\ud800", "\ufffd")


@EACH
@settings(max_examples=80)
@given(text=TEXTS, sizes=SIZES)
def test_a_token_begins_with_the_text_at_its_offset(
    tokenizer: TextTokenizer, text: str, sizes: tuple[int, int]
) -> None:
    with small_pieces(*sizes):
        tokens = tokenizer.tokenize(text)
    assert tokens.starts.tolist() == sorted(tokens.starts.tolist())
    for token_id, start in zip(tokens.ids.tolist(), tokens.starts.tolist(), strict=True):
        token = str(tokenizer.tokenizer.id_to_token(token_id)).removeprefix("##").removeprefix("Ġ")
        if token.isascii() and token.isalnum():
            begun = text[start : start + len(token)].lower()  # WordPiece lower-cases
            assert begun.startswith(token.lower()) or not begun.isascii()  # or strips the accent: é is e


@EACH
def test_every_word_of_prose_begins_a_token(tokenizer: TextTokenizer) -> None:
    starts = set(tokenizer.tokenize(PROSE).starts.tolist())
    words = {i for i, c in enumerate(PROSE) if not c.isspace() and (i == 0 or PROSE[i - 1].isspace())}
    assert words <= starts


@EACH
def test_a_long_text_is_tokenised_in_pieces(tokenizer: TextTokenizer) -> None:
    text = PROSE * 20
    assert len(pieces(text)) == -(-len(text) // PIECE_CHARACTERS)
    once = tokenizer.tokenize(PROSE)
    many = tokenizer.tokenize(text)
    assert len(many) == 20 * len(once)
    assert many.starts[-len(once) :].tolist() == (once.starts + 19 * len(PROSE)).tolist()


@EACH
def test_a_long_text_without_spaces_is_tokenised(tokenizer: TextTokenizer) -> None:
    assert len(tokenizer.tokenize("abc" * 100_000)) > 0


def test_only_the_first_three_of_a_run_of_equal_signs_are_kept() -> None:
    text = "Values " + "." * 90 + " 3\nOptions " + ". " * 40 + "4"
    tokens = WORD_PIECES.tokenize(text)
    characters = [text[start] for start in tokens.starts.tolist()]
    assert characters == ["V", ".", ".", ".", "3", "O", ".", ".", ".", "4"]
    assert tokens.starts[4] == text.index("3")


class _Characters:
    """A tokenizer of which each character is a token."""

    def encode(self, text: str, add_special_tokens: bool) -> SimpleNamespace:
        return SimpleNamespace(ids=list(map(ord, text)), offsets=[(at, at + 1) for at in range(len(text))])


CHARACTERS = TextTokenizer(_Characters(), None)


@given(st.text(".-a ", max_size=40))
def test_only_a_sign_equal_to_the_three_before_it_is_dropped(text: str) -> None:
    kept = CHARACTERS.tokenize(text)
    places = [i for i, c in enumerate(text) if i < 3 or c in "a " or text[i - 3 : i] != 3 * c]
    assert kept.starts.tolist() == places
    assert kept.ids.tolist() == [ord(text[i]) for i in places]


@EACH
def test_lone_surrogates_are_read_as_replacement_characters(tokenizer: TextTokenizer) -> None:
    broken, clean = tokenizer.tokenize("one \ud800\udfff two\udce9"), tokenizer.tokenize("one \ufffd\ufffd two\ufffd")
    assert broken.ids.tolist() == clean.ids.tolist()
    assert broken.starts.tolist() == clean.starts.tolist()


@EACH
@pytest.mark.parametrize("text", ["", " ", "\n \t"])
def test_a_text_without_words_has_no_tokens_or_only_blank_ones(tokenizer: TextTokenizer, text: str) -> None:
    tokens = tokenizer.tokenize(text)
    assert len(tokens) == len(tokens.ids) == len(tokens.starts)
    assert tokenizer is not WORD_PIECES or not len(tokens)


def test_the_name_of_a_special_token_in_a_text_is_plain_text() -> None:
    end = BYTES.tokenizer.token_to_id(EOS)
    assert end is not None
    assert end not in BYTES.tokenize(f"one {EOS} two").ids
    separator = WORD_PIECES.tokenizer.token_to_id("[SEP]")
    assert separator not in WORD_PIECES.tokenize("a [SEP] b [CLS]").ids


def test_no_special_tokens_are_added() -> None:
    assert WORD_PIECES.tokenizer.decode(WORD_PIECES.tokenize("Hello world").ids.tolist()) == "hello world"
    assert len(WORD_PIECES.tokenize("hello world")) == 2


def test_the_vocabulary_size_is_above_every_id_even_with_gaps() -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "word": 7, "b": 90}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.normalizer = normalizers.Lowercase()
    assert TextTokenizer(tokenizer, None).vocabulary_size == 91
