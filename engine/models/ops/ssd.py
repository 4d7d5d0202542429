"""The state-space-duality (SSD) scan of Mamba2 in blocks, in plain torch, with the state handed in and out.

Knows no layers, weights or tokens. Equations are those of "Linear-Time and Constant-Memory Text Embeddings Based on
Recurrent Language Models" (Grantner et al., arXiv 2604.18199), section 3.2.2.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def ssd_scan(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, initial_state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """Run h_t = exp(dt_t A) h_{t-1} + dt_t B_t x_t; y_t = C_t h_t over a slice of any length.

    x (batch, length, heads, head_dim); dt (batch, length, heads), already positive; A (heads,), negative;
    B and C (batch, length, groups, d_state); initial_state (batch, heads, head_dim, d_state) float32.
    Products run in x's dtype; decays and the state are float32. Returns y, shaped and typed as x, and the final
    state, float32. A slice that begins at a multiple of `block_size` gives what one pass over everything gives.
    """
    length = x.shape[1]
    Q = min(block_size, length)
    padding = -length % Q
    if padding:  # dt = 0 leaves the state as it is: exp(0) = 1 and nothing is added
        x, dt, B, C = (F.pad(t, (0, 0) * (t.dim() - 2) + (0, padding)) for t in (x, dt, B, C))
    x, B, C = (t.unflatten(1, (-1, Q)).transpose(2, 3) for t in (x, B, C))  # (batch, blocks, heads|groups, Q, dim)
    dt = dt.float().unflatten(1, (-1, Q)).transpose(2, 3)  # (batch, blocks, heads, Q)
    log_decay = (dt * A[:, None]).cumsum(-1)  # (batch, blocks, heads, Q), log of the product of a_1 .. a_i
    dt_x = x * dt[..., None].to(x.dtype)

    within = _within_blocks(dt_x, log_decay, B, C)
    added = _block_states(dt_x, log_decay, B)
    entering, final_state = _pass_states(added, log_decay, initial_state)
    y = within + _from_entering(C, entering, log_decay).to(x.dtype)
    return y.transpose(2, 3).flatten(1, 2)[:, :length], final_state


def _within_blocks(dt_x: Tensor, log_decay: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """y = (L o (C B^T)) x inside each block (equation 8)."""
    Q, heads = log_decay.shape[-1], log_decay.shape[2]
    difference = log_decay[..., :, None] - log_decay[..., None, :]  # (batch, blocks, heads, Q, Q)
    later = torch.ones(Q, Q, dtype=torch.bool, device=dt_x.device).triu(1)
    L = difference.masked_fill_(later, -torch.inf).exp_()
    scores = C @ B.transpose(-1, -2)  # (batch, blocks, groups, Q, Q)
    weights = _over_heads(scores, heads).mul(L).to(dt_x.dtype)
    return weights @ dt_x


def _block_states(dt_x: Tensor, log_decay: Tensor, B: Tensor) -> Tensor:
    """The state each block adds, had it begun from zero (equation 9): (batch, blocks, heads, head_dim, d_state)."""
    to_end = (log_decay[..., -1:] - log_decay).exp()[..., None]
    weighted = (dt_x * to_end).to(dt_x.dtype)
    return weighted.transpose(-1, -2) @ _over_heads(B, log_decay.shape[2])


def _pass_states(added: Tensor, log_decay: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Hand the state from block to block (equation 10): the state entering each block, and the last one."""
    decay = log_decay[..., -1].exp()[..., None, None]  # (batch, blocks, heads, 1, 1)
    entering = []
    for block in range(added.shape[1]):
        entering.append(state)
        state = state * decay[:, block] + added[:, block]
    return torch.stack(entering, dim=1), state


def _from_entering(C: Tensor, entering: Tensor, log_decay: Tensor) -> Tensor:
    """What the state that enters a block contributes to its outputs (equations 11 and 12)."""
    C = _over_heads(C, log_decay.shape[2])
    return (C @ entering.to(C.dtype).transpose(-1, -2)) * log_decay.exp()[..., None]


def _over_heads(grouped: Tensor, heads: int) -> Tensor:
    """(batch, blocks, groups, ...) to (batch, blocks, heads, ...): each group serves heads / groups heads in turn."""
    groups = grouped.shape[2]
    return grouped if groups == heads else grouped.repeat_interleave(heads // groups, dim=2)
