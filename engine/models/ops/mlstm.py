"""The matrix memory of the mLSTM (xLSTM), token by token and in blocks, with the state handed in and out.

For each head, with a log forget gate f and an input gate i (before its exponential) a token, stabilised by m (Beck et
al., arXiv 2405.04517, equations 19 to 27 and appendix A.2):

    m_t = max(f_t + m_{t-1}, i_t)
    C_t = exp(f_t + m_{t-1} - m_t) C_{t-1} + exp(i_t - m_t) k_t v_t^T;    n_t likewise with k_t alone
    h_t = C_t^T q_t / (max(|n_t . q_t|, exp(-m_t)) + eps),    q scaled by key_dim ** -0.5

Knows no layers, weights or tokens. Everything is float32.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Memory(NamedTuple):
    """What is carried from token to token; C and n are scaled by exp(-m)."""

    C: Tensor
    """(batch, heads, key_dim, value_dim)"""
    n: Tensor
    """(batch, heads, key_dim)"""
    m: Tensor
    """(batch, heads)"""


def mlstm_recurrent(
    q: Tensor, k: Tensor, v: Tensor, i: Tensor, f: Tensor, memory: Memory, eps: float
) -> tuple[Tensor, Memory]:
    """The recurrence as it is written: the slow twin.

    q and k (batch, length, heads, key_dim); v (batch, length, heads, value_dim); i and f (batch, length, heads), f the
    log of the forget gate, negative. Returns h, shaped as v, and the memory after the last token, all float32.
    """
    out = []
    C, n, m = memory
    q = q.float() * q.shape[-1] ** -0.5
    for q_t, k_t, v_t, i_t, f_t in zip(*(t.float().unbind(1) for t in (q, k, v, i, f)), strict=True):
        m_next = torch.maximum(f_t + m, i_t)
        keep, write = (f_t + m - m_next).exp()[..., None], (i_t - m_next).exp()[..., None]
        C = keep[..., None] * C + (write * k_t)[..., None] * v_t[..., None, :]
        n = keep * n + write * k_t
        m = m_next
        read = (q_t[..., None, :] @ C).squeeze(-2)
        norm = torch.maximum((q_t * n).sum(-1).abs(), (-m).exp())
        out.append(read / (norm + eps)[..., None])
    return torch.stack(out, 1), Memory(C, n, m)


def mlstm_scan(
    q: Tensor, k: Tensor, v: Tensor, i: Tensor, f: Tensor, memory: Memory, eps: float, block_size: int
) -> tuple[Tensor, Memory]:
    """As `mlstm_recurrent`, a block of `block_size` tokens at a time, in dense products (arXiv 2503.14376, section 3).

    A slice that begins at a multiple of `block_size` gives what one pass over everything gives.
    """
    length = v.shape[1]
    Q = min(block_size, length)
    q, k, v = (_blocks(t, Q, 0.0) for t in (q, k, v))  # (batch, blocks, heads, Q, dim)
    i, f = (_blocks(t[..., None], Q, padding).squeeze(-1) for t, padding in ((i, -torch.inf), (f, 0.0)))
    q = q * q.shape[-1] ** -0.5
    g = f.cumsum(-1)  # (batch, blocks, heads, Q)
    later = torch.ones(Q, Q, dtype=torch.bool, device=q.device).triu(1)
    log_weight = (g[..., :, None] - g[..., None, :] + i[..., None, :]).masked_fill_(later, -torch.inf)
    entering, memory = _pass_states(k, v, i, g, memory)

    m = torch.maximum(g + entering.m[..., None], log_weight.amax(-1))  # (batch, blocks, heads, Q), as the recurrence's
    scores = (q @ k.mT) * (log_weight - m[..., None]).exp_()
    from_state = q * (g + entering.m[..., None] - m).exp()[..., None]
    read = scores @ v + from_state @ entering.C
    norm = scores.sum(-1) + (from_state @ entering.n[..., None]).squeeze(-1)
    h = read / (torch.maximum(norm.abs(), (-m).exp()) + eps)[..., None]
    return h.transpose(2, 3).flatten(1, 2)[:, :length], memory


def _pass_states(k: Tensor, v: Tensor, i: Tensor, g: Tensor, memory: Memory) -> tuple[Memory, Memory]:
    """Hand the memory from block to block: those entering each block, stacked along dimension 1, and the last one."""
    total = g[..., -1]
    to_end = total[..., None] - g + i  # log weight of each token in the state its block ends with
    entering = []
    for block in range(k.shape[1]):
        entering.append(memory)
        m = torch.maximum(total[:, block] + memory.m, to_end[:, block].amax(-1))
        keep = (total[:, block] + memory.m - m).exp()[..., None]
        written = k[:, block] * (to_end[:, block] - m[..., None]).exp()[..., None]
        C = keep[..., None] * memory.C + written.mT @ v[:, block]
        memory = Memory(C, keep * memory.n + written.sum(-2), m)
    return Memory(*(torch.stack(parts, 1) for parts in zip(*entering, strict=True))), memory


def _blocks(t: Tensor, Q: int, padding: float) -> Tensor:
    """(batch, length, heads, dim) -> (batch, blocks, heads, Q, dim) float32, padded."""
    padded = F.pad(t.float(), (0, 0, 0, 0, 0, -t.shape[1] % Q), value=padding)
    blocks: Tensor = padded.unflatten(1, (-1, Q)).transpose(2, 3)
    return blocks
