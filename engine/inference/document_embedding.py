"""Joins the parts of a streaming pass into the vectors of a document."""

from dataclasses import dataclass

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.readouts.reading import EmbeddedPart, Excerpts
from longsearch.engine.types import Passage


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
