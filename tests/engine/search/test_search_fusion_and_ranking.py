"""Combining two scores and grouping passages by document: pure arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.search.fusion import combine, trust_in_meaning
from longsearch.engine.search.ranking import RankedPassage, group


def test_both_scores_count_by_their_weights_and_a_missing_score_is_zero() -> None:
    assert combine({1: 1.0, 2: 0.5}, {1: 1.0, 3: 0.8}) == [
        (1, pytest.approx(1.0)),
        (3, pytest.approx(0.32)),
        (2, pytest.approx(0.3)),
    ]


@pytest.mark.parametrize(
    ("best_passage", "best_document", "kept"),
    [
        (0.1, 0.5, 0.3),
        (0.4, 0.5, 1.0),  # one passage holds most of what a document does
        (0.0, 0.5, 1.0),  # no passage that may be listed holds a word
        (0.0, 0.0, 1.0),
    ],
)
def test_meaning_keeps_its_weight_unless_a_document_holds_far_more_of_a_query_than_any_passage(
    best_passage: float, best_document: float, kept: float
) -> None:
    assert trust_in_meaning(13, best_passage, best_document) == pytest.approx(kept)
    assert trust_in_meaning(12, best_passage, best_document) == 1.0


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
    ids = (1, 3, 4, 5, 6, 7)
    scored = [(1, 20, 0.9), (2, 10, 0.8), *((id_, 20, 0.7) for id_ in ids[1:])]
    ranked = group([RankedPassage(*one) for one in scored], k=9)
    assert [(one.document_id, [own[:3:2] for own in one.passages], one.score) for one in ranked] == [
        (20, [(1, 0.9), (3, 0.7), (4, 0.7), (5, 0.7), (6, 0.7)], 0.9),
        (10, [(2, 0.8)], 0.8),
    ]
