"""Lists, hashes and opens the files with the weights of a checkpoint. Loads no torch."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from longsearch.engine.errors import INCOMPLETE_MODEL, ModelError
from longsearch.engine.late_patterns import late_pattern

_PUBLISHED = late_pattern(r"\| SHA-256 of the weights \| `([0-9a-f]{64})` \|")
_NOT_PUBLISHED = "these are not the published weights: install longsearch again"


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors of a checkpoint, in order. Raises ModelError if there are none or one is missing."""
    index = folder / "model.safetensors.index.json"  # some repositories hold the weights twice, under other names
    files = [folder / name for name in indexed_files(index)] if index.exists() else sorted(folder.glob("*.safetensors"))
    missing = [path.name for path in files if not path.exists()]
    if missing:
        raise ModelError(f"{folder} lacks {missing[0]}, a part of the weights", INCOMPLETE_MODEL)
    if not files:
        hint = "longsearch reads only safetensors; convert the weights with the tools they came with"
        raise ModelError(f"no .safetensors file in {folder}", hint)
    return files


def indexed_files(index: Path) -> list[str]:
    """Return the names of the files in a checkpoint's index. Raises ModelError if one is outside the folder."""
    try:
        names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"cannot read {index}: {error}", "copy the model again: the file is damaged") from error
    if not all(isinstance(name, str) and Path(name).name == name and name.endswith(".safetensors") for name in names):
        raise ModelError(f"{index} names files that are not weights", "copy the model again: the file is damaged")
    return names


def hash_weights(folder: Path) -> str:
    """Return a hash of the weights: of 64 samples of up to 1 MB of each file, so 26 GB take less than a minute.

    Files under 64 MB are hashed whole; the bundled model is smaller.
    """
    digest = hashlib.blake2b(digest_size=16)
    samples, sample_bytes = 64, 1 << 20
    for path in weight_files(folder):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            for sample in range(samples):
                file.seek(size * sample // samples)
                digest.update(file.read(min(sample_bytes, -(-size // samples))))
    return digest.hexdigest()


def check_published(folder: Path) -> str:
    """Compare the weights of a model that ships with longsearch with the SHA-256 that its card names, and return it.

    Raises ModelError if they differ, or if the card names none.
    """
    card = (folder / "README.md").read_text("utf-8")
    published = _PUBLISHED.search(card)
    if published is None:
        raise ModelError(f"the card of {folder.name} names no SHA-256 of its weights", _NOT_PUBLISHED)
    (path,) = weight_files(folder)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != published[1]:
        raise ModelError(f"{path} has the SHA-256 {digest}; its card says {published[1]}", _NOT_PUBLISHED)
    return digest


@contextmanager
def opened(path: Path, framework: str) -> Iterator[Any]:
    """Open one file; its tensors are those of `framework` ("pt" loads torch). Raises ModelError if it is damaged."""
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise ModelError(f"cannot read {path}: {error}", "copy the model again: the file is damaged") from error
