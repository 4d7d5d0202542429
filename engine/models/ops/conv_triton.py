"""Mamba2's causal convolution in Triton: the fast twin of `convolve_torch`. Import it late: it imports triton."""

import torch
import triton
import triton.language as tl
from torch import Tensor

_TOKENS, _CHANNELS = 32, 128  # of one program; 128 channels are 256 bytes in bfloat16


def convolve(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `convolve_torch` with sums in float32. It has no gradient, so it is for inference."""
    extended = extended.contiguous()
    batch, extended_length, channels = extended.shape
    d_conv = weight.shape[-1]
    length = extended_length - d_conv + 1
    out = extended.new_empty(batch, length, channels)
    grid = (triton.cdiv(length, _TOKENS), triton.cdiv(channels, _CHANNELS), batch)
    with torch.cuda.device_of(extended):  # Triton launches on the current device, not on that of the tensors
        _convolve[grid](
            extended, weight.contiguous(), bias, out, length, channels, d_conv, bias is not None, _TOKENS, _CHANNELS
        )
    return out


@triton.jit
def _convolve(  # type: ignore[no-untyped-def]
    extended,
    weight,
    bias,
    out,
    length,
    channels,
    D_CONV: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    TOKENS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """Convolve TOKENS tokens of CHANNELS channels of one row. Shapes as in `convolve`; all tensors are contiguous."""
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    row = tl.program_id(2).to(tl.int64)  # int32 cannot count the elements of a million tokens
    there = channel < channels
    inside = (token < length)[:, None] & there[None, :]
    offsets = token.to(tl.int64)[:, None] * channels + channel[None, :]
    inputs = extended + row * (length + D_CONV - 1) * channels + offsets
    total = tl.zeros((TOKENS, CHANNELS), dtype=tl.float32)
    if HAS_BIAS:
        total += tl.load(bias + channel, mask=there, other=0.0).to(tl.float32)[None, :]
    for tap in tl.static_range(D_CONV):
        w = tl.load(weight + channel * D_CONV + tap, mask=there, other=0.0).to(tl.float32)
        total += tl.load(inputs + tap * channels, mask=inside, other=0.0).to(tl.float32) * w[None, :]
    y = total * tl.sigmoid(total)
    tl.store(out + row * length * channels + offsets, y.to(out.dtype.element_ty), mask=inside)
