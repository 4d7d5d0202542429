"""Loads a checkpoint. Reads only safetensors, because other formats can run code."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config, ModelConfig
from longsearch.engine.models.embedding import SCALE, from_int8_rows
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.models.weight_files import opened, weight_files

M = TypeVar("M", bound=RecurrentModel)

# always float32: these parameters are small, and decays must not be rounded
ALWAYS_FLOAT32 = ("A_log", "D", "dt_bias", "norm.weight", "norm.bias", "norm_f.weight")


@dataclass(frozen=True, slots=True)
class Family(Generic[M]):
    """How the weights of a family of models are read."""

    build: Callable[[Any], M]
    """Makes the model of a configuration."""
    always_float32: tuple[str, ...]
    """Endings of the names of parameters that are always float32."""
    renamed: Callable[[str, Tensor], Iterator[tuple[str, Tensor]]]
    """Turns a stored tensor into tensors under this package's names."""


def load_weights(
    family: Family[M], folder: Path, config: ModelConfig, device: str, dtype: torch.dtype
) -> tuple[M, dict[str, Tensor]]:
    """Load a checkpoint of a family, in the layouts that `engine.models.config` reads.

    Returns the model, in evaluation mode on `device` with its matrices in `dtype`, and the tensors of the readout in
    float32, by their names without `readout.`. Raises ModelError if a tensor is missing, unknown or of another shape.
    """
    with torch.device("meta"):
        model = family.build(config)
    expected = model.state_dict()
    loaded: dict[str, Tensor] = {}
    readout: dict[str, Tensor] = {}
    for stored, whole in _tensors(weight_files(folder)):
        for name, tensor in family.renamed(stored.removeprefix("backbone.").removeprefix("model."), whole):
            if name.startswith("readout."):
                readout[name.removeprefix("readout.")] = tensor.to(device, torch.float32)
            elif name != "lm_head.weight":
                keep_float32 = name.endswith(family.always_float32)
                loaded[name] = tensor.to(device, torch.float32 if keep_float32 else dtype)
    _check(loaded, expected, folder)
    model.load_state_dict(loaded, assign=True)
    return model.eval().requires_grad_(False), readout


def load_mamba2(folder: Path, config: ModelConfig, device: str, dtype: torch.dtype) -> tuple[Mamba2, dict[str, Tensor]]:
    """Load a Mamba2, as `load_weights` does. Raises ModelError for the other families."""
    if not isinstance(config, Mamba2Config):
        raise ModelError(f"{folder} is not a Mamba2 model", "only Mamba2 models can be trained")
    return load_weights(Family(Mamba2, ALWAYS_FLOAT32, _mamba2_tensors), folder, config, device, dtype)


def _mamba2_tensors(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "embeddings.weight" if name == "embedding.weight" else name, tensor


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


def _check(loaded: dict[str, Tensor], expected: dict[str, Tensor], folder: Path) -> None:
    missing, unknown = sorted(expected.keys() - loaded.keys()), sorted(loaded.keys() - expected.keys())
    if missing or unknown:
        raise ModelError(
            f"{folder}: the weights do not match its config.json "
            f"({len(missing)} missing, first {missing[:1]}; {len(unknown)} unknown, first {unknown[:1]})"
        )
    for name, tensor in loaded.items():
        if tensor.shape != expected[name].shape:
            raise ModelError(f"{folder}: {name} is {tuple(tensor.shape)}, not {tuple(expected[name].shape)}")
