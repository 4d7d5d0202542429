"""The token vectors of a model without its layers, for late interaction. Loads no torch."""

from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.inference.query_encoder import can_encode
from longsearch.engine.inference.tokens import TextTokenizer, TokenizedText
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.models.without_torch.query_weights import QueryWeights, open_query_weights


class TokenTable:
    """The rows of a model's table in the space of its vectors, each of unit length. Any thread may use it."""

    def __init__(self, tokenizer: TextTokenizer, weights: QueryWeights) -> None:
        self._tokenizer = tokenizer
        self._weights = weights
        self._known: dict[int, Vectors] = {}

    @classmethod
    def open(cls, model: str | Path, tokenizer: TextTokenizer | None = None) -> Self | None:
        """Open the table of a model, named as for `Encoder.open`; None if it must be read with torch.

        `tokenizer`: that of the model, if it is loaded already. Raises ModelError.
        """
        files = locate(model)
        config, readout = read_config(files.folder / "config.json")
        if not can_encode(config, readout):
            return None
        weights = open_query_weights(files.folder, config)
        return cls(tokenizer or TextTokenizer.load(files.tokenizer_folder), weights) if weights else None

    def tokenize(self, text: str) -> TokenizedText:
        """Return the pieces of a text."""
        return self._tokenizer.tokenize(text)

    def rows(self, ids: NDArray[np.int64]) -> Vectors:
        """Return the vectors (n, dim) of the tokens `ids` (n,)."""
        unique, where = np.unique(ids, return_inverse=True)
        new = [id_ for id_ in unique.tolist() if id_ not in self._known]
        if new:
            rows = self._weights.rows(np.array(new))[0] @ self._weights.projection.T
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
            self._known.update(zip(new, rows, strict=True))
        return np.stack([self._known[id_] for id_ in unique.tolist()])[where]
