"""How hidden states become vectors: running sums for the `mean` readout, the last token for `eos`.

Knows no text, no passage and no model: spans of tokens, hidden states and weights in, sums and unit vectors out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import ModelConfig


@dataclass(frozen=True, slots=True)
class MeanHead:
    """vector = normalise(projection @ sum_i weight(token_i) * hidden_i)."""

    projection: Tensor
    """(dim, d_model) float32."""
    token_weight: Tensor
    """(vocabulary,) float32, positive."""

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], config: ModelConfig) -> "MeanHead":
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
    """Weighted sums of one document and of spans in it, over hidden states that arrive slice by slice."""

    head: MeanHead
    borders: NDArray[np.int64]
    """(n_spans, 2): index of each span's first token and one past its last; ascending, not overlapping."""
    position: int = 0
    """Tokens read so far."""
    n_finished: int = 0
    """Spans whose last token has been read."""
    total: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum over all tokens so far."""
    open: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum of the span that the last slice ended in."""

    def document(self) -> NDArray[np.float32]:
        """The vector of all that was read, (dim,)."""
        vector: NDArray[np.float32] = self.head.vectors(self.total[None])[0]
        return vector

    def place(self, length: int) -> tuple[NDArray[np.int64], int, int]:
        """Where the next `length` tokens belong: for each how many spans after `n_finished` it lies, -1 for none;
        how many of those spans they finish; and how many they have begun.
        """
        stop = self.position + length
        finished = int(np.searchsorted(self.borders[:, 1], stop, side="right"))
        # spans that begin before `stop`, and those without tokens that begin and end at it
        begun = max(int(np.searchsorted(self.borders[:, 0], stop)), finished)
        positions = np.arange(self.position, stop)
        span = np.searchsorted(self.borders[:, 0], positions, side="right") - 1  # -1: before the first
        stops = np.append(self.borders[:, 1], 0)  # for -1: nothing is inside
        inside = (span >= self.n_finished) & (positions < stops[span])
        return np.where(inside, span - self.n_finished, -1), finished - self.n_finished, begun - self.n_finished

    def advance(self, length: int, total: Tensor, sums: Tensor, n_new: int) -> None:
        """Take over what `length` tokens added: `total` (d_model,), and `sums` (n_begun, d_model) of the spans."""
        self.open = sums[n_new].clone() if n_new < len(sums) else torch.zeros_like(total)
        self.total = self.total + total if self.total.numel() else total
        self.position += length
        self.n_finished += n_new


def push(means: Sequence[RunningMeans], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Tensor]:
    """Add a slice of each document. hidden (documents, length, d_model); ids (documents, length), of which each
    document's first `lengths` count, the rest is padding. Returns the sums of the spans each finished, (n, d_model).

    One sum for all documents: on a GPU each of many small ones would cost as much.
    """
    places = [mean.place(length) for mean, length in zip(means, lengths, strict=True)]
    offsets = np.cumsum([0, *(begun for *_, begun in places)])
    slots = np.full(tuple(ids.shape), offsets[-1])  # one more than there are collects what lies in no span
    for row, (place, *_) in enumerate(places):
        slots[row, : len(place)] = np.where(place < 0, offsets[-1], place + offsets[row])
    padding = torch.arange(ids.shape[1], device=ids.device) >= torch.tensor(lengths, device=ids.device)[:, None]
    weighted = hidden.float() * means[0].head.token_weight[ids].masked_fill(padding, 0)[..., None]
    totals = weighted.sum(1)
    sums = torch.zeros(int(offsets[-1]) + 1, weighted.shape[-1], device=weighted.device)
    sums.index_add_(0, torch.from_numpy(slots.ravel()).to(weighted.device), weighted.flatten(0, 1))
    finished = []
    for row, (mean, (_, n_new, begun)) in enumerate(zip(means, places, strict=True)):
        own = sums[offsets[row] : offsets[row] + begun]
        if begun and mean.open.numel():
            own[0] += mean.open
        mean.advance(lengths[row], totals[row], own, n_new)
        finished.append(own[:n_new])
    return finished
