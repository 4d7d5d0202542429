"""A pass over a document as bytes: saved in the middle, loaded on another day, it goes on with the same result."""

from dataclasses import dataclass

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from engine.errors import ModelError
from engine.models.mamba2 import Mamba2State


@dataclass(frozen=True, slots=True)
class PassState:
    """Everything a streaming pass needs to go on."""

    model: Mamba2State
    n_tokens_done: int
    n_passages_done: int
    sums: tuple[Tensor, ...]
    """The readout's running sums; () for readouts without."""


def to_bytes(state: PassState) -> bytes:
    """Serialise, in safetensors; some megabytes, whatever the length of what was read."""
    tensors = {f"conv.{i}": t for i, t in enumerate(state.model.conv)}
    tensors |= {f"ssm.{i}": t for i, t in enumerate(state.model.ssm)}
    tensors |= {f"sums.{i}": t for i, t in enumerate(state.sums)}
    tensors["done"] = torch.tensor([state.n_tokens_done, state.n_passages_done])
    return bytes(save({name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()}))


def from_bytes(data: bytes, device: str) -> PassState:
    """The inverse. Raises ModelError for bytes that are no state."""
    try:
        tensors = {name: t.to(device) for name, t in load(data).items()}
        n_tokens, n_passages = (int(n) for n in tensors["done"])
        conv, ssm, sums = (_numbered(tensors, prefix) for prefix in ("conv", "ssm", "sums"))
    except (SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise ModelError(f"a saved state is damaged: {error}", "the document is read again from its start") from error
    return PassState(Mamba2State(conv, ssm), n_tokens, n_passages, sums)


def check_fits(state: PassState, empty: Mamba2State, n_sums: int, n_tokens: int, n_passages: int) -> None:
    """Raise ModelError unless `state` can be gone on from: by the model whose first state is `empty`, with a readout
    of `n_sums` sums, in a document of `n_tokens` and `n_passages`.
    """
    found, expected = ([t.shape for t in (*s.conv, *s.ssm)] for s in (state.model, empty))
    done = 0 <= state.n_tokens_done <= n_tokens and 0 <= state.n_passages_done <= n_passages
    if found != expected or len(state.sums) != n_sums or not done:
        raise ModelError(
            "a saved state is of another model or another document", "the document is read again from its start"
        )


def _numbered(tensors: dict[str, Tensor], prefix: str) -> tuple[Tensor, ...]:
    count = sum(name.startswith(f"{prefix}.") for name in tensors)
    return tuple(tensors[f"{prefix}.{i}"] for i in range(count))
