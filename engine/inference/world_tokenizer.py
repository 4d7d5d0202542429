"""RWKV's "World" tokenizer: of all tokens that the bytes ahead begin with, the longest.

Its models are published with a vocabulary file and Python code to read it; the code is not run, this stands for it.
Knows no model.
"""

import ast
from pathlib import Path
from typing import NamedTuple

import numpy as np

END_OF_TEXT = 0
"""The one id that no text has."""
_ONE_BYTE = (1,)


class WorldEncoding(NamedTuple):
    """Tokens of a text, as `tokenizers.Encoding` has them."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    """First character of each token, and the one after its last."""


class WorldTokenizer:
    """Byte strings and their ids. A token may end within a character: the next one then begins at the same."""

    def __init__(self, vocabulary: dict[bytes, int]) -> None:
        """Raises ValueError for a vocabulary that lacks a byte: some text would have no tokens."""
        lacking = [byte for byte in range(256) if bytes([byte]) not in vocabulary]
        if lacking:
            raise ValueError(f"the vocabulary lacks {len(lacking)} of the 256 bytes")
        self._ids = vocabulary
        self._lengths = _lengths(vocabulary)

    @classmethod
    def from_file(cls, path: Path) -> "WorldTokenizer":
        """Lines of an id, a Python literal of text or bytes, its length. Raises OSError, ValueError, SyntaxError."""
        vocabulary: dict[bytes, int] = {}
        for line in path.read_text("utf-8").split("\n"):
            if not line.strip():
                continue
            number, literal = line.rstrip("\r").rsplit(" ", 1)[0].split(" ", 1)
            token = ast.literal_eval(literal.strip())
            vocabulary[token if isinstance(token, bytes) else str(token).encode()] = int(number)
        return cls(vocabulary)

    def encode(self, text: str, add_special_tokens: bool = False) -> WorldEncoding:
        """All tokens of `text`; none are special."""
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
        """Of a token's text; names in angle brackets that stand in no vocabulary mean the end of text."""
        named = token.startswith("<|") and token.endswith("|>")
        return self._ids.get(token.encode(), END_OF_TEXT if named else None)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Tokens as text; bytes that are none are shown as backslash escapes."""
        return {token.decode("utf-8", "backslashreplace"): number for token, number in self._ids.items()}


def _lengths(vocabulary: dict[bytes, int]) -> dict[bytes, tuple[int, ...]]:
    """The lengths of tokens that begin with the same two bytes, longest first: few need be tried."""
    found: dict[bytes, set[int]] = {}
    for token in vocabulary:
        found.setdefault(token[:2], {1}).add(len(token))
    return {start: tuple(sorted(lengths, reverse=True)) for start, lengths in found.items()}


def _characters(data: bytes, stops: list[int]) -> list[tuple[int, int]]:
    """Spans of characters, from where tokens end in bytes."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80  # all but a character's later bytes
    before = np.concatenate(([0], np.cumsum(begins)))  # characters begun before each place
    starts = np.array([0, *stops[:-1]] if stops else [], dtype=np.int64)
    return list(
        zip((before[starts] - ~begins[starts]).tolist(), before[np.array(stops, dtype=np.int64)].tolist(), strict=True)
    )
