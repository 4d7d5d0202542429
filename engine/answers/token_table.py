"""The token vectors of a model without its layers, for late interaction. Loads no torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors, distinct
from longsearch.engine.inference.query_encoder import can_encode
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.models.without_torch.query_weights import QueryWeights, open_query_weights

_MOST_IDS = 100_000  # of the words that are kept: with their texts some 10 MB
_CONTROL = late_pattern(r"[\x0b\x0c\x1c-\x1f\x85]")  # white space for Python, nothing for BERT's tokenizer


class TokenTable:
    """The rows of a model's table in the space of its vectors, each of unit length. Any thread may use it."""

    def __init__(self, tokenizer: TextTokenizer, weights: QueryWeights) -> None:
        self._tokenizer = tokenizer
        self.tokenize = tokenizer.tokenize
        """Returns the tokens of a text, without long runs of one mark."""
        self._weights = weights
        self._words: dict[str, list[int]] = {}
        self._n_ids = 0
        # most pages of it are never touched, and so take no memory
        self._rows = np.empty((weights.vocabulary_size, len(weights.projection)), np.float32)
        self._is_made = np.zeros(weights.vocabulary_size, np.bool_)

    @classmethod
    def open(cls, model: str | Path, tokenizer: TextTokenizer | None = None) -> Self | None:
        """Open the table of a model, named as for `Encoder.open`; None for models unlike the bundled ones.

        `tokenizer`: that of the model, if it is loaded already. Raises ModelError.
        """
        files = locate(model)
        config, readout = read_config(files.folder / "config.json")
        if not can_encode(config, readout):
            return None
        weights = open_query_weights(files.folder, config)
        return cls(tokenizer or TextTokenizer.load(files.tokenizer_folder), weights) if weights else None

    def pieces(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each sentence. A word is cut once: the tokenizer took half the time of a search.

        The slow twin is `tokenize`, which drops repeated marks besides.
        """
        if not self._tokenizer.cuts_at_white_space:
            return [self.tokenize(sentence).ids.tolist() for sentence in sentences]
        if self._n_ids > _MOST_IDS:
            self._words, self._n_ids = {}, 0
        known = self._words
        cut = [[sentence] if _CONTROL.search(sentence) else sentence.split() for sentence in sentences]
        if new := list(dict.fromkeys(word for words in cut for word in words if word not in known)):
            known |= zip(new, self._tokenizer.ids_of_words(new), strict=True)
            self._n_ids += sum(len(known[word]) for word in new)
        return [[id_ for word in words for id_ in known[word]] for words in cut]

    def rows(self, ids: NDArray[np.int64]) -> Vectors:
        """Return the vectors (n, dim) of the tokens `ids` (n,)."""
        new, _ = distinct(ids[~self._is_made[ids]])
        if len(new):
            rows = self._weights.rows(new)[0] @ self._weights.projection.T
            self._rows[new] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
            self._is_made[new] = True
        return self._rows[ids]
