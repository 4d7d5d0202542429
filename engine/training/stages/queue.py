"""The teacher's latest vectors, so that a batch of few texts is told apart from many.

The student's vectors are compared with them as with those of the batch, and no text is read again. Fang et al., "SEED:
Self-supervised Distillation for Visual Representation", arXiv 2101.04731, teach a student by such a queue.
"""

import torch
from torch import Tensor

_EVERY = 8  # vectors of a batch that the queue of all sources takes, so that one batch does not fill it


class Queue:
    """Keeps the last `length` vectors of each source, and as many of all sources together."""

    def __init__(self, length: int, dim: int, device: torch.device) -> None:
        self._length = length
        self._empty = torch.zeros(0, dim, device=device)
        self._of_source: dict[str, Tensor] = {}
        self._of_all = self._empty

    def vectors(self, source: str) -> Tensor:
        """Return (m, dim), m <= 2 `length`: those of `source`, whose texts are nearest, then those of all sources."""
        return torch.cat((self._of_source.get(source, self._empty), self._of_all))

    def add(self, source: str, vectors: Tensor) -> None:
        """Keep the unit vectors (n, dim) of a batch, and let go of the oldest."""
        kept = self._of_source.get(source, self._empty)
        self._of_source[source] = torch.cat((vectors, kept))[: self._length]
        self._of_all = torch.cat((vectors[:_EVERY], self._of_all))[: self._length]
