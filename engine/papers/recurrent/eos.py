"""The `eos` readout: a vector is the hidden state of an end-of-sequence token (Grantner et al., equation 1)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.arrays import Vectors
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.reading import Finished, PlainReadout, Slice, join_places, unit, without_excerpts
from longsearch.engine.readouts.saved_states import PassState


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


class EosReadout(PlainReadout):
    """The `eos` readout: a vector is the hidden state of an EOS token after a passage's last token.

    The text after the passage is read as if that EOS were not there. Excerpts get no vectors.
    """

    n_sums = 0

    def __init__(self, eos_id: int, d_model: int) -> None:
        self._eos_id = eos_id
        self.dim = d_model

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> EosReading:
        """See `Readout`."""
        return EosReading(self._eos_id, ids, borders.passages, resume)

    def take(self, readings: Sequence[EosReading], hidden: Tensor, given: Slice) -> list[Finished]:
        """See `PlainReadout`."""
        ends = [reading.probes_within(length) for reading, length in zip(readings, given.lengths, strict=True)]
        rows, places = join_places(ends)
        vectors = unit(hidden[rows.to(hidden.device), places.to(hidden.device)])
        by_document = np.split(vectors, np.cumsum([len(vectors_of_row) for vectors_of_row in ends])[:-1])
        steps = zip(readings, given.lengths, by_document, strict=True)
        return without_excerpts([reading.advance(length, vectors_of_row) for reading, length, vectors_of_row in steps])
