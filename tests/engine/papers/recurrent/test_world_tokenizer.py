"""RWKV's World tokenizer, compared with a slow reference."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.tokens import TextTokenizer, pieces
from longsearch.engine.models.hub import WORLD_VOCABULARY
from longsearch.engine.papers.recurrent.world_tokenizer import END_OF_TEXT, WorldTokenizer
from tests.engine.tiny_models import PROSE, world_vocabulary

VOCABULARY = {bytes([byte]): byte + 1 for byte in range(256)} | {
    word.encode(): 257 + i
    for i, word in enumerate(["ab", "abc", " the", " them", "é", "éa", "文", "文書", "\n\n", "    ", "it's", " 'tis"])
}
TEXTS = st.text(st.sampled_from("abc the'mis\n é文書🙂") | st.characters(exclude_categories=["Cs"]), max_size=80)


def slow(text: str) -> list[int]:
    """Search the whole vocabulary at each place."""
    data, ids = text.encode(), []
    while data:
        token = max((token for token in VOCABULARY if data.startswith(token)), key=len)
        ids.append(VOCABULARY[token])
        data = data[len(token) :]
    return ids


@given(TEXTS)
def test_the_longest_token_is_taken_at_each_place(text: str) -> None:
    assert WorldTokenizer(VOCABULARY).encode(text).ids == slow(text)


@given(TEXTS)
def test_offsets_are_the_characters_that_a_token_touches(text: str) -> None:
    encoding = WorldTokenizer(VOCABULARY).encode(text)
    tokens = {number: token for token, number in VOCABULARY.items()}
    place = 0
    for number, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True):
        begin, place = place, place + len(tokens[number])
        assert text[:start].encode() == text.encode()[: len(text[:start].encode())]
        assert len(text[:start].encode()) <= begin < len(text[: start + 1].encode())
        assert len(text[: stop - 1].encode()) < place <= len(text[:stop].encode())


def test_a_vocabulary_is_read_from_its_file(tmp_path: Path) -> None:
    path = world_vocabulary(tmp_path, ["ab", " the", "it's", 'say "no"', "文書", "\n\n"])
    read = WorldTokenizer.from_file(path)
    for i, text in enumerate(["ab", " the", "it's", 'say "no"', "文書", "\n\n"]):
        assert read.encode(text).ids == [257 + i]
    assert read.encode("\xe9").ids == [0xC3 + 1, 0xA9 + 1]
    assert read.token_to_id("ab") == 257
    assert read.token_to_id("<|rwkv_tokenizer_end_of_text|>") == END_OF_TEXT
    assert read.token_to_id("unheard of") is None
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert WorldTokenizer.from_file(path).encode(" the\n\n").ids == [258, 262]


@pytest.mark.parametrize("content", ["", "1 'a' 1\n", "1", "x 'a' 1\n", "1 open('/etc/passwd') 1\n", "\0"])
def test_an_invalid_vocabulary_file_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / WORLD_VOCABULARY).write_text(content)
    with pytest.raises(ModelError, match="cannot read the tokenizer"):
        TextTokenizer.load(tmp_path)


def test_the_pieces_of_a_long_text_give_the_tokens_of_the_whole() -> None:
    text, tokenizer = PROSE * 20, WorldTokenizer(VOCABULARY)
    assert len(pieces(text)) > 1
    made, whole = TextTokenizer(tokenizer, None).tokenize(text), tokenizer.encode(text)
    assert made.ids.tolist() == whole.ids
    spans = [(start, text[start:stop]) for start, stop in whole.offsets]
    # a token begins at its first visible character; one of white space alone begins where it stands
    words = [start + (len(token) - len(token.lstrip()) if token.strip() else 0) for start, token in spans]
    assert made.starts.tolist() == words
