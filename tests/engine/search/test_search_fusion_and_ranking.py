"""Fusing rankings and grouping passages: pure arithmetic on places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.fusion import combine, fuse
from engine.search.ranking import group


def test_first_everywhere_is_one() -> None:
    assert fuse([[7, 8], [7, 9], [7]])[0] == (7, pytest.approx(1.0))


def test_the_scores_are_those_of_the_paper_over_the_highest() -> None:
    assert dict(fuse([[1, 2], [2, 3]])) == pytest.approx(
        {2: (1 / 62 + 1 / 61) / (2 / 61), 1: (1 / 61) / (2 / 61), 3: (1 / 62) / (2 / 61)}
    )


def test_what_both_rankings_hold_goes_before_the_first_of_one() -> None:
    assert [ranked_id for ranked_id, _ in fuse([[1, 5], [2, 5]])] == [5, 1, 2]


def test_nothing_fused_is_nothing() -> None:
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


def test_both_scores_count_by_their_weights_and_a_missing_one_is_zero() -> None:
    assert combine({1: 1.0, 2: 0.5}, {1: 1.0, 3: 0.8}) == [
        (1, pytest.approx(1.0)),
        (3, pytest.approx(0.32)),
        (2, pytest.approx(0.3)),
    ]


scores = st.dictionaries(st.integers(0, 30), st.floats(0, 1), max_size=20)


@given(scores, scores)
def test_combined_scores_stay_within_range_and_in_order(words: dict[int, float], meaning: dict[int, float]) -> None:
    combined = combine(words, meaning)
    assert {ranked_id for ranked_id, _ in combined} == words.keys() | meaning.keys()
    assert combined == sorted(combined, key=lambda row: (-row[1], row[0]))
    for ranked_id, score in combined:
        both = (words.get(ranked_id, 0.0), meaning.get(ranked_id, 0.0))
        assert min(both) - 1e-9 <= score <= max(both) + 1e-9


def test_documents_are_in_order_of_their_best_passages() -> None:
    ranked = group([(1, 0.9), (2, 0.8), (3, 0.7), (4, 0.6)], {1: 20, 2: 10, 3: 20, 4: 20}, passages_per_document=2)
    assert [(document.document_id, document.passages, document.score) for document in ranked] == [
        (20, ((1, 0.9), (3, 0.7)), 0.9),
        (10, ((2, 0.8),), 0.8),
    ]
