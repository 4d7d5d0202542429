"""The `mean` readout: a vector is a weighted mean of hidden states, summed slice by slice."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import INCOMPLETE_MODEL, ModelError
from longsearch.engine.models.config import ModelConfig
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.parts import Excerpts
from longsearch.engine.readouts.reading import Finished, PlainReadout, Slice, unit
from longsearch.engine.readouts.saved_states import PassState


@dataclass(frozen=True, slots=True)
class MeanHead:
    """The weights of the mean readout: vector = normalise(projection @ sum_i weight(token_i) * hidden_i)."""

    projection: Tensor
    """(dim, d_model) float32."""
    token_weight: Tensor
    """(vocabulary,) float32, positive."""

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], config: ModelConfig) -> "MeanHead":
        """Take a checkpoint's `readout.*` tensors. Raises ModelError if one is missing or has the wrong shape."""
        try:
            projection, log_weight = tensors["projection.weight"], tensors["token_log_weight"]
        except KeyError as error:
            raise ModelError(
                f"the weights lack readout.{error.args[0]}, which the mean readout needs", INCOMPLETE_MODEL
            ) from None
        if projection.shape[1:] != (config.d_model,) or log_weight.shape != (config.vocab_size,):
            shapes = f"{tuple(projection.shape)} and {tuple(log_weight.shape)}"
            raise ModelError(f"the mean readout's tensors do not fit the model: {shapes}", "copy the model again")
        return cls(projection, log_weight.exp())

    def vectors(self, sums: Tensor) -> NDArray[np.float32]:
        """Turn weighted sums (n, d_model) into unit vectors (n, dim)."""
        return unit(sums @ self.projection.T)  # the projection is linear, so it can follow the sum


@dataclass(slots=True)
class RunningMeans:
    """Weighted sums over a document and over spans in it, from hidden states that arrive slice by slice."""

    head: MeanHead
    borders: NDArray[np.int64]
    """(n_spans, 2) the index of each span's first token and one past its last; ascending, not overlapping."""
    position: int = 0
    """Tokens read so far."""
    n_finished: int = 0
    """Spans whose last token has been read."""
    total: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum over all tokens read so far."""
    open: Tensor = field(default_factory=lambda: torch.zeros(0))
    """(d_model,) sum over the tokens read so far of the span in which the last slice ended."""

    def document(self) -> NDArray[np.float32]:
        """Return the vector (dim,) of all tokens read so far."""
        vector: NDArray[np.float32] = self.head.vectors(self.total[None])[0]
        return vector

    def place(self, length: int) -> tuple[NDArray[np.int64], int, int]:
        """Find the spans of the next `length` tokens.

        Returns (length,) the span of each token, counted from `n_finished`, or -1 if it lies in none; then how many
        spans these tokens finish, and how many spans from `n_finished` on have begun when these tokens are read.
        """
        stop = self.position + length
        finished = int(np.searchsorted(self.borders[:, 1], stop, side="right"))
        # spans that begin before `stop`, and empty spans that begin and end at `stop`
        begun = max(int(np.searchsorted(self.borders[:, 0], stop)), finished)
        positions = np.arange(self.position, stop)
        span = np.searchsorted(self.borders[:, 0], positions, side="right") - 1  # -1 before the first span
        stops = np.append(self.borders[:, 1], 0)  # for span -1: no token is inside
        inside = (span >= self.n_finished) & (positions < stops[span])
        return np.where(inside, span - self.n_finished, -1), finished - self.n_finished, begun - self.n_finished

    def advance(self, length: int, total: Tensor, sums: Tensor, n_new: int) -> None:
        """Add the sums of `length` tokens: `total` (d_model,) over them all, `sums` (n_begun, d_model) over each span.

        The first `n_new` of these spans are finished.
        """
        self.open = sums[n_new].clone() if n_new < len(sums) else torch.zeros_like(total)
        self.total = self.total + total if self.total.numel() else total
        self.position += length
        self.n_finished += n_new


def push(means: Sequence[RunningMeans], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Tensor]:
    """Add a slice of each document. Returns for each document the sums (n, d_model) of the spans that it finished.

    `hidden` is (documents, length, d_model), `ids` is (documents, length). In each row the first `lengths` tokens
    count; the rest is padding. All documents are summed at once: on a GPU, each of many small sums would take as long.
    """
    places = [mean.place(length) for mean, length in zip(means, lengths, strict=True)]
    offsets = np.cumsum([0, *(begun for *_, begun in places)])
    slots = np.full(tuple(ids.shape), offsets[-1])  # the extra last slot collects the tokens outside all spans
    for row, (place, *_) in enumerate(places):
        slots[row, : len(place)] = np.where(place < 0, offsets[-1], place + offsets[row])
    padding = torch.arange(ids.shape[1], device=ids.device) >= torch.tensor(lengths, device=ids.device)[:, None]
    weighted = hidden.float() * means[0].head.token_weight[ids].masked_fill(padding, 0)[..., None]
    totals = weighted.sum(1)
    sums = torch.zeros(int(offsets[-1]) + 1, weighted.shape[-1], device=weighted.device)
    sums.index_add_(0, torch.from_numpy(slots.ravel()).to(weighted.device), weighted.flatten(0, 1))
    finished = []
    for row, (mean, (_, n_new, begun)) in enumerate(zip(means, places, strict=True)):
        of_document = sums[offsets[row] : offsets[row] + begun]
        if begun and mean.open.numel():
            of_document[0] += mean.open
        mean.advance(lengths[row], totals[row], of_document, n_new)
        finished.append(of_document[:n_new])
    return finished


class MeanReading:
    """A document under the `mean` readout. The sum of a passage is that of its excerpts' sums."""

    probes = None

    def __init__(self, head: MeanHead, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> None:
        self.means = RunningMeans(head, borders.excerpts)
        self.n_passages_done = 0
        self._borders = borders
        self._waiting = torch.zeros(0, head.projection.shape[1], device=head.projection.device)
        """(n, d_model) sums of the finished excerpts of an unfinished passage."""
        if resume:
            self.n_passages_done = resume.n_passages_done
            self.means.position = resume.n_tokens_done
            self.means.total, self.means.open, self._waiting = resume.sums
            self.means.n_finished = int(borders.firsts[resume.n_passages_done]) + len(self._waiting)
        self.stream = ids[self.means.position :]

    @property
    def n_tokens_done(self) -> int:
        return self.means.position

    @property
    def sums(self) -> tuple[Tensor, ...]:
        return self.means.total, self.means.open, self._waiting

    @property
    def document_vector(self) -> Vectors:
        return self.means.document()

    def finish(self, excerpts: Tensor) -> tuple[Tensor, list[NDArray[np.int64]]]:
        """Take the sums (n, d_model) of the excerpts that were just finished.

        Returns the sums (n_excerpts, d_model) of the excerpts of all passages that are complete now, and for each of
        these passages the starts of its excerpts, (n,) in characters.
        """
        self._waiting = torch.cat((self._waiting, excerpts))
        done, self.n_passages_done = self.n_passages_done, self._borders.n_passages_within(self.means.n_finished)
        starts = self._borders.starts_of(done, self.n_passages_done)
        finished, self._waiting = self._waiting.tensor_split([sum(map(len, starts))])
        return finished, starts


class MeanReadout(PlainReadout):
    """The `mean` readout: a vector is a weighted mean of hidden states."""

    n_sums = 3

    def __init__(self, head: MeanHead) -> None:
        self.head = head
        self.dim = head.projection.shape[0]

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> MeanReading:
        """See `Readout`."""
        return MeanReading(self.head, ids, borders, resume)

    def take(self, readings: Sequence[MeanReading], hidden: Tensor, given: Slice) -> list[Finished]:
        """See `PlainReadout`."""
        sums = push([reading.means for reading in readings], hidden, given.tokens, given.lengths)
        finished = [reading.finish(of_document) for reading, of_document in zip(readings, sums, strict=True)]
        starts = [starts_of_passage for _, of_document in finished for starts_of_passage in of_document]
        excerpts = torch.cat([of_document for of_document, _ in finished])
        sizes = np.array([len(starts_of_passage) for starts_of_passage in starts], np.int64)
        owners = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)).to(excerpts.device)
        passages = torch.zeros(len(sizes), excerpts.shape[1], device=excerpts.device).index_add_(0, owners, excerpts)
        # one product for all documents: on a GPU, each of many small products would take as long
        passage_vectors, excerpt_vectors = np.split(self.head.vectors(torch.cat((passages, excerpts))), [len(sizes)])
        by_passage = [
            Excerpts(of_document, vectors) if len(of_document) > 1 else Excerpts(of_document[:0], vectors[:0])
            for of_document, vectors in zip(
                starts, np.split(excerpt_vectors, np.cumsum(sizes))[: len(starts)], strict=True
            )
        ]
        ends = np.cumsum([len(of_document) for _, of_document in finished])
        # a copy: a slice would keep the excerpts' vectors in memory too, five times as many
        return [
            Finished(passage_vectors[end - len(of_document) : end].copy(), by_passage[end - len(of_document) : end])
            for end, (_, of_document) in zip(ends, finished, strict=True)
        ]
