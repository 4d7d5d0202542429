"""Turns texts into unit vectors by one of the extensions of MiniLM's context."""

import hashlib
from collections.abc import Callable
from copy import deepcopy
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.bench import Bench
from longsearch.engine.evaluation.embedders.bert import padded
from longsearch.engine.evaluation.embedders.minilm import MiniLM
from longsearch.engine.evaluation.extension.bert import Attention, Bert, mean_of, plain_attention
from longsearch.engine.evaluation.extension.names import EXTENSIONS, GROUP_AND_NEAR, STRETCH, Extension
from longsearch.engine.evaluation.extension.positions import (
    attention_scale,
    grouped,
    interpolated,
    interpolated_table,
    is_original_row,
    recurrent,
    scale_of,
    windows,
)
from longsearch.engine.evaluation.extension.rotary import frequencies, rotary_attention, self_extend
from longsearch.engine.evaluation.ranked_spans import Ranked, by_vectors
from longsearch.engine.evaluation.systems import System
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.models.batches import batches_by_length

_BATCH_TOKENS = 4096


class Reader:
    """MiniLM with an extension. A text of at most 512 tokens keeps its vector under GP, RP, PI, tuning and windows."""

    def __init__(self, extension: Extension, minilm: MiniLM, folder: Path | None) -> None:
        """`folder` holds the trained weights, in `rope` or `tuned-4096`. Raises LongsearchError if they are missing."""
        self.extension, self._minilm = extension, minilm
        self._trained = _weights(folder, extension.weights) if extension.weights else {}
        model = minilm.model
        if extension.rotary:
            model = deepcopy(model)
            model.load_state_dict(self._trained)
        self.bert = Bert(model)
        self.original = len(self.bert.table)

    @property
    def key(self) -> str:
        """A name for caches: that of the system and a hash of the trained weights."""
        digest = hashlib.blake2b(digest_size=6)
        for name in sorted(self._trained):
            digest.update(self._trained[name].contiguous().view(torch.uint8).numpy().tobytes())
        return self.extension.name + (f"-{digest.hexdigest()}" if self._trained else "")

    def encode(self, texts: list[str]) -> Vectors:
        """Return unit vectors (n, 384)."""
        return self.encode_ids(self._minilm.tokenize(texts))

    @torch.inference_mode()
    def encode_ids(self, ids: list[NDArray[np.int64]]) -> Vectors:
        """Return unit vectors (n, 384) of token ids without [CLS] and [SEP]; tokens beyond the length are not read."""
        rows = [row[: self.extension.length - 2] for row in ids]
        if self.extension.method == "pcw":
            return self._by_windows(rows)
        return _unit(self._means(rows))

    def _by_windows(self, rows: list[NDArray[np.int64]]) -> Vectors:
        """Return the normalised mean of the vectors of windows, each between its own [CLS] and [SEP] (PCW)."""
        pieces = [[row[a:b] for a, b in windows(len(row), self.original - 2)] for row in rows]
        means = self._means([piece for of_text in pieces for piece in of_text])
        stops = np.cumsum([len(of_text) for of_text in pieces])[:-1]
        return _unit(torch.stack([part.mean(0) for part in means.tensor_split(tuple(stops.tolist()))]))

    def _means(self, rows: list[NDArray[np.int64]]) -> Tensor:
        """Return the means of the last hidden states (n, 384), on the CPU.

        Short texts of similar length share a batch. Long ones are read alone: their positions and the scale of their
        attention depend on their length.
        """
        lengths = np.array([len(row) for row in rows], np.int64) + 2
        short, long = np.flatnonzero(lengths <= self.original), np.flatnonzero(lengths > self.original)
        batches = [short[batch] for batch in batches_by_length(lengths[short], _BATCH_TOKENS)] + [
            long[i : i + 1] for i in range(len(long))
        ]
        out = torch.zeros(len(rows), self.bert.table.shape[1])
        for batch in batches:
            out[torch.from_numpy(batch)] = self._batch([rows[i] for i in batch])
        return out

    def _batch(self, rows: list[NDArray[np.int64]]) -> Tensor:
        ids, keep = padded(rows, [self._minilm.cls], self._minilm.sep, self._minilm.device)
        n = ids.shape[1]
        hidden = self.bert(ids, keep, self.positions(n), self.attention(n))
        return mean_of(hidden, keep).float().cpu()

    def positions(self, n: int) -> Tensor | None:
        """Return the vectors (n, 384) to add to n tokens; None for rotary positions."""
        if self.extension.rotary:
            return None
        table, scale = self.bert.table, scale_of(self.extension.length, self.original)
        if n <= self.original:
            return table[:n]
        if self.extension.method in ("gp", "rp"):
            return table[grouped(n, scale) if self.extension.method == "gp" else recurrent(n, self.original)]
        return self._table[:n]

    @cached_property
    def _table(self) -> Tensor:
        """The extended table (L_t, 384): interpolated, and if tuned with the new rows that were trained."""
        start = interpolated_table(self.bert.table, self.extension.length)
        if self.extension.method != "tuned":
            return start
        old = torch.from_numpy(is_original_row(self.extension.length, self.original))[:, None]
        return torch.where(old.to(start.device), start, self._trained["positions"].to(start))

    def attention(self, n: int) -> Attention:
        """Return the attention for a text of n tokens, or for a batch of texts of at most n <= 512 tokens."""
        attend = self._rotary(n) if self.extension.rotary else plain_attention
        factor = attention_scale(n, self.original) if self.extension.scaled else 1.0
        return attend if factor == 1 else _scaled(attend, factor)

    def _rotary(self, n: int) -> Attention:
        method, length = self.extension.method, self.extension.length
        config: Any = self.bert.model.config
        dim, scale = config.hidden_size // config.num_attention_heads, scale_of(length, self.original)
        if method == "ntk":
            return rotary_attention(frequencies(dim, STRETCH[length]))
        theta = frequencies(dim)
        if method == "se":
            return partial(self_extend, theta=theta, group=GROUP_AND_NEAR[length][0], near=GROUP_AND_NEAR[length][1])
        if method in ("gp", "pi") and n > self.original:
            places = grouped if method == "gp" else interpolated
            return rotary_attention(theta, lambda n: places(n, scale))
        return rotary_attention(theta)


def _scaled(attend: Attention, factor: float) -> Attention:
    return lambda q, k, v, keep: attend(q * factor, k, v, keep)


def _unit(means: Tensor) -> Vectors:
    vectors: Vectors = F.normalize(means, dim=-1).numpy()
    return vectors


def _weights(folder: Path | None, name: str) -> dict[str, Tensor]:
    command = f"train them with `python -m longsearch.engine.training {name.partition('-')[0]}`, and give --extended"
    if folder is None:
        raise LongsearchError(f"the weights {name} are trained ones", command)
    path = folder / name / "model.safetensors"
    try:
        return {key: tensor.float() for key, tensor in load_file(path).items()}
    except (OSError, SafetensorError) as error:
        raise LongsearchError(f"cannot read {path}: {error}", command) from error


class Extensions:
    """The systems of `names`, by name. Each reader is made once, when it is first needed."""

    def __init__(self, folder: Path | None, minilm: Callable[[], MiniLM], vectors: VectorCache) -> None:
        """`folder` holds trained weights; `vectors` caches."""
        self._cache = vectors
        self._reader = cache(lambda name: Reader(EXTENSIONS[name], minilm(), folder))

    def open(self, names: tuple[str, ...]) -> dict[str, System]:
        """Return the systems among `names`. Raises LongsearchError if a system's weights are missing."""
        return {name: self._system(self._reader(name)) for name in names if name in EXTENSIONS}

    def _system(self, reader: Reader) -> System:
        def rank(bench: Bench) -> Ranked:
            queries = [query.text for query in bench.dataset.queries]
            return by_vectors(bench.whole, self._vectors(reader, bench.texts), self._vectors(reader, queries))

        return rank

    def _vectors(self, reader: Reader, texts: list[str]) -> Vectors:
        return self._cache.vectors(reader.key, texts, lambda: reader.encode(texts))
