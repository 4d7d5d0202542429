"""A Mamba2 with MLPs in numpy. It reads queries and documents without torch.

Twin of `engine.models.mamba2`; `scan` is the exact twin of the fast `scan_factored`.

Shapes, with the letters of the papers; there is no batch:

    hidden, u      (length, d_model)
    z              (length, d_inner)            d_inner = heads * head_dim
    xBC            (length, d_conv_channels)    x, B and C side by side
    x, y           (length, d_inner); in `scan` (length, heads, head_dim)
    B, C           (length, d_state)
    dt             (length, heads)
    conv           (d_conv - 1, d_conv_channels), the last inputs of the convolution
    ssm            (heads, head_dim, d_state), the state h of the recurrence

All numbers are float32, but the operands of the matrix products may be int8. Sums and gates are computed in place: a
third of the time is elementwise work, and new buffers would double it. Knows no files, text or vectors.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from functools import cache

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.models.config import Mamba2Config

Array = NDArray[np.float32]
State = tuple[Array, Array]
"""conv and ssm of one layer."""
CHUNK_TOKENS = 512
"""So many tokens pass through all layers at once, and stay in the caches: 256 and 512 are as fast, 2,048 is slower."""
MAX_LOG_DECAY = 120.0
"""As in `engine.models.ops.ssd_factored`."""


class Layer:
    """One layer: mixer and MLP, each followed by a sum and a layer norm (`engine.models.mamba2.PostNormBlock`).

    It keeps no state, so it is safe to use from several threads at once.
    """

    def __init__(self, config: Mamba2Config, weights: Mapping[str, Array]) -> None:
        """`config`: that of this layer, at its number of heads. `weights`: its tensors, by their names in the layer."""
        self._config = c = config
        self._weights = w = dict(weights)
        self._A = -np.exp(w["mixer.A_log"])
        self._D = np.repeat(w["mixer.D"], c.head_dim)  # (d_inner,)
        self._mean = np.full(c.d_model, 1 / c.d_model, np.float32)  # x @ mean is three times as fast as x.mean(1)
        self._taps = np.ascontiguousarray(w["mixer.conv1d.weight"][:, 0].T)  # (d_conv, channels)
        # the norm's weight and the sixth of hardswish are multiplied once into the matrices that follow them
        w["mixer.out_proj.weight"] = w["mixer.out_proj.weight"] * w["mixer.norm.weight"]
        w["mlp.down.weight"] = w["mlp.down.weight"] * np.float32(1 / 6)

    def empty_state(self) -> State:
        """Return the state before the first token: no inputs of the convolution, and h = 0."""
        c = self._config
        conv = np.zeros((c.d_conv - 1, c.d_conv_channels), np.float32)
        return conv, np.zeros((c.n_heads, c.head_dim, c.d_state), np.float32)

    def read(
        self,
        hidden: Array,
        take: Callable[[], State],
        give: Callable[[State], object],
        where: NDArray[np.int64] | None = None,
    ) -> Array:
        """Read a slice; return its hidden states.

        With `where` (length,), `hidden` are rows (n, d_model), and each token has the one that `where` says: what
        depends on a token alone is then computed once for each row.

        `take` returns the state before it, and `give` receives the state after it, as soon as it is known: most of the
        work needs neither, so the next slice can be read meanwhile. The steps of the mixer are those of
        `engine.models.mamba2.Mamba2Mixer`.
        """
        c = self._config
        # 1. project to z, xBC and dt, and make the steps dt positive
        gate, xBC, dt = self._project(hidden)
        dt = np.clip(np.logaddexp(dt + self._weights["mixer.dt_bias"], 0), c.dt_min, c.dt_max).astype(np.float32)
        if where is not None:
            hidden, gate, xBC, dt = (part[where] for part in (hidden, gate, xBC, dt))
        # 2. convolve x, B and C over the tokens
        conv, ssm = take()
        extended = np.concatenate((conv, xBC))  # (d_conv - 1 + length, channels)
        convolved = self._silu(self._convolve(extended))
        x, B, C = np.split(convolved, (c.d_inner, c.d_inner + c.d_state), axis=1)
        # 3. scan
        heads = x.reshape(len(x), c.n_heads, c.head_dim)
        y, ssm = scan_factored(heads, dt, self._A, B, C, ssm, c.block_size)
        give((extended[len(x) :].copy(), ssm))
        # 4. add D x, gate with z, normalise and project back to d_model
        gated = y.reshape(len(x), -1)
        x *= self._D
        gated += x
        gated *= gate
        return self._finish(gated, hidden)

    def _project(self, hidden: Array) -> list[Array]:
        """Return silu(z), xBC and dt."""
        c = self._config
        z, xBC, dt = np.split(self._linear("mixer.in_proj", hidden), (c.d_inner, c.d_inner + c.d_conv_channels), axis=1)
        return [self._silu(z), xBC, dt]

    def _finish(self, gated: Array, hidden: Array) -> Array:
        """Return the hidden states after the mixer's norm and last product, the MLP, and the norms after both."""
        gated /= _root_mean_square(gated, self._config.norm_eps)
        mixed = self._linear("mixer.out_proj", gated)
        mixed += hidden
        hidden = self._norm("mixer_norm", mixed)
        up = self._linear("mlp.up", hidden)
        gate = up + 3
        up *= np.clip(gate, 0, 6, out=gate)  # six times hardswish
        down = self._linear("mlp.down", up)
        down += hidden
        return self._norm("mlp_norm", down)

    def _linear(self, name: str, x: Array) -> Array:
        y: Array = x @ self._weights[f"{name}.weight"].T
        y += self._weights[f"{name}.bias"]
        return y

    def _convolve(self, extended: Array) -> Array:
        """As `engine.models.ops.conv.convolve_torch`."""
        *earlier, last = self._taps
        length = len(extended) - len(earlier)
        convolved: Array = extended[len(earlier) :] * last
        tapped = np.empty_like(convolved)
        for k, tap in enumerate(earlier):
            convolved += np.multiply(extended[k : k + length], tap, out=tapped)
        convolved += self._weights["mixer.conv1d.bias"]
        return convolved

    def _silu(self, x: Array) -> Array:
        """x * sigmoid(x), as x / (1 + exp(-x)). Where exp is infinite, nothing is left of x."""
        activated = np.negative(x)
        with np.errstate(over="ignore"):
            np.exp(activated, out=activated)
        activated += 1
        return np.divide(x, activated, out=activated)

    def _norm(self, name: str, x: Array) -> Array:
        """A layer norm, which changes x."""
        x -= (x @ self._mean)[:, None]
        x /= _root_mean_square(x, self._config.norm_eps)
        x *= self._weights[f"{name}.weight"]
        x += self._weights[f"{name}.bias"]
        return x


def read_slices(
    layers: Sequence[Layer],
    rows: Array,
    where: NDArray[np.int64],
    states: Sequence[State] | None = None,
    threads: Executor | None = None,
) -> tuple[Array, list[State]]:
    """Read a text from `states`, or from the empty ones.

    `rows` (n, d_model) are the embeddings of its distinct tokens, and `where` (length,) says which each token has.
    Returns its hidden states (length, d_model) and the states after it. With `threads`, a slice of the text enters a
    layer as soon as the slice before it has left its state there.
    """
    starts = range(0, len(where), CHUNK_TOKENS)
    first = list(states or (layer.empty_state() for layer in layers))
    links: list[list[Future[State]]] = [[Future() for _ in layers] for _ in range(len(starts) + 1)]
    for link, state in zip(links[0], first, strict=True):
        link.set_result(state)

    def read(number: int) -> Array:
        distinct, inverse = np.unique(where[starts[number] : starts[number] + CHUNK_TOKENS], return_inverse=True)
        hidden, after = rows[distinct], links[number + 1]
        row_of_each: NDArray[np.int64] | None = inverse  # for the first layer; from there on each token has its own
        try:
            for layer, taken, given in zip(layers, links[number], after, strict=True):
                hidden = layer.read(hidden, taken.result, given.set_result, row_of_each)
                row_of_each = None
        except BaseException as error:  # or the slices after this one would wait for ever
            for link in after:
                if not link.done():
                    link.set_exception(error)
            raise
        return hidden

    run = map if threads is None else threads.map  # slices start in order, so each waits only for one that has started
    hidden = np.concatenate(list(run(read, range(len(starts)))))
    return hidden, [link.result() for link in links[-1]]


def scan_factored(
    x: Array, dt: Array, A: Array, B: Array, C: Array, ssm: Array, block_size: int
) -> tuple[Array, Array]:
    """As `scan`, by the same factors as `engine.models.ops.ssd_factored`, for slices of any length."""
    length, heads, head_dim = x.shape
    Q = min(block_size, length)
    dt_, x_, B_, C_ = (_blocks(t.reshape(length, -1), Q) for t in (dt, x, B, C))  # (blocks, Q, ...)
    log_decay = (dt_ * A).cumsum(1)  # (blocks, Q, heads): a
    reference = log_decay[:, -1:] / 2  # (blocks, 1, heads): r
    if reference.min() < -MAX_LOG_DECAY / 2:
        return scan(x, dt, A, B, C, ssm, block_size)
    factor = np.exp(reference - log_decay) * dt_
    scaled = (x_.reshape(-1, Q, heads, head_dim) * factor[..., None]).reshape(x_.shape)
    scores = C_ @ B_.transpose(0, 2, 1)  # (blocks, Q, Q)
    scores *= _causal(Q)
    y = scores @ scaled  # (blocks, Q, d_inner)
    added = scaled.transpose(0, 2, 1) @ B_  # (blocks, d_inner, d_state): then what enters each block
    scales = np.repeat(np.exp(reference[:, 0]), head_dim, axis=1)[..., None]  # (blocks, d_inner, 1)
    state = ssm.reshape(-1, ssm.shape[-1])
    for block, scale in enumerate(scales):
        entering = state * scale
        state = added[block] + entering
        state *= scale
        added[block] = entering
    y += C_ @ added.transpose(0, 2, 1)
    y.reshape(-1, Q, heads, head_dim)[...] *= np.exp(log_decay - reference)[..., None]
    return y.reshape(-1, heads, head_dim)[:length], state.reshape(ssm.shape)


@cache
def _causal(Q: int) -> Array:
    """(Q, Q) ones where a token sees another one: itself, and those before it."""
    return np.tri(Q, dtype=np.float32)


def _blocks(t: Array, Q: int) -> Array:
    """(length, ...) -> (blocks, Q, ...), padded with zeros: dt = 0 leaves the state as it is."""
    if padding := -len(t) % Q:
        t = np.concatenate((t, np.zeros((padding, t.shape[1]), np.float32)))
    return np.ascontiguousarray(t).reshape(-1, Q, t.shape[1])


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


def _root_mean_square(x: Array, eps: float) -> Array:
    """(length, 1) the root of the mean square of each row, with `eps` added under the root."""
    square = np.einsum("ij,ij->i", x, x)[:, None]
    square /= x.shape[1]
    square += eps
    root: Array = np.sqrt(square, out=square)
    return root
