"""The matrix memory of the mLSTM (xLSTM) in blocks of tokens. The caller passes the state in and gets it back.

Shapes:

    q, k    (batch, length, heads, key_dim)
    v, h    (batch, length, heads, value_dim)
    i       (batch, length, heads), the input gate before its exponential
    f       (batch, length, heads), the log of the forget gate, negative
    C       (batch, heads, key_dim, value_dim), and n and m as in `Memory`

The recurrence of each head, stabilised by m (Beck et al., arXiv 2405.04517, equations 19 to 27 and appendix A.2):

    m_t = max(f_t + m_{t-1}, i_t)
    C_t = exp(f_t + m_{t-1} - m_t) C_{t-1} + exp(i_t - m_t) k_t v_t^T
    n_t = exp(f_t + m_{t-1} - m_t) n_{t-1} + exp(i_t - m_t) k_t
    h_t = C_t^T q_t / (max(|n_t . q_t|, exp(-m_t)) + eps),    q scaled by key_dim ** -0.5

Knows no layers, weights or tokens. Everything is float32.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Memory(NamedTuple):
    """The state that passes from token to token. C and n are scaled by exp(-m)."""

    C: Tensor
    """(batch, heads, key_dim, value_dim)"""
    n: Tensor
    """(batch, heads, key_dim)"""
    m: Tensor
    """(batch, heads)"""


def mlstm_scan(
    q: Tensor, k: Tensor, v: Tensor, i: Tensor, f: Tensor, memory: Memory, eps: float, block_size: int
) -> tuple[Tensor, Memory]:
    """Return h and the memory after the last token, both float32. Takes a slice of any length.

    Computes `block_size` tokens at a time in dense products (arXiv 2503.14376, section 3). Slices that begin at
    multiples of `block_size` give the same h as one pass over everything. Shapes are in the module's docstring.
    """
    length = v.shape[1]
    # 1. cut the slice into blocks of Q tokens
    Q = min(block_size, length)
    q, k, v = (_blocks(t, Q, 0.0) for t in (q, k, v))  # (batch, blocks, heads, Q, dim)
    i, f = (_blocks(t[..., None], Q, padding).squeeze(-1) for t, padding in ((i, -torch.inf), (f, 0.0)))
    q = q * q.shape[-1] ** -0.5
    # 2. log weight of token s in the output of token t: g_t - g_s + i_s for s <= t, with g the running sum of f
    g = f.cumsum(-1)  # (batch, blocks, heads, Q)
    later = torch.ones(Q, Q, dtype=torch.bool, device=q.device).triu(1)
    log_weight = (g[..., :, None] - g[..., None, :] + i[..., None, :]).masked_fill_(later, -torch.inf)
    # 3. pass the memory from block to block
    entering, memory = _pass_states(k, v, i, g, memory)
    # 4. add what the block's own tokens and the entering memory contribute to h; m is that of the recurrence
    m = torch.maximum(g + entering.m[..., None], log_weight.amax(-1))  # (batch, blocks, heads, Q)
    scores = (q @ k.mT) * (log_weight - m[..., None]).exp_()
    from_state = q * (g + entering.m[..., None] - m).exp()[..., None]
    read = scores @ v + from_state @ entering.C
    norm = scores.sum(-1) + (from_state @ entering.n[..., None]).squeeze(-1)
    h = read / (torch.maximum(norm.abs(), (-m).exp()) + eps)[..., None]
    return h.transpose(2, 3).flatten(1, 2)[:, :length], memory


def _pass_states(k: Tensor, v: Tensor, i: Tensor, g: Tensor, memory: Memory) -> tuple[Memory, Memory]:
    """Return the memory that enters each block, stacked along dimension 1, and the memory after the last block."""
    total = g[..., -1]
    to_end = total[..., None] - g + i  # log weight of each token in the memory at the end of its block
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
    """Pad (batch, length, heads, dim) and cut it into (batch, blocks, heads, Q, dim) float32."""
    padded = F.pad(t.float(), (0, 0, 0, 0, 0, -t.shape[1] % Q), value=padding)
    blocks: Tensor = padded.unflatten(1, (-1, Q)).transpose(2, 3)
    return blocks
