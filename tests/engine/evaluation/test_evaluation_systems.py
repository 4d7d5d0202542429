"""Rankings of spans by every system, and their gains."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.evaluation.bm25_index import Bm25
from longsearch.engine.evaluation.datasets import Dataset, EvalDocument, EvalQuery, load_dataset
from longsearch.engine.evaluation.our_vectors import OurVectors, first_dims
from longsearch.engine.evaluation.ranked_spans import Spans, by_vectors, word_windows
from longsearch.engine.evaluation.scoring import document_gains, score_system, span_gains
from longsearch.engine.evaluation.systems import BASELINES, OURS, Bench, fused
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.types.documents import Passage
from tests.engine.evaluation.evaluation_helpers import write_model, write_set


class FakeMiniLM:
    """Encodes texts by their letter counts, in place of the model."""

    read: ClassVar[list[str]] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        FakeMiniLM.read += texts
        counts = np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
        vectors = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        return vectors.astype(np.float32)


def make_bench(tmp_path, cache=None) -> Bench:
    dataset = load_dataset(write_set(tmp_path))
    encoder = Encoder.open(write_model(tmp_path), device="cpu", dtype="float32")
    return Bench(dataset, OurVectors(dataset, encoder, None), FakeMiniLM, VectorCache(cache))


def test_every_system_ranks_every_query_with_each_span_at_most_once(tmp_path):
    bench = make_bench(tmp_path)
    for name, system in (OURS | BASELINES).items():
        ranked = system(bench)
        assert len(ranked.rows) == len(bench.dataset.queries), name
        for rows in ranked.rows:
            assert len(set(rows.tolist())) == len(rows), name
            assert rows.max(initial=-1) < len(ranked.spans.documents), name


def _read_alone(dataset, encoder, before):
    """Read each document after `before`, as one text; return the vectors of the document's part only."""
    vectors, borders = [], []
    for document in dataset.documents:
        tokens = encoder.tokenizer.tokenize(before + document.full_text)
        passage = Passage(len(before), len(before) + len(document.full_text), len(tokens))
        vectors += [part.vectors for part in encoder.stream(tokens, [passage])]
        borders.append((0, len(document.full_text)))
    queries = np.stack([encoder.encode_query(query.text) for query in dataset.queries])
    return Spans(np.arange(len(borders)), np.array(borders)), np.concatenate(vectors), queries


def test_words_find_the_document_that_holds_the_word(tmp_path):
    bench = make_bench(tmp_path)
    scores = score_system(bench.dataset, bench.words)
    assert scores is not None
    assert scores["ndcg@10"].tolist() == [1.0, 1.0]


def test_the_baselines_vectors_are_read_from_the_cache(tmp_path):
    cache = tmp_path / "kept"
    first = make_bench(tmp_path / "one", cache).minilm_windows
    n_read = len(FakeMiniLM.read)
    again = make_bench(tmp_path / "two", cache).minilm_windows
    assert len(FakeMiniLM.read) == n_read
    assert np.array_equal(first, again)


def test_the_baseline_encodes_equal_texts_once(tmp_path):
    bench, n_read = make_bench(tmp_path), len(FakeMiniLM.read)
    vectors = bench.minilm(["fox", "dog", "fox", "fox"])
    assert FakeMiniLM.read[n_read:] == ["fox", "dog"]
    assert np.array_equal(vectors, FakeMiniLM().encode(["fox", "dog", "fox", "fox"]))


def test_operators_in_a_query_are_ignored():
    index = Bm25(["the fox", "a -dog", 'say "hello"'], ["en"] * 3)
    assert index.rank('-dog "hello there', 5)[0].tolist() in ([1, 2], [2, 1])
    assert index.rank("?!", 5)[0].tolist() == []


@given(st.text(alphabet="ab é😀ا한\n\t.", max_size=80), st.integers(1, 5))
def test_windows_contain_every_word_once(text, n_words):
    windows = word_windows(text, n_words)
    assert [word for start, stop in windows for word in text[start:stop].split()] == text.split()
    assert all(len(text[start:stop].split()) == n_words for start, stop in windows[:-1])


@given(st.text(alphabet="ab 成かไ。ກ\n", max_size=80), st.integers(1, 5))
def test_windows_contain_every_character_of_scripts_without_spaces_once(text, n_words):
    windows = word_windows(text, n_words)
    assert "".join("".join(text[start:stop].split()) for start, stop in windows) == "".join(text.split())


def test_two_characters_of_chinese_or_japanese_and_five_of_thai_count_as_a_word():
    for text, size in (("成人每天需要蛋白质" * 10, 2), ("ひらがなカタカナ" * 10, 2), ("ภาษาไทยไม่เว้นวรรค" * 10, 5)):
        assert word_windows(text, 10)[:2] == [(0, 10 * size), (10 * size, 20 * size)]


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 5))
def test_ranking_by_vectors_equals_sorting_all_dot_products(n, depth, seed):
    random = np.random.default_rng(seed)
    vectors, queries = (random.integers(-3, 4, (m, 2)).astype(np.float32) for m in (n, 3))
    spans = Spans(np.arange(n), np.zeros((n, 2), np.int64))
    for rows, query in zip(by_vectors(spans, vectors, queries, depth).rows, queries, strict=True):
        products = vectors @ query
        assert len(rows) == min(n, depth)
        assert np.array_equal(products[rows], np.sort(products)[::-1][:depth])


def spans_dataset() -> Dataset:
    documents = (EvalDocument("a", "", "x" * 100), EvalDocument("b", "", "y" * 100))
    query = EvalQuery("q", "?", ((10, 30), (90, 100)))
    return Dataset("spans", documents, (query,), {"q": {"b": 1}})


def test_a_passage_holds_an_answer_when_half_of_it_lies_inside():
    spans = Spans(np.array([0, 1, 1, 1]), np.array([[0, 50], [0, 20], [21, 60], [60, 100]]))
    dataset = spans_dataset()
    gains, ideal = span_gains(dataset, dataset.queries[0], spans, np.array([0, 2, 1, 3]))
    assert gains.tolist() == [0, 0, 1, 1]  # the right place in the wrong document counts for nothing
    assert ideal.tolist() == [1, 1]


def test_a_system_that_ranks_documents_has_no_score_on_passages():
    dataset = spans_dataset()
    whole = Spans(np.array([0, 1]), np.array([[0, 100], [0, 100]]), are_documents=True)
    ranked = by_vectors(whole, np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)[:1])
    assert score_system(dataset, ranked) is None


def test_a_document_has_the_rank_of_its_best_passage():
    documents = tuple(EvalDocument(name, "", "") for name in "abc")
    dataset = Dataset("d", documents, (EvalQuery("q", "?"),), {"q": {"c": 2, "a": 1}})
    spans = Spans(np.array([0, 1, 1, 2]), np.zeros((4, 2), np.int64))
    gains, ideal = document_gains(dataset, dataset.queries[0], spans, np.array([2, 1, 3, 0]))
    assert gains.tolist() == [0, 2, 1]
    assert sorted(ideal.tolist()) == [1, 2]


@given(st.integers(1, 9), st.integers(0, 5))
def test_dot_products_of_first_dimensions_are_their_cosines(dim, seed):
    vectors = np.random.default_rng(seed).normal(size=(4, 9)).astype(np.float32)
    vectors[1] = 0
    short = first_dims(vectors, dim)
    assert short.shape == (4, dim)
    assert not short[1].any()
    a, b = vectors[0, :dim], vectors[2, :dim]
    assert abs(short[0] @ short[2] - a @ b / np.linalg.norm(a) / np.linalg.norm(b)) < 1e-5


def test_ranks_are_fused_as_in_the_paper_and_scores_are_shares_of_the_highest() -> None:
    scores = dict(fused([np.array([1, 2]), np.array([2, 3])]))
    assert scores == pytest.approx({2: (1 / 62 + 1 / 61) / (2 / 61), 1: (1 / 61) / (2 / 61), 3: (1 / 62) / (2 / 61)})
    assert fused([np.array([7, 8]), np.array([7, 9])])[0] == (7, pytest.approx(1.0))
