"""The types that all readouts share: a readout, and a document that is being read.

A readout knows no text: it takes token ids, the borders of passages in tokens, and hidden states; it returns unit
vectors. `engine.inference.slots` runs the pass.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.arrays import Vectors
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.parts import Excerpts
from longsearch.engine.readouts.saved_states import PassState
from longsearch.engine.readouts.vertical import step_probed


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


@dataclass(frozen=True, slots=True)
class Slice:
    """The next ids of several documents' streams, one document in each row."""

    tokens: Tensor
    """(documents, length), padded on the right."""
    probes: NDArray[np.bool_]
    """(documents, length): which tokens are probes."""
    lengths: Sequence[int]
    """How many tokens of each row count."""


class Readout(Protocol):
    """Reads slices of several documents at once and turns their hidden states into vectors."""

    n_sums: int
    """How many running sums a `PassState` of this readout holds."""
    dim: int
    """Length of the vectors."""

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> Reading:
        """Begin to read the document `ids` (n_tokens,), or resume it from the state `resume`."""

    def ahead(self, state: PassState, ids: NDArray[np.int64], borders: Borders) -> tuple[NDArray[np.int64], ...]:
        """Return what `state` depends on in a document after the tokens and passages that were read; mostly ()."""

    def read(
        self, model: RecurrentModel, readings: Sequence[Any], given: Slice, state: Any
    ) -> tuple[list[Finished], Any]:
        """Read the next slice of each document. Returns what each document finished, and the next state.

        `readings` come from `begin`, one for each row of `given`. Runs in inference mode.
        """


class PlainReadout(ABC):
    """A readout that reads nothing but the stream, and whose states depend on nothing that is not read yet."""

    def ahead(self, state: PassState, ids: NDArray[np.int64], borders: Borders) -> tuple[NDArray[np.int64], ...]:
        """See `Readout`."""
        return ()

    def read(
        self, model: RecurrentModel, readings: Sequence[Any], given: Slice, state: Any
    ) -> tuple[list[Finished], Any]:
        """See `Readout`."""
        hidden, state = step_probed(model, given.tokens, given.probes, state)
        return self.take(readings, hidden, given), state

    @abstractmethod
    def take(self, readings: Sequence[Any], hidden: Tensor, given: Slice) -> list[Finished]:
        """Take the hidden states (documents, length, d_model) of one step, and return what each document finished."""


def join_places(by_row: Sequence[NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
    """Join the places of each row. Returns the row and the place of each, (n,) each."""
    rows = np.repeat(np.arange(len(by_row)), [len(places) for places in by_row])
    return torch.from_numpy(rows), torch.from_numpy(np.concatenate(by_row))


def without_excerpts(by_document: Sequence[Vectors]) -> list[Finished]:
    """Return what each document finished, from the vectors (n, dim) of its passages, which have no excerpts."""
    none = Excerpts(np.zeros(0, np.int64), by_document[0][:0])
    return [Finished(vectors, [none] * len(vectors)) for vectors in by_document]


def unit(vectors: Tensor) -> Vectors:
    """Scale vectors (n, dim) to unit length, in float32 on the CPU."""
    rows: Vectors = F.normalize(vectors.float(), dim=-1).cpu().numpy()
    return rows
