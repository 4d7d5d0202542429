"""A dataset with what several systems share: vectors, word indexes and MiniLM's vectors, each computed once."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.bm25_index import Bm25
from longsearch.engine.evaluation.datasets import Dataset
from longsearch.engine.evaluation.embedders.minilm import MiniLM
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.ranked_spans import MAX_RANKED, Ranked, Spans, by_scores, word_windows
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.languages.detection import language_of
from longsearch.engine.search.fusion import WEIGHT_OF_DOCUMENT, mixed


class Bench:
    """A dataset with the vectors and indexes that several systems share, each computed once."""

    def __init__(
        self,
        dataset: Dataset,
        ours: OurVectors,
        minilm: Callable[[], MiniLM],
        cache: VectorCache,
        same_words: "Bench | None" = None,
    ) -> None:
        """`same_words`: a bench with the same passages, whose word index is shared."""
        self.dataset = dataset
        self.ours = ours
        self._minilm = minilm
        self._cache = cache
        self._same_words = same_words

    @property
    def texts(self) -> list[str]:
        """The full text of every document."""
        return [document.full_text for document in self.dataset.documents]

    @cached_property
    def whole(self) -> Spans:
        """Each document as one span."""
        borders = np.array([(0, len(document.full_text)) for document in self.dataset.documents], np.int64)
        return Spans(np.arange(len(borders)), borders, are_documents=True)

    @cached_property
    def windows(self) -> Spans:
        """The baselines' passages: 120 words each, side by side."""
        documents = enumerate(self.dataset.documents)
        return Spans.of_passages([(row, *span) for row, text in documents for span in word_windows(text.full_text)])

    def span_texts(self, spans: Spans) -> list[str]:
        """Return the text of each span."""
        return list(spans.texts(self.dataset.documents))

    @cached_property
    def words(self) -> Ranked:
        """longsearch's passages, ranked by BM25."""
        return self._same_words.words if self._same_words else self._by_words(self.ours.passages, self._index)

    @cached_property
    def words_of_documents(self) -> list[dict[int, float]]:
        """The documents' scores by words, for each query."""
        if self._same_words:
            return self._same_words.words_of_documents
        documents = self.ours.passages.documents
        return [self._index.of_documents(query.text, documents) for query in self.dataset.queries]

    @cached_property
    def trusts(self) -> list[float]:
        """How much of its weight the score by words of each query keeps."""
        if self._same_words:
            return self._same_words.trusts
        return [self._index.trust(query.text) for query in self.dataset.queries]

    @cached_property
    def n_terms(self) -> list[int]:
        """The number of terms of each query."""
        if self._same_words:
            return self._same_words.n_terms
        return [self._index.n_terms(query.text) for query in self.dataset.queries]

    @cached_property
    def window_words(self) -> Ranked:
        """The baselines' passages, ranked by BM25."""
        return self._by_words(self.windows, self._word_index(self.windows, has_parts=False))

    @cached_property
    def meaning(self) -> Ranked:
        """longsearch's passages, ranked by the vectors of passages, excerpts and documents."""
        ours, documents = self.ours, self.ours.passages.documents
        own, whole = ours.passage_scores(), (ours.queries @ ours.document_vectors.T)[:, documents]
        is_alone = np.bincount(documents)[documents] == 1
        return by_scores(ours.passages, np.where(is_alone, own, mixed(own, whole, WEIGHT_OF_DOCUMENT)))

    @cached_property
    def minilm_windows(self) -> Vectors:
        """(n_windows, 384)"""
        return self.minilm(self.span_texts(self.windows))

    @cached_property
    def minilm_queries(self) -> Vectors:
        """(n_queries, 384)"""
        return self.minilm([query.text for query in self.dataset.queries])

    def minilm(self, texts: list[str]) -> Vectors:
        """Return MiniLM's vectors of texts, from the cache if possible."""
        return self._cache.vectors("minilm", texts, lambda: self._encode(texts))

    def _encode(self, texts: list[str]) -> Vectors:
        """Encode each distinct text once: nearly all windows of a passkey's filler are equal."""
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        return self._minilm().encode(list(rows))[[rows[text] for text in texts]]

    @cached_property
    def _index(self) -> Bm25:
        return self._word_index(self.ours.passages, has_parts=True)

    @cached_property
    def _languages(self) -> list[str]:
        """The language of every document."""
        return [language_of(document.full_text) for document in self.dataset.documents]

    def _word_index(self, spans: Spans, has_parts: bool) -> Bm25:
        languages = [self._languages[document] for document in spans.documents.tolist()]
        return Bm25(spans.texts(self.dataset.documents), languages, has_parts)

    def _by_words(self, spans: Spans, index: Bm25) -> Ranked:
        ranked = [index.rank(query.text, MAX_RANKED) for query in self.dataset.queries]
        return Ranked(spans, [rows for rows, _ in ranked], [scores for _, scores in ranked])
