"""What a document is while it is read, for each readout: the tokens still to come, and vectors as they finish.

Knows no text and no model: token ids and the passages' borders in tokens come in, hidden states are turned into unit
vectors. `engine.inference.slots` runs the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.arrays import Vectors
from longsearch.engine.inference.borders import Borders
from longsearch.engine.inference.readouts import MeanHead, RunningMeans, push, unit
from longsearch.engine.inference.saved_states import PassState


class Excerpts(NamedTuple):
    """Of one passage."""

    starts: NDArray[np.int64]
    """(n_excerpts,) where they begin, in characters from the passage's start; each goes on to the next."""
    vectors: Vectors
    """(n_excerpts, dim)"""


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """A step of a pass: the vectors finished since the step before."""

    first_passage: int
    vectors: Vectors
    """(n, dim) of passages first_passage .. first_passage + n - 1; n may be 0."""
    excerpts: list[Excerpts]
    """Of each of these passages; none where it is one excerpt, or the readout has none."""
    n_tokens_done: int
    """Tokens of the document read so far."""
    saved_state: Callable[[], bytes]
    """The state to go on from, serialised when called (a few megabytes)."""
    document_vector: Vectors
    """(dim,) In the last part, the document's; before, that of what was read (mean), or up to a passage's end (eos)."""
    is_last: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """What a step finished of one document."""

    vectors: Vectors
    """(n, dim) of passages."""
    excerpts: list[Excerpts]
    """As in `EmbeddedPart`."""


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
        """The readout's running sums, as a saved_state keeps them."""

    @property
    def document_vector(self) -> Vectors:
        """As in `EmbeddedPart`."""


class Readout(Protocol):
    """How hidden states become vectors, for several documents at once."""

    n_sums: int

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> Reading:
        """A document of ids (n_tokens,), from `resume` on."""

    def take(self, readings: Sequence[Any], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Finished]:
        """Add hidden (documents, length, d_model) of ids (documents, length), of which the first `lengths` count.

        `readings` are what `begin` gave. Returns what each document finished.
        """


class MeanReading:
    """A document under the `mean` readout: weighted sums of hidden states, a passage's being those of its excerpts."""

    probes = None

    def __init__(self, head: MeanHead, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> None:
        self.means = RunningMeans(head, borders.excerpts)
        self.n_passages_done = 0
        self._borders = borders
        self._waiting = torch.zeros(0, head.projection.shape[1], device=head.projection.device)
        """(n, d_model) of excerpts that were finished before their passage is."""
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
        """Take the sums (n, d_model) of excerpts that were just finished. Returns those of the passages that are whole
        now, (n_excerpts, d_model), and where each passage's begin, (n,) in characters.
        """
        self._waiting = torch.cat((self._waiting, excerpts))
        done, self.n_passages_done = self.n_passages_done, self._borders.n_passages_within(self.means.n_finished)
        starts = self._borders.starts_of(done, self.n_passages_done)
        finished, self._waiting = self._waiting.tensor_split([sum(map(len, starts))])
        return finished, starts


class MeanReadout:
    """Weighted means of hidden states."""

    n_sums = 3

    def __init__(self, head: MeanHead) -> None:
        self._head = head

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> MeanReading:
        """See `Readout`."""
        return MeanReading(self._head, ids, borders, resume)

    def take(
        self, readings: Sequence[MeanReading], hidden: Tensor, ids: Tensor, lengths: Sequence[int]
    ) -> list[Finished]:
        """See `Readout`."""
        sums = push([reading.means for reading in readings], hidden, ids, lengths)
        finished = [reading.finish(own) for reading, own in zip(readings, sums, strict=True)]
        starts = [one for _, own in finished for one in own]
        excerpts = torch.cat([own for own, _ in finished])
        sizes = np.array([len(one) for one in starts], np.int64)
        owners = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)).to(excerpts.device)
        passages = torch.zeros(len(sizes), excerpts.shape[1], device=excerpts.device).index_add_(0, owners, excerpts)
        # one product for all documents: on a GPU each of many small ones would cost as much
        of_passages, of_excerpts = np.split(self._head.vectors(torch.cat((passages, excerpts))), [len(sizes)])
        one_by_one = [
            Excerpts(own, vectors) if len(own) > 1 else Excerpts(own[:0], vectors[:0])
            for own, vectors in zip(starts, np.split(of_excerpts, np.cumsum(sizes))[: len(starts)], strict=True)
        ]
        ends = np.cumsum([len(own) for _, own in finished])
        # a copy: who keeps the passages' vectors need not keep the excerpts' too, five times as many
        return [
            Finished(of_passages[end - len(own) : end].copy(), one_by_one[end - len(own) : end])
            for end, (_, own) in zip(ends, finished, strict=True)
        ]


class EosReading:
    """A document under the `eos` readout: EOS stands as a probe after every passage and after the whole."""

    sums = ()

    def __init__(
        self, eos_id: int, ids: NDArray[np.int64], passages: NDArray[np.int64], resume: PassState | None
    ) -> None:
        self.n_tokens_done = resume.n_tokens_done if resume else 0
        self.n_passages_done = resume.n_passages_done if resume else 0
        self.n_passages = len(passages)
        self.document_vector: Vectors = np.zeros(0, np.float32)
        rest = ids[self.n_tokens_done :]
        ends = passages[self.n_passages_done :, 1] - self.n_tokens_done
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
    """What EOS says after a passage's last token; that EOS itself is not carried on. Of excerpts it says nothing."""

    n_sums = 0

    def __init__(self, eos_id: int) -> None:
        self._eos_id = eos_id

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> EosReading:
        """See `Readout`."""
        return EosReading(self._eos_id, ids, borders.passages, resume)

    def take(
        self, readings: Sequence[EosReading], hidden: Tensor, ids: Tensor, lengths: Sequence[int]
    ) -> list[Finished]:
        """See `Readout`."""
        positions = [reading.probes_within(length) for reading, length in zip(readings, lengths, strict=True)]
        counts = [len(found) for found in positions]
        rows = torch.from_numpy(np.repeat(np.arange(len(readings)), counts)).to(hidden.device)
        vectors = unit(hidden[rows, torch.from_numpy(np.concatenate(positions)).to(hidden.device)])
        by_document = np.split(vectors, np.cumsum(counts)[:-1])
        passages = [r.advance(n, found) for r, n, found in zip(readings, lengths, by_document, strict=True)]
        none = Excerpts(np.zeros(0, np.int64), passages[0][:0])
        return [Finished(own, [none] * len(own)) for own in passages]
