"""longsearch's own vectors of a dataset, at one width and at all or the first of their dimensions. Knows no metric."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.datasets import Dataset
from engine.evaluation.keeping import Kept
from engine.evaluation.ranking import Spans, Vectors
from engine.inference.encoder import Encoder


class OurVectors:
    """Vectors of a dataset, each computed when first asked for."""

    def __init__(
        self, dataset: Dataset, encoder: Encoder, instruction: str | None, width: float = 1.0, kept: Kept | None = None
    ) -> None:
        """`width` is the encoder's: its fingerprint says nothing of it, so that what is kept must."""
        self.dataset, self.encoder, self.instruction = dataset, encoder, instruction
        self._kept = kept or Kept(None)
        self.maker = (encoder.fingerprint, f"{width:g}", f"{encoder.hardware.dtype}")
        """What all the vectors depend on."""

    @cached_property
    def passages(self) -> Spans:
        """The passages longsearch shows."""
        split = (self.encoder.split(document.full_text)[1] for document in self.dataset.documents)
        return Spans.of_passages([(row, p.start, p.stop) for row, passages in enumerate(split) for p in passages])

    @property
    def passage_vectors(self) -> Vectors:
        """(n_passages, dim)"""
        return self._of_documents[: len(self.passages.documents)]

    @property
    def document_vectors(self) -> Vectors:
        """(n_documents, dim); zeros for a document without tokens."""
        return self._of_documents[len(self.passages.documents) :]

    @cached_property
    def queries(self) -> Vectors:
        """(n_queries, dim)"""
        texts = [query.text for query in self.dataset.queries]
        asked = [*self.maker, str(self.instruction), *texts]
        encode = self.encoder.encode_query
        return self._kept.vectors("our-queries", asked, lambda: np.stack([encode(t, self.instruction) for t in texts]))

    def of_dim(self, dim: int) -> "OurVectors":
        """The same vectors, of each only the first `dim` coordinates (Matryoshka)."""
        return _FirstDims(self, dim)

    @cached_property
    def _of_documents(self) -> Vectors:
        """(n_passages + n_documents, dim): the passages' vectors, then the documents'."""
        texts = [document.full_text for document in self.dataset.documents]
        return self._kept.vectors("ours", [*self.maker, *texts], lambda: self._embed(texts))

    def _embed(self, texts: list[str]) -> Vectors:
        documents = np.zeros((len(texts), self.encoder.dim), np.float32)
        passages = [documents[:0]] * len(texts)
        readable = ((row, texts[row]) for row in np.unique(self.passages.documents).tolist())  # those with tokens
        for row, embedding in self.encoder.encode_documents(readable):
            passages[row], documents[row] = embedding.passage_vectors, embedding.vector
        return np.concatenate((*passages, documents))


class _FirstDims(OurVectors):
    """The first coordinates of another's vectors, made unit again."""

    def __init__(self, whole: OurVectors, dim: int) -> None:
        super().__init__(whole.dataset, whole.encoder, whole.instruction)
        self._whole, self._dim = whole, dim

    @cached_property
    def passages(self) -> Spans:
        """The same."""
        return self._whole.passages

    @cached_property
    def queries(self) -> Vectors:
        """(n_queries, dim)"""
        return first_dims(self._whole.queries, self._dim)

    @cached_property
    def _of_documents(self) -> Vectors:
        return first_dims(self._whole._of_documents, self._dim)


def first_dims(vectors: NDArray[np.float32], dim: int) -> Vectors:
    """The first `dim` coordinates of rows, made unit again; a row of zeros stays one."""
    first = vectors[:, :dim]
    shortened: Vectors = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-12)
    return shortened
