"""The base of every family's recurrent state: named tensors, batch first, that can be saved, moved and compared.

Knows no family: each family defines its own tensors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LayerState:
    """Base class of the families' states: each field is a tuple of one tensor (batch, ...) per layer."""

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors under names of field and layer, such as "ssm.3"."""
        return {
            f"{field.name}.{layer}": tensor
            for field in fields(self)
            for layer, tensor in enumerate(getattr(self, field.name))
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Self:
        """Build a state from the result of `tensors`. Raises KeyError if a layer is missing between others."""
        return cls(*(_layers(tensors, field.name) for field in fields(cls)))

    def rows(self, rows: Sequence[int]) -> Self:
        """Return a copy of some rows of the batch."""
        return type(self).from_tensors({name: tensor[list(rows)].clone() for name, tensor in self.tensors().items()})


def _layers(tensors: Mapping[str, Tensor], name: str) -> tuple[Tensor, ...]:
    count = sum(key.rpartition(".")[0] == name for key in tensors)
    return tuple(tensors[f"{name}.{layer}"] for layer in range(count))
