"""Rotary positions (RoPE), their frequencies by NTK, and grouped distances (SelfExtend).

Formulas: LongEmbed (arXiv 2404.12096), sections 4.1 and 4.3; Jin et al., arXiv 2401.01325.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.evaluation.extension.bert import Attention, plain_attention

_BASE = 10_000.0


def frequencies(dim: int, stretch: float = 1.0) -> Tensor:
    """Return theta_j = (10000 lambda)^(-2j / dim), j = 0 .. dim / 2 - 1; `stretch` is NTK's lambda, 1 for RoPE."""
    return (_BASE * stretch) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def turn(x: Tensor, positions: Tensor, theta: Tensor) -> Tensor:
    """Turn each pair of coordinates (2j, 2j + 1) of x (..., n, dim) by positions (n,) * theta_j (equation 1)."""
    angles = positions.to(torch.float64)[:, None] * theta.to(positions.device)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def rotary_attention(theta: Tensor, place: Callable[[int], NDArray[Any]] = np.arange) -> Attention:
    """Return attention whose queries and keys are turned by their places; `place(n)` gives those of n tokens."""

    def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None) -> Tensor:
        places = torch.from_numpy(place(q.shape[2])).to(q.device)
        return plain_attention(turn(q, places, theta), turn(k, places, theta), v, keep)

    return attend


def self_extend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None, theta: Tensor, group: int, near: int) -> Tensor:
    """Return attention (batch, heads, n, dim) with the distances of SelfExtend.

    With w = `near` and group size g, the distance from token m to token k is d = k - m if |d| <= w, else
    sgn(d) (|floor(k / g) - floor(m / g)| + w - floor(w / g)).

    q, k, v (batch, heads, n, dim) are not turned yet; keep (batch, 1, 1, n) is False at padding. A block of w rows is
    done at a time: columns before it have far distances to the left, columns after it far distances to the right, and
    only the 3 w columns around it can be near.
    """
    n, shift = q.shape[2], near - near // group
    q = q * q.shape[-1] ** -0.5
    place = torch.arange(n, device=q.device)
    q_near, k_near = turn(q, place, theta), turn(k, place, theta)
    k_far = turn(k, place // group, theta).transpose(-1, -2)
    q_left, q_right = (turn(q, place // group + sign * shift, theta) for sign in (1, -1))
    out = []
    for start in range(0, n, near):
        stop = min(start + near, n)
        low, high = max(0, start - near), min(n, stop + near)
        rows = slice(start, stop)
        left = q_left[:, :, rows] @ k_far[..., :stop]
        right = q_right[:, :, rows] @ k_far[..., stop:]
        scores = torch.cat((left, right), dim=-1)
        band = q_near[:, :, rows] @ k_near[:, :, low:high].transpose(-1, -2)
        is_near = (place[None, low:high] - place[rows, None]).abs() <= near
        scores[..., low:high] = torch.where(is_near, band, scores[..., low:high])
        if keep is not None:
            scores = scores.masked_fill(~keep, -torch.inf)
        out.append(scores.softmax(-1) @ v)
    return torch.cat(out, dim=2)
