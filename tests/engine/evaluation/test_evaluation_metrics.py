"""Metrics agree with values computed by hand and with slow twins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.evaluation.metrics import METRICS, bootstrap, hit, ndcg, recall, reciprocal_rank, score


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_ndcg_of_the_only_relevant_document_in_second_place_is_one_over_log2_of_3():
    assert ndcg(array(0, 1, 0), array(1)) == pytest.approx(1 / math.log2(3))


def test_ndcg_with_graded_gains_equals_the_value_computed_by_hand():
    # DCG = 1/1 + 3/log2(3) + 0 + 2/log2(5); ideal 3/1 + 2/log2(3) + 1/log2(4)
    expected = (1 + 3 / math.log2(3) + 2 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / 2)
    assert ndcg(array(1, 3, 0, 2), array(1, 2, 3)) == pytest.approx(expected)


def test_ndcg_counts_only_the_first_ten():
    assert ndcg(array(*[0] * 10, 1), array(1)) == 0.0
    assert ndcg(array(*[1] * 10), array(*[1] * 40)) == 1.0


def test_recall_counts_all_relevant_documents_not_only_the_ranked_ones():
    assert recall(array(1, 0, 1), array(1, 1, 1, 1), 10) == 0.5
    assert recall(array(1, 0, 1), array(1, 1, 1, 1), 2) == 0.25


def test_reciprocal_rank_and_hit_depend_on_the_first_relevant_document():
    assert reciprocal_rank(array(0, 0, 2, 1)) == pytest.approx(1 / 3)
    assert reciprocal_rank(array(*[0] * 10, 1)) == 0.0
    assert hit(array(0, 1)) == 0.0
    assert hit(array(3)) == 1.0


def test_an_empty_ranking_scores_zero_everywhere():
    assert set(score(array(), array(1)).values()) == {0.0}
    assert set(score(array(0, 0), array()).values()) == {0.0}


def slow_ndcg(gains: list[int], ideal: list[int]) -> float:
    dcg = best = 0.0
    for rank, gain in enumerate(gains[:10], 1):
        dcg += gain / math.log(rank + 1, 2)
    for rank, gain in enumerate(sorted(ideal, reverse=True)[:10], 1):
        best += gain / math.log(rank + 1, 2)
    return dcg / best if best else 0.0


@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(1, 3), max_size=5), st.randoms())
def test_ndcg_agrees_with_its_slow_twin_and_stays_in_bounds(gains, unranked, random):
    ideal = [gain for gain in gains if gain] + unranked
    random.shuffle(ideal)
    value = ndcg(array(*gains), array(*ideal))
    assert value == pytest.approx(slow_ndcg(gains, ideal))
    assert 0 <= value <= 1 + 1e-9


def test_every_metric_is_named():
    assert tuple(score(array(1), array(1))) == METRICS


def test_the_bootstrap_interval_holds_the_mean_and_narrows_with_more_queries():
    random = np.random.default_rng(0)
    few, many = bootstrap(random.random(30)), bootstrap(random.random(3000))
    assert few.low < few.mean < few.high
    assert many.high - many.low < (few.high - few.low) / 5
    # the interval of a mean of uniform values: 2 * 1.96 / sqrt(12 n)
    assert many.high - many.low == pytest.approx(2 * 1.96 / math.sqrt(12 * 3000), rel=0.15)


def test_the_bootstrap_is_deterministic_and_refuses_an_empty_array():
    values = np.arange(10.0)
    assert bootstrap(values) == bootstrap(values)
    with pytest.raises(ValueError, match="no values"):
        bootstrap(np.empty(0))
