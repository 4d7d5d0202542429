"""Writes a model for ONNX Runtime node by node, in the format of protocol buffers, and opens it."""

import struct

import numpy as np
import onnxruntime
from numpy.typing import NDArray

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}  # onnx.TensorProto.DataType
UINT8 = _TYPES["uint8"]
_STANDARD, _OWN, _IR = ("", 21), ("com.microsoft", 1), 10  # operator sets; the version of the format
_OWN_OPERATORS = ("MatMulIntegerToFloat", "QuickGelu")


class Graph:
    """A model that grows. `add` and `constant` return the name of a new value, for the nodes that take it."""

    def __init__(self, *inputs: str) -> None:
        """`inputs`: the names of the matrices of float32 that the model takes."""
        self._parts = [_field(11, _matrix(name)) for name in inputs]

    def add(self, operator: str, *inputs: str, **attributes: float) -> str:
        """Add a node."""
        name = f"v{len(self._parts)}"
        node = b"".join(_field(1, value) for value in inputs) + _field(2, name) + _field(4, operator)
        node += b"".join(_field(5, _attribute(*attribute)) for attribute in attributes.items())
        self._parts.append(_field(1, node + _field(7, (_OWN if operator in _OWN_OPERATORS else _STANDARD)[0])))
        return name

    def constant(self, value: NDArray[np.generic] | float) -> str:
        """Add a tensor; a number becomes one of float32."""
        name = f"v{len(self._parts)}"
        tensor = value if isinstance(value, np.ndarray) else np.array(value, np.float32)
        content = b"".join(_field(1, size) for size in tensor.shape) + _field(2, _TYPES[tensor.dtype.name])
        self._parts.append(_field(5, content + _field(8, name) + _field(9, tensor.tobytes())))
        return name

    def open(self, *outputs: str) -> onnxruntime.InferenceSession:
        """Open the model. A run of it uses the thread that asks, and returns `outputs`, which are matrices too."""
        graph = b"".join(self._parts) + _field(2, "layer") + b"".join(_field(12, _matrix(name)) for name in outputs)
        sets = b"".join(_field(8, _field(1, domain) + _field(2, version)) for domain, version in (_STANDARD, _OWN))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the reader has threads of its own
        options.enable_cpu_mem_arena = False  # one for each model would hold 80 MB more, and be no faster
        model = _field(1, _IR) + _field(7, graph) + sets
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _matrix(name: str) -> bytes:
    """The type of an input or output: a matrix of float32, of any size."""
    return _field(1, name) + _field(2, _field(1, _field(1, _TYPES["float32"]) + _field(2, _field(1, "") * 2)))


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _field(20, 1)


def _field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])
