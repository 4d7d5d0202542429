"""Reads the fingerprint of a model and the length of its vectors from its files, without torch.

So longsearch knows in 0.1 s whether a model made an index. Loading the model takes 2 s and hundreds of megabytes.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from longsearch.engine.errors import INCOMPLETE_MODEL, ModelError
from longsearch.engine.models.config import ModelConfig, read_config
from longsearch.engine.models.hub import ModelFiles, locate, tokenizer_file
from longsearch.engine.models.readout_config import ReadoutConfig
from longsearch.engine.models.weight_files import hash_weights, opened, weight_files
from longsearch.engine.passages import RULES


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """The facts that an index stores about the model that made its vectors."""

    fingerprint: str
    """A hash of weights, tokenizer, readout, template and passage rules."""
    dim: int
    """Length of the vectors."""
    excerpt_weight: float
    """As in `ReadoutConfig`."""


def identify(model: str | Path) -> ModelIdentity:
    """Return the identity of the model that `Encoder.open` would open. Raises ModelError.

    It does not find every error that `Encoder.open` finds.
    """
    files = locate(model)
    config, readout = read_config(files.folder / "config.json")
    name = fingerprint(files, config, readout)
    return ModelIdentity(name, _dim(files.folder, config, readout), readout.excerpt_weight)


def _dim(folder: Path, config: ModelConfig, readout: ReadoutConfig) -> int:
    """Return the length of a model's vectors."""
    if readout.readout == "mean":
        return _rows_of_projection(folder)
    return 2 * config.d_model if readout.readout == "contextual" else config.d_model


def fingerprint(files: ModelFiles, config: ModelConfig, readout: ReadoutConfig) -> str:
    """Return a hash of all that changes vectors, except the E5 instruction (see `ReadoutConfig`). Raises ModelError."""
    tokenizer = tokenizer_file(files.tokenizer_folder)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(hash_weights(files.folder).encode())
    digest.update(tokenizer.read_bytes() if tokenizer else b"")
    digest.update(f"{config}{readout}{RULES}".encode())  # so renaming a field of a config changes every fingerprint
    if readout.encoder_heads:
        digest.update(f"encoder heads: {readout.encoder_heads}".encode())
    if readout.soft_tokens:
        digest.update(f"soft tokens: {readout.soft_tokens}".encode())
    return digest.hexdigest()


def _rows_of_projection(folder: Path) -> int:
    """Return dim of the mean readout's matrix (dim, d_model), from the header of its file."""
    for path in weight_files(folder):
        with opened(path, "numpy") as file:
            for name in file.keys():  # noqa: SIM118 - safe_open has no __iter__
                if name.endswith("readout.projection.weight"):
                    return int([*file.get_slice(name).get_shape(), 0][0])  # 0 if it is not a matrix; no model has dim 0
    raise ModelError("the weights lack readout.projection.weight, which the mean readout needs", INCOMPLETE_MODEL)
