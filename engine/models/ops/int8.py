"""Matrix products in int8 by oneDNN, for processors without bfloat16. `Int8Linear` is the twin of `nn.Linear`.

Weights have 8 bits and a scale for each output channel. Activations have a scale s and a least value l for each token,
and q = round((x - l) / s) from 0 to 127. So W x + b = s (W q) + l (W 1) + b, where only W q is computed in integers.

q has 7 bits because AVX2 and AVX-512 without VNNI add two products in 16 bits: 2 * 127 * 127 fits, and 2 * 255 * 127
does not. With VNNI it has 8. A token's numbers depend on that token alone, so they do not depend on how a text is cut
into slices.
"""

from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LEAST_SCALE = 1e-30  # of a token whose activations are all equal
_LEAST_OF_HARDSWISH = -0.375  # at -1.5


def has_vnni() -> bool:
    """Return whether the processor adds four products of 8 bits in 32 bits: AVX-512 with VNNI."""
    return torch.cpu._is_vnni_supported()


def largest_activation() -> int:
    """Return the largest q: 255 on processors with VNNI, else 127."""
    return 255 if has_vnni() else 127


class Int8Linear(nn.Linear):
    """A linear layer whose product runs in int8. It keeps the float32 weights, from which narrower layers are cut."""

    @classmethod
    def of(cls, linear: nn.Linear) -> Self:
        """Make the int8 twin of a float32 layer, which shares its parameters."""
        with torch.device("meta"):
            made = cls(linear.in_features, linear.out_features, linear.bias is not None)
        made.weight, made.bias = linear.weight, linear.bias
        weight = linear.weight.detach().float()
        scale = weight.abs().amax(1).div_(127).clamp_(min=_LEAST_SCALE)  # (out,)
        rounded = (weight / scale[:, None]).round_().to(torch.int8)
        # plain attributes, not buffers: a state_dict holds the float32 weights alone
        made._scale, made._sums = scale, rounded.sum(1) * scale
        made._zeros = torch.zeros(len(weight), dtype=torch.int32)
        made._packed = torch.ops.onednn.qlinear_prepack(rounded, None)
        made._largest = largest_activation()
        return made

    _scale: Tensor
    """(out,) the scale of each channel of the weights."""
    _sums: Tensor
    """(out,) W 1, the sum of each channel of the weights."""
    _zeros: Tensor
    _packed: Tensor
    _largest: int

    def forward(self, x: Tensor) -> Tensor:
        """Take x (..., in) of any dtype; return (..., out) float32."""
        return self.activated(x, "none")

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """As `forward`, then "none" or "hardswish". Returns a new tensor, which the caller may change."""
        rows = x.reshape(-1, x.shape[-1]).float()
        least = rows.amin(1, keepdim=True)  # (rows, 1): l
        y, scale = self._product(rows, least)
        y = y.mul_(scale) if self.bias is None else torch.addcmul(self.bias, y, scale, out=y)
        y.addr_(least[:, 0], self._sums)
        if activation == "hardswish":
            F.hardswish(y, inplace=True)
        return y.view(*x.shape[:-1], -1)

    def after_hardswish(self, rows: Tensor) -> Tensor:
        """As `forward` of rows (rows, in) float32 that hardswish gave. Changes them, which saves a buffer.

        Nearly every token reaches hardswish's least value, -3/8. So l is the same for all tokens, and l (W 1) + b is a
        constant that needs no pass of its own.
        """
        y, scale = self._product(rows, _LEAST_OF_HARDSWISH, rows)
        constant = self._sums * _LEAST_OF_HARDSWISH
        return torch.addcmul(constant if self.bias is None else constant + self.bias, y, scale, out=y)

    def _product(self, rows: Tensor, least: Tensor | float, spare: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """W q (rows, out), and s (rows, 1), of rows (rows, in) float32. `spare`: a buffer of the shape of `rows`."""
        scale = rows.amax(1, keepdim=True).sub_(least).div_(self._largest).clamp_(min=_LEAST_SCALE)
        shifted = torch.sub(rows, least - scale / 2, out=spare).mul_(1 / scale)
        # to 8 bits with a sign is five times as fast as to those without; up to 127 the two are the same
        q = shifted.to(torch.int8).view(torch.uint8) if self._largest < 128 else shifted.to(torch.uint8)
        zero, one = 0, 1.0
        y: Tensor = torch.ops.onednn.qlinear_pointwise(
            q, one, zero, self._packed, self._scale, self._zeros, None, one, zero, torch.float32, "none", [], ""
        )
        return y, scale
