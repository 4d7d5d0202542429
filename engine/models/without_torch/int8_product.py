"""A matrix product in int8 by ONNX Runtime: twin of `float32_product`, as `engine.models.ops.int8` is of `nn.Linear`.

Both quantise alike: a scale for each output channel of the weights; for each token a scale s and a least value l, and
q = round((x - l) / s) from 0 to 127, which AVX2 can add in 16 bits. So W x + b = s (W q) + l (W 1) + b, where ONNX
Runtime computes W q. It needs a model for that, which is written here: one node, in the format of protocol buffers.
"""

import numpy as np
import onnxruntime

from longsearch.engine.models.without_torch.query_model import Array, Product

_LARGEST = 127
_LEAST_SCALE = 1e-30  # of a token whose activations are all equal
_FLOAT, _UINT8, _INT8 = 1, 2, 3  # onnx.TensorProto.DataType
_ONNX, _MICROSOFT, _IR = (b"", 21), (b"com.microsoft", 1), 10  # operator sets; the version of the format


def int8_product(weight: Array, bias: Array) -> Product:
    """Return the product in int8 of the weights (out, in) and the bias (out,)."""
    scale = np.maximum(np.abs(weight).max(1) / _LARGEST, _LEAST_SCALE).astype(np.float32)  # (out,)
    rounded = np.rint(weight / scale[:, None]).astype(np.int8)
    offsets = np.stack((rounded.sum(1, dtype=np.float32) * scale, bias))  # (2, out): W 1, and b
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the reader has threads of its own
    session = onnxruntime.InferenceSession(_model(rounded, scale), options, providers=["CPUExecutionProvider"])

    def multiply(x: Array) -> Array:
        least = x.min(1, keepdims=True)  # (length, 1): l
        step = x.max(1, keepdims=True)
        step -= least
        step /= _LARGEST
        np.maximum(step, _LEAST_SCALE, out=step)  # s
        q = x - least
        q *= 1 / step
        q += 0.5
        y: Array = session.run(None, {"q": q.astype(np.uint8)})[0]
        y *= step
        y += np.concatenate((least, np.ones_like(least)), axis=1) @ offsets  # one pass for both sums
        return y

    return multiply


def _model(rounded: np.ndarray[tuple[int, ...], np.dtype[np.int8]], scale: Array) -> bytes:
    """Return a model in ONNX's format: y (length, out) = q (length, in) times `rounded`, times `scale`."""
    n_out, n_in = rounded.shape
    node = b"".join(_field(1, name) for name in (b"q", b"weight", b"one", b"scale"))
    node += _field(2, b"y") + _field(4, b"MatMulIntegerToFloat") + _field(7, _MICROSOFT[0])
    tensors = (
        _tensor(b"weight", _INT8, np.ascontiguousarray(rounded.T)),
        _tensor(b"one", _FLOAT, np.ones((), np.float32)),
        _tensor(b"scale", _FLOAT, scale),
    )
    graph = _field(1, node) + _field(2, b"product") + b"".join(_field(5, tensor) for tensor in tensors)
    graph += _field(11, _value(b"q", _UINT8, n_in)) + _field(12, _value(b"y", _FLOAT, n_out))
    sets = b"".join(_field(8, _field(1, domain) + _field(2, version)) for domain, version in (_ONNX, _MICROSOFT))
    return _field(1, _IR) + _field(7, graph) + sets


def _tensor(name: bytes, dtype: int, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    dims = b"".join(_field(1, size) for size in array.shape)
    return dims + _field(2, dtype) + _field(8, name) + _field(9, array.tobytes())


def _value(name: bytes, dtype: int, columns: int) -> bytes:
    """The type of an input or output: a matrix of any number of rows."""
    shape = _field(1, _field(2, b"length")) + _field(1, _field(1, columns))
    return _field(1, name) + _field(2, _field(1, _field(1, dtype) + _field(2, shape)))


def _field(number: int, value: int | bytes) -> bytes:
    """Return a field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])
