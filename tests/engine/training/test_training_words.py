"""Targets from words: BM25 agrees with a slow twin, and vectors carry both words and teacher."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import Texts, load_pairs, save_teacher, shard_paths, write_shards
from longsearch.engine.training.stages.loop import LoopOptions, run
from longsearch.engine.training.stages.pair_stages import Contrast, PairOptions
from longsearch.engine.training.stages.words import Words, document_counts, whitened
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Rates
from tests.engine.training.training_helpers import FakeTeacher, make_pairs, make_tokenizer, write_checkpoint

VOCABULARY = 12
texts = st.lists(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=30), min_size=1, max_size=6)


def arrays(rows):
    return [np.array(row, np.int64) for row in rows]


def laid(rows) -> Texts:
    return Texts(np.concatenate(arrays(rows)).astype(np.uint16), np.cumsum([len(row) for row in rows]))


def made(rows, share=0.3, dim=8) -> Words:
    return Words(laid(rows), torch.randn(VOCABULARY, dim, generator=torch.Generator().manual_seed(0)), share)


def slow_score(query, text, corpus) -> float:
    mean = sum(map(len, corpus)) / len(corpus)
    idf = {t: math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5)) for t in query for n in [sum(t in c for c in corpus)]}
    counts = Counter(text)
    found = sum(w * counts[t] / (counts[t] + 1.2 * (0.6 + 0.4 * len(text) / mean)) for t, w in idf.items())
    return found / sum(idf.values())


@settings(max_examples=50)
@given(texts, texts, texts)
def test_scores_agree_with_bm25_written_with_loops(corpus, queries, passages):
    scores = made(corpus).scores(arrays(queries), arrays(passages))
    expected = [[slow_score(query, passage, corpus) for passage in passages] for query in queries]
    assert scores.numpy() == pytest.approx(np.array(expected), abs=1e-5)


@given(texts)
def test_a_text_counts_once_for_each_token_it_contains(rows):
    expected = [sum(token in row for row in rows) for token in range(VOCABULARY)]
    assert document_counts(laid(rows), VOCABULARY).tolist() == expected


def test_whitened_vectors_are_unit_and_uncorrelated():
    tokens = torch.randn(4000, 6, generator=torch.Generator().manual_seed(1)) @ torch.diag(torch.arange(1.0, 7)) + 3
    white = whitened(tokens)
    assert torch.allclose(white.norm(dim=1), torch.ones(4000), atol=1e-5)
    assert torch.allclose(white.T @ white / 4000, torch.eye(6) / 6, atol=0.01)


def test_with_words_a_text_with_the_querys_rare_word_is_nearer_to_it():
    words = made([[0, 1], [0, 2], [0, 3], [0, 4]], dim=64)
    queries, passages = arrays([[0, 4]]), arrays([[0, 4, 1], [0, 5, 1]])
    same = F.normalize(torch.ones(3, 64), dim=-1)  # a teacher that cannot tell them apart
    q, p = words.mixed_vectors(same[:1], queries), words.mixed_vectors(same[1:], passages)
    assert torch.allclose(torch.cat((q, p)).norm(dim=1), torch.ones(3))
    assert float(q[0] @ p[0]) > float(q[0] @ p[1]) + 0.05
    mixed = words.mixed_scores(same[:1] @ same[1:].T, queries, passages)[0]
    assert float(mixed[0]) > float(mixed[1]) + 0.05


def test_a_share_of_0_gives_the_teachers_scores_and_vectors():
    words = made([[0, 1], [2, 3]], share=0.0)
    vectors = F.normalize(torch.randn(2, 8), dim=-1)
    rows = arrays([[0, 1], [2]])
    assert torch.allclose(words.mixed_vectors(vectors, rows), vectors, atol=1e-6)
    assert torch.allclose(words.mixed_scores(vectors @ vectors.T, rows, rows), vectors @ vectors.T, atol=1e-6)
    assert words.mixed_teacher(lambda ids: vectors.numpy())(rows) == pytest.approx(vectors.numpy(), abs=1e-6)


def test_a_student_learns_words_that_its_teacher_ignores(tmp_path):
    write_checkpoint(tmp_path / "start")
    write_shards(make_pairs(200), make_tokenizer(), tmp_path / "shards")
    for path in shard_paths(tmp_path / "shards"):
        nothing = np.tile(np.eye(1, 16, dtype=np.float32), (200, 1))  # the same vector for every text
        save_teacher(path, nothing, nothing)
    student, tokenizer = load_student(tmp_path / "start", "cpu", torch.float32)
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=True)
    words = Words(pairs.passages, torch.from_numpy(FakeTeacher().table), 0.5)
    stage = Contrast(student, pairs, PairOptions(batch_tokens=400, contrast_weight=0), Prompter(tokenizer, 0), words)
    before = stage(0, 1.0)
    run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", steps=80, rates=Rates(embedding=2e-2)))
    after = stage(0, 1.0)
    assert after.parts["kl"] < 0.7 * before.parts["kl"]
    assert after.parts["cosine_distance"] < before.parts["cosine_distance"] - 0.1
