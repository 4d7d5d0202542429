"""Running sums over slices equal one sum over the whole document, computed token by token."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.readouts.mean import MeanHead, RunningMeans, push

D_MODEL, DIM, VOCABULARY = 6, 4, 11
Case = tuple[int, list[int], list[tuple[int, int]]]


def random_head(seed: int = 0) -> MeanHead:
    make = torch.Generator().manual_seed(seed)
    projection = torch.randn(DIM, D_MODEL, generator=make)
    return MeanHead(projection, torch.randn(VOCABULARY, generator=make).exp())


def slow_vector(head: MeanHead, hidden: Tensor, ids: Tensor, start: int, stop: int) -> NDArray[np.float64]:
    """Return normalise(projection @ sum of weight * hidden), summed token by token in float64."""
    total = np.zeros(D_MODEL)
    for i in range(start, stop):
        total += head.token_weight[ids[i]].item() * hidden[i].double().numpy()
    vector: NDArray[np.float64] = head.projection.double().numpy() @ total
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def push_one(means: RunningMeans, hidden: Tensor, ids: Tensor) -> NDArray[np.float32]:
    (sums,) = push([means], hidden[None], ids[None], [len(ids)])
    return means.head.vectors(sums)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a length, sizes of slices, and the borders of spans: ascending, with or without gaps, some of them empty."""
    length = draw(st.integers(1, 60))
    slices, rest = [], length
    while rest:
        slices.append(draw(st.integers(1, rest)))
        rest -= slices[-1]
    ends = sorted(draw(st.lists(st.integers(0, length), max_size=16)))
    borders = list(zip(ends[::2], ends[1::2], strict=False))
    if draw(st.booleans()):  # without gaps: each span begins where the span before it ends
        borders = list(pairwise(ends))
    return length, slices, borders


@settings(max_examples=150)
@given(cases())
def test_slices_of_any_size_give_the_sums_of_one_pass(case: Case) -> None:
    length, slices, borders = case
    make = torch.Generator().manual_seed(length)
    hidden = torch.randn(length, D_MODEL, generator=make)
    ids = torch.randint(0, VOCABULARY, (length,), generator=make)
    head = random_head()
    means = RunningMeans(head, np.array(borders, dtype=np.int64).reshape(-1, 2))
    vectors: list[NDArray[np.float32]] = []
    start = 0
    for size in slices:
        vectors.extend(push_one(means, hidden[start : start + size], ids[start : start + size]))
        start += size
        n_whole = sum(stop <= start for _, stop in borders)
        assert len(vectors) == means.n_finished == n_whole  # each appears with its last token, not earlier
        np.testing.assert_allclose(means.document(), slow_vector(head, hidden, ids, 0, start), atol=1e-5)
    assert len(vectors) == len(borders)
    for vector, (first, stop) in zip(vectors, borders, strict=True):
        np.testing.assert_allclose(vector, slow_vector(head, hidden, ids, first, stop), atol=1e-5)


def test_an_empty_passage_gets_a_zero_vector_and_does_not_affect_the_others() -> None:
    head, hidden, ids = random_head(), torch.ones(4, D_MODEL), torch.arange(4)
    means = RunningMeans(head, np.array([(0, 2), (2, 2), (2, 4)]))
    first, second = push_one(means, hidden[:2], ids[:2]), push_one(means, hidden[2:], ids[2:])
    vectors = np.concatenate([first, second])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1])


def test_vectors_are_unit_float32_and_bfloat16_hidden_states_are_summed_in_float32() -> None:
    head = random_head()
    hidden = torch.full((2000, D_MODEL), 1.0, dtype=torch.bfloat16)
    means = RunningMeans(head, np.array([(0, 2000)]))
    (vector,) = push_one(means, hidden, torch.zeros(2000, dtype=torch.int64))
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert means.total.dtype == torch.float32
    assert means.total[0].item() == pytest.approx(2000 * head.token_weight[0].item(), rel=1e-4)
