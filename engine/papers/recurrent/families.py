"""Loads the weights of the families that only the papers need: RWKV-7 and xLSTM."""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from longsearch.engine.models.config import ModelConfig
from longsearch.engine.models.other_families import RWKV7Config
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.models.weights import Family, load_weights
from longsearch.engine.papers.recurrent.rwkv7 import RWKV7, RWKV7_FLOAT32
from longsearch.engine.papers.recurrent.xlstm import XLSTM, XLSTM_FLOAT32


def load_family(
    folder: Path, config: ModelConfig, device: str, dtype: torch.dtype
) -> tuple[RecurrentModel, dict[str, Tensor]]:
    """Load an RWKV-7 or an xLSTM, as `load_weights` does."""
    if isinstance(config, RWKV7Config):
        return load_weights(Family(RWKV7, RWKV7_FLOAT32, _rwkv7_tensors), folder, config, device, dtype)
    return load_weights(Family(XLSTM, XLSTM_FLOAT32, _as_stored), folder, config, device, dtype)


def _rwkv7_tensors(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Flatten token-shift weights of shape (1, 1, d_model). Older files keep all six of a layer in one tensor, x_x."""
    if name.endswith(".attn.x_x"):
        for letter, row in zip("rwkvag", tensor.flatten(1) if tensor.dim() > 2 else tensor, strict=True):
            yield name.removesuffix("x_x") + f"x_{letter}", row.clone()
    else:
        yield name, tensor.flatten() if tensor.shape[:2] == (1, 1) else tensor


def _as_stored(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield name, tensor
