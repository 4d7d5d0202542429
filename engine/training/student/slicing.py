"""Writes one width of a MatMamba model as a model of its own: a smaller download, or the start of a small model."""

import json
from pathlib import Path
from typing import Any

import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.matmamba import at_width
from longsearch.engine.models.without_torch.heads import at_heads, heads_of
from longsearch.engine.training.student.saving import load_student, save_model
from longsearch.engine.training.student.student import Student


def save_slice(folder: Path, width: float, out: Path) -> None:
    """Write to `out` the first heads of every layer of the model in `folder`, as a model with fewer heads.

    It gives the vectors that the whole model gives at `width`. Its widths are the narrower ones of the whole model, as
    fractions of its own heads. Its fingerprint is its own, so it does not search an index of the whole model. A model
    that was never trained at `width` is sliced too: the slice can be trained. Raises ModelError if the width does not
    divide the heads, or if `out` is `folder`.
    """
    if out.resolve() == folder.resolve():
        raise ModelError(f"{out} is the whole model", "write the slice to another folder")
    student, _ = load_student(folder, "cpu", torch.float32)
    heads = heads_of(student.model.config, width)[0]
    small = Student(at_width(student.model, width), student.projection, student.token_log_weight, torch.float32)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    widths = config.get("longsearch", {}).get("widths", [1.0])
    share = heads / student.model.config.n_heads
    narrower = [1.0, *(w / share for w in widths if w < share)]
    save_model(small, folder, out, {"widths": narrower}, _shape(at_heads(student.model.config, heads), config))


def _shape(small: Mamba2Config, config: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of config.json that differ in the small model. `config` is that of the whole model."""
    if "num_hidden_layers" not in config:
        raise ModelError("only models in the layout of Hugging Face can be sliced")
    shape = {"num_heads": small.n_heads, "expand": small.d_inner / small.d_model}
    return shape if small.d_mlp is None else shape | {"intermediate_size": small.d_mlp}
