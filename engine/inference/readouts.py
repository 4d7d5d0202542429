"""Turns hidden states into vectors by running weighted sums: the arithmetic of the `mean` readout.

Takes spans of tokens, hidden states and weights; returns sums and unit vectors. Knows no text, no passage and no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from engine.errors import ModelError
from engine.models.config import ModelConfig


@dataclass(frozen=True, slots=True)
class MeanHead:
    """vector = normalise(projection @ sum_i weight(token_i) * hidden_i)."""

    projection: Tensor
    """(dim, d_model) float32."""
    token_weight: Tensor
    """(vocab_size,) float32, positive."""

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], config: ModelConfig) -> "MeanHead":
        """Build it from the `readout.*` tensors of a checkpoint. Raises ModelError if one is missing or misshapen."""
        try:
            projection, log_weight = tensors["projection.weight"], tensors["token_log_weight"]
        except KeyError as error:
            hint = "the model is incomplete: copy it again"
            raise ModelError(f"the weights lack readout.{error.args[0]}, which the mean readout needs", hint) from None
        if projection.shape[1:] != (config.d_model,) or log_weight.shape != (config.vocab_size,):
            shapes = f"{tuple(projection.shape)} and {tuple(log_weight.shape)}"
            raise ModelError(f"the tensors of the mean readout are {shapes}: not of this model", "copy the model again")
        return cls(projection, log_weight.exp())

    def vectors(self, sums: Tensor) -> NDArray[np.float32]:
        """Weighted sums (n, d_model) -> unit vectors (n, dim)."""
        return unit(sums @ self.projection.T)  # the projection is linear, so it can follow the sum


def unit(vectors: Tensor) -> NDArray[np.float32]:
    """Normalise the rows of (n, dim) to length 1; returns float32 on the CPU."""
    rows: NDArray[np.float32] = F.normalize(vectors.float(), dim=-1).cpu().numpy()
    return rows


@dataclass(slots=True)
class RunningMeans:
    """The weighted sums of one document and of its spans, updated slice by slice."""

    head: MeanHead
    borders: NDArray[np.int64]
    """(n_spans, 2): the first token of each span and the token after its last; ascending, without overlap."""
    position: int = 0
    """Number of tokens read so far."""
    n_finished: int = 0
    """Number of spans whose last token has been read."""
    total: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum over all tokens read so far."""
    open: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum of the unfinished span at the end of the last slice."""

    def document(self) -> NDArray[np.float32]:
        """Return the vector (dim,) of all tokens read so far."""
        vector: NDArray[np.float32] = self.head.vectors(self.total[None])[0]
        return vector

    def place(self, length: int) -> tuple[NDArray[np.int64], int, int]:
        """Locate the next `length` tokens among the spans.

        Returns, for each token, the index of its span counted from `n_finished`, or -1 outside all spans; the number of
        spans that these tokens finish; and the number of spans that start before the last of them.
        """
        stop = self.position + length
        finished = int(np.searchsorted(self.borders[:, 1], stop, side="right"))
        # spans that start before `stop`, and empty spans at `stop`
        started = max(int(np.searchsorted(self.borders[:, 0], stop)), finished)
        positions = np.arange(self.position, stop)
        span = np.searchsorted(self.borders[:, 0], positions, side="right") - 1  # -1: before the first span
        stops = np.append(self.borders[:, 1], 0)  # the last entry serves span -1: no token is inside
        inside = (span >= self.n_finished) & (positions < stops[span])
        return np.where(inside, span - self.n_finished, -1), finished - self.n_finished, started - self.n_finished

    def advance(self, length: int, total: Tensor, sums: Tensor, n_new: int) -> None:
        """Add the sums of the next `length` tokens: `total` (d_model,), and `sums` (n_started, d_model) by span."""
        self.open = sums[n_new].clone() if n_new < len(sums) else torch.zeros_like(total)
        self.total = self.total + total if self.total.numel() else total
        self.position += length
        self.n_finished += n_new


def push(means: Sequence[RunningMeans], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Tensor]:
    """Add one slice of each document; return for each document the sums (n, d_model) of the spans it finished.

    hidden (documents, length, d_model); ids (documents, length). Only the first `lengths` tokens of each document
    count; the rest is padding. All documents share one sum, because on a GPU each of many small sums costs as much.
    """
    places = [mean.place(length) for mean, length in zip(means, lengths, strict=True)]
    offsets = np.cumsum([0, *(started for *_, started in places)])
    slots = np.full(tuple(ids.shape), offsets[-1])  # one extra slot collects the tokens outside all spans
    for row, (place, *_) in enumerate(places):
        slots[row, : len(place)] = np.where(place < 0, offsets[-1], place + offsets[row])
    padding = torch.arange(ids.shape[1], device=ids.device) >= torch.tensor(lengths, device=ids.device)[:, None]
    weighted = hidden.float() * means[0].head.token_weight[ids].masked_fill(padding, 0)[..., None]
    totals = weighted.sum(1)
    sums = torch.zeros(int(offsets[-1]) + 1, weighted.shape[-1], device=weighted.device)
    sums.index_add_(0, torch.from_numpy(slots.ravel()).to(weighted.device), weighted.flatten(0, 1))
    finished = []
    for row, (mean, (_, n_new, started)) in enumerate(zip(means, places, strict=True)):
        own = sums[offsets[row] : offsets[row] + started]
        if started and mean.open.numel():
            own[0] += mean.open
        mean.advance(lengths[row], totals[row], own, n_new)
        finished.append(own[:n_new])
    return finished
