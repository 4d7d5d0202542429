"""One document during its pass, under each readout: the tokens that remain, and the vectors as they are finished.

Takes token ids, borders of passages in tokens, and hidden states; returns unit vectors. Knows no text and no model:
`engine.inference.slots` runs the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.arrays import Vectors
from engine.inference.borders import Borders
from engine.inference.readouts import MeanHead, RunningMeans, push, unit
from engine.inference.saved_states import PassState


class Excerpts(NamedTuple):
    """The excerpts of one passage."""

    starts: NDArray[np.int64]
    """(n_excerpts,) the start of each, in characters from the start of the passage; each ends where the next starts."""
    vectors: Vectors
    """(n_excerpts, dim)"""


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """One step of a pass: the vectors finished in this step."""

    first_passage: int
    vectors: Vectors
    """(n, dim) the vectors of passages first_passage .. first_passage + n - 1; n may be 0."""
    excerpts: list[Excerpts]
    """One entry for each of these passages; empty if the passage is one excerpt or the readout makes no excerpts."""
    n_tokens_done: int
    """Number of tokens of the document read so far."""
    saved_state: Callable[[], bytes]
    """Call it to serialise the state to resume from (a few megabytes)."""
    document_vector: Vectors
    """(dim,) The vector of the text read so far (mean), or of the text up to the last probe (eos).

    In the last part it is the vector of the document.
    """
    is_last: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """The results of one step for one document."""

    vectors: Vectors
    """(n, dim) the vectors of the passages finished."""
    excerpts: list[Excerpts]
    """As in `EmbeddedPart`."""


class Reading(Protocol):
    """One document during its pass."""

    @property
    def stream(self) -> NDArray[np.int64]:
        """(n,) The tokens, with probes, that the model must still read when the pass starts."""

    @property
    def probes(self) -> NDArray[np.bool_] | None:
        """(n,) Which tokens of `stream` are probes (see `engine.models.probes`); None if there are none."""

    @property
    def n_tokens_done(self) -> int: ...
    @property
    def n_passages_done(self) -> int: ...
    @property
    def sums(self) -> tuple[Tensor, ...]:
        """The running sums of the readout, as `PassState` keeps them."""

    @property
    def document_vector(self) -> Vectors:
        """As in `EmbeddedPart`."""


class Readout(Protocol):
    """Turns hidden states into vectors, for several documents at once."""

    n_sums: int

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> Reading:
        """Start the pass over a document of ids (n_tokens,), or resume it from `resume`."""

    def take(self, readings: Sequence[Any], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Finished]:
        """Add one slice of each document; return the vectors that each document finished.

        `readings` come from `begin`. hidden (documents, length, d_model); ids (documents, length). Only the first
        `lengths` tokens of each document count; the rest is padding.
        """


class MeanReading:
    """A document under the `mean` readout: sums hidden states by excerpt, and excerpts by passage."""

    probes = None

    def __init__(self, head: MeanHead, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> None:
        self.means = RunningMeans(head, borders.excerpts)
        self.n_passages_done = 0
        self._borders = borders
        self._waiting = torch.zeros(0, head.projection.shape[1], device=head.projection.device)
        """(n, d_model) the sums of finished excerpts whose passage is unfinished."""
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
        """Add the sums (n, d_model) of the excerpts just finished, and release those of finished passages.

        Returns the sums (n_excerpts, d_model) of the excerpts of all passages that are now finished, and for each of
        these passages the starts of its excerpts, in characters from the start of the passage.
        """
        self._waiting = torch.cat((self._waiting, excerpts))
        done, self.n_passages_done = self.n_passages_done, self._borders.n_passages_within(self.means.n_finished)
        starts = self._borders.starts_of(done, self.n_passages_done)
        finished, self._waiting = self._waiting.tensor_split([sum(map(len, starts))])
        return finished, starts


class MeanReadout:
    """The vector of a text is the weighted mean of its hidden states."""

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
        starts = [of_passage for _, own in finished for of_passage in own]
        excerpts = torch.cat([own for own, _ in finished])
        sizes = np.array([len(of_passage) for of_passage in starts], np.int64)
        owners = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes)).to(excerpts.device)
        passages = torch.zeros(len(sizes), excerpts.shape[1], device=excerpts.device).index_add_(0, owners, excerpts)
        # one matrix product for all documents: on a GPU each of many small products costs as much
        of_passages, of_excerpts = np.split(self._head.vectors(torch.cat((passages, excerpts))), [len(sizes)])
        one_by_one = [
            Excerpts(own, vectors) if len(own) > 1 else Excerpts(own[:0], vectors[:0])
            for own, vectors in zip(starts, np.split(of_excerpts, np.cumsum(sizes))[: len(starts)], strict=True)
        ]
        ends = np.cumsum([len(own) for _, own in finished])
        # a copy, so that keeping the passage vectors does not keep the excerpt vectors alive, five times as many
        return [
            Finished(of_passages[end - len(own) : end].copy(), one_by_one[end - len(own) : end])
            for end, (_, own) in zip(ends, finished, strict=True)
        ]


class EosReading:
    """A document under the `eos` readout: an EOS token follows each passage, and the document, as a probe."""

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
            ends = np.append(ends, len(rest))  # no passage ends at the end of the document
        self.stream = np.insert(rest, ends, eos_id)
        self.probes = np.insert(np.zeros(len(rest), np.bool_), ends, True)
        self._at = 0

    def advance(self, length: int, vectors: Vectors) -> Vectors:
        """Mark `length` tokens of the stream as read, given the `vectors` of their probes; return those of passages."""
        n_new = min(len(vectors), self.n_passages - self.n_passages_done)
        self.n_tokens_done += length - len(vectors)
        self.n_passages_done += n_new
        self._at += length
        if len(vectors):
            self.document_vector = vectors[-1]
        return vectors[:n_new]

    def probes_within(self, length: int) -> NDArray[np.int64]:
        """Return the positions of the probes among the next `length` tokens of the stream."""
        return np.flatnonzero(self.probes[self._at : self._at + length])


class EosReadout:
    """A passage's vector is the hidden state of an EOS token after it, which the state forgets. Makes no excerpts."""

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
