"""Losses agree with slow twins written as loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from longsearch.engine.training.stages.losses import (
    cosine_distance,
    distillation,
    info_nce,
    similarity_kl,
    unfair_negatives,
)


def unit(n: int, dim: int, seed: int) -> torch.Tensor:
    return F.normalize(torch.randn(n, dim, generator=torch.Generator().manual_seed(seed)), dim=-1)


def slow_softmax(scores: list[float]) -> list[float]:
    highest = max(scores)
    exponents = [math.exp(score - highest) for score in scores]
    return [e / sum(exponents) for e in exponents]


def slow_info_nce(q, p, same, temperature, both_ways=True) -> float:
    n, one_way, back = len(q), 0.0, 0.0
    for i in range(n):
        fair = [j for j in range(len(p)) if j == i or not same[i][j]]
        one_way -= math.log(slow_softmax([float(q[i] @ p[j]) / temperature for j in fair])[fair.index(i)])
        fair = [j for j in range(n) if j == i or not same[j][i]]
        back -= math.log(slow_softmax([float(q[j] @ p[i]) / temperature for j in fair])[fair.index(i)])
    return (one_way + back) / (2 * n) if both_ways else one_way / n


@settings(max_examples=30)
@given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 100), st.booleans())
def test_info_nce_agrees_with_its_slow_twin(n, n_hard, seed, both_ways):
    q, p = unit(n, 6, seed), unit(n + n_hard, 6, seed + 1)
    same = torch.rand(n, n + n_hard, generator=torch.Generator().manual_seed(seed)) < 0.3
    found = float(info_nce(q, p, same, 0.1, both_ways))
    assert found == pytest.approx(slow_info_nce(q, p, same, 0.1, both_ways), abs=1e-4)


def test_one_way_info_nce_is_the_papers_equation_2_by_hand():
    """L = -log(e^(cos(q, p) / tau) / (e^(cos(q, p) / tau) + sum_i e^(cos(q, n_i) / tau))), tau = .5.

    Two queries, each with one hard negative; so each query has N = 3 negatives.
    """
    q = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    p = torch.tensor([[0.8, 0.6], [0.6, 0.8], [1.0, 0.0], [-1.0, 0.0]])  # two answers, then two hard negatives
    first = -math.log(math.exp(1.6) / (math.exp(1.6) + math.exp(1.2) + math.exp(2.0) + math.exp(-2.0)))
    second = -math.log(math.exp(1.6) / (math.exp(1.6) + math.exp(1.2) + math.exp(0.0) + math.exp(0.0)))
    fair = torch.zeros(2, 4, dtype=torch.bool)
    found = info_nce(q, p, fair, 0.5, both_ways=False)
    assert float(found) == pytest.approx((first + second) / 2, rel=1e-5)
    back = -math.log(math.exp(1.6) / (math.exp(1.6) + math.exp(1.2)))  # of both passages
    assert float(info_nce(q, p, fair, 0.5)) == pytest.approx((first + second) / 4 + back / 2, rel=1e-5)


def test_info_nce_is_near_zero_when_every_query_lies_on_its_passage():
    q = torch.eye(4)
    assert float(info_nce(q, q, torch.zeros(4, 4, dtype=torch.bool))) < 1e-6
    assert float(info_nce(q, q.flip(0), torch.zeros(4, 4, dtype=torch.bool))) == pytest.approx(50, rel=1e-3)


def test_a_hard_negative_raises_the_loss_and_a_masked_one_does_not():
    q, p = unit(3, 8, 0), unit(3, 8, 1)
    near = torch.cat((p, q[:1]))
    fair = torch.zeros(3, 4, dtype=torch.bool)
    assert info_nce(q, near, fair) > info_nce(q, p, fair[:, :3])
    masked = fair.clone()
    masked[:, 3] = True
    assert float(info_nce(q, near, masked)) == pytest.approx(float(info_nce(q, p, fair[:, :3])), rel=1e-5)


def test_the_answer_is_never_masked():
    q, p = unit(3, 8, 0), unit(3, 8, 1)
    fair, diagonal = torch.zeros(3, 3, dtype=torch.bool), torch.eye(3, dtype=torch.bool)
    assert float(info_nce(q, p, diagonal, 0.1)) == pytest.approx(slow_info_nce(q, p, fair, 0.1), abs=1e-5)


@pytest.mark.parametrize("n", [2, 7, 64])
def test_an_encoder_that_gives_every_text_the_same_vector_has_a_loss_of_ln_batch(n):
    """All scores are equal, so the answer has the probability 1 / n (equation 2 of arXiv 2604.18199)."""
    collapsed, documents = unit(1, 8, 0).expand(n, 8), torch.arange(n)
    passages = [np.array([row, row + 1]) for row in range(n)]
    loss = info_nce(collapsed, collapsed, unfair_negatives(documents, documents, passages))
    assert float(loss) == pytest.approx(math.log(n), rel=1e-5)


def slow_kl(student, teacher, keep, temperature) -> float:
    total = 0.0
    for i in range(len(student)):
        columns = [j for j in range(student.shape[1]) if keep[i][j]]
        s, t = (slow_softmax([float(m[i][j]) / temperature for j in columns]) for m in (student, teacher))
        total += sum(b * math.log(b / a) for a, b in zip(s, t, strict=True) if b > 0)
    return total / len(student)


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 100))
def test_the_similarity_kl_agrees_with_its_slow_twin(n, m, seed):
    student, teacher = (torch.rand(n, m, generator=torch.Generator().manual_seed(seed + i)) for i in range(2))
    keep = torch.rand(n, m, generator=torch.Generator().manual_seed(seed)) < 0.7
    keep[:, 0] = True
    expected = slow_kl(student, teacher, keep, 0.2)
    assert float(similarity_kl(student, teacher, 0.2, keep)) == pytest.approx(expected, abs=1e-5)


def test_distillation_is_zero_at_the_teacher_and_grows_away_from_it():
    teacher = unit(6, 8, 3)
    assert float(distillation(teacher, teacher)) == pytest.approx(0, abs=1e-5)
    near, far = (F.normalize(teacher + s * unit(6, 8, 4), dim=-1) for s in (0.1, 1.0))
    assert 0 < distillation(near, teacher) < distillation(far, teacher)


def test_distillation_is_eight_times_the_cosine_distance_plus_the_kl_of_similarities():
    student, teacher = unit(4, 8, 1), unit(4, 8, 2)
    kl = slow_kl(student @ student.T, teacher @ teacher.T, ~torch.eye(4, dtype=torch.bool), 0.05)
    cosine = 1 - sum(float(s @ t) for s, t in zip(student, teacher, strict=True)) / 4
    assert float(cosine_distance(student, teacher)) == pytest.approx(cosine, abs=1e-6)
    assert float(distillation(student, teacher)) == pytest.approx(8 * cosine + kl, rel=1e-4)
    assert float(distillation(student[:1], teacher[:1])) == pytest.approx(8 * (1 - float(student[0] @ teacher[0])))


def test_passages_of_the_same_document_and_equal_passages_are_unfair_negatives():
    passages = [np.array(ids) for ids in ([5, 6], [7], [8, 9], [5, 6], [5])]
    same = unfair_negatives(torch.tensor([1, 2, 2]), torch.tensor([1, 2, 2, 9, 9]), passages)
    expected = [[1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [0, 1, 1, 0, 0]]
    assert same.int().tolist() == expected


def test_a_teacher_also_finds_passages_that_are_nearly_equal():
    passages, documents = [np.array([row]) for row in range(4)], torch.arange(3)
    teacher = torch.eye(3)
    teacher[2] = F.normalize(teacher[0] + 0.01 * teacher[1], dim=0)
    same = unfair_negatives(documents, torch.arange(4), passages, teacher)
    assert same.int().tolist() == [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]]
