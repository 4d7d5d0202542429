"""A pass over a document as bytes: saved in the middle, loaded on another day, it goes on with the same result.

It goes on in another document too, if that begins as the first one did: a note to which something was added.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.borders import Borders
from longsearch.engine.models.state import LayerState

_HINT = "the document is read again from its start"


@dataclass(frozen=True, slots=True)
class PassState:
    """Everything a streaming pass needs to go on."""

    model: LayerState
    n_tokens_done: int
    n_passages_done: int
    sums: tuple[Tensor, ...]
    """The readout's running sums; () for readouts without."""
    digest: bytes = b""
    """Of what was read, where it was loaded."""


def to_bytes(state: PassState, ids: NDArray[np.int64], borders: Borders) -> bytes:
    """Serialise, in safetensors; some megabytes, whatever the length of what was read.

    ids (n_tokens,) and borders are the document's: their beginning is remembered by a hash.
    """
    tensors = state.model.tensors() | {f"sums.{i}": t for i, t in enumerate(state.sums)}
    tensors["done"] = torch.tensor([state.n_tokens_done, state.n_passages_done])
    digest = _digest(ids, borders, state.n_tokens_done, state.n_passages_done)
    tensors["read"] = torch.frombuffer(bytearray(digest), dtype=torch.uint8)
    return bytes(save({name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}))


def from_bytes(data: bytes, device: str, family: type[LayerState]) -> PassState:
    """The inverse, for a model whose states are of class `family`. Raises ModelError for bytes that are no state."""
    try:
        tensors = {name: t.to(device) for name, t in load(data).items()}
        n_tokens, n_passages = (int(n) for n in tensors["done"])
        sums = tuple(tensors[f"sums.{i}"] for i in range(sum(name.startswith("sums.") for name in tensors)))
        digest = bytes(tensors["read"].tolist())
        model = family.from_tensors(tensors)
    except (SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise ModelError(f"a saved state is damaged: {error}", _HINT) from error
    return PassState(model, n_tokens, n_passages, sums, digest)


def check_fits(state: PassState, empty: LayerState, n_sums: int, ids: NDArray[np.int64], borders: Borders) -> None:
    """Raise ModelError unless `state` can be gone on from: by the model whose first state is `empty`, with a readout
    of `n_sums` sums, in a document that begins, up to there, with the tokens and passages of the one that was read.
    """
    found, expected = ({name: t.shape for name, t in s.tensors().items()} for s in (state.model, empty))
    n_tokens, n_passages = state.n_tokens_done, state.n_passages_done
    within = 0 <= n_tokens <= len(ids) and 0 <= n_passages <= len(borders.passages)
    if (
        found != expected
        or len(state.sums) != n_sums
        or not within
        or (borders.passages[n_passages:, 1] < n_tokens).any()  # the old one's ends later
        or state.digest != _digest(ids, borders, n_tokens, n_passages)
    ):
        raise ModelError("a saved state is of another model or another document", _HINT)


def _digest(ids: NDArray[np.int64], borders: Borders, n_tokens: int, n_passages: int) -> bytes:
    """Of the tokens read, the excerpts done and how they make passages, and where that begins which was begun."""
    done = borders.excerpts[:, 1] <= n_tokens
    begun = borders.excerpts[~done, 0]
    digest = hashlib.blake2b(digest_size=16)
    read = (ids[:n_tokens], borders.excerpts[done].ravel(), borders.firsts[: n_passages + 1], begun[begun < n_tokens])
    for numbers in read:
        digest.update(len(numbers).to_bytes(8, "little") + numbers.astype("<i8").tobytes())
    return digest.digest()
