"""Mamba2's gated RMSNorm: in plain torch, and by mamba-ssm's Triton kernel, which reads and writes each number once."""

import torch
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.models.ops.ssd_triton import MAX_ELEMENTS, load_mamba_ssm


def gated_norm_torch(y: Tensor, z: Tensor, weight: Tensor, groups: int, eps: float) -> Tensor:
    """Return RMSNorm(y * silu(z)) * weight, with the mean square taken over each of `groups` groups of channels.

    y and z (..., channels); weight (channels,). Returns the shape and dtype of y. The mean square is summed in float32.
    """
    gated = (y * F.silu(z)).unflatten(-1, (groups, -1))
    norm = torch.linalg.vector_norm(gated, dim=-1, keepdim=True, dtype=torch.float32)
    scale = (norm.square() / gated.shape[-1] + eps).rsqrt()
    normed: Tensor = (gated * scale.to(y.dtype)).flatten(-2) * weight.to(y.dtype)
    return normed


def gated_norm_triton(y: Tensor, z: Tensor, weight: Tensor, groups: int, eps: float) -> Tensor:
    """Compute `gated_norm_torch` of y and z (batch, length, channels). Raises the errors of import, Triton and CUDA."""
    norm = load_mamba_ssm("layernorm_gated").rmsnorm_fn
    group_size = y.shape[-1] // groups
    n_tokens = z.shape[0] * z.shape[1]
    pieces = -(-n_tokens * z.stride(1) // MAX_ELEMENTS)  # the kernel counts elements in int32
    with torch.cuda.device_of(y):
        parts = [
            norm(some_y.contiguous(), weight, None, some_z, eps, group_size, norm_before_gate=False)
            for some_y, some_z in zip(y.chunk(pieces, 1), z.chunk(pieces, 1), strict=True)
        ]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)
