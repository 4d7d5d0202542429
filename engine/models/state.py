"""What every family's state has in common: tensors by name, batch first, so that it can be saved, moved and compared.

Knows no family: which tensors there are is the families' own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LayerState:
    """Base of the families' states: each field is a tuple with a tensor for each layer, (batch, ...)."""

    def tensors(self) -> dict[str, Tensor]:
        """All of it, flat: field and layer joined by a dot, such as "ssm.3"."""
        return {
            f"{field.name}.{layer}": tensor
            for field in fields(self)
            for layer, tensor in enumerate(getattr(self, field.name))
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Self:
        """The inverse of `tensors`. Raises KeyError where a layer is missing between others."""
        return cls(*(_layers(tensors, field.name) for field in fields(cls)))

    def rows(self, rows: Sequence[int]) -> Self:
        """A copy of some rows of the batch."""
        return type(self).from_tensors({name: tensor[list(rows)].clone() for name, tensor in self.tensors().items()})


def _layers(tensors: Mapping[str, Tensor], name: str) -> tuple[Tensor, ...]:
    count = sum(key.rpartition(".")[0] == name for key in tensors)
    return tuple(tensors[f"{name}.{layer}"] for layer in range(count))
