"""The base classes of all families: a recurrent model, and the state that it carries from slice to slice.

Knows no family: each says which tensors its state has, and what a step computes.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import torch
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class LayerState:
    """The state of all layers. Each field is a tuple with one tensor (batch, ...) for each layer.

    Its tensors have names, so that a state can be saved, moved and compared.
    """

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors by name; a name joins field and layer with a dot, such as "ssm.3"."""
        return {
            f"{field.name}.{layer}": tensor
            for field in fields(self)
            for layer, tensor in enumerate(getattr(self, field.name))
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Self:
        """Return the state with these tensors: the inverse of `tensors`. Raises KeyError if a layer is missing."""
        return cls(*(_layers(tensors, field.name) for field in fields(cls)))

    def rows(self, rows: Sequence[int]) -> Self:
        """Return a copy of some rows of the batch."""
        return type(self).from_tensors({name: tensor[list(rows)].clone() for name, tensor in self.tensors().items()})


def _layers(tensors: Mapping[str, Tensor], name: str) -> tuple[Tensor, ...]:
    count = sum(key.rpartition(".")[0] == name for key in tensors)
    return tuple(tensors[f"{name}.{layer}"] for layer in range(count))


class RecurrentModel(nn.Module, ABC):
    """A recurrent model of any family. Each family has its own type of state."""

    embeddings: nn.Embedding
    """The table of token vectors."""
    block_size: int
    """Q, in tokens.

    Slices of a multiple of Q have the same blocks as one pass over the whole text, so their results differ at most by
    the rounding of the matrix products: the tests allow 2e-6 in float32. They allow up to 1e-4 for other slices.
    """

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.embeddings.weight.device

    @abstractmethod
    def initial_state(self, batch: int = 1) -> Any:
        """Return the state before the first token."""

    @abstractmethod
    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read a slice of any length: tokens (batch, length) integers -> hidden (batch, length, d_model) float32.

        Returns the hidden states and the state after the slice.
        """
