"""The base class of the families' states. It gives tensors by name, so that a state can be saved, moved and compared.

Knows no family: each family says which tensors its state has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LayerState:
    """The state of all layers. Each field is a tuple with one tensor (batch, ...) for each layer."""

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
