"""Mamba2's depthwise causal convolution with SiLU, in plain torch and in optional faster kernels.

On a GPU torch uses cuDNN, which is slow for four taps a channel; the faster kernels read each input once. The state is
the d_conv - 1 inputs in front of the slice.
"""

from torch import Tensor
from torch.nn import functional as F


def convolve_torch(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """silu(sum over k of weight_k * extended_{t+k} + bias).

    extended (batch, d_conv - 1 + length, channels): the slice, with the d_conv - 1 inputs before it in front;
    weight (channels, 1, d_conv); bias (channels,). Returns (batch, length, channels) in the dtype of `extended`.
    """
    # (length, channels) already is an image of one row in channels-last order: nothing is transposed
    rows = extended.transpose(1, 2).unsqueeze(2)  # (batch, channels, 1, d_conv - 1 + length)
    out = F.conv2d(rows, weight.unsqueeze(2), bias, groups=rows.shape[1])
    return F.silu(out.squeeze(2).transpose(1, 2))


def convolve_causal_conv1d(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """As `convolve_torch`, by the package causal-conv1d, which needs nvcc to install.

    Raises ImportError, and RuntimeError for shapes that the package does not support.
    """
    from causal_conv1d import causal_conv1d_fn

    if extended.numel() >= 2**31:  # the package counts in 32 bits
        return convolve_triton(extended, weight, bias)
    # the earlier inputs stand in front of the slice, so initial_states is not used and their outputs are dropped
    out: Tensor = causal_conv1d_fn(extended.transpose(1, 2), weight.squeeze(1), bias, activation="silu")
    return out.transpose(1, 2)[:, weight.shape[-1] - 1 :]


def convolve_triton(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """As `convolve_torch`, by a Triton kernel of our own. Raises what the import, Triton or CUDA raise."""
    from longsearch.engine.models.ops.conv_triton import convolve  # triton is there with torch's CUDA builds only

    return convolve(extended, weight, bias)
