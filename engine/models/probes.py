"""Tokens that a recurrent model reads without remembering them: what would it say if the text ended here?

A probe stands in the slice at its place, so that one pass answers at the ends of all passages; what follows is read as
if it were not there. In a Mamba2 layer that is exact: the convolution takes its inputs from the tokens around a probe;
the scan sees it with dt = 0, which leaves the state as it is and yields C h of the state before it, to which the
probe's own step is added: y = exp(dt A) C h + dt (C . B) x. Knows no weights and no readout.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class Probes:
    """Where the probes of a slice (batch, length) are, worked out once for all layers."""

    mask: Tensor
    """(batch, length) bool."""
    at: tuple[Tensor, Tensor]
    """(n_probes,) rows and (n_probes,) positions."""
    mended: tuple[Tensor, Tensor]
    """Rows and positions whose convolution would reach back over a probe."""
    windows: Tensor
    """(n_mended, d_conv) their true inputs, as positions in the slice with the d_conv - 1 carried inputs before it."""
    last: Tensor
    """(batch, d_conv - 1) the inputs to carry on, as positions of the same kind."""

    @classmethod
    def locate(cls, mask: NDArray[np.bool_], d_conv: int, device: torch.device) -> "Probes":
        """From a mask (batch, length) with at least one probe."""
        rows, positions, windows, last = [], [], [], []
        reach = np.arange(d_conv - 1)
        for row, probes in enumerate(mask):
            kept = np.concatenate((reach, np.flatnonzero(~probes) + d_conv - 1))
            n_before = np.cumsum(~probes) - ~probes  # tokens that are no probes before each position
            window = kept[n_before[:, None] + reach]
            over = np.flatnonzero((window != np.arange(len(probes))[:, None] + reach).any(1))
            rows.append(np.full(len(over), row))
            positions.append(over)
            windows.append(np.column_stack((window[over], over + d_conv - 1)))
            last.append(kept[len(kept) - len(reach) :])
        at, mended, inputs, carried = (
            tuple(torch.from_numpy(index).to(device) for index in indices)
            for indices in (
                np.nonzero(mask),
                (np.concatenate(rows), np.concatenate(positions)),
                (np.concatenate(windows),),
                (np.stack(last),),
            )
        )
        return cls(torch.from_numpy(mask).to(device), (at[0], at[1]), (mended[0], mended[1]), inputs[0], carried[0])

    def mend(self, convolved: Tensor, extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Replace in `convolved` (batch, length, channels), after its SiLU, what reached back over a probe.

        extended (batch, d_conv - 1 + length, channels) are the inputs; weight (channels, 1, d_conv).
        """
        inputs = extended[self.mended[0][:, None], self.windows]  # (n_mended, d_conv, channels)
        true = (inputs * weight.squeeze(1).T).sum(1)
        return convolved.index_put(self.mended, F.silu(true if bias is None else true + bias))

    def carried(self, extended: Tensor) -> Tensor:
        """The convolution's inputs to carry on, (batch, d_conv - 1, channels)."""
        return extended[torch.arange(len(extended), device=extended.device)[:, None], self.last]

    def answer(self, y: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor) -> Tensor:
        """The scan's output y with the probes' own step added. Shapes as in `ssd_scan`; dt is the probes' true one."""
        heads, groups = A.shape[0], B.shape[2]
        dt = dt[self.at]  # (n_probes, heads)
        scores = (C[self.at].float() * B[self.at].float()).sum(-1).repeat_interleave(heads // groups, dim=1)
        own = (scores * dt)[..., None] * x[self.at].float()
        return y.index_put(self.at, ((dt * A).exp()[..., None] * y[self.at].float() + own).to(y.dtype))
