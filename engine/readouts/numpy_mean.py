"""The `mean` readout in numpy, of one document: twin of `engine.readouts.mean`."""

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.models.without_torch.query_model import Array
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.numpy_states import NumpyPass
from longsearch.engine.readouts.parts import Excerpts


class NumpyMeanReading:
    """A document under the `mean` readout. The sum of a passage is that of its excerpts' sums."""

    def __init__(self, projection: Array, borders: Borders, resume: NumpyPass | None) -> None:
        """`projection` is (dim, d_model)."""
        self._projection = projection
        self._borders = borders
        zeros = np.zeros(projection.shape[1], np.float32)
        none = np.zeros((0, len(zeros)), np.float32)
        self.n_tokens_done = resume.n_tokens_done if resume else 0
        self.n_passages_done = resume.n_passages_done if resume else 0
        self._total, self._open, self._waiting = resume.sums if resume else (zeros, zeros, none)
        self._n_excerpts = int(borders.firsts[self.n_passages_done]) + len(self._waiting)

    @property
    def sums(self) -> tuple[Array, Array, Array]:
        """The running sums, as a `NumpyPass` keeps them."""
        return self._total, self._open, self._waiting

    @property
    def document_vector(self) -> Vectors:
        """(dim,) of all tokens read so far."""
        vector: Vectors = self._vectors(self._total[None])[0]
        return vector

    def take(self, weighted: Array) -> tuple[Vectors, list[Excerpts]]:
        """Take the weighted hidden states (length, d_model) of the next tokens.

        Returns the vectors (n, dim) of the passages that they finish, and the excerpts of each.
        """
        self._waiting = np.concatenate((self._waiting, self._finished_excerpts(weighted)))
        done, self.n_passages_done = self.n_passages_done, self._borders.n_passages_within(self._n_excerpts)
        starts = self._borders.starts_of(done, self.n_passages_done)
        firsts = np.cumsum([0, *map(len, starts)])
        excerpts, self._waiting = np.split(self._waiting, firsts[-1:])
        passages = np.add.reduceat(excerpts, firsts[:-1]) if starts else excerpts
        vectors = self._vectors(np.concatenate((passages, excerpts)))
        # a copy, as in `MeanReadout.take`
        of_passages, of_excerpts = vectors[: len(starts)].copy(), vectors[len(starts) :]
        return of_passages, [
            Excerpts(of_one, of_excerpts[a : a + len(of_one)])
            if len(of_one) > 1
            else Excerpts(of_one[:0], of_excerpts[:0])
            for of_one, a in zip(starts, firsts, strict=False)
        ]

    def _finished_excerpts(self, weighted: Array) -> Array:
        """Return the sums (n, d_model) of the excerpts that these tokens finish."""
        at, self.n_tokens_done = self.n_tokens_done, self.n_tokens_done + len(weighted)
        first, borders = self._n_excerpts, self._borders.excerpts
        self._n_excerpts = int(np.searchsorted(borders[:, 1], self.n_tokens_done, side="right"))
        # excerpts that begin before these tokens end, and empty ones that begin and end there
        begun = max(int(np.searchsorted(borders[:, 0], self.n_tokens_done)), self._n_excerpts)
        sums = _sums(weighted, np.clip(borders[first:begun] - at, 0, len(weighted)))
        if len(sums):
            sums[0] += self._open
        finished = sums[: self._n_excerpts - first]
        self._open = sums[len(finished)] if len(finished) < len(sums) else np.zeros_like(self._open)
        self._total = self._total + weighted.sum(0)
        return finished

    def _vectors(self, sums: Array) -> Vectors:
        """Turn weighted sums (n, d_model) into unit vectors (n, dim)."""
        vectors: Vectors = sums @ self._projection.T
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors


def _sums(rows: Array, spans: NDArray[np.int64]) -> Array:
    """Return the sum (n, d_model) of the rows in each of the ascending spans (n, 2), which may be empty."""
    sums = np.zeros((len(spans), rows.shape[1]), np.float32)
    filled = spans[:, 0] < spans[:, 1]
    if filled.any():
        padded = np.concatenate((rows, np.zeros((1, rows.shape[1]), np.float32)))  # a span may end with the last row
        sums[filled] = np.add.reduceat(padded, spans[filled].ravel())[::2]
    return sums
