"""The compared systems: longsearch's modes and the baselines, each a function from a dataset to ranked spans.

Spans are passages or whole documents. A document's rank is that of its best span.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.bm25_index import Bm25
from longsearch.engine.evaluation.datasets import Dataset
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.minilm import MiniLM
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.rank_fusion import fuse
from longsearch.engine.evaluation.ranked_spans import MAX_RANKED, Ranked, Spans, by_scores, by_vectors, word_windows
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.languages.detection import language_of
from longsearch.engine.search.fusion import best_first, combine, in_document, words_in_document

_FUSED_DEPTH = 200


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
    def window_words(self) -> Ranked:
        """The baselines' passages, ranked by BM25."""
        return self._by_words(self.windows, self._word_index(self.windows))

    @cached_property
    def meaning(self) -> Ranked:
        """longsearch's passages, ranked by the vectors of passages, excerpts and documents."""
        ours = self.ours
        whole = ours.queries @ ours.document_vectors.T
        return by_scores(ours.passages, in_document(ours.passage_scores(), whole[:, ours.passages.documents]))

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
        return self._word_index(self.ours.passages)

    @cached_property
    def _languages(self) -> list[str]:
        """The language of every document."""
        return [language_of(text) for text in self.texts]

    def _word_index(self, spans: Spans) -> Bm25:
        languages = [self._languages[document] for document in spans.documents.tolist()]
        return Bm25(spans.texts(self.dataset.documents), languages)

    def _by_words(self, spans: Spans, index: Bm25) -> Ranked:
        ranked = [index.rank(query.text, MAX_RANKED) for query in self.dataset.queries]
        return Ranked(spans, [rows for rows, _ in ranked], [scores for _, scores in ranked])


System = Callable[[Bench], Ranked]


def meaning(bench: Bench) -> Ranked:
    """Rank passages by longsearch's score by meaning: passage, nearest excerpt and document."""
    return bench.meaning


def passages(bench: Bench) -> Ranked:
    """Rank passages by the score of passage and nearest excerpt only, without the document's vector."""
    return by_scores(bench.ours.passages, bench.ours.passage_scores())


def document(bench: Bench) -> Ranked:
    """Rank documents by the cosine similarity of their own vectors."""
    return by_vectors(bench.whole, bench.ours.document_vectors, bench.ours.queries)


def words(bench: Bench) -> Ranked:
    """Rank passages by longsearch's score by words: the BM25 of passage and document."""
    return _ranked(bench.ours.passages, [best_first(scores) for scores in _in_documents(bench, _scores(bench.words))])


def hybrid(bench: Bench) -> Ranked:
    """Rank passages by longsearch's combination of the scores by meaning and by words."""
    by_meaning = _scores(bench.meaning)
    found = [
        dict.fromkeys(meaning, 0.0) | words for meaning, words in zip(by_meaning, _scores(bench.words), strict=True)
    ]
    pairs = zip(_in_documents(bench, found), by_meaning, strict=True)
    return _ranked(bench.ours.passages, [combine(*pair) for pair in pairs])


def hybrid_by_rank(bench: Bench) -> Ranked:
    """Rank passages by reciprocal rank fusion of meaning and words."""
    return _fused(bench.meaning, bench.words)


def bm25(bench: Bench) -> Ranked:
    """Baseline: BM25 over passages of 120 words."""
    return bench.window_words


def minilm_truncated(bench: Bench) -> Ranked:
    """Baseline: MiniLM over each document's first 256 tokens."""
    return by_vectors(bench.whole, bench.minilm(bench.texts), bench.minilm_queries)


def minilm_passages(bench: Bench) -> Ranked:
    """Baseline: MiniLM over passages of 120 words."""
    return by_vectors(bench.windows, bench.minilm_windows, bench.minilm_queries)


def minilm_mean(bench: Bench) -> Ranked:
    """Baseline: a document's vector is the mean of MiniLM's vectors of its passages."""
    sums = np.zeros((len(bench.dataset.documents), bench.minilm_windows.shape[1]), np.float32)
    np.add.at(sums, bench.windows.documents, bench.minilm_windows)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return by_vectors(bench.whole, sums / np.maximum(lengths, 1e-9), bench.minilm_queries)


def minilm_hybrid(bench: Bench) -> Ranked:
    """Baseline: scores of MiniLM and BM25 over passages of 120 words, combined by our weights, without documents."""
    return _combined(minilm_passages(bench), bench.window_words)


def minilm_hybrid_by_rank(bench: Bench) -> Ranked:
    """Baseline: reciprocal rank fusion of MiniLM and BM25 over passages of 120 words."""
    return _fused(minilm_passages(bench), bench.window_words)


ME5 = ("me5", "me5-hybrid")
OURS: dict[str, System] = {
    "meaning": meaning,
    "passages": passages,
    "document": document,
    "hybrid": hybrid,
    "hybrid-rrf": hybrid_by_rank,
}
"""Systems that depend on the model and its width."""
BASELINES: dict[str, System] = {
    "words": words,
    "bm25": bm25,
    "minilm-256": minilm_truncated,
    "minilm": minilm_passages,
    "minilm-mean": minilm_mean,
    "minilm-hybrid": minilm_hybrid,
    "minilm-rrf": minilm_hybrid_by_rank,
}


def me5_systems(me5: Callable[[], E5], folder: str, cache: VectorCache) -> dict[str, System]:
    """Return the baselines of a multilingual E5 over passages of 120 words: `me5`, and `me5-hybrid` with BM25.

    Its cosines are all near 1 (see `E5`). For `me5-hybrid` the mean vector of the passages is subtracted from
    them and from the queries, so that scores by meaning spread as our weights expect.
    """

    def vectors(bench: Bench) -> tuple[Vectors, Vectors]:
        texts, asked = bench.span_texts(bench.windows), [query.text for query in bench.dataset.queries]
        passages = cache.vectors("me5", [folder, "passages", *texts], lambda: me5().encode(texts))
        return passages, cache.vectors("me5", [folder, "queries", *asked], lambda: me5().of_queries.encode(asked))

    def alone(bench: Bench) -> Ranked:
        return by_vectors(bench.windows, *vectors(bench))

    def mixed(bench: Bench) -> Ranked:
        passages, queries = (found - vectors(bench)[0].mean(0) for found in vectors(bench))
        passages, queries = (found / np.linalg.norm(found, axis=1, keepdims=True) for found in (passages, queries))
        return _combined(by_vectors(bench.windows, passages, queries), bench.window_words)

    return dict(zip(ME5, (alone, mixed), strict=True))


def _fused(left: Ranked, right: Ranked) -> Ranked:
    pairs = zip(left.rows, right.rows, strict=True)
    return _ranked(left.spans, [fuse([rows[:_FUSED_DEPTH].tolist() for rows in pair]) for pair in pairs])


def _combined(meaning: Ranked, words: Ranked) -> Ranked:
    pairs = zip(_scores(words), _scores(meaning), strict=True)
    return _ranked(meaning.spans, [combine(*pair) for pair in pairs])


def _in_documents(bench: Bench, found: list[dict[int, float]]) -> list[dict[int, float]]:
    """Mix the document's score by words into each passage's."""
    documents = bench.ours.passages.documents.tolist()
    return [
        {row: words_in_document(score, whole[documents[row]]) for row, score in scores.items()}
        for scores, whole in zip(found, bench.words_of_documents, strict=True)
    ]


def _scores(ranked: Ranked) -> list[dict[int, float]]:
    """Return a mapping from row to score, clipped to 0..1, for each query."""
    return [
        dict(zip(rows.tolist(), np.clip(scores, 0, 1).tolist(), strict=True))
        for rows, scores in zip(ranked.rows, ranked.scores, strict=True)
    ]


def _ranked(spans: Spans, answers: list[list[tuple[int, float]]]) -> Ranked:
    rows = [np.array([row for row, _ in answer], np.int64) for answer in answers]
    return Ranked(spans, rows, [np.array([score for _, score in answer]) for answer in answers])
