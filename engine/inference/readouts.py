"""How hidden states become vectors: running sums for the `mean` readout, the last token for `eos`.

Knows no text and no model: token positions, hidden states and weights in, unit vectors out.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from engine.errors import ModelError
from engine.models.config import Mamba2Config


@dataclass(frozen=True, slots=True)
class MeanHead:
    """vector = normalise(projection @ sum_i weight(token_i) * hidden_i)."""

    projection: Tensor
    """(dim, d_model) float32."""
    token_weight: Tensor
    """(vocabulary,) float32, positive."""

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], config: Mamba2Config) -> "MeanHead":
        """From a checkpoint's `readout.*` tensors. Raises ModelError where one is missing or does not fit."""
        try:
            projection, log_weight = tensors["projection.weight"], tensors["token_log_weight"]
        except KeyError as error:
            hint = "the model is incomplete: copy it again"
            raise ModelError(f"the weights lack readout.{error.args[0]}, which the mean readout needs", hint) from None
        if projection.shape[1:] != (config.d_model,) or log_weight.shape != (config.vocab_size,):
            shapes = f"{tuple(projection.shape)} and {tuple(log_weight.shape)}"
            raise ModelError(f"the mean readout's tensors are {shapes}: not of this model", "copy the model again")
        return cls(projection, log_weight.exp())

    def vectors(self, sums: Tensor) -> NDArray[np.float32]:
        """Weighted sums (n, d_model) -> unit vectors (n, dim)."""
        return unit(sums @ self.projection.T)  # linear, so it can come after the sum


def unit(vectors: Tensor) -> NDArray[np.float32]:
    """(n, dim) -> unit float32 rows on the CPU."""
    rows: NDArray[np.float32] = F.normalize(vectors.float(), dim=-1).cpu().numpy()
    return rows


@dataclass(slots=True)
class RunningMeans:
    """Weighted sums of one document and of the passages in it, over hidden states that arrive slice by slice."""

    head: MeanHead
    borders: NDArray[np.int64]
    """(n_passages, 2): index of each passage's first token and one past its last; ascending, not overlapping."""
    position: int = 0
    """Tokens read so far."""
    n_finished: int = 0
    """Passages whose last token has been read."""
    total: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum over all tokens so far."""
    open: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum of the passage that the last slice ended in."""

    def push(self, hidden: Tensor, ids: Tensor) -> NDArray[np.float32]:
        """Add a slice, hidden (length, d_model) and its ids (length,). Returns the passages it finished, (n, dim)."""
        weighted = hidden.float() * self.head.token_weight[ids][:, None]
        if not self.total.numel():
            self.total = self.open = torch.zeros_like(weighted[0])
        first, stop = self.position, self.position + len(ids)
        finished = int(np.searchsorted(self.borders[:, 1], stop, side="right"))
        # passages that begin before `stop`, and those without tokens that begin and end at it
        begun = max(int(np.searchsorted(self.borders[:, 0], stop)), finished)
        sums = self._passage_sums(weighted, first, begun)
        if self.n_finished < begun:
            sums[0] += self.open
        n_new = finished - self.n_finished
        self.open = sums[n_new].clone() if begun > finished else torch.zeros_like(self.open)
        self.total = self.total + weighted.sum(0)
        self.position, self.n_finished = stop, finished
        return self.head.vectors(sums[:n_new])

    def document(self) -> NDArray[np.float32]:
        """The vector of all that was read, (dim,)."""
        vector: NDArray[np.float32] = self.head.vectors(self.total[None])[0]
        return vector

    def _passage_sums(self, weighted: Tensor, first: int, begun: int) -> Tensor:
        """Sums of this slice's rows for passages n_finished .. begun - 1, (begun - n_finished, d_model)."""
        positions = np.arange(first, first + len(weighted))
        passage = np.searchsorted(self.borders[:, 0], positions, side="right") - 1  # -1: before the first
        stops = np.append(self.borders[:, 1], 0)  # for -1: nothing is inside
        inside = (passage >= self.n_finished) & (positions < stops[passage])
        slot = np.where(inside, passage - self.n_finished, begun - self.n_finished)  # the last slot collects the rest
        sums = torch.zeros(begun - self.n_finished + 1, weighted.shape[1], device=weighted.device)
        sums.index_add_(0, torch.from_numpy(slot).to(weighted.device), weighted)
        return sums[:-1]
