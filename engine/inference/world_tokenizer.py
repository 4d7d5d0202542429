"""RWKV's "World" tokenizer: at each position it takes the longest token that matches the bytes ahead.

RWKV models are published with a vocabulary file and Python code that reads it. longsearch never runs that code; this
module replaces it. Knows no model.
"""

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np

END_OF_TEXT = 0
"""The id that no text produces."""
_ONE_BYTE = (1,)


class WorldEncoding(NamedTuple):
    """The tokens of a text, with the same attributes as `tokenizers.Encoding`."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    """For each token, the index of its first character and the index after its last character."""


class WorldTokenizer:
    """Byte strings and their ids. A token may end inside a character; the next token then starts at that character."""

    def __init__(self, vocabulary: dict[bytes, int]) -> None:
        """Raises ValueError if the vocabulary lacks a single-byte token: some text would then have no tokens."""
        lacking = [byte for byte in range(256) if bytes([byte]) not in vocabulary]
        if lacking:
            raise ValueError(f"the vocabulary lacks {len(lacking)} of the 256 bytes")
        self._ids = vocabulary
        self._lengths = _lengths(vocabulary)

    @classmethod
    def from_file(cls, path: Path) -> "WorldTokenizer":
        """Read lines of the form "id literal length"; the literal is a Python str or bytes.

        Raises OSError, ValueError or SyntaxError.
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
        """Tokenize `text`, without special tokens."""
        data, ids, stops = text.encode(), [], []
        known, lengths, place = self._ids, self._lengths, 0
        while place < len(data):
            for length in lengths.get(data[place : place + 2], _ONE_BYTE):
                token = data[place : place + length]
                if token in known:
                    break
            ids.append(known[token])
            place += len(token)
            stops.append(place)
        return WorldEncoding(ids, _characters(data, stops))

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token's text, or None. An unknown name of the form "<|name|>" means the end of text."""
        named = token.startswith("<|") and token.endswith("|>")
        return self._ids.get(token.encode(), END_OF_TEXT if named else None)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Map tokens, as text, to ids; bytes that are not UTF-8 become backslash escapes."""
        return {token.decode("utf-8", "backslashreplace"): number for token, number in self._ids.items()}


def _lengths(vocabulary: dict[bytes, int]) -> dict[bytes, tuple[int, ...]]:
    """Map the first two bytes of tokens to the lengths of these tokens, longest first, so that few must be tried."""
    found: dict[bytes, set[int]] = {}
    for token in vocabulary:
        found.setdefault(token[:2], {1}).add(len(token))
    return {start: tuple(sorted(lengths, reverse=True)) for start, lengths in found.items()}


def _characters(data: bytes, stops: list[int]) -> list[tuple[int, int]]:
    """Convert the byte offsets at which tokens end into spans of characters."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80  # true for the first byte of each character
    before = np.concatenate(([0], np.cumsum(begins)))  # number of characters that start before each byte
    starts = np.array([0, *stops[:-1]] if stops else [], dtype=np.int64)
    return list(
        zip((before[starts] - ~begins[starts]).tolist(), before[np.array(stops, dtype=np.int64)].tolist(), strict=True)
    )
