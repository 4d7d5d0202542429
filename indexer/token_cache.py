"""Keeps the tokens of documents between the two phases of indexing, so that a document is tokenised once.

Knows no tokenizer: tokens are any object with a length.
"""

from collections.abc import Sized
from typing import Any

MAX_TOKENS = 1_000_000
"""About 21 MB: 16 bytes for a token's id and offset, 5 for its text. A folder of a hundred papers fits.

The bound is small beside a model at work (368 MB). Tokenising once more costs 3 to 5 % of embedding on a CPU.
"""


class TokenCache:
    """Tokens by document id. When the cache is full, the oldest tokens are dropped."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self._max_tokens = max_tokens
        self._tokens: dict[int, Sized] = {}
        self._n_tokens = 0

    def put(self, document_id: int, tokens: Sized) -> None:
        """Keep a document's tokens in place of its old ones, unless there are more than `max_tokens`."""
        self.take(document_id)
        if len(tokens) > self._max_tokens:
            return
        self._tokens[document_id] = tokens
        self._n_tokens += len(tokens)
        while self._n_tokens > self._max_tokens:
            self.take(next(iter(self._tokens)))

    def take(self, document_id: int) -> Any | None:
        """Remove and return the tokens of a document; None if there are none."""
        tokens = self._tokens.pop(document_id, None)
        if tokens is not None:
            self._n_tokens -= len(tokens)
        return tokens
