"""Which model it is, and how long its vectors are, from its files alone: torch and the weights stay where they are.

Whether an index is of this model is known in 0.1 s so; to load it for that takes 2 s and hundreds of megabytes.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import ModelConfig, ReadoutConfig, read_config
from longsearch.engine.models.hub import ModelFiles, locate, tokenizer_file
from longsearch.engine.models.weight_files import hash_weights, opened, weight_files
from longsearch.engine.passages import RULES

_INCOMPLETE = "the model is incomplete: copy it again"


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What an index notes of the model whose vectors it holds."""

    fingerprint: str
    """Every vector knows its maker: weights, tokenizer, readout, template and passage rules."""
    dim: int
    """Length of its vectors."""


def identify(model: str | Path) -> ModelIdentity:
    """The identity of what `Encoder.open` opens. Raises ModelError; yet not all that cannot be opened is found out."""
    files = locate(model)
    config, readout = read_config(files.folder / "config.json")
    dim = config.d_model if readout.readout == "eos" else _rows_of_projection(files.folder)
    return ModelIdentity(fingerprint(files, config, readout), dim)


def fingerprint(files: ModelFiles, config: ModelConfig, readout: ReadoutConfig) -> str:
    """A hash of whatever changes vectors. Raises ModelError where weights are missing."""
    tokenizer = tokenizer_file(files.tokenizer_folder)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(hash_weights(files.folder).encode())
    digest.update(tokenizer.read_bytes() if tokenizer else b"")
    digest.update(f"{config}{readout}{RULES}".encode())
    return digest.hexdigest()


def _rows_of_projection(folder: Path) -> int:
    """Of the mean readout's matrix (dim, d_model): its shape stands in its file's header."""
    for path in weight_files(folder):
        with opened(path, "numpy") as file:
            for name in file.keys():  # noqa: SIM118 - safe_open has no __iter__
                if name.endswith("readout.projection.weight"):
                    return int([*file.get_slice(name).get_shape(), 0][0])  # 0 of what is no matrix: no model has it
    raise ModelError("the weights lack readout.projection.weight, which the mean readout needs", _INCOMPLETE)
