"""The state-space-duality (SSD) scan of Mamba2 in blocks, in plain torch: the exact form, for decays of any size.

The four numbered steps are equations 8 to 12 of Grantner et al., "Linear-Time and Constant-Memory Text Embeddings Based
on Recurrent Language Models" (arXiv 2604.18199, section 3.2.2). The state is passed in and out. Knows no layers,
weights or tokens.

On a CPU `engine.models.ops.ssd_factored` replaces this scan, except where a block decays too fast for it. The two share
no step: this one keeps the decays of each head in a matrix L, the other one multiplies them into x and y.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def ssd_scan(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, initial_state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """Run h_t = exp(dt_t A) h_{t-1} + dt_t B_t x_t; y_t = C_t h_t over a slice of any length.

    x (batch, length, heads, head_dim); dt (batch, length, heads), positive; A (heads,), negative;
    B and C (batch, length, groups, d_state); initial_state (batch, heads, head_dim, d_state) float32.
    Products run in the dtype of x; decays and the state are float32. Returns y, with the shape and dtype of x, and the
    final state, float32. Slices that begin at multiples of `block_size` give the result of one scan over everything.
    """
    length = x.shape[1]
    Q = min(block_size, length)
    padding = -length % Q
    if padding:  # dt = 0 leaves the state as it is: exp(0) = 1, and nothing is added
        x, dt, B, C = (F.pad(t, (0, 0) * (t.dim() - 2) + (0, padding)) for t in (x, dt, B, C))
    x, B, C = (t.unflatten(1, (-1, Q)).transpose(2, 3) for t in (x, B, C))  # (batch, blocks, heads|groups, Q, dim)
    dt = dt.float().unflatten(1, (-1, Q)).transpose(2, 3)  # (batch, blocks, heads, Q)
    log_decay = (dt * A[:, None]).cumsum(-1)  # (batch, blocks, heads, Q): log of a_1 * ... * a_i
    dt_x = x * dt[..., None].to(x.dtype)  # (batch, blocks, heads, Q, head_dim)

    # 1. the output of each block from its own inputs
    y = _within_blocks(dt_x, log_decay, B, C)  # (batch, blocks, heads, Q, head_dim)
    # 2. the state that each block adds
    added = _block_states(dt_x, log_decay, B)  # (batch, blocks, heads, head_dim, d_state)
    # 3. the states passed from block to block
    entering, final_state = _pass_states(added, log_decay, initial_state)  # entering has the shape of added
    # 4. the output of each block from the state that enters it
    y = y + _from_entering(C, entering, log_decay).to(x.dtype)

    return y.transpose(2, 3).flatten(1, 2)[:, :length], final_state


def _within_blocks(dt_x: Tensor, log_decay: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """y = (L * C B^T) x (equation 8), where L_ij = a_{j+1} ... a_i for j <= i, else 0."""
    Q, heads = log_decay.shape[-1], log_decay.shape[2]
    difference = log_decay[..., :, None] - log_decay[..., None, :]  # (batch, blocks, heads, Q, Q)
    later = torch.ones(Q, Q, dtype=torch.bool, device=dt_x.device).triu(1)
    L = difference.masked_fill_(later, -torch.inf).exp_()
    scores = C @ B.transpose(-1, -2)  # (batch, blocks, groups, Q, Q)
    weights = _over_heads(scores, heads).mul(L).to(dt_x.dtype)
    return weights @ dt_x


def _block_states(dt_x: Tensor, log_decay: Tensor, B: Tensor) -> Tensor:
    """The state at the end of each block if the block started from zero (equation 9)."""
    to_end = (log_decay[..., -1:] - log_decay).exp()[..., None]  # (batch, blocks, heads, Q, 1)
    weighted = (dt_x * to_end).to(dt_x.dtype)
    return weighted.transpose(-1, -2) @ _over_heads(B, log_decay.shape[2])


def _pass_states(added: Tensor, log_decay: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The state that enters each block, and the state after the last one (equation 10)."""
    decay = log_decay[..., -1].exp()[..., None, None]  # (batch, blocks, heads, 1, 1)
    entering = []
    for block in range(added.shape[1]):
        entering.append(state)
        state = state * decay[:, block] + added[:, block]
    return torch.stack(entering, dim=1), state


def _from_entering(C: Tensor, entering: Tensor, log_decay: Tensor) -> Tensor:
    """The contribution of the entering state to each output of its block (equations 11 and 12)."""
    C = _over_heads(C, log_decay.shape[2])
    return (C @ entering.to(C.dtype).transpose(-1, -2)) * log_decay.exp()[..., None]


def _over_heads(grouped: Tensor, heads: int) -> Tensor:
    """(batch, blocks, groups, ...) -> (batch, blocks, heads, ...): each group serves heads / groups heads in a row."""
    groups = grouped.shape[2]
    return grouped if groups == heads else grouped.repeat_interleave(heads // groups, dim=2)
