"""Saves a pass of the readout `mean` as bytes, without torch, in the format of `engine.readouts.saved_states`.

Either can resume what the other one saved. The check whether a state fits a document is here, for both.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from longsearch.engine.errors import ModelError
from longsearch.engine.models.without_torch.query_model import Array, State
from longsearch.engine.readouts.borders import Borders

HINT = "the document is read again from its start"
_FORMATS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "U8": "u1"}


@dataclass(frozen=True, slots=True)
class NumpyPass:
    """Everything that a pass needs to resume, as `engine.readouts.saved_states.PassState`."""

    layers: list[State]
    n_tokens_done: int
    n_passages_done: int
    sums: tuple[Array, Array, Array]
    """The running sums of `mean`: over the document, over the unfinished excerpt, and of the excerpts that wait."""


def to_bytes(state: NumpyPass, ids: NDArray[np.int64], borders: Borders) -> bytes:
    """As `engine.readouts.saved_states.to_bytes`."""
    done = (state.n_tokens_done, state.n_passages_done)
    tensors: dict[str, NDArray[np.generic]] = {f"sums.{i}": array for i, array in enumerate(state.sums)}
    for i, (conv, ssm) in enumerate(state.layers):
        tensors |= {f"conv.{i}": conv[None], f"ssm.{i}": ssm[None]}
    tensors["done"] = np.array(done, np.int64)
    tensors["read"] = np.frombuffer(digest_of(ids, borders, *done), np.uint8)
    return save({name: np.ascontiguousarray(array) for name, array in tensors.items()})


def from_bytes(data: bytes, empty: Sequence[State], ids: NDArray[np.int64], borders: Borders) -> NumpyPass:
    """Load a state for a model whose layers begin with `empty`, and for the document of `ids` and `borders`.

    Raises ModelError if the bytes are no such state, or if they belong to another model or document.
    """
    try:
        arrays = {name: _array(**stored) for name, stored in deserialize(data)}
        n_tokens, n_passages = (int(n) for n in arrays.pop("done"))
        digest = arrays.pop("read").tobytes()
        total, begun, waiting = (arrays.pop(f"sums.{i}") for i in range(3))
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelError(f"the saved state is damaged: {error}", HINT) from error
    expected: dict[str, tuple[int, ...]] = {}
    for i, (conv, ssm) in enumerate(empty):
        expected |= {f"conv.{i}": (1, *conv.shape), f"ssm.{i}": (1, *ssm.shape)}
    if (
        {name: array.shape for name, array in arrays.items()} != expected
        or not is_within(ids, borders, n_tokens, n_passages)
        or digest != digest_of(ids, borders, n_tokens, n_passages)
    ):
        raise ModelError("the saved state belongs to another model or another document", HINT)
    layers = [(arrays[f"conv.{i}"][0], arrays[f"ssm.{i}"][0]) for i in range(len(empty))]
    return NumpyPass(layers, n_tokens, n_passages, (total, begun, waiting))


def _array(dtype: str, shape: Sequence[int], data: bytes) -> NDArray[Any]:
    """Return a stored tensor; bfloat16, which numpy does not have, as float32."""
    array = np.frombuffer(bytes(data), _FORMATS[dtype]).reshape(shape)
    return (array.astype(np.uint32) << 16).view(np.float32) if dtype == "BF16" else array


def is_within(ids: NDArray[np.int64], borders: Borders, n_tokens: int, n_passages: int) -> bool:
    """Whether a document has so many tokens and passages, and its other passages end after these tokens."""
    within = 0 <= n_tokens <= len(ids) and 0 <= n_passages <= len(borders.passages)
    return within and not (borders.passages[n_passages:, 1] < n_tokens).any()


def digest_of(
    ids: NDArray[np.int64], borders: Borders, n_tokens: int, n_passages: int, ahead: Sequence[NDArray[np.int64]] = ()
) -> bytes:
    """Hash the tokens read, the finished excerpts and their passages, where the unfinished excerpt begins, and `ahead`.

    If nothing is `ahead`, the hash is that of older versions, so that the states they saved stay valid.
    """
    done = borders.excerpts[:, 1] <= n_tokens
    begun = borders.excerpts[~done, 0]
    digest = hashlib.blake2b(digest_size=16)
    read = (ids[:n_tokens], borders.excerpts[done].ravel(), borders.firsts[: n_passages + 1], begun[begun < n_tokens])
    for numbers in (*read, *ahead):
        digest.update(len(numbers).to_bytes(8, "little") + numbers.astype("<i8").tobytes())
    return digest.digest()
