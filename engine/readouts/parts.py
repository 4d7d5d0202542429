"""The parts of a pass over a document, as `Encoder` and `NumpyEncoder` yield them. Loads no torch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.types.documents import Passage


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
class DocumentEmbedding:
    """All vectors of a document, from one pass over it."""

    vector: Vectors
    """(dim,) of the whole document, unit length."""
    passages: list[tuple[int, int]]
    """(start, stop) in characters."""
    passage_vectors: Vectors
    """(n_passages, dim), unit length; each depends on all the text before it."""
    excerpts: list[Excerpts]
    """The excerpts of each passage; empty if the passage is a single excerpt, or the readout has none."""
    n_tokens: int


class CollectedParts:
    """The vectors of a document that is being read. Keeps no parts: each part holds a model state."""

    def __init__(self, passages: list[Passage]) -> None:
        self._spans = [(passage.start, passage.stop) for passage in passages]
        self._vectors: list[Vectors] = []
        self._excerpts: list[Excerpts] = []

    def add(self, part: EmbeddedPart) -> None:
        """Keep the vectors of a part."""
        self._vectors.append(part.vectors)
        self._excerpts += part.excerpts

    def embedding(self, last: EmbeddedPart) -> DocumentEmbedding:
        """Return all vectors. Call this after the last part was added."""
        vectors = np.concatenate(self._vectors)
        return DocumentEmbedding(last.document_vector, self._spans, vectors, self._excerpts, last.n_tokens_done)
