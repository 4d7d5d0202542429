"""The compared systems: longsearch's modes and the baselines, each a function from a dataset to ranked spans.

Spans are passages or whole documents. A document's rank is that of its best span.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.bench import Bench
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.ranked_spans import Ranked, by_scores, by_vectors, ranked_by, scores_of
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.search.fusion import WEIGHT_OF_DOCUMENT_WORDS, best_first, combine, mixed, trust_in_meaning

_FUSED_DEPTH, _K = 200, 60
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
    return ranked_by(
        bench.ours.passages, [best_first(scores) for scores in _in_documents(bench, scores_of(bench.words))]
    )


def hybrid(bench: Bench) -> Ranked:
    """Rank passages by longsearch's combination of the scores by meaning and by words."""
    by_words, whole = scores_of(bench.words), bench.words_of_documents
    best = [[max(scores.values(), default=0.0) for scores in pair] for pair in zip(by_words, whole, strict=True)]
    in_meaning = [trust_in_meaning(n, *shares) for n, shares in zip(bench.n_terms, best, strict=True)]
    by_meaning = [
        {row: trusted * score for row, score in scores.items()}
        for trusted, scores in zip(in_meaning, scores_of(bench.meaning), strict=True)
    ]
    candidates = [dict.fromkeys(meaning, 0.0) | words for meaning, words in zip(by_meaning, by_words, strict=True)]
    trusted = [
        {row: trust * score for row, score in scores.items()}
        for scores, trust in zip(_in_documents(bench, candidates), bench.trusts, strict=True)
    ]
    pairs = zip(trusted, by_meaning, strict=True)
    return ranked_by(bench.ours.passages, [combine(*pair) for pair in pairs])


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
    pairs = zip(minilm_passages(bench).rows, bench.window_words.rows, strict=True)
    return ranked_by(bench.windows, [fused(pair) for pair in pairs])


ME5 = ("me5", "me5-hybrid")
OURS: dict[str, System] = {"meaning": meaning, "passages": passages, "document": document, "hybrid": hybrid}
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


def fused(rankings: Sequence[NDArray[np.int64]]) -> list[tuple[int, float]]:
    """Fuse the first 200 rows of rankings; return (row, score), best first: 1.0 for a row that is first in all.

    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009: score(d) = sum over rankings of 1 / (k + rank of d), with k = 60.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking[:_FUSED_DEPTH].tolist(), start=1):
            scores[row] = scores.get(row, 0.0) + (_K + 1) / (_K + rank) / len(rankings)
    return best_first(scores)


def _combined(meaning: Ranked, words: Ranked) -> Ranked:
    pairs = zip(scores_of(words), scores_of(meaning), strict=True)
    return ranked_by(meaning.spans, [combine(*pair) for pair in pairs])


def _in_documents(bench: Bench, candidates: list[dict[int, float]]) -> list[dict[int, float]]:
    """Mix the document's score by words into each passage's."""
    documents = bench.ours.passages.documents.tolist()
    return [
        {row: mixed(score, whole[documents[row]], WEIGHT_OF_DOCUMENT_WORDS) for row, score in scores.items()}
        for scores, whole in zip(candidates, bench.words_of_documents, strict=True)
    ]
