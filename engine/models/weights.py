"""From a checkpoint's folder to a model ready to run. Only safetensors are read: other formats can run code."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from engine.errors import ModelError
from engine.models.config import Mamba2Config
from engine.models.mamba2 import Mamba2

# float32 whatever the rest runs in: they are small, and decays must not be rounded
ALWAYS_FLOAT32 = ("A_log", "D", "dt_bias", "norm.weight", "norm_f.weight")


def load_mamba2(
    folder: Path, config: Mamba2Config, device: str, dtype: torch.dtype
) -> tuple[Mamba2, dict[str, Tensor]]:
    """Load a checkpoint in Hugging Face's or state-spaces' layout, or ours.

    Returns the model in evaluation mode on `device`, matrices in `dtype`, and the tensors of the readout (names
    without their `readout.` prefix), float32. Raises ModelError where tensors lack, are of another shape, or are left.
    """
    with torch.device("meta"):
        model = Mamba2(config)
    expected = model.state_dict()
    found: dict[str, Tensor] = {}
    readout: dict[str, Tensor] = {}
    for name, tensor in _tensors(weight_files(folder)):
        name = _our_name(name)
        if name.startswith("readout."):
            readout[name.removeprefix("readout.")] = tensor.to(device, torch.float32)
        elif name != "lm_head.weight":
            keep_float32 = name.endswith(ALWAYS_FLOAT32)
            found[name] = tensor.to(device, torch.float32 if keep_float32 else dtype)
    _check(found, expected, folder)
    model.load_state_dict(found, assign=True)
    return model.eval().requires_grad_(False), readout


def weight_files(folder: Path) -> list[Path]:
    """The safetensors of a checkpoint, in order. Raises ModelError where there are none."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        hint = "only safetensors are read; convert other weights with their own tools first"
        raise ModelError(f"no .safetensors file in {folder}", hint)
    return files


def hash_weights(folder: Path) -> str:
    """A hash that tells checkpoints apart: 64 places of up to 1 MB of each file, so that 26 GB take no minute.

    Files under 64 MB, the bundled model's among them, are hashed whole.
    """
    digest = hashlib.blake2b(digest_size=16)
    places, place_bytes = 64, 1 << 20
    for path in weight_files(folder):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            for place in range(places):
                file.seek(size * place // places)
                digest.update(file.read(min(place_bytes, -(-size // places))))
    return digest.hexdigest()


def _tensors(files: list[Path]) -> Iterator[tuple[str, Tensor]]:
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118 - safe_open has no __iter__
                    yield name, file.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise ModelError(f"cannot read {path}: {error}", "copy the model again: the file is damaged") from error


def _our_name(name: str) -> str:
    name = name.removeprefix("backbone.").removeprefix("model.")
    return "embeddings.weight" if name == "embedding.weight" else name


def _check(found: dict[str, Tensor], expected: dict[str, Tensor], folder: Path) -> None:
    missing, unknown = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    if missing or unknown:
        raise ModelError(
            f"{folder}: the weights are not those of its config.json "
            f"({len(missing)} missing, first {missing[:1]}; {len(unknown)} unknown, first {unknown[:1]})"
        )
    for name, tensor in found.items():
        if tensor.shape != expected[name].shape:
            raise ModelError(f"{folder}: {name} is {tuple(tensor.shape)}, not {tuple(expected[name].shape)}")
