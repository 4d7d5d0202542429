"""Tokenises texts piece by piece, so no document is too long for the tokenizer. Knows no model.

The pieces give exactly the tokens of the whole text if each cut falls where every tokenizer separates words: just
before a single space between a visible ASCII character and an ASCII letter.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Metaspace

from longsearch.engine.errors import ModelError
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.models.hub import WORLD_VOCABULARY, tokenizer_file

AnyTokenizer = Any
"""A `tokenizers.Tokenizer`, or what has its methods: RWKV's `WorldTokenizer`, which is imported where it is needed."""
PIECE_CHARACTERS = 50_000  # 3 to 5 MB/s per thread; ten times as long is slower, because it takes too much memory
_SEARCH_CHARACTERS = 20_000
_RUN_TOKENS = 3
_SAFE_CUT = late_pattern(r"(?<=[!-~]) (?=[A-Za-z])")
_ZERO_WIDTH = (*range(0x200B, 0x2010), 0xFEFF)
_IS_WHITE_SPACE = np.zeros(0x10000, np.bool_)  # by code; the last one stands for all higher ones
_IS_WHITE_SPACE[[*(code for code in range(0x3001) if chr(code).isspace()), *_ZERO_WIDTH]] = True
_ANY_SPACE = late_pattern(r"(?<=\S)\s")


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The tokens of a text. Takes 16 bytes per token besides the text, so a book takes some megabytes."""

    ids: NDArray[np.int64]
    """(n_tokens,)"""
    starts: NDArray[np.int64]
    """(n_tokens,) offset of the first character of each token."""
    text: str

    def __len__(self) -> int:
        return len(self.ids)


class TextTokenizer:
    """The tokenizer of a checkpoint. It adds no special tokens and does not truncate or pad; the encoder adds EOS."""

    def __init__(self, tokenizer: AnyTokenizer, eos_id: int | None) -> None:
        if isinstance(tokenizer, Tokenizer):
            tokenizer.no_truncation()
            tokenizer.no_padding()
            special_tokens_as_text(tokenizer)
        self.tokenizer = tokenizer
        self.eos_id = eos_id

    @classmethod
    def load(cls, folder: Path) -> "TextTokenizer":
        """Read tokenizer.json, RWKV's vocabulary, or any other format that transformers reads. Raises ModelError.

        While the file is the same, a process reads it once: the vector of a query, the table of token vectors and the
        reader want the same tokenizer, and reading it takes a tenth of a search in a new process.
        """
        path = tokenizer_file(folder)
        stat = path.stat() if path else None
        return _load(folder, (stat.st_mtime_ns, stat.st_size) if stat else None)

    @property
    def vocabulary_size(self) -> int:
        """One more than the largest token id."""
        return max(self.tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    @property
    def cuts_at_white_space(self) -> bool:
        """Whether the tokens of a word are the same wherever it stands, so that words can be tokenised one by one."""
        return isinstance(self.tokenizer, Tokenizer) and isinstance(
            self.tokenizer.pre_tokenizer, BertPreTokenizer | Metaspace
        )

    def tokenize(self, text: str) -> TokenizedText:
        """Return the tokens of `text`, without each sign that equals the three tokens before it.

        So leader dots, rules and the blanks of forms are short. Reads each lone surrogate, which no tokenizer accepts,
        as U+FFFD.
        """
        ids, starts = self._encoded(text)
        same = [ids[_RUN_TOKENS:] == ids[_RUN_TOKENS - n : -n] for n in range(1, 1 + _RUN_TOKENS)]
        repeated = np.flatnonzero(np.logical_and.reduce(same)) + _RUN_TOKENS
        firsts = ((token, text[starts[token]]) for token in repeated.tolist())
        left_out = [token for token, first in firsts if not (first.isalnum() or first.isspace())]
        return TokenizedText(np.delete(ids, left_out), np.delete(starts, left_out), text)

    def ids_of_words(self, words: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each word, a text without white space, if `cuts_at_white_space`."""
        ids, starts = self._encoded(" ".join(words))
        ends = np.cumsum([len(word) + 1 for word in words])  # a space belongs to the word after it, with its token
        return [own.tolist() for own in np.split(ids, np.searchsorted(starts, ends[:-1] - 1))]

    def _encoded(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(ids, offset of the first character of each)."""
        ids, starts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for start, stop in pieces(text):
            piece = text[start:stop].encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            if len(piece) != stop - start:  # a lone surrogate became several U+FFFD: replace each by one
                piece = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text[start:stop])
            encoding = self.tokenizer.encode(piece, add_special_tokens=False)
            ids.append(np.array(encoding.ids, dtype=np.int64))
            starts.append(first_characters(piece, encoding.offsets) + start)
        return np.concatenate(ids), np.concatenate(starts)


def special_tokens_as_text(tokenizer: Tokenizer) -> Tokenizer:
    """Make the tokenizer read "<|endoftext|>" in a document as text, not as a special token. Return the tokenizer."""
    tokenizer.encode_special_tokens = True  # tokenizer.json does not store this setting
    return tokenizer


def first_characters(piece: str, offsets: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Return where tokens begin, without the leading white space that some tokenizers include.

    A token of white space alone begins where its span does.
    """
    spans = np.array(offsets, dtype=np.int64).reshape(-1, 2)
    codes = np.frombuffer(piece.encode("utf-32-le"), dtype=np.uint32)
    visible = np.append(np.flatnonzero(~_IS_WHITE_SPACE[np.minimum(codes, 0xFFFF)]), len(codes))
    next_visible = visible[np.searchsorted(visible, spans[:, 0])]
    first: NDArray[np.int64] = np.where(next_visible < spans[:, 1], next_visible, spans[:, 0])
    return first


def pieces(text: str, size: int = PIECE_CHARACTERS, window: int = _SEARCH_CHARACTERS) -> list[tuple[int, int]]:
    """Return spans of about `size` characters that tile `text`, cut where every tokenizer separates words.

    If no safe place lies within `window` characters (a base64 blob, a script without spaces), a span ends at any space,
    or else anywhere. A few tokens may then differ from those of the whole text.
    """
    spans, start = [], 0
    while len(text) - start > size + window:
        aim, limit = start + size, start + size + window
        match = _SAFE_CUT.search(text, aim, limit) or _ANY_SPACE.search(text, aim, limit)
        stop = match.start() if match else limit
        spans.append((start, stop))
        start = stop
    if start < len(text):
        spans.append((start, len(text)))
    return spans


@lru_cache(maxsize=4)
def _load(folder: Path, _stamp: tuple[int, int] | None) -> TextTokenizer:
    try:
        tokenizer = _read(folder)
    except Exception as error:  # the library raises bare Exception
        hint = "a model is a folder with tokenizer.json, or RWKV's vocabulary, beside its config.json"
        raise ModelError(f"cannot read the tokenizer in {folder}: {error}", hint) from error
    # from a folder without a tokenizer, transformers makes an empty tokenizer
    if not tokenizer.encode("a word", add_special_tokens=False).ids:
        raise ModelError(f"there is no tokenizer in {folder}", "copy its tokenizer.json beside its config.json")
    return TextTokenizer(tokenizer, _eos_id(folder, tokenizer))


def _read(folder: Path) -> AnyTokenizer:
    path = tokenizer_file(folder)
    if path is None:
        return _by_transformers(folder)
    if path.name != WORLD_VOCABULARY:
        return Tokenizer.from_file(str(path))
    from longsearch.engine.papers.recurrent.world_tokenizer import WorldTokenizer  # as `registry` does, without torch

    return WorldTokenizer.from_file(path)


def _by_transformers(folder: Path) -> Tokenizer:
    from transformers import AutoTokenizer  # takes seconds to import

    tokenizer: Tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer
    return tokenizer


def _eos_id(folder: Path, tokenizer: AnyTokenizer) -> int | None:
    """Read the end-of-sequence id from the tokenizer's files: config.json is wrong in some releases (0 for the 7B)."""
    path = folder / "tokenizer_config.json"
    if not path.exists():
        return None if isinstance(tokenizer, Tokenizer) else int(tokenizer.end_of_text)
    try:
        token = json.loads(path.read_text("utf-8")).get("eos_token")
        token = token.get("content") if isinstance(token, dict) else token
        return tokenizer.token_to_id(token) if token else None
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ModelError(f"cannot read {path}: {error}", "copy the model again: the file is damaged") from error
