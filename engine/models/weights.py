"""Loads a checkpoint. Reads only safetensors, because other formats can run code."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config, ModelConfig
from longsearch.engine.models.embedding import SCALE, from_int8_rows
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.rwkv7 import RWKV7, RWKV7_FLOAT32
from longsearch.engine.models.rwkv7_config import RWKV7Config
from longsearch.engine.models.weight_files import opened, weight_files
from longsearch.engine.models.xlstm import XLSTM, XLSTM_FLOAT32
from longsearch.engine.models.xlstm_config import XLSTMConfig

Model = Mamba2 | RWKV7 | XLSTM

# always float32: these parameters are small, and decays must not be rounded
ALWAYS_FLOAT32 = ("A_log", "D", "dt_bias", "norm.weight", "norm.bias", "norm_f.weight")


def load_model(folder: Path, config: ModelConfig, device: str, dtype: torch.dtype) -> tuple[Model, dict[str, Tensor]]:
    """Load a checkpoint of any family, in the layouts that `engine.models.config` reads.

    Returns the model, in evaluation mode on `device` with its matrices in `dtype`, and the tensors of the readout in
    float32, by their names without `readout.`. Raises ModelError if a tensor is missing, unknown or of another shape.
    """
    family = _FAMILIES[type(config)]
    with torch.device("meta"):
        model = family.build(config)
    expected = model.state_dict()
    found: dict[str, Tensor] = {}
    readout: dict[str, Tensor] = {}
    for stored, whole in _tensors(weight_files(folder)):
        for name, tensor in family.renamed(stored.removeprefix("backbone.").removeprefix("model."), whole):
            if name.startswith("readout."):
                readout[name.removeprefix("readout.")] = tensor.to(device, torch.float32)
            elif name != "lm_head.weight":
                keep_float32 = name.endswith(family.always_float32)
                found[name] = tensor.to(device, torch.float32 if keep_float32 else dtype)
    _check(found, expected, folder)
    model.load_state_dict(found, assign=True)
    return model.eval().requires_grad_(False), readout


def load_mamba2(folder: Path, config: ModelConfig, device: str, dtype: torch.dtype) -> tuple[Mamba2, dict[str, Tensor]]:
    """Load a Mamba2, as `load_model` does. Raises ModelError for the other families."""
    model, readout = load_model(folder, config, device, dtype)
    if not isinstance(model, Mamba2):
        raise ModelError(f"{folder} is not a Mamba2 model", "only Mamba2 models can be trained")
    return model, readout


def _mamba2_tensors(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "embeddings.weight" if name == "embedding.weight" else name, tensor


def _rwkv7_tensors(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Flatten token-shift weights of shape (1, 1, d_model). Older files keep all six of a layer in one tensor, x_x."""
    if name.endswith(".attn.x_x"):
        for letter, row in zip("rwkvag", tensor.flatten(1) if tensor.dim() > 2 else tensor, strict=True):
            yield name.removesuffix("x_x") + f"x_{letter}", row.clone()
    else:
        yield name, tensor.flatten() if tensor.shape[:2] == (1, 1) else tensor


def _as_stored(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield name, tensor


@dataclass(frozen=True, slots=True)
class _Family:
    build: Callable[[Any], Model]
    always_float32: tuple[str, ...]
    """Endings of the names of parameters that are always float32."""
    renamed: Callable[[str, Tensor], Iterator[tuple[str, Tensor]]]
    """Turns a stored tensor into tensors under this package's names."""


_FAMILIES: dict[type[ModelConfig], _Family] = {
    Mamba2Config: _Family(Mamba2, ALWAYS_FLOAT32, _mamba2_tensors),
    RWKV7Config: _Family(RWKV7, RWKV7_FLOAT32, _rwkv7_tensors),
    XLSTMConfig: _Family(XLSTM, XLSTM_FLOAT32, _as_stored),
}


def _tensors(files: list[Path]) -> Iterator[tuple[str, Tensor]]:
    """Yield each file's tensors by name; int8 rows as floats."""
    for path in files:
        with opened(path, "pt") as file:
            names = set(file.keys())
            for name in sorted(names):
                tensor = file.get_tensor(name)
                if tensor.dtype == torch.int8:
                    scales = file.get_tensor(name + SCALE) if name + SCALE in names else None
                    yield name, from_int8_rows(name, tensor, scales)
                elif name.removesuffix(SCALE) == name or name.removesuffix(SCALE) not in names:
                    yield name, tensor


def _check(found: dict[str, Tensor], expected: dict[str, Tensor], folder: Path) -> None:
    missing, unknown = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    if missing or unknown:
        raise ModelError(
            f"{folder}: the weights do not match its config.json "
            f"({len(missing)} missing, first {missing[:1]}; {len(unknown)} unknown, first {unknown[:1]})"
        )
    for name, tensor in found.items():
        if tensor.shape != expected[name].shape:
            raise ModelError(f"{folder}: {name} is {tuple(tensor.shape)}, not {tuple(expected[name].shape)}")
