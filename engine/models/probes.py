"""Probes: tokens that a recurrent model reads without remembering them, such as an EOS after each passage.

A probe stands in the slice at its position and gets a hidden state; the tokens after it are read as if it were absent.
So one pass yields an EOS vector at the end of every passage. In a Mamba2 layer this is exact. The convolution of other
tokens skips probes. The scan reads a probe with dt = 0, which leaves the state unchanged and yields C h of the state
before it; then the probe's own step is added: y = exp(dt A) C h + dt (C . B) x. Knows no weights and no readout.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class Probes:
    """The positions of the probes in a slice (batch, length), computed once for all layers."""

    mask: Tensor
    """(batch, length) bool, true at probes."""
    at: tuple[Tensor, Tensor]
    """(n_probes,) rows and (n_probes,) positions of the probes."""
    mended: tuple[Tensor, Tensor]
    """(n_mended,) rows and (n_mended,) positions of the tokens whose convolution window contains a probe."""
    windows: Tensor
    """(n_mended, d_conv) the inputs of these tokens without probes, as positions in the extended slice.

    The extended slice has the d_conv - 1 inputs of the convolution state in front.
    """
    last: Tensor
    """(batch, d_conv - 1) the inputs of the next convolution state, as positions in the extended slice."""

    @classmethod
    def locate(cls, mask: NDArray[np.bool_], d_conv: int, device: torch.device) -> "Probes":
        """Compute them from a mask (batch, length) with at least one probe."""
        rows, positions, windows, last = [], [], [], []
        reach = np.arange(d_conv - 1)
        for row, probes in enumerate(mask):
            kept = np.concatenate((reach, np.flatnonzero(~probes) + d_conv - 1))
            n_before = np.cumsum(~probes) - ~probes  # number of non-probes before each position
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
        """Replace the outputs whose window contained a probe; returns (batch, length, channels).

        convolved (batch, length, channels) is the convolution's output after SiLU; extended (batch, d_conv - 1 +
        length, channels) its input; weight (channels, 1, d_conv); bias (channels,).
        """
        inputs = extended[self.mended[0][:, None], self.windows]  # (n_mended, d_conv, channels)
        true = (inputs * weight.squeeze(1).T).sum(1)
        return convolved.index_put(self.mended, F.silu(true if bias is None else true + bias))

    def carried(self, extended: Tensor) -> Tensor:
        """Return the next convolution state, (batch, d_conv - 1, channels)."""
        return extended[torch.arange(len(extended), device=extended.device)[:, None], self.last]

    def answer(self, y: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor) -> Tensor:
        """Add the probes' own step to the output y of the scan. Shapes as in `ssd_scan`; dt is not masked."""
        heads, groups = A.shape[0], B.shape[2]
        dt = dt[self.at]  # (n_probes, heads)
        scores = (C[self.at].float() * B[self.at].float()).sum(-1).repeat_interleave(heads // groups, dim=1)
        own = (scores * dt)[..., None] * x[self.at].float()
        return y.index_put(self.at, ((dt * A).exp()[..., None] * y[self.at].float() + own).to(y.dtype))
