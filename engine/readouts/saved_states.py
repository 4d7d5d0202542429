"""Saves a pass over a document as bytes, with torch. Loaded on another day, the pass resumes with the same result.

It can also resume in another document with the same beginning, such as a note to which text was added.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.models.recurrent import LayerState
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.numpy_states import HINT, digest_of, is_within


@dataclass(frozen=True, slots=True)
class PassState:
    """Everything that a streaming pass needs to resume."""

    model: LayerState
    n_tokens_done: int
    n_passages_done: int
    sums: tuple[Tensor, ...]
    """The readout's running sums; () if it has none."""
    digest: bytes = b""
    """A hash of what was read; only in a state that was loaded from bytes."""


Ahead = Callable[[PassState, NDArray[np.int64], Borders], tuple[NDArray[np.int64], ...]]
"""`Readout.ahead`: what a state depends on in a document beyond what was read."""


def to_bytes(state: PassState, ids: NDArray[np.int64], borders: Borders, ahead: Ahead) -> bytes:
    """Serialise a state in the safetensors format: a few megabytes, however long the text was.

    `ids` (n_tokens,) and `borders` are those of the document. A hash of the part that was read, and of what the readout
    has looked at `ahead`, is saved with the state.
    """
    tensors = state.model.tensors() | {f"sums.{i}": t for i, t in enumerate(state.sums)}
    tensors["done"] = torch.tensor([state.n_tokens_done, state.n_passages_done])
    digest = digest_of(ids, borders, state.n_tokens_done, state.n_passages_done, ahead(state, ids, borders))
    tensors["read"] = torch.frombuffer(bytearray(digest), dtype=torch.uint8)
    return bytes(save({name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}))


def from_bytes(data: bytes, device: str, family: type[LayerState]) -> PassState:
    """Load a state for a model whose states are of class `family`. Raises ModelError if the bytes are no such state."""
    try:
        tensors = {name: t.to(device) for name, t in load(data).items()}
        n_tokens, n_passages = (int(n) for n in tensors["done"])
        sums = tuple(tensors[f"sums.{i}"] for i in range(sum(name.startswith("sums.") for name in tensors)))
        digest = bytes(tensors["read"].tolist())
        model = family.from_tensors(tensors)
    except (SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise ModelError(f"the saved state is damaged: {error}", HINT) from error
    return PassState(model, n_tokens, n_passages, sums, digest)


def check_fits(
    state: PassState, empty: LayerState, n_sums: int, ids: NDArray[np.int64], borders: Borders, ahead: Ahead
) -> None:
    """Raise ModelError unless a pass over the document of `ids` and `borders` can resume from `state`.

    The state must have the tensors of `empty`, the model's initial state, and `n_sums` sums of the readout. The
    document must begin with the tokens, excerpts and passages that were read, and have what the readout looked at
    `ahead`.
    """
    shapes, expected = ({name: t.shape for name, t in s.tensors().items()} for s in (state.model, empty))
    n_tokens, n_passages = state.n_tokens_done, state.n_passages_done
    if (
        shapes != expected
        or len(state.sums) != n_sums
        or not is_within(ids, borders, n_tokens, n_passages)
        or state.digest != digest_of(ids, borders, n_tokens, n_passages, ahead(state, ids, borders))
    ):
        raise ModelError("the saved state belongs to another model or another document", HINT)
