"""Reciprocal rank fusion gives the scores of the paper, as shares of the highest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.evaluation.rank_fusion import fuse


def test_an_id_that_is_first_everywhere_scores_one() -> None:
    assert fuse([[7, 8], [7, 9], [7]])[0] == (7, pytest.approx(1.0))


def test_the_scores_are_those_of_the_paper_over_the_highest() -> None:
    assert dict(fuse([[1, 2], [2, 3]])) == pytest.approx(
        {2: (1 / 62 + 1 / 61) / (2 / 61), 1: (1 / 61) / (2 / 61), 3: (1 / 62) / (2 / 61)}
    )


def test_an_id_in_both_rankings_beats_the_first_of_one_ranking() -> None:
    assert [ranked_id for ranked_id, _ in fuse([[1, 5], [2, 5]])] == [5, 1, 2]


def test_empty_rankings_give_an_empty_ranking() -> None:
    assert fuse([]) == []
    assert fuse([[], []]) == []


rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), min_size=1, max_size=3)


@given(rankings)
def test_every_id_is_scored_once_between_zero_and_one_in_falling_order(lists: list[list[int]]) -> None:
    fused = fuse(lists)
    assert sorted(ranked_id for ranked_id, _ in fused) == sorted({ranked_id for one in lists for ranked_id in one})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 + 1e-9 for score in scores)
