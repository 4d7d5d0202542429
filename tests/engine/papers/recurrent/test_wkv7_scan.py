"""RWKV-7's scan in blocks and its token-by-token twin agree with the recurrence in float64."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.papers.recurrent.wkv7 import MAX_BLOCK, wkv7_scan
from tests.engine.references import wkv7_recurrent

Q = 8
STRONGEST = -0.6065306597  # -exp(-0.5), the log decay if sigmoid(...) = 1
Inputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


def random_inputs(length: int, seed: int = 0, log_decay: float | None = None, same_key: bool = False) -> Inputs:
    batch, heads, key_dim, value_dim = 2, 3, 6, 4
    make = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=make)

    r, k, kk = (normal(batch, length, heads, key_dim) for _ in range(3))
    w = STRONGEST * torch.sigmoid(4 * normal(batch, length, heads, key_dim) - 2)
    w = w if log_decay is None else torch.full_like(w, log_decay)
    kk = F.normalize(kk[:, :1].expand_as(kk) if same_key else kk, dim=-1)
    rate = torch.ones_like(kk) if same_key else torch.sigmoid(3 * normal(*kk.shape))
    v, state = normal(batch, length, heads, value_dim), normal(batch, heads, key_dim, value_dim)
    return r, w, k, v, -kk, kk * rate, state


def in_float64(
    r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute S_t = S_{t-1} (diag(w) + a b^T) + v k^T, with S (value_dim, key_dim) as in the paper."""
    S, out = state.double().mT, []
    for t in range(v.shape[1]):
        r_t, w_t, k_t, v_t, a_t, b_t = (x[:, t].double() for x in (r, w, k, v, a, b))
        S = S @ (torch.diag_embed(w_t.exp()) + torch.einsum("bhi,bhj->bhij", a_t, b_t))
        S = S + torch.einsum("bhi,bhj->bhij", v_t, k_t)
        out.append(torch.einsum("bhij,bhj->bhi", S, r_t))
    return torch.stack(out, 1), S.mT


@pytest.mark.parametrize("length", [1, 3, Q - 1, Q, Q + 1, 5 * Q + 3])
def test_the_scan_and_its_slow_twin_agree_with_the_recurrence_in_float64(length: int) -> None:
    inputs = random_inputs(length)
    expected = in_float64(*inputs)
    for found in (wkv7_recurrent(*inputs), wkv7_scan(*inputs, Q)):
        for ours, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(ours.double(), theirs, atol=2e-5, rtol=1e-5)


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    block_size=st.integers(1, 12),
    seed=st.integers(0, 1000),
)
def test_slices_of_any_lengths_agree_with_one_scan(lengths: list[int], block_size: int, seed: int) -> None:
    *inputs, first = random_inputs(sum(lengths), seed)
    outputs, state, start = [], first, 0
    for length in lengths:
        y, state = wkv7_scan(*(t[:, start : start + length] for t in inputs), state, block_size)
        outputs.append(y)
        start += length
    slow_y, slow_state = wkv7_recurrent(*inputs, first)
    torch.testing.assert_close(torch.cat(outputs, 1), slow_y, atol=5e-5, rtol=1e-4)
    torch.testing.assert_close(state, slow_state, atol=5e-5, rtol=1e-4)


def test_slices_that_begin_at_blocks_agree_with_one_scan_within_1e_6() -> None:
    *inputs, first = random_inputs(6 * Q)
    whole, whole_state = wkv7_scan(*inputs, first, Q)
    parts, state = [], first
    for part in (slice(0, 2 * Q), slice(2 * Q, 3 * Q), slice(3 * Q, 6 * Q)):
        y, state = wkv7_scan(*(t[:, part] for t in inputs), state, Q)
        parts.append(y)
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(state, whole_state, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("log_decay", [STRONGEST, -1e-6])
@pytest.mark.parametrize("block_size", [32, MAX_BLOCK, 4096])
def test_the_strongest_and_the_weakest_decay_are_precise(log_decay: float, block_size: int) -> None:
    inputs = random_inputs(3 * MAX_BLOCK + 5, log_decay=log_decay)
    y, state = wkv7_scan(*inputs, block_size)
    slow_y, slow_state = in_float64(*inputs)
    torch.testing.assert_close(y.double(), slow_y, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(state.double(), slow_state, atol=1e-4, rtol=1e-4)


def test_a_token_repeated_many_times_does_not_overflow() -> None:
    """With equal keys and no decay the powers of the system's matrix reach 1e17; its solution stays small."""
    inputs = random_inputs(3 * MAX_BLOCK, log_decay=-1e-9, same_key=True)
    y, state = wkv7_scan(*inputs, MAX_BLOCK)
    slow_y, slow_state = in_float64(*inputs)
    torch.testing.assert_close(y.double(), slow_y, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(state.double(), slow_state, atol=1e-4, rtol=1e-4)
