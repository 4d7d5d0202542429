"""Turns queries into vectors by numpy alone. `Encoder.encode_query` is the twin; the two agree within 1e-4.

Loading torch takes seconds, and a query has ten words. Only models like the bundled one can do this: a Mamba2 with MLPs
and the readout `mean`. `Encoder` encodes the queries of all other models.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeGuard

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import ModelError, QueryError
from longsearch.engine.inference.tokens import TextTokenizer, TokenizedText
from longsearch.engine.models.config import Mamba2Config, ModelConfig, read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.models.identity import fingerprint
from longsearch.engine.models.readout_config import ReadoutConfig, check_thinking
from longsearch.engine.models.without_torch.heads import check_trained
from longsearch.engine.models.without_torch.query_model import read_slices
from longsearch.engine.models.without_torch.query_weights import QueryWeights, open_query_weights


class QueryEncoder:
    """The part of a model that queries need. Safe to use from several threads at once."""

    def __init__(
        self,
        tokenizer: TextTokenizer,
        readout: ReadoutConfig,
        weights: QueryWeights,
        fingerprint: str = "",
        width: float = 1.0,
    ) -> None:
        self.readout = readout
        self.fingerprint = fingerprint
        """As that of the `Encoder` of the same model."""
        self.dim = len(weights.projection)
        self.width = width
        self._tokenizer = tokenizer
        self.weights = weights
        """Those of the whole model, at every width."""
        self._layers = weights.layers(width)
        self._narrower: dict[float, QueryEncoder] = {}

    @classmethod
    def open(cls, model: str | Path = "bundled", tokenizer: TextTokenizer | None = None) -> Self | None:
        """Open a model, named as for `Encoder.open`, or return None if only `Encoder` can run it. Raises ModelError.

        `tokenizer`: that of the model, if it is loaded already.
        """
        files = locate(model)
        config, readout = read_config(files.folder / "config.json")
        if not can_encode(config, readout):
            return None
        weights = open_query_weights(files.folder, config)
        if weights is None or readout.dim not in (0, len(weights.projection)):
            return None
        with ThreadPoolExecutor(1) as other:  # hashing takes 0.1 s, as long as the rest
            hashed = other.submit(fingerprint, files, config, readout)
            encoder = cls(tokenizer or TextTokenizer.load(files.tokenizer_folder), readout, weights)
            encoder.fingerprint = hashed.result()
        return encoder

    def at(self, width: float) -> "QueryEncoder":
        """Return this encoder at `width`, made at the first call and then kept. Raises ModelError as `Encoder.at`."""
        if width == self.width:
            return self
        if width not in self._narrower:
            check_trained(width, self.readout.widths)
            given = (self._tokenizer, self.readout, self.weights, self.fingerprint)
            self._narrower[width] = QueryEncoder(*given, width)
        return self._narrower[width]

    def encode_query(self, text: str, instruction: str | None = None, steps: int | None = None) -> Vectors:
        """As `Encoder.encode_query`."""
        if steps is not None:
            check_thinking(self.readout, steps)
        tokens, _ = tokenize_query(self._tokenizer, self.readout, text, instruction)
        if tokens.ids.max() >= self.weights.vocabulary_size:
            raise ModelError("the tokenizer has more tokens than the model", "they are not from the same checkpoint")
        distinct, where = np.unique(tokens.ids, return_inverse=True)
        rows, token_weights = self.weights.rows(distinct)
        hidden, _ = read_slices(self._layers, rows, where)
        vector: Vectors = self.weights.projection @ (token_weights[where] @ hidden)
        return vector / max(float(np.linalg.norm(vector)), 1e-12)


def can_encode(config: ModelConfig, readout: ReadoutConfig) -> TypeGuard[Mamba2Config]:
    """Return whether `engine.models.without_torch.query_model` runs models of this shape."""
    return (
        isinstance(config, Mamba2Config)
        and config.d_mlp is not None
        and config.n_groups == config.gated_norm_groups == 1
        and config.use_bias
        and config.use_conv_bias
        and not config.final_norm
        and readout.readout == "mean"
    )


def tokenize_query(
    tokenizer: TextTokenizer, readout: ReadoutConfig, text: str, instruction: str | None
) -> tuple[TokenizedText, int]:
    """Return the tokens of a query with its instruction before it, and how many belong to the instruction.

    `instruction` as in `Encoder.encode_query`. Raises QueryError for a query without words.
    """
    if not text.strip():
        raise QueryError("the query is empty", "type what you are looking for")
    prompt = readout.query_instruction if instruction is None else instruction
    before = 0  # characters
    if prompt:
        template = readout.query_template
        before = len(template.partition("{text}")[0].format_map({"prompt": prompt}))
        text = template.format_map({"prompt": prompt, "text": text})
    tokens = tokenizer.tokenize(text)
    if not len(tokens):
        raise QueryError("the query has no words the model knows")
    return tokens, int((tokens.starts < before).sum())
