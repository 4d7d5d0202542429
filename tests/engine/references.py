"""Token-by-token recurrences of the mLSTM and of RWKV-7: the slow twins of the scans in blocks.

Shapes, equations and arguments are those of `mlstm` and `wkv7` in `engine.papers.recurrent`. All in float32.
"""

import torch
from torch import Tensor

from longsearch.engine.papers.recurrent.mlstm import Memory


def mlstm_recurrent(
    q: Tensor, k: Tensor, v: Tensor, i: Tensor, f: Tensor, memory: Memory, eps: float
) -> tuple[Tensor, Memory]:
    """Return h, shaped as v, and the memory after the last token. Arguments as in `mlstm_scan`."""
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


def wkv7_recurrent(
    r: Tensor, w: Tensor, k: Tensor, v: Tensor, a: Tensor, b: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """Return y, shaped as v, and the state after the last token. Arguments as in `wkv7_scan`."""
    out = []
    for r_t, w_t, k_t, v_t, a_t, b_t in zip(*(t.float().unbind(1) for t in (r, w, k, v, a, b)), strict=True):
        seen = a_t[..., None, :] @ state  # (batch, heads, 1, value_dim)
        state = w_t.exp()[..., None] * state + b_t[..., None] * seen + k_t[..., None] * v_t[..., None, :]
        out.append((r_t[..., None, :] @ state).squeeze(-2))
    return torch.stack(out, 1), state
