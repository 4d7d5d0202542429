"""A Mamba2 with MLPs in numpy. It reads a query without torch, which takes seconds to load.

Twin of `engine.models.mamba2`.

Shapes, with the letters of the papers; there is no batch:

    hidden, u      (length, d_model)
    z              (length, d_inner)            d_inner = heads * head_dim
    xBC            (length, d_conv_channels)    x, B and C side by side
    x, y           (length, heads, head_dim)
    B, C           (length, d_state)
    dt             (length, heads)
    ssm            (heads, head_dim, d_state), the state h of the recurrence

All numbers are float32. Knows no files, text or vectors.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.models.config import Mamba2Config

Array = NDArray[np.float32]
SLICE_TOKENS = 1024
"""A longer query is read in slices of so many tokens, so its memory is that of one slice (10 MB)."""


class Layer:
    """One layer: mixer and MLP, each followed by a sum and a layer norm (`engine.models.mamba2.PostNormBlock`)."""

    def __init__(self, config: Mamba2Config, weights: Mapping[str, Array]) -> None:
        """`config`: that of this layer, at its number of heads. `weights`: its tensors, by their names in the layer."""
        self._config = c = config
        self._weights = w = weights
        self._A = -np.exp(w["mixer.A_log"])
        self._D = np.repeat(w["mixer.D"], c.head_dim)  # (d_inner,)
        self._taps = w["mixer.conv1d.weight"][:, 0].T  # (d_conv, channels)
        self._conv = np.zeros((c.d_conv - 1, c.d_conv_channels), np.float32)  # no inputs before the first token
        self._ssm = np.zeros((c.n_heads, c.head_dim, c.d_state), np.float32)

    def empty_state(self) -> tuple[Array, Array]:
        """Return the state before the first token: the last inputs of the convolution, and h."""
        return self._conv, self._ssm

    def read(self, hidden: Array, state: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        """Read a slice; return its hidden states and the next state."""
        mixed, state = self._mix(hidden, state)
        hidden = self._norm("mixer_norm", hidden + mixed)
        up = self._linear("mlp.up", hidden)
        up *= np.clip(up + 3, 0, 6) / 6  # hardswish
        return self._norm("mlp_norm", hidden + self._linear("mlp.down", up)), state

    def _mix(self, u: Array, state: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        """As `engine.models.mamba2.Mamba2Mixer`, in the same five steps."""
        c, w = self._config, self._weights
        # 1. project u to z, xBC and dt
        z, xBC, dt = np.split(self._linear("mixer.in_proj", u), (c.d_inner, c.d_inner + c.d_conv_channels), axis=1)
        # 2. convolve x, B and C over the tokens
        extended = np.concatenate((state[0], xBC))  # (d_conv - 1 + length, channels)
        xBC = _silu(sum(tap * extended[k : k + len(u)] for k, tap in enumerate(self._taps)) + w["mixer.conv1d.bias"])
        x, B, C = np.split(xBC, (c.d_inner, c.d_inner + c.d_state), axis=1)
        # 3. make the steps dt positive
        dt = np.clip(np.logaddexp(dt + w["mixer.dt_bias"], 0), c.dt_min, c.dt_max).astype(np.float32)
        # 4. scan
        y, ssm = scan(x.reshape(len(u), c.n_heads, c.head_dim), dt, self._A, B, C, state[1], c.block_size)
        # 5. add D x, gate with z, normalise and project back to d_model
        gated = (y.reshape(len(u), -1) + x * self._D) * _silu(z)
        scale = np.sqrt(np.square(gated).mean(1, keepdims=True) + c.norm_eps)
        mixed = self._linear("mixer.out_proj", gated / scale * w["mixer.norm.weight"])
        return mixed, (extended[len(u) :], ssm)

    def _linear(self, name: str, x: Array) -> Array:
        product: Array = x @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product

    def _norm(self, name: str, x: Array) -> Array:
        """A layer norm."""
        centred = x - x.mean(1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(1, keepdims=True) + self._config.norm_eps)
        normed: Array = centred * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return normed


def read_slices(layers: Sequence[Layer], embedded: Array) -> list[Array]:
    """Read a whole query, given as the embeddings (length, d_model) of its tokens, from the empty state.

    Returns its hidden states (length, d_model), slice by slice.
    """
    states = [layer.empty_state() for layer in layers]
    slices = []
    for start in range(0, len(embedded), SLICE_TOKENS):
        hidden = embedded[start : start + SLICE_TOKENS]
        for i, layer in enumerate(layers):
            hidden, states[i] = layer.read(hidden, states[i])
        slices.append(hidden)
    return slices


def scan(x: Array, dt: Array, A: Array, B: Array, C: Array, ssm: Array, block_size: int) -> tuple[Array, Array]:
    """As `engine.models.ops.ssd.ssd_scan`: returns y and the state after the last token."""
    y = np.empty_like(x)
    for start in range(0, len(x), block_size):
        block = slice(start, start + block_size)
        B_, C_ = B[block], C[block]  # (Q, d_state)
        inputs = (x[block] * dt[block][..., None]).transpose(1, 0, 2)  # (heads, Q, head_dim)
        log_decay = (dt[block] * A).cumsum(0).T  # (heads, Q): a
        between = np.minimum(log_decay[:, :, None] - log_decay[:, None], 0)  # (heads, Q, Q): a_i - a_j where j <= i
        within = np.tril(C_ @ B_.T) * np.exp(between) @ inputs  # (heads, Q, head_dim)
        entering = (C_ @ ssm.transpose(0, 2, 1)) * np.exp(log_decay)[..., None]
        y[block] = (within + entering).transpose(1, 0, 2)
        to_end = np.exp(log_decay[:, -1:] - log_decay)[..., None]  # (heads, Q, 1)
        ssm = ssm * np.exp(log_decay[:, -1, None, None]) + (inputs * to_end).transpose(0, 2, 1) @ B_
    return y, ssm


def _silu(x: Array) -> Array:
    """x * sigmoid(x). By tanh, which never overflows."""
    activated: Array = x * (np.tanh(x / 2) + 1) / 2
    return activated
