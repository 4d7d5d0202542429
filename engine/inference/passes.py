"""Keeps track of a document while it is read, for each readout: which tokens are left, and which vectors are finished.

Knows no text and no model: takes token ids, the borders of passages in tokens, and hidden states; returns unit
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
    """The excerpts of one passage."""

    starts: NDArray[np.int64]
    """(n_excerpts,) where each begins, in characters from the start of the passage. It ends where the next begins."""
    vectors: Vectors
    """(n_excerpts, dim)"""


@dataclass(frozen=True, slots=True)
class EmbeddedPart:
    """The result of one step of a pass: the vectors that were finished since the step before."""

    first_passage: int
    vectors: Vectors
    """(n, dim) of passages first_passage .. first_passage + n - 1; n may be 0."""
    excerpts: list[Excerpts]
    """The excerpts of each of these passages; empty if the passage is a single excerpt, or the readout has none."""
    n_tokens_done: int
    """Tokens of the document read so far."""
    saved_state: Callable[[], bytes]
    """Call it to serialise the state from which the pass can resume (a few megabytes)."""
    document_vector: Vectors
    """(dim,) In the last part, the vector of the document.

    In earlier parts, the vector of the text so far (mean), or of the text up to the last finished passage (eos).
    """
    is_last: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """What one step finished in one document."""

    vectors: Vectors
    """(n, dim) of the finished passages."""
    excerpts: list[Excerpts]
    """As in `EmbeddedPart`."""


class Reading(Protocol):
    """A document that is being read."""

    @property
    def stream(self) -> NDArray[np.int64]:
        """(n_stream,) ids that the model has to read, from the beginning of this reading on, probes included."""

    @property
    def probes(self) -> NDArray[np.bool_] | None:
        """(n_stream,) which ids are probes (see `engine.models.probes`); None if none are."""

    @property
    def n_tokens_done(self) -> int: ...
    @property
    def n_passages_done(self) -> int: ...
    @property
    def sums(self) -> tuple[Tensor, ...]:
        """The readout's running sums, as a `PassState` keeps them."""

    @property
    def document_vector(self) -> Vectors:
        """As in `EmbeddedPart`."""


class Readout(Protocol):
    """Turns hidden states into vectors, for several documents at once."""

    n_sums: int

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> Reading:
        """Begin to read the document `ids` (n_tokens,), or resume it from the state `resume`."""

    def take(self, readings: Sequence[Any], hidden: Tensor, ids: Tensor, lengths: Sequence[int]) -> list[Finished]:
        """Add the hidden states of one step. Returns what each document finished.

        `readings` come from `begin`. `hidden` is (documents, length, d_model), `ids` is (documents, length). Only the
        first `lengths` tokens of each row count.
        """


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


class MeanReadout:
    """The `mean` readout: a vector is a weighted mean of hidden states."""

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
        # one product for all documents: on a GPU, each of many small products would take as long
        passage_vectors, excerpt_vectors = np.split(self._head.vectors(torch.cat((passages, excerpts))), [len(sizes)])
        by_passage = [
            Excerpts(own, vectors) if len(own) > 1 else Excerpts(own[:0], vectors[:0])
            for own, vectors in zip(starts, np.split(excerpt_vectors, np.cumsum(sizes))[: len(starts)], strict=True)
        ]
        ends = np.cumsum([len(own) for _, own in finished])
        # a copy: a slice would keep the excerpts' vectors in memory too, five times as many
        return [
            Finished(passage_vectors[end - len(own) : end].copy(), by_passage[end - len(own) : end])
            for end, (_, own) in zip(ends, finished, strict=True)
        ]


class EosReading:
    """A document under the `eos` readout. An EOS probe stands after every passage, and after the last token."""

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
            ends = np.append(ends, len(rest))  # no passage ends with the document
        self.stream = np.insert(rest, ends, eos_id)
        self.probes = np.insert(np.zeros(len(rest), np.bool_), ends, True)
        self._at = 0

    def advance(self, length: int, vectors: Vectors) -> Vectors:
        """Move on by `length` ids. `vectors` (n, dim) are those of the probes among them. Returns those of passages."""
        n_new = min(len(vectors), self.n_passages - self.n_passages_done)
        self.n_tokens_done += length - len(vectors)
        self.n_passages_done += n_new
        self._at += length
        if len(vectors):
            self.document_vector = vectors[-1]
        return vectors[:n_new]

    def probes_within(self, length: int) -> NDArray[np.int64]:
        """Return the positions of the probes among the next `length` ids of the stream."""
        return np.flatnonzero(self.probes[self._at : self._at + length])


class EosReadout:
    """The `eos` readout: a vector is the hidden state of an EOS token after a passage's last token.

    The text after the passage is read as if that EOS were not there. Excerpts get no vectors.
    """

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
