"""Compares the blockwise scans with the recurrence, one token at a time in float64."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from longsearch.engine.models.ops.ssd import ssd_scan
from longsearch.engine.models.ops.ssd_factored import MAX_LOG_DECAY, ssd_scan_factored
from tests.engine.models.reference_mamba2 import slow_scan

Q = 8
Scan = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, int], tuple[Tensor, Tensor]]
EACH = pytest.mark.parametrize("scan", [ssd_scan, ssd_scan_factored])
Inputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


def random_inputs(length: int, groups: int = 1, batch: int = 1, seed: int = 0) -> Inputs:
    heads, head_dim, d_state = 4, 3, 5
    make = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, length, heads, head_dim, generator=make)
    dt = torch.rand(batch, length, heads, generator=make)
    A = -torch.tensor([0.001, 0.1, 1.0, 20.0])  # from "never forgets" to "forgets at once"
    B, C = (torch.randn(batch, length, groups, d_state, generator=make) for _ in range(2))
    state = torch.randn(batch, heads, head_dim, d_state, generator=make)
    return x, dt, A, B, C, state


@EACH
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("length", [1, 3, 4, Q - 1, Q, Q + 1, 2 * Q, 5 * Q + 3])
def test_the_blockwise_scan_equals_the_recurrence(scan: Scan, length: int, groups: int) -> None:
    inputs = random_inputs(length, groups, batch=2)
    y, state = scan(*inputs, Q)
    slow_y, slow_state = slow_scan(*inputs)
    torch.testing.assert_close(y.double(), slow_y, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(state.double(), slow_state, atol=1e-5, rtol=1e-5)


@EACH
@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    block_size=st.integers(1, 12),
    groups=st.sampled_from([1, 2, 4]),
    seed=st.integers(0, 1000),
)
def test_slices_of_any_lengths_equal_one_scan(
    scan: Scan, lengths: list[int], block_size: int, groups: int, seed: int
) -> None:
    x, dt, A, B, C, first_state = random_inputs(sum(lengths), groups, seed=seed)
    outputs, state, start = [], first_state, 0
    for length in lengths:
        part = slice(start, start + length)
        y, state = scan(x[:, part], dt[:, part], A, B[:, part], C[:, part], state, block_size)
        outputs.append(y)
        start += length
    slow_y, slow_state = slow_scan(x, dt, A, B, C, first_state)
    torch.testing.assert_close(torch.cat(outputs, 1).double(), slow_y, atol=2e-5, rtol=1e-4)
    torch.testing.assert_close(state.double(), slow_state, atol=2e-5, rtol=1e-4)


@EACH
def test_slices_that_start_at_blocks_equal_one_scan_to_1e_6(scan: Scan) -> None:
    x, dt, A, B, C, state = random_inputs(6 * Q)
    whole, whole_state = scan(x, dt, A, B, C, state, Q)
    parts = []
    for part in (slice(0, 2 * Q), slice(2 * Q, 3 * Q), slice(3 * Q, 6 * Q)):
        y, state = scan(x[:, part], dt[:, part], A, B[:, part], C[:, part], state, Q)
        parts.append(y)
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(state, whole_state, atol=1e-6, rtol=1e-6)


@EACH
def test_large_steps_neither_overflow_nor_turn_into_nan(scan: Scan) -> None:
    x, _, _, B, C, state = random_inputs(40)
    dt, A = torch.full((1, 40, 4), 50.0), torch.full((4,), -50.0)
    y, final = scan(x, dt, A, B, C, state, Q)
    slow_y, slow_final = slow_scan(x, dt, A, B, C, state)
    torch.testing.assert_close(y.double(), slow_y, atol=1e-3, rtol=1e-5)
    torch.testing.assert_close(final.double(), slow_final, atol=1e-3, rtol=1e-5)


@EACH
def test_the_state_stays_float32_where_products_are_bfloat16(scan: Scan) -> None:
    x, dt, A, B, C, state = random_inputs(20)
    y, final = scan(x.bfloat16(), dt, A, B.bfloat16(), C.bfloat16(), state, Q)
    assert y.dtype == torch.bfloat16
    assert final.dtype == torch.float32
    slow_y, _ = slow_scan(x, dt, A, B, C, state)
    assert torch.cosine_similarity(y.flatten().double(), slow_y.flatten(), dim=0) > 0.999


@EACH
@pytest.mark.parametrize("log_decay", [0.0, 1.0, 0.99 * MAX_LOG_DECAY, 1.01 * MAX_LOG_DECAY, 10 * MAX_LOG_DECAY])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_with_weak_and_strong_decays_are_exact(scan: Scan, log_decay: float, dtype: torch.dtype) -> None:
    x, _, _, B, C, state = random_inputs(4 * Q + 3)
    x, B, C = x.to(dtype), B.to(dtype), C.to(dtype)
    dt, A = torch.full((1, 4 * Q + 3, 4), 1.0), torch.tensor([-1e-6, -0.01, -1.0, -log_decay / Q])
    y, final = scan(x, dt, A, B, C, state, Q)
    slow_y, slow_final = slow_scan(x, dt, A, B, C, state)
    rounding = 1e-5 if dtype == torch.float32 else 0.02
    assert (y.double() - slow_y).norm() < rounding * slow_y.norm()
    assert (final.double() - slow_final).norm() < rounding * slow_final.norm()
