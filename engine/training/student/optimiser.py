"""The optimiser and its schedule: Muon for the blocks' matrices, SparseAdam for the embedding, AdamW for the rest.

Muon (Jordan et al. 2024; https://kellerjordan.github.io/posts/muon) makes the momentum of a matrix orthogonal before
the update. Its updates are scaled to the size of AdamW's (Liu et al., arXiv 2502.16982), so it takes the same rates. A
step takes a seventh longer; over a million tokens Muon brought the bundled model nearer to its teacher, and AdamW did
not. The embedding of 30,522 x 384 is two thirds of the weights, and a step touches a few thousand of its rows. Updating
only those rows takes a twentieth of the time of updating all.

torch's Muon multiplies matrices in bfloat16. A CPU without bfloat16 instructions emulates that: on such a core the
update of the bundled model took 20 s, five times as long as the gradient of 4,600 tokens. There the update runs in
float32, which takes 1.6 s.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from longsearch.engine.inference.device import has_fast_bfloat16
from longsearch.engine.training.student.student import Rates, Schedule, Trainable

_FLOOR = 0.01  # the least share of the peak rate
_BETAS = (0.9, 0.98)


class Optimiser:
    """Three optimisers stepped as one: Muon for matrices, SparseAdam for the embedding, AdamW for the rest."""

    def __init__(self, student: Trainable, rates: Rates) -> None:
        groups = student.groups(rates)
        self._optimisers: dict[str, torch.optim.Optimizer] = {"dense": torch.optim.AdamW(groups, betas=_BETAS)}
        if matrices := student.matrices():
            self._optimisers["matrices"] = torch.optim.Muon(
                matrices, lr=rates.blocks, weight_decay=rates.weight_decay, adjust_lr_fn="match_rms_adamw"
            )
        if sparse := student.sparse():
            self._optimisers["sparse"] = torch.optim.SparseAdam(sparse, lr=rates.embedding, betas=_BETAS)
        self._products = _products(student.device)
        self._peaks = {name: [group["lr"] for group in o.param_groups] for name, o in self._optimisers.items()}
        self._clipped = [*matrices, *(p for group in groups for p in group["params"])]

    def step(self, factor: float, clip: float = 1.0) -> float:
        """Update the weights at `factor` times the peak rates, with dense gradients clipped to norm `clip`.

        Returns the norm before clipping. If it is not finite, no weight changes.
        """
        norm = float(nn.utils.clip_grad_norm_(self._clipped, clip))
        for name, optimiser in self._optimisers.items():
            for group, peak in zip(optimiser.param_groups, self._peaks[name], strict=True):
                group["lr"] = peak * factor
            if math.isfinite(norm):
                with self._products:
                    optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        return norm

    def state_dict(self) -> dict[str, Any]:
        """Return the moments, for `load_state_dict`."""
        return {name: optimiser.state_dict() for name, optimiser in self._optimisers.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load the moments that `state_dict` returned."""
        for name, optimiser in self._optimisers.items():
            optimiser.load_state_dict(state[name])


class InFloat32(TorchFunctionMode):
    """Makes `tensor.bfloat16()` return float32."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """See `TorchFunctionMode`."""
        return (Tensor.float if func is Tensor.bfloat16 else func)(*args, **(kwargs or {}))


def _products(device: torch.device) -> AbstractContextManager[Any]:
    """Return the context in which Muon multiplies matrices on `device`."""
    return nullcontext() if has_fast_bfloat16(device.type) else InFloat32()


def rate_factor(progress: float, warm_up: float, schedule: Schedule = Schedule.COSINE) -> float:
    """Return the share of the peak rate at `progress` (0 to 1), which peaks at `warm_up`.

    COSINE rises and falls as a cosine, between `_FLOOR` and 1. LINEAR rises from 0 to 1 and falls to 0 in straight
    lines, as `get_linear_schedule_with_warmup` of transformers does.
    """
    rising = progress < warm_up
    fallen = min(1.0, (progress - warm_up) / max(1 - warm_up, 1e-9))
    if schedule is Schedule.LINEAR:
        return progress / warm_up if rising else 1 - fallen
    angle = math.pi * (1 + progress / warm_up) if rising else math.pi * fallen
    return _FLOOR + (1 - _FLOOR) * 0.5 * (1 + math.cos(angle))
