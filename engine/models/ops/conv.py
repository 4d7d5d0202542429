"""Mamba2's causal convolution, depthwise with SiLU after it: in plain torch, and by packages that may be installed.

torch's way on a GPU leads through cuDNN, which is not made for four taps a channel; the others read each input once.
Knows no state but what stands before its input.
"""

from torch import Tensor
from torch.nn import functional as F


def convolve_torch(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """silu(sum over k of weight_k * extended_{t+k} + bias).

    extended (batch, d_conv - 1 + length, channels): the inputs, with the d_conv - 1 that came before; weight (channels,
    1, d_conv); bias (channels,). Returns (batch, length, channels) in the dtype of `extended`.
    """
    # as an image of one row in channels-last order, which (length, channels) is already: no transposition
    rows = extended.transpose(1, 2).unsqueeze(2)  # (batch, channels, 1, d_conv - 1 + length)
    out = F.conv2d(rows, weight.unsqueeze(2), bias, groups=rows.shape[1])
    return F.silu(out.squeeze(2).transpose(1, 2))


def convolve_causal_conv1d(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """As `convolve_torch`, by the package causal-conv1d, which takes nvcc to install.

    Raises ImportError, and RuntimeError for shapes that the package does not take.
    """
    from causal_conv1d import causal_conv1d_fn

    if extended.numel() >= 2**31:  # the package counts in 32 bits
        return convolve_triton(extended, weight, bias)
    # what came before the slice stands in front of it: no initial_states, and the outputs there are dropped
    out: Tensor = causal_conv1d_fn(extended.transpose(1, 2), weight.squeeze(1), bias, activation="silu")
    return out.transpose(1, 2)[:, weight.shape[-1] - 1 :]


def convolve_triton(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """As `convolve_torch`, by a Triton kernel of our own. Raises what the import, Triton or CUDA raise."""
    from longsearch.engine.models.ops.conv_triton import convolve  # triton is there with torch's CUDA builds only

    return convolve(extended, weight, bias)
