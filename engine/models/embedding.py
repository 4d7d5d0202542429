"""Makes the table of token vectors, which may be stored in 8 bits.

A checkpoint may hold any matrix NAME as int8 beside `NAME.scale`, a float16 number for each row: row = scale * int8
row. Half of a multilingual model is its table, which takes half the space of float16 that way. The table is turned into
floats when the model is loaded, so reading a text costs the same.
"""

import torch
from torch import Tensor, nn

from longsearch.engine.errors import ModelError

SCALE = ".scale"
_LARGEST = 127


def token_table(vocabulary: int, d_model: int) -> nn.Embedding:
    """Return an embedding (vocabulary, d_model), drawn from a normal distribution unless it is a "meta" tensor.

    To draw numbers for a "meta" tensor, torch imports some 800 modules. That takes most of the time of opening a model.
    """
    table = torch.empty(vocabulary, d_model)
    if not table.is_meta:
        nn.init.normal_(table)
    return nn.Embedding(vocabulary, d_model, _weight=table)


def to_int8_rows(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Return int8 rows (n, dim) and their float16 scales (n,) of a float matrix. No number is off by more than a scale.

    A row's largest number becomes 127 or -127.
    """
    rows = matrix.float()
    scales = (rows.abs().amax(1) / _LARGEST).half()
    steps = torch.where(scales > 0, scales, torch.ones_like(scales)).float()
    return (rows / steps[:, None]).round().clamp(-_LARGEST, _LARGEST).to(torch.int8), scales


def from_int8_rows(name: str, rows: Tensor, scales: Tensor | None) -> Tensor:
    """Return the float32 matrix (n, dim) of int8 rows and their scales (n,). Raises ModelError if they do not fit."""
    if scales is None or scales.shape != rows.shape[:1]:
        found = "no scales" if scales is None else f"scales of shape {tuple(scales.shape)}"
        raise ModelError(f"{name} has {tuple(rows.shape)} numbers of 8 bits, but {found}", "copy the model again")
    return rows.float() * scales.float()[:, None]
