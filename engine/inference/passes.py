"""What a document is while it is read, for each readout: the tokens still to come, and vectors as they finish.

Knows no text and no model: token ids and the passages' borders in tokens come in, hidden states are turned into unit
vectors. `engine.inference.slots` runs the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.inference.checkpoints import PassState
from engine.inference.readouts import MeanHead, RunningMeans, push, unit

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """A step of a pass: the vectors finished since the step before."""

    first_passage: int
    vectors: Vectors
    """(n, dim) of passages first_passage .. first_passage + n - 1; n may be 0."""
    n_tokens_done: int
    """Tokens of the document read so far."""
    checkpoint: Callable[[], bytes]
    """The state to go on from, serialised when called (a few megabytes)."""
    document_vector: Vectors
    """(dim,) In the last part, the document's; before, that of what was read (mean), or up to a passage's end (eos)."""
    is_last: bool


class Reading(Protocol):
    """One document that is being read."""

    @property
    def stream(self) -> NDArray[np.int64]:
        """What is still to be given to the model when the reading begins, probes included."""

    @property
    def probes(self) -> NDArray[np.bool_] | None:
        """Which of it are probes (see `engine.models.probes`); None: none is."""

    @property
    def n_tokens_done(self) -> int: ...
    @property
    def n_passages_done(self) -> int: ...
    @property
    def sums(self) -> tuple[Tensor, ...]:
        """The readout's running sums, as a checkpoint keeps them."""

    @property
    def document_vector(self) -> Vectors:
        """As in `EmbeddedPart`."""


class Readout(Protocol):
    """How hidden states become vectors, for several documents at once."""

    n_sums: int

    def begin(self, ids: NDArray[np.int64], borders: NDArray[np.int64], resume: PassState | None) -> Reading:
        """A document of ids (n_tokens,) and passages' borders (n_passages, 2) in tokens, from `resume` on."""

    def take(self, readings: Sequence[Any], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Vectors]:
        """Add hidden (documents, length, d_model) of ids (documents, length), of which the first `lengths` count.

        `readings` are what `begin` gave. Returns the vectors of the passages that each document finished, (n, dim).
        """


class MeanReading:
    """A document under the `mean` readout: weighted sums of hidden states."""

    probes = None

    def __init__(self, means: RunningMeans, stream: NDArray[np.int64]) -> None:
        self.means = means
        self.stream = stream

    @property
    def n_tokens_done(self) -> int:
        return self.means.position

    @property
    def n_passages_done(self) -> int:
        return self.means.n_finished

    @property
    def sums(self) -> tuple[Tensor, ...]:
        return self.means.total, self.means.open

    @property
    def document_vector(self) -> Vectors:
        return self.means.document()


class MeanReadout:
    """Weighted means of hidden states."""

    n_sums = 2

    def __init__(self, head: MeanHead) -> None:
        self._head = head

    def begin(self, ids: NDArray[np.int64], borders: NDArray[np.int64], resume: PassState | None) -> MeanReading:
        """See `Readout`."""
        means = RunningMeans(self._head, borders)
        if resume:
            means.position, means.n_finished = resume.n_tokens_done, resume.n_passages_done
            means.total, means.open = resume.sums
        return MeanReading(means, ids[means.position :])

    def take(
        self, readings: Sequence[MeanReading], hidden: Tensor, ids: Tensor, lengths: Sequence[int]
    ) -> list[Vectors]:
        """See `Readout`."""
        return push([reading.means for reading in readings], hidden, ids, lengths)


class EosReading:
    """A document under the `eos` readout: EOS stands as a probe after every passage and after the whole."""

    sums = ()

    def __init__(
        self, eos_id: int, ids: NDArray[np.int64], borders: NDArray[np.int64], resume: PassState | None
    ) -> None:
        self.n_tokens_done = resume.n_tokens_done if resume else 0
        self.n_passages_done = resume.n_passages_done if resume else 0
        self.n_passages = len(borders)
        self.document_vector: Vectors = np.zeros(0, np.float32)
        rest = ids[self.n_tokens_done :]
        ends = borders[self.n_passages_done :, 1] - self.n_tokens_done
        if not len(ends) or ends[-1] != len(rest):
            ends = np.append(ends, len(rest))  # no passage ends where the document does
        self.stream = np.insert(rest, ends, eos_id)
        self.probes = np.insert(np.zeros(len(rest), np.bool_), ends, True)
        self._at = 0

    def advance(self, length: int, vectors: Vectors) -> Vectors:
        """Take `length` tokens of the stream as read, `vectors` being the probes' among them; those of passages."""
        n_new = min(len(vectors), self.n_passages - self.n_passages_done)
        self.n_tokens_done += length - len(vectors)
        self.n_passages_done += n_new
        self._at += length
        if len(vectors):
            self.document_vector = vectors[-1]
        return vectors[:n_new]

    def probes_within(self, length: int) -> NDArray[np.int64]:
        """Where in the next `length` tokens of the stream the probes are."""
        return np.flatnonzero(self.probes[self._at : self._at + length])


class EosReadout:
    """What EOS says after a passage's last token; that EOS itself is not carried on."""

    n_sums = 0

    def __init__(self, eos_id: int) -> None:
        self._eos_id = eos_id

    def begin(self, ids: NDArray[np.int64], borders: NDArray[np.int64], resume: PassState | None) -> EosReading:
        """See `Readout`."""
        return EosReading(self._eos_id, ids, borders, resume)

    def take(
        self, readings: Sequence[EosReading], hidden: Tensor, ids: Tensor, lengths: Sequence[int]
    ) -> list[Vectors]:
        """See `Readout`."""
        positions = [reading.probes_within(length) for reading, length in zip(readings, lengths, strict=True)]
        counts = [len(found) for found in positions]
        rows = torch.from_numpy(np.repeat(np.arange(len(readings)), counts)).to(hidden.device)
        vectors = unit(hidden[rows, torch.from_numpy(np.concatenate(positions)).to(hidden.device)])
        by_document = np.split(vectors, np.cumsum(counts)[:-1])
        return [r.advance(n, found) for r, n, found in zip(readings, lengths, by_document, strict=True)]
