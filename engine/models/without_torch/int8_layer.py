"""A layer whose products run in int8, by ONNX Runtime: twin of `Layer`.

It quantises as `engine.models.ops.int8` does, but that zero is a whole number: a scale for each output channel of the
weights; for each token a scale s and a zero z, and q = round(x / s) + z from 0 to 128: 2 * 128 * 127 fits into the 16
bits in which AVX2 adds. So W x + b = s (W q) - s z (W 1) + b, where W q is computed in integers.

A layer is two models of ONNX Runtime. Between them numpy convolves and scans. All other steps are nodes of the models,
because numpy takes two to three times as long for them.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import onnxruntime

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.without_torch.onnx_graph import UINT8, Graph
from longsearch.engine.models.without_torch.query_model import Array, Layer

_LARGEST = 127
_LEAST_SCALE = 1e-30  # of a token whose activations are all 0
_LEAST_OF_HARDSWISH = -0.375  # at -1.5
_MATRICES = ("mixer.in_proj.weight", "mixer.out_proj.weight", "mlp.up.weight", "mlp.down.weight")


class Int8Layer(Layer):
    """A `Layer` in int8. Safe to use from several threads at once, too."""

    def __init__(self, config: Mamba2Config, weights: Mapping[str, Array]) -> None:
        """As `Layer`."""
        super().__init__(config, weights)
        self._projecting = self._projection()
        self._finishing = self._end()
        for name in _MATRICES:
            del self._weights[name]  # the sessions hold them

    def _projection(self) -> onnxruntime.InferenceSession:
        graph, c = Graph("hidden"), self._config
        weight, bias = self._weights["mixer.in_proj.weight"], self._weights["mixer.in_proj.bias"]
        q = quantise(graph, "hidden")
        ends = (c.d_inner, c.d_inner + c.d_conv_channels)
        parts = zip(np.split(weight, ends), np.split(bias, ends), strict=True)  # as views of one matrix they had gaps
        z, xBC, dt = (product(graph, q, *part) for part in parts)
        return graph.open(_silu(graph, z), xBC, dt)

    def _end(self) -> onnxruntime.InferenceSession:
        graph, w, eps = Graph("gated", "hidden"), self._weights, self._config.norm_eps

        def summed(quantised: tuple[str, str, str], name: str, weight: Array, hidden: str, norm: str) -> str:
            y = product(graph, quantised, weight, w[f"{name}.bias"])
            norms = (graph.constant(w[f"{norm}.{part}"]) for part in ("weight", "bias"))
            return graph.add("LayerNormalization", graph.add("Add", y, hidden), *norms, epsilon=eps)

        ones = graph.constant(np.ones(self._config.d_inner, np.float32))
        normed = graph.add("SimplifiedLayerNormalization", "gated", ones, epsilon=eps)
        hidden = summed(quantise(graph, normed), "mixer.out_proj", w["mixer.out_proj.weight"], "hidden", "mixer_norm")
        up = product(graph, quantise(graph, hidden), w["mlp.up.weight"], w["mlp.up.bias"])
        down = w["mlp.down.weight"] * 6  # HardSwish divides by it
        inner = quantise(graph, graph.add("HardSwish", up), _LEAST_OF_HARDSWISH)
        return graph.open(summed(inner, "mlp.down", down, hidden, "mlp_norm"))

    def _project(self, hidden: Array) -> list[Array]:
        gate_xBC_dt: list[Array] = self._projecting.run(None, {"hidden": hidden})
        return gate_xBC_dt

    def _silu(self, x: Array) -> Array:
        activated: Array = _silu_session().run(None, {"x": x})[0]
        return activated

    def _finish(self, gated: Array, hidden: Array) -> Array:
        finished: Array = self._finishing.run(None, {"gated": gated, "hidden": hidden})[0]
        return finished


@cache
def _silu_session() -> onnxruntime.InferenceSession:
    graph = Graph("x")
    return graph.open(_silu(graph, "x"))


def _silu(graph: Graph, x: str) -> str:
    return graph.add("QuickGelu", x, alpha=1.0)


def quantise(graph: Graph, x: str, least_of_all: float | None = None) -> tuple[str, str, str]:
    """Return q (length, in), s (length, 1), and -s z beside 1 (length, 2), of x (length, in).

    `least_of_all`: a number that nothing in x is below and most tokens reach, which saves a pass.
    """
    axis, nothing = graph.constant(np.array([1])), graph.constant(0.0)
    if least_of_all is None:
        least = graph.add("Min", graph.add("ReduceMin", x, axis, keepdims=0), nothing)
    else:
        least = graph.constant(least_of_all)
    most = graph.add("Max", graph.add("ReduceMax", x, axis, keepdims=0), nothing)
    step = graph.add("Mul", graph.add("Sub", most, least), graph.constant(1 / _LARGEST))
    step = graph.add("Max", step, graph.constant(_LEAST_SCALE))
    shift = graph.add("Round", graph.add("Div", least, step))  # -z
    zero = graph.add("Cast", graph.add("Neg", shift), to=UINT8)
    q = graph.add("QuantizeLinear", x, step, zero, axis=0)
    column = graph.add("Unsqueeze", graph.add("Mul", shift, step), axis)
    ones_beside = graph.add("Pad", column, graph.constant(np.array([0, 0, 0, 1])), graph.constant(1.0))
    return q, graph.add("Unsqueeze", step, axis), ones_beside


def product(graph: Graph, quantised: tuple[str, str, str], weight: Array, bias: Array) -> str:
    """Return W x + b (length, out), for the weights W (out, in) and the bias b (out,)."""
    q, step, shift = quantised
    scale = np.maximum(np.abs(weight).max(1) / _LARGEST, _LEAST_SCALE).astype(np.float32)  # (out,)
    rounded = np.rint(weight / scale[:, None]).astype(np.int8)
    sums = rounded.sum(1, dtype=np.float32) * scale  # (out,): W 1
    constants = (np.ascontiguousarray(rounded.T), np.ones((), np.float32), scale)
    scaled = graph.add("MatMulIntegerToFloat", q, *map(graph.constant, constants))
    return graph.add("Gemm", shift, graph.constant(np.stack((sums, bias))), graph.add("Mul", scaled, step))
