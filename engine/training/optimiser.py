"""AdamW in groups, with a lazy update of the embedding, and the schedule of learning rates.

The table of 30,522 x 384 is two thirds of the weights, and a step touches a few thousand rows of it: updating those
alone takes a twentieth of the time of updating all.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from engine.training.student import Student

_BETAS = (0.9, 0.98)


@dataclass(frozen=True, slots=True)
class Rates:
    """Peak learning rates."""

    blocks: float = 1e-3
    embedding: float = 4e-4
    projection: float = 1e-4
    """At 2e-3 an identity was destroyed and the model fell far below its own start."""
    warm_up: float = 0.1
    """Share of the training in which rates rise; 300 hasty steps once cost ten minutes."""
    weight_decay: float = 0.01
    """Of the blocks' matrices."""


class Optimiser:
    """Two optimisers stepped as one: AdamW for what is dense, SparseAdam for the embedding."""

    def __init__(self, student: Student, rates: Rates) -> None:
        blocks = [p for n, p in student.model.named_parameters() if not n.startswith("embeddings.")]
        matrices, vectors = [p for p in blocks if p.dim() >= 2], [p for p in blocks if p.dim() < 2]
        groups: list[dict[str, Any]] = [
            {"params": matrices, "lr": rates.blocks, "weight_decay": rates.weight_decay},
            {"params": vectors, "lr": rates.blocks, "weight_decay": 0.0},
            {"params": [student.projection], "lr": rates.projection, "weight_decay": 0.0},
            {"params": [student.token_log_weight], "lr": rates.embedding, "weight_decay": 0.0},
        ]
        self._dense = torch.optim.AdamW(groups, betas=_BETAS)
        self._sparse = torch.optim.SparseAdam([student.model.embeddings.weight], lr=rates.embedding, betas=_BETAS)
        self._peaks = [[group["lr"] for group in o.param_groups] for o in self._both()]
        self._clipped = [p for group in groups for p in group["params"]]

    def step(self, factor: float, clip: float = 1.0) -> float:
        """Update at `factor` times the peak rates, gradients of the dense part clipped to norm `clip`.

        Returns the norm before that; where it is not finite nothing is updated.
        """
        norm = float(nn.utils.clip_grad_norm_(self._clipped, clip))
        for optimiser, peaks in zip(self._both(), self._peaks, strict=True):
            for group, peak in zip(optimiser.param_groups, peaks, strict=True):
                group["lr"] = peak * factor
            if math.isfinite(norm):
                optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        return norm

    def state_dict(self) -> dict[str, Any]:
        """To be saved for `load_state_dict`."""
        return {"dense": self._dense.state_dict(), "sparse": self._sparse.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state` was saved."""
        self._dense.load_state_dict(state["dense"])
        self._sparse.load_state_dict(state["sparse"])

    def _both(self) -> Iterator[torch.optim.Optimizer]:
        yield self._dense
        yield self._sparse


def rate_factor(progress: float, warm_up: float, floor: float = 0.01) -> float:
    """Share of the peak rate at `progress` (0 to 1): a cosine's gentle rise, then its long fall to `floor`."""
    if progress < warm_up:
        return 0.5 * (1 - math.cos(math.pi * progress / warm_up)) * (1 - floor) + floor
    fallen = min(1.0, (progress - warm_up) / max(1 - warm_up, 1e-9))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * fallen))
