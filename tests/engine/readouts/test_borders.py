"""Excerpts tile their passages, also when both are counted in tokens."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.readouts.borders import Borders


@given(
    starts=st.lists(st.integers(0, 80), max_size=60).map(sorted),
    edges=st.lists(st.integers(0, 80), max_size=12, unique=True).map(sorted),
    inner=st.sets(st.integers(0, 80)),
)
def test_excerpts_tile_their_passages_in_tokens(starts: list[int], edges: list[int], inner: set[int]) -> None:
    passages = list(pairwise(edges))
    excerpts = [[0, *sorted(edge - first for edge in inner if first < edge < last)] for first, last in passages]
    borders = Borders.from_characters(np.array(starts, np.int64), passages, excerpts)
    assert borders.passages.shape == (len(passages), 2)
    assert [own.tolist() for own in borders.starts_of(0, len(passages))] == excerpts
    for passage, (first, stop) in enumerate(pairwise(borders.firsts.tolist())):
        own = borders.excerpts[first:stop]
        assert (own[0, 0], own[-1, 1]) == tuple(borders.passages[passage])
        assert (own[1:, 0] == own[:-1, 1]).all()
        assert borders.n_passages_within(stop - 1) == passage
        assert borders.n_passages_within(stop) == passage + 1


def test_the_only_excerpt_of_a_passage_has_all_its_tokens() -> None:
    borders = Borders.from_characters(np.array([0, 2, 4, 6]), [(0, 4), (4, 8)], [[0], [0]])
    assert borders.excerpts.tolist() == borders.passages.tolist() == [[0, 2], [2, 4]]
    assert borders.firsts.tolist() == [0, 1, 2]


def test_a_document_without_passages_has_no_excerpts() -> None:
    borders = Borders.from_characters(np.arange(5), [], [])
    assert borders.excerpts.shape == (0, 2)
    assert borders.n_passages_within(0) == 0
