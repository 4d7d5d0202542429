"""Mamba2's causal convolution of each channel, with SiLU after it: in plain torch, and by optional packages.

On a GPU torch uses cuDNN, which is not made for four taps a channel. The other two read each input once. The state is
the last d_conv - 1 inputs; the caller puts them in front of the slice.
"""

from torch import Tensor
from torch.nn import functional as F


def convolve_torch(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """silu(sum over k of weight_k * extended_{t+k} + bias).

    extended (batch, d_conv - 1 + length, channels): the slice with the d_conv - 1 inputs before it; weight (channels,
    1, d_conv); bias (channels,). Returns (batch, length, channels) in the dtype of `extended`.
    """
    # an image of one row; (length, channels) is its channels-last order already, so nothing is transposed in memory
    rows = extended.transpose(1, 2).unsqueeze(2)  # (batch, channels, 1, d_conv - 1 + length)
    out = F.conv2d(rows, weight.unsqueeze(2), bias, groups=rows.shape[1])
    return F.silu(out.squeeze(2).transpose(1, 2))


def convolve_causal_conv1d(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `convolve_torch` with the package causal-conv1d, which needs nvcc to install.

    Raises ImportError, and RuntimeError for shapes that the package does not support.
    """
    from causal_conv1d import causal_conv1d_fn

    if extended.numel() >= 2**31:  # the package counts in 32 bits
        return convolve_triton(extended, weight, bias)
    # the inputs before the slice replace initial_states; their outputs are dropped
    out: Tensor = causal_conv1d_fn(extended.transpose(1, 2), weight.squeeze(1), bias, activation="silu")
    return out.transpose(1, 2)[:, weight.shape[-1] - 1 :]


def convolve_triton(extended: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `convolve_torch` with a Triton kernel of our own. Raises the errors of the import, Triton and CUDA."""
    from longsearch.engine.models.ops.conv_triton import convolve  # only torch's CUDA builds bring triton

    return convolve(extended, weight, bias)
