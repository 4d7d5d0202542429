"""The layers of the reader in numpy. Twin of `engine.training.reader.model.Bert`; the two agree within 1e-4.

Windows lie one after another, without padding: matrices meet all their tokens at once, attention each window alone.

    hidden   (tokens, d)
    ends     where each window ends in `hidden`

All numbers are float32. Knows no text.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
HEAD_DIM = 32
BERT_MARKS = (101, 102)
"""The tokens [CLS] and [SEP], which stand before and after a text, in BERT's English vocabulary."""
_NORM_EPS = 1e-12
_BLOCK = 128
"""Tokens whose activations go through the GELU at once: 0.8 MB, which stays in the processor's cache."""
# Phi(x), the normal distribution, is 1 / (1 + exp(x (a + b x^2 + c x^4 + ...))) for |x| < 6; x Phi(x) is right to 4e-6
_PHI = np.array([-1.59565627, -0.072937582, 0.000249723327, 0.0000611620019, -0.00000223816376], np.float32)


class Layers:
    """BERT's layers (Devlin et al. 2019), with a norm after each sum."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        """`weights`: those of `engine.training.reader.model.Bert`, by their names there."""
        self._weights = w = dict(weights)
        for name in [name for name in w if name.endswith(("qkv.weight", "out.weight", "up.weight", "down.weight"))]:
            w[name] = np.ascontiguousarray(w[name].T)
        self._n_layers = sum(name.endswith("qkv.weight") for name in w)
        self._n_positions = len(w["position"])

    def read(self, vectors: Array, lengths: Sequence[int], kind: int) -> Array:
        """Return hidden states (tokens, d) of windows of `lengths`, given as table rows. `kind`: 0 query, 1 passage."""
        w = self._weights
        ends = [0, *np.cumsum(lengths).tolist()]
        places = np.concatenate([np.arange(length) for length in lengths])
        hidden = vectors * w["gain"]
        hidden += w["position"][np.minimum(places, self._n_positions - 1)]
        hidden += w["shift"] + w["kind"][kind]
        hidden = self._norm("norm", hidden)
        for number in range(self._n_layers):
            layer = f"layers.{number}."
            mixed = self._attention(self._linear(f"{layer}qkv", hidden), ends)
            hidden = self._norm(f"{layer}norm", self._linear(f"{layer}out", mixed) + hidden)
            up = self._linear(f"{layer}up", hidden)
            for start in range(0, len(up), _BLOCK):
                gelu(up[start : start + _BLOCK])
            hidden = self._norm(f"{layer}mlp_norm", self._linear(f"{layer}down", up) + hidden)
        return hidden

    def _attention(self, qkv: Array, ends: Sequence[int]) -> Array:
        """Return what each token takes from those of its window; qkv (tokens, 3 d)."""
        d = qkv.shape[1] // 3
        mixed = np.empty((len(qkv), d), np.float32)
        qkv[:, :d] *= HEAD_DIM**-0.5
        for start, stop in pairwise(ends):
            parts = qkv[start:stop].reshape(stop - start, 3, -1, HEAD_DIM).transpose(1, 2, 0, 3)
            queries, keys, values = np.ascontiguousarray(parts)  # (heads, length, HEAD_DIM)
            shares = queries @ keys.transpose(0, 2, 1)
            shares -= shares.max(2, keepdims=True)
            np.exp(shares, out=shares)
            taken = shares @ values / shares.sum(2, keepdims=True)
            mixed[start:stop] = taken.transpose(1, 0, 2).reshape(stop - start, d)
        return mixed

    def _linear(self, name: str, x: Array) -> Array:
        product: Array = x @ self._weights[f"{name}.weight"]
        product += self._weights[f"{name}.bias"]
        return product

    def _norm(self, name: str, x: Array) -> Array:
        """Normalise the rows of `x` in place, and return it."""
        x -= x.mean(1, keepdims=True)
        x /= np.sqrt(np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1] + _NORM_EPS)
        x *= self._weights[f"{name}.weight"]
        x += self._weights[f"{name}.bias"]
        return x


def gelu(x: Array) -> None:
    """Make `x` x Phi(x), in place."""
    near = np.clip(x, -6.0, 6.0)
    square = near * near
    power = np.full_like(x, _PHI[-1])
    for coefficient in _PHI[-2::-1]:
        power *= square
        power += coefficient
    power *= near
    np.exp(power, out=power)
    power += np.float32(1)
    x /= power
