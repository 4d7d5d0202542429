"""The files that hold a checkpoint's weights: which they are, and what tells them from others. Loads no torch."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from longsearch.engine.errors import ModelError


def weight_files(folder: Path) -> list[Path]:
    """The safetensors of a checkpoint, in order. Raises ModelError where there are none, or one of them is missing."""
    index = folder / "model.safetensors.index.json"  # some repositories hold the weights twice, under other names too
    files = [folder / name for name in indexed_files(index)] if index.exists() else sorted(folder.glob("*.safetensors"))
    missing = [path.name for path in files if not path.exists()]
    if missing:
        raise ModelError(
            f"{folder} lacks {missing[0]}, a part of its weights", "the model is incomplete: copy it again"
        )
    if not files:
        hint = "only safetensors are read; convert other weights with their own tools first"
        raise ModelError(f"no .safetensors file in {folder}", hint)
    return files


def indexed_files(index: Path) -> list[str]:
    """The files that a checkpoint's index names, none of them outside its folder."""
    try:
        names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"cannot read {index}: {error}", "copy the model again: the file is damaged") from error
    if not all(isinstance(name, str) and Path(name).name == name and name.endswith(".safetensors") for name in names):
        raise ModelError(f"{index} names files that are no weights", "copy the model again: the file is damaged")
    return names


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


@contextmanager
def opened(path: Path, framework: str) -> Iterator[Any]:
    """One of the files, its tensors as `framework` has them ("pt" loads torch). Raises ModelError where damaged."""
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise ModelError(f"cannot read {path}: {error}", "copy the model again: the file is damaged") from error
