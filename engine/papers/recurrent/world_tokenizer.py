"""RWKV's "World" tokenizer: at each place it takes the longest token that matches the bytes ahead.

RWKV's models are published with a vocabulary file and Python code that reads it. longsearch runs no code of models;
this module reads the file. Knows no model.
"""

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np

END_OF_TEXT = 0
"""The id that no text contains."""
_ONE_BYTE = (1,)


class WorldEncoding(NamedTuple):
    """The tokens of a text, in the fields of `tokenizers.Encoding`."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    """For each token the offset of its first character and one past its last."""


class WorldTokenizer:
    """A tokenizer of byte strings. A token may end inside a character: then the next token begins at that character."""

    end_of_text = END_OF_TEXT

    def __init__(self, vocabulary: dict[bytes, int]) -> None:
        """Raises ValueError for a vocabulary without all 256 bytes: some texts would have no tokens."""
        lacking = [byte for byte in range(256) if bytes([byte]) not in vocabulary]
        if lacking:
            raise ValueError(f"the vocabulary lacks {len(lacking)} of the 256 bytes")
        self._ids = vocabulary
        self._lengths = _lengths(vocabulary)

    @classmethod
    def from_file(cls, path: Path) -> "WorldTokenizer":
        """Read lines of an id, a Python literal of text or bytes, and its length.

        Raises OSError, ValueError and SyntaxError.
        """
        vocabulary: dict[bytes, int] = {}
        for line in path.read_text("utf-8").split("\n"):
            if not line.strip():
                continue
            number, literal = line.rstrip("\r").rsplit(" ", 1)[0].split(" ", 1)
            token = ast.literal_eval(literal.strip())
            vocabulary[token if isinstance(token, bytes) else str(token).encode()] = int(number)
        return cls(vocabulary)

    def encode(self, text: str, add_special_tokens: bool = False) -> WorldEncoding:
        """Return the tokens of `text`. There are no special tokens."""
        data, ids, stops = text.encode(), [], []
        ids_of, lengths, place = self._ids, self._lengths, 0
        while place < len(data):
            for length in lengths.get(data[place : place + 2], _ONE_BYTE):
                token = data[place : place + length]
                if token in ids_of:
                    break
            ids.append(ids_of[token])
            place += len(token)
            stops.append(place)
        return WorldEncoding(ids, _characters(data, stops))

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token. An unknown name such as "<|endoftext|>" stands for the end of text."""
        named = token.startswith("<|") and token.endswith("|>")
        return self._ids.get(token.encode(), END_OF_TEXT if named else None)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return the ids of all tokens by their text. Bytes that are not UTF-8 become backslash escapes."""
        return {token.decode("utf-8", "backslashreplace"): number for token, number in self._ids.items()}


def _lengths(vocabulary: dict[bytes, int]) -> dict[bytes, tuple[int, ...]]:
    """Return the lengths of the tokens that begin with the same two bytes, longest first, so few are tried."""
    by_start: dict[bytes, set[int]] = {}
    for token in vocabulary:
        by_start.setdefault(token[:2], {1}).add(len(token))
    return {start: tuple(sorted(lengths, reverse=True)) for start, lengths in by_start.items()}


def _characters(data: bytes, stops: list[int]) -> list[tuple[int, int]]:
    """Return the spans of tokens in characters; `stops` are their ends in bytes."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80  # true at the first byte of each character
    before = np.concatenate(([0], np.cumsum(begins)))  # how many characters begin before each byte
    starts = np.array([0, *stops[:-1]] if stops else [], dtype=np.int64)
    return list(
        zip((before[starts] - ~begins[starts]).tolist(), before[np.array(stops, dtype=np.int64)].tolist(), strict=True)
    )
