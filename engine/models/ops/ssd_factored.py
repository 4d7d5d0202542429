"""The SSD scan with its decays factored out of the products: twin of `engine.models.ops.ssd`, several times faster.

Inside a block L_ij = exp(a_i - a_j), where a is the running sum of the log decays. So with any reference r

    y_i = exp(a_i - r) * sum_{j <= i} (C_i . B_j) * exp(r - a_j) dt_j x_j

Now tril(C B^T) does not depend on the head: one product serves all heads of a group, and no tensor has the size
heads x Q x Q. These are still equations 8 to 12 of arXiv 2604.18199. Both exponentials must be finite, so the twin
takes over when any head decays by more than exp(-`MAX_LOG_DECAY`) within a block.

Every Mamba2 on a CPU runs this scan, with gradients and without. Only short texts in training have a scan of their own
(`engine.training.student.whole_text`), which shares the first step.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.models.ops.ssd import ssd_scan

MAX_LOG_DECAY = 120.0  # r is half of it: factors up to exp(60) = 1e26, far from float32's and bfloat16's 3e38


def ssd_scan_factored(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, initial_state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """As `ssd_scan`, with the same result to rounding. y is a new tensor, which the caller may change."""
    batch, length, heads, head_dim = x.shape
    groups, d_state = B.shape[2:]
    Q = min(block_size, length)
    dt_blocks = _blocks(dt.float(), Q)  # (batch, blocks, Q, heads)
    log_decay = (dt_blocks * A).cumsum(2)  # (batch, blocks, Q, heads): a
    reference = log_decay[:, :, -1:] / 2  # (batch, blocks, 1, heads): r, half of the block's log decay
    if float(reference.detach().min()) < -MAX_LOG_DECAY / 2:
        return ssd_scan(x, dt, A, B, C, initial_state, block_size)
    x, B, C = (_blocks(t, Q) for t in (x, B, C))  # (batch, blocks, Q, heads|groups, head_dim|d_state)
    scaled = x * ((reference - log_decay).exp() * dt_blocks).to(x.dtype)[..., None]
    scaled = scaled.view(*scaled.shape[:3], groups, -1)  # (batch, blocks, Q, groups, channels of a group)
    scaled, B, C = (_by_group(t) for t in (scaled, B, C))  # (batch * blocks * groups, Q, channels|d_state)

    # 1. the output of each block from its own inputs (equation 8)
    y = within_blocks(scaled, B, C)  # (batch * blocks * groups, Q, channels)
    # 2. the state that each block adds (equation 9)
    added = (scaled.mT @ B).view(batch, -1, heads, head_dim, d_state)
    # 3. the states passed from block to block (equation 10)
    entering, final_state = _pass_states(added, reference, initial_state)  # entering has the shape of added
    # 4. the output of each block from the state that enters it (equations 11 and 12)
    y = y.baddbmm_(C, entering.view(len(y), -1, d_state).mT)

    y = y.view(batch, -1, groups, Q, y.shape[-1]).transpose(2, 3).reshape(x.shape)
    y = y.mul_((log_decay - reference).exp().to(y.dtype)[..., None])  # (batch, blocks, Q, heads, head_dim)
    return y.flatten(1, 2)[:, :length], final_state


def within_blocks(scaled: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """sum_{j <= i} (C_i . B_j) scaled_j, for each i.

    scaled (..., Q, channels); B and C (..., Q, d_state). Returns the shape of `scaled`.
    """
    return (C @ B.mT).tril_() @ scaled


def _pass_states(added: Tensor, reference: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """The state that enters each block, times exp(r), in the dtype of `added`; and the final state, float32.

    added (batch, blocks, heads, head_dim, d_state) is what each block adds, times exp(-r); reference (batch, blocks,
    1, heads) is r, half of the block's log decay. So the state after a block is exp(r) (added + exp(r) state).
    """
    scales = reference.exp().mT[..., None]  # (batch, blocks, heads, 1, 1)
    # one buffer for all blocks saves a pass, but takes no gradient
    into = None if torch.is_grad_enabled() else torch.empty_like(added, dtype=torch.float32)
    entering: list[Tensor] = []
    for block, scale in enumerate(scales.unbind(1)):
        entering.append(torch.mul(state, scale, out=None if into is None else into[:, block]))
        state = (added[:, block] + entering[-1]) * scale
    return (torch.stack(entering, dim=1) if into is None else into).to(added.dtype), state


def _blocks(t: Tensor, Q: int) -> Tensor:
    """(batch, length, ...) -> (batch, blocks, Q, ...), padded with zeros: dt = 0 leaves the state as it is."""
    padding = -t.shape[1] % Q
    padded = F.pad(t, (0, 0) * (t.dim() - 2) + (0, padding)) if padding else t
    blocks: Tensor = padded.unflatten(1, (-1, Q))
    return blocks


def _by_group(t: Tensor) -> Tensor:
    """(batch, blocks, Q, groups, dim) -> (batch * blocks * groups, Q, dim), without a copy for one group."""
    return t.transpose(2, 3).flatten(0, 2)
