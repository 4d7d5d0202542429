"""Probes: tokens that a Mamba2 reads but does not remember. A probe's hidden state is that of a text that ends there.

The probes stand in the slice among the tokens of the text, so one pass gives a hidden state at the end of every
passage. The tokens after a probe are read as if it were not there. In a Mamba2 layer this is exact:

1. The convolution of later tokens skips the probe.
2. In the scan the probe has dt = 0, so it leaves the state h unchanged, and its output is C h.
3. The probe's own step is added to that output: y = exp(dt A) C h + dt (C . B) x.

Knows no weights and no readout.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class Probes:
    """The places of the probes in a slice (batch, length), computed once for all layers.

    `extended` means the inputs of the convolution: the d_conv - 1 inputs carried from the last slice, then the slice.
    """

    mask: Tensor
    """(batch, length) bool, true for a probe."""
    at: tuple[Tensor, Tensor]
    """Rows and positions of the probes, (n_probes,) each."""
    affected: tuple[Tensor, Tensor]
    """Rows and positions of the tokens whose convolution would see a probe before them, (n_affected,) each."""
    windows: Tensor
    """Positions in `extended` of the right inputs of those tokens, (n_affected, d_conv)."""
    last: Tensor
    """Positions in `extended` of the inputs that pass to the next slice, (batch, d_conv - 1)."""

    @classmethod
    def locate(cls, mask: NDArray[np.bool_], d_conv: int, device: torch.device) -> "Probes":
        """Find the probes of a mask (batch, length), which has at least one."""
        rows, positions, windows, last = [], [], [], []
        reach = np.arange(d_conv - 1)
        for row, probes in enumerate(mask):
            kept = np.concatenate((reach, np.flatnonzero(~probes) + d_conv - 1))  # all of `extended` but the probes
            n_before = np.cumsum(~probes) - ~probes  # number of tokens before each position that are not probes
            window = kept[n_before[:, None] + reach]  # the d_conv - 1 inputs before each position
            saw_probe = np.flatnonzero((window != np.arange(len(probes))[:, None] + reach).any(1))
            rows.append(np.full(len(saw_probe), row))
            positions.append(saw_probe)
            windows.append(np.column_stack((window[saw_probe], saw_probe + d_conv - 1)))
            last.append(kept[len(kept) - len(reach) :])

        def moved(index: NDArray[Any]) -> Tensor:
            return torch.from_numpy(index).to(device)

        at = np.nonzero(mask)
        return cls(
            mask=moved(mask),
            at=(moved(at[0]), moved(at[1])),
            affected=(moved(np.concatenate(rows)), moved(np.concatenate(positions))),
            windows=moved(np.concatenate(windows)),
            last=moved(np.stack(last)),
        )

    def repair_convolution(self, convolved: Tensor, extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Replace the outputs of the convolution that saw a probe before them.

        convolved (batch, length, channels), after SiLU; extended (batch, d_conv - 1 + length, channels); weight
        (channels, 1, d_conv).
        """
        inputs = extended[self.affected[0][:, None], self.windows]  # (n_affected, d_conv, channels)
        true = (inputs * weight.squeeze(1).T).sum(1)
        return convolved.index_put(self.affected, F.silu(true if bias is None else true + bias))

    def carried_inputs(self, extended: Tensor) -> Tensor:
        """Return the inputs of the convolution that pass to the next slice, (batch, d_conv - 1, channels)."""
        return extended[torch.arange(len(extended), device=extended.device)[:, None], self.last]

    def add_own_steps(self, y: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor) -> Tensor:
        """Return the scan's output y with the probes' own steps added.

        Shapes are those of `ssd_scan`; dt is that before it was set to 0 at the probes.
        """
        heads, groups = A.shape[0], B.shape[2]
        dt = dt[self.at]  # (n_probes, heads)
        scores = (C[self.at].float() * B[self.at].float()).sum(-1).repeat_interleave(heads // groups, dim=1)
        own = (scores * dt)[..., None] * x[self.at].float()
        return y.index_put(self.at, ((dt * A).exp()[..., None] * y[self.at].float() + own).to(y.dtype))
