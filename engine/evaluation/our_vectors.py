"""longsearch's own vectors of a dataset, at one width, with all dimensions or the first ones."""

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.datasets import Dataset
from longsearch.engine.evaluation.ranked_spans import Spans
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.readouts.parts import Excerpts
from longsearch.engine.search.fusion import mixed
from longsearch.engine.widths import Width, as_decimals


class OurVectors:
    """Vectors of a dataset; each array is computed on first use."""

    def __init__(
        self,
        dataset: Dataset,
        encoder: Encoder,
        instruction: str | None,
        width: Width = 1.0,
        cache: VectorCache | None = None,
        think: int | None = None,
    ) -> None:
        """`width` is the encoder's. It is a part of the cache's keys, because the fingerprint does not include it.

        `think` is the number of soft tokens of queries, as in `Encoder.encode_query`.
        """
        self.dataset, self.encoder, self.instruction, self.think = dataset, encoder, instruction, think
        self.cache = cache or VectorCache(None)
        self.cache_key = (encoder.fingerprint, as_decimals(width), f"torch.{encoder.hardware.products}")
        """The model, its width and its data type: all vectors depend on them."""

    @cached_property
    def passages(self) -> Spans:
        """The passages that longsearch shows."""
        split = (self.encoder.split(document.full_text)[1] for document in self.dataset.documents)
        return Spans.of_passages([(row, p.start, p.stop) for row, passages in enumerate(split) for p in passages])

    @cached_property
    def n_excerpts(self) -> NDArray[np.int64]:
        """(n_passages,): the number of excerpts of each passage, at least 1."""
        passages = self.passages.texts(self.dataset.documents)
        return np.array([len(self.encoder.cutter.excerpt_starts(text)) for text in passages], np.int64)

    @property
    def passage_vectors(self) -> Vectors:
        """(n_passages, dim)"""
        return self._of_documents[: len(self.passages.documents)]

    @property
    def excerpt_vectors(self) -> Vectors:
        """(n_excerpts, dim), passage by passage."""
        return self._of_documents[len(self.passages.documents) : -len(self.dataset.documents)]

    @property
    def document_vectors(self) -> Vectors:
        """(n_documents, dim); zeros for a document without tokens."""
        return self._of_documents[-len(self.dataset.documents) :]

    def passage_scores(self) -> Vectors:
        """Return (n_queries, n_passages): scores by meaning, without the documents' vectors."""
        vectors = self.passage_vectors, self.excerpt_vectors
        return passage_scores(self.queries, *vectors, self.n_excerpts, self.encoder.excerpt_weight)

    @cached_property
    def queries(self) -> Vectors:
        """(n_queries, dim)"""
        texts = [query.text for query in self.dataset.queries]
        instruction = self.encoder.readout.query_instruction if self.instruction is None else self.instruction
        thought = [] if self.think is None else [f"{self.think} soft tokens"]
        asked = [*self.cache_key, *thought, instruction, *texts]
        encode = partial(self.encoder.encode_query, instruction=self.instruction, steps=self.think)
        return self.cache.vectors("our-queries", asked, lambda: np.stack([encode(text) for text in texts]))

    def of_dim(self, dim: int) -> "OurVectors":
        """Return the same vectors with only their first `dim` coordinates (Matryoshka)."""
        return _Derived(self, self, dim)

    def asked_by(self, queries: "OurVectors") -> "OurVectors":
        """Return these documents with the queries of other vectors, such as those of another width."""
        return _Derived(self, queries)

    @cached_property
    def _of_documents(self) -> Vectors:
        """(n_passages + n_excerpts + n_documents, dim), in this order."""
        texts = (document.full_text for document in self.dataset.documents)
        return self.cache.vectors("ours", chain(self.cache_key, texts), self._embed)

    def _embed(self) -> Vectors:
        n = len(self.dataset.documents)
        documents = np.zeros((n, self.encoder.dim), np.float32)
        passages, excerpts = [documents[:0]] * n, [documents[:0]] * n
        with_tokens = np.unique(self.passages.documents).tolist()
        readable = ((row, self.dataset.documents[row].full_text) for row in with_tokens)
        for row, embedding in self.encoder.encode_documents(readable):
            passages[row], documents[row] = embedding.passage_vectors, embedding.vector
            excerpts[row] = whole_excerpts(embedding.passage_vectors, embedding.excerpts)
        return np.concatenate((*passages, *excerpts, documents))


class _Derived(OurVectors):
    """The passages of some vectors, with the queries of the same or of others, and all or the first coordinates."""

    def __init__(self, whole: OurVectors, asking: OurVectors, dim: int | None = None) -> None:
        """`dim`: how many of the first coordinates to keep; None: all."""
        super().__init__(whole.dataset, whole.encoder, whole.instruction)
        self._whole, self._asking, self._dim = whole, asking, dim

    @cached_property
    def passages(self) -> Spans:
        """The passages of the whole vectors."""
        return self._whole.passages

    @cached_property
    def n_excerpts(self) -> NDArray[np.int64]:
        """The excerpts of the whole vectors."""
        return self._whole.n_excerpts

    @cached_property
    def queries(self) -> Vectors:
        """(n_queries, dim)"""
        return self._shortened(self._asking.queries)

    @cached_property
    def _of_documents(self) -> Vectors:
        return self._shortened(self._whole._of_documents)

    def _shortened(self, vectors: Vectors) -> Vectors:
        return vectors if self._dim is None else first_dims(vectors, self._dim)


def passage_scores(
    queries: Vectors, passages: Vectors, excerpts: Vectors, n_excerpts: NDArray[np.int64], excerpt_weight: float
) -> Vectors:
    """Return (n_queries, n_passages): each passage's cosine mixed with its nearest excerpt's, as in longsearch.

    queries (n_queries, dim), passages (n_passages, dim), excerpts (sum of n_excerpts, dim) passage by passage,
    n_excerpts (n_passages,).
    """
    firsts = np.cumsum(n_excerpts) - n_excerpts
    nearest: Vectors = np.maximum.reduceat(queries @ excerpts.T, firsts, axis=1)
    return mixed(queries @ passages.T, nearest, excerpt_weight)


def whole_excerpts(passages: Vectors, excerpts: Sequence[Excerpts]) -> Vectors:
    """Return (n_excerpts, dim): the excerpts of each passage, or its own vector if it has none."""
    pairs = zip(passages, (vectors.vectors for vectors in excerpts), strict=True)
    return np.concatenate([vectors if len(vectors) else vector[None] for vector, vectors in pairs] or [passages])


def first_dims(vectors: NDArray[np.float32], dim: int) -> Vectors:
    """Return the first `dim` coordinates of rows, normalised again; a row of zeros stays zero."""
    first = vectors[:, :dim]
    shortened: Vectors = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-12)
    return shortened
