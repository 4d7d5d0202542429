"""The mLSTM's scan in blocks and its token-by-token twin agree with the plain recurrence in float64."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.papers.recurrent.mlstm import Memory, mlstm_scan
from tests.engine.references import mlstm_recurrent

Q, EPS = 8, 1e-6
Inputs = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def random_inputs(length: int, seed: int = 0, spread: float = 2.0) -> tuple[Inputs, Memory]:
    batch, heads, key_dim, value_dim = 2, 3, 6, 4
    make = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=make)

    q, k = normal(batch, length, heads, key_dim), normal(batch, length, heads, key_dim)
    v = normal(batch, length, heads, value_dim)
    i = (spread * normal(batch, length, heads)).clamp(-15, 15)
    f = F.logsigmoid((spread * normal(batch, length, heads) + spread).clamp(-15, 15))
    memory = Memory(normal(batch, heads, key_dim, value_dim), normal(batch, heads, key_dim), normal(batch, heads))
    return (q, k, v, i, f), memory


def in_float64(inputs: Inputs, memory: Memory) -> tuple[Tensor, Tensor, Tensor]:
    """Return h, C and n, computed with plain exponentials: float64 reaches e+-700, so it needs no stabiliser."""
    q, k, v, i, f = (t.double() for t in inputs)
    m = memory.m.double()
    C, n = memory.C.double() * m.exp()[..., None, None], memory.n.double() * m.exp()[..., None]
    out = []
    for t in range(v.shape[1]):
        forget, write = f[:, t].exp(), i[:, t].exp()
        C = forget[..., None, None] * C + write[..., None, None] * torch.einsum("bhi,bhj->bhij", k[:, t], v[:, t])
        n = forget[..., None] * n + write[..., None] * k[:, t]
        m = torch.maximum(f[:, t] + m, i[:, t])
        read = q[:, t] * q.shape[-1] ** -0.5
        norm = (read * n).sum(-1).abs().clamp(min=1.0) + EPS * m.exp()  # eps is added after the scaling by exp(-m)
        out.append(torch.einsum("bhi,bhij->bhj", read, C) / norm[..., None])
    return torch.stack(out, 1), C, n


def unscaled(memory: Memory) -> tuple[Tensor, Tensor]:
    scale = memory.m.double().exp()[..., None]
    return memory.C.double() * scale[..., None], memory.n.double() * scale


@pytest.mark.parametrize("length", [1, 3, Q - 1, Q, Q + 1, 5 * Q + 3])
def test_the_scan_and_its_slow_twin_agree_with_the_recurrence_in_float64(length: int) -> None:
    inputs, memory = random_inputs(length)
    expected = in_float64(inputs, memory)
    for h, found in (mlstm_recurrent(*inputs, memory, EPS), mlstm_scan(*inputs, memory, EPS, Q)):
        for ours, theirs in zip((h.double(), *unscaled(found)), expected, strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    block_size=st.integers(1, 12),
    seed=st.integers(0, 1000),
)
def test_slices_of_any_lengths_agree_with_one_scan(lengths: list[int], block_size: int, seed: int) -> None:
    inputs, first = random_inputs(sum(lengths), seed)
    outputs, memory, start = [], first, 0
    for length in lengths:
        h, memory = mlstm_scan(*(t[:, start : start + length] for t in inputs), memory, EPS, block_size)
        outputs.append(h)
        start += length
    slow_h, slow = mlstm_recurrent(*inputs, first, EPS)
    torch.testing.assert_close(torch.cat(outputs, 1), slow_h, atol=1e-3, rtol=1e-3)
    for ours, theirs in zip(memory, slow, strict=True):
        torch.testing.assert_close(ours, theirs, atol=5e-5, rtol=1e-4)


def test_slices_that_begin_at_blocks_agree_with_one_scan_within_1e_6() -> None:
    inputs, first = random_inputs(6 * Q)
    whole, whole_memory = mlstm_scan(*inputs, first, EPS, Q)
    parts, memory = [], first
    for part in (slice(0, 2 * Q), slice(2 * Q, 3 * Q), slice(3 * Q, 6 * Q)):
        h, memory = mlstm_scan(*(t[:, part] for t in inputs), memory, EPS, Q)
        parts.append(h)
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-6, rtol=1e-6)
    for ours, theirs in zip(memory, whole_memory, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("forget", [-15.0, 15.0])
@pytest.mark.parametrize("write", [-15.0, 15.0])
def test_gates_at_their_caps_do_not_overflow(forget: float, write: float) -> None:
    (q, k, v, i, f), memory = random_inputs(200)
    f, i = F.logsigmoid(torch.full_like(f, forget)), torch.full_like(i, write)
    h, found = mlstm_scan(q, k, v, i, f, memory, EPS, 64)
    slow_h, slow = mlstm_recurrent(q, k, v, i, f, memory, EPS)
    assert h.isfinite().all()
    for ours, theirs in zip(found, slow, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(h, slow_h, atol=1e-2, rtol=1e-2)
