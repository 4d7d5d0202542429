"""The SSD scan with its decays factored out of the blocks: dense products, nothing of size heads x Q x Q.

Twin of `engine.models.ops.ssd`, several times faster on a CPU. Inside a block L_ij = exp(a_i - a_j), where a is the
running sum of the log decays, so with any reference r

    y_i = exp(a_i - r) * sum_{j <= i} (C_i . B_j) * exp(r - a_j) dt_j x_j

and tril(C B^T), which no longer depends on the head, multiplies all heads of a group in one product. Mathematically
this is equations 8 to 12 of arXiv 2604.18199; numerically both factors must stay finite, so it holds only while a
block's whole decay is within `MAX_LOG_DECAY`. A slice in which any head forgets faster is left to the twin.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.models.ops.ssd import ssd_scan

MAX_LOG_DECAY = 120.0  # r is half the way: factors up to exp(60) = 1e26, far from float32's and bfloat16's 3e38


def ssd_scan_factored(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, initial_state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """As `ssd_scan`, with which it agrees to rounding."""
    length, heads, head_dim = x.shape[1:]
    Q, groups = min(block_size, length), B.shape[2]
    padding = -length % Q
    dt = F.pad(dt.float(), (0, 0, 0, padding)).unflatten(1, (-1, Q))  # (batch, blocks, Q, heads)
    log_decay = (dt * A).cumsum(2)
    total = log_decay[:, :, -1:]  # (batch, blocks, 1, heads)
    if bool((total < -MAX_LOG_DECAY).any()):
        return ssd_scan(x, dt.flatten(1, 2)[:, :length], A, B, C, initial_state, block_size)
    reference = total / 2
    x, B, C = (F.pad(t, (0, 0, 0, 0, 0, padding)).unflatten(1, (-1, Q)) for t in (x, B, C))
    B, C = B.transpose(2, 3), C.transpose(2, 3)  # (batch, blocks, groups, Q, d_state)

    scaled = x * (dt * (reference - log_decay).exp()).to(x.dtype)[..., None]  # (batch, blocks, Q, heads, head_dim)
    scaled = scaled.unflatten(3, (groups, -1)).flatten(4).transpose(2, 3)  # (batch, blocks, groups, Q, columns)
    added = scaled.transpose(-1, -2) @ B  # (batch, blocks, groups, columns, d_state)
    entering, state = _pass_states(
        added.reshape(*total.shape[:2], heads, head_dim, -1), total, reference, initial_state
    )
    scores = (C @ B.transpose(-1, -2)).tril()  # (batch, blocks, groups, Q, Q)
    y = scores @ scaled
    y += C @ entering.view_as(added).transpose(-1, -2).to(x.dtype)
    y = y.transpose(2, 3).reshape_as(x) * (log_decay - reference).exp().to(x.dtype)[..., None]
    return y.flatten(1, 2)[:, :length], state


def _pass_states(added: Tensor, total: Tensor, reference: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Hand the state from block to block; those entering come scaled by exp(reference), as y's formula needs them."""
    to_end, decay, scale = (t.exp().transpose(2, 3)[..., None] for t in (total - reference, total, reference))
    added = added.float() * to_end  # (batch, blocks, heads, head_dim, d_state), as the states
    entering = []
    for block in range(added.shape[1]):
        entering.append(state * scale[:, block])
        state = torch.addcmul(added[:, block], state, decay[:, block])
    return torch.stack(entering, dim=1), state
