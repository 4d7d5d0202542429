"""Saves and loads checkpoints.

A checkpoint's folder holds config.json, tokenizer.json and model.safetensors in float16, as the bundled model does, and
`Encoder.open` reads it at any time. resume.pt holds float32 weights and the optimisers' moments, to resume training.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.embedding import SCALE, to_int8_rows
from longsearch.engine.models.matmamba import at_width
from longsearch.engine.models.weight_files import opened, weight_files
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.models.without_torch.heads import at_heads, heads_of
from longsearch.engine.training.data.shards import read_tokenizer
from longsearch.engine.training.student.optimiser import Optimiser
from longsearch.engine.training.student.student import Student, Trainable


@dataclass(slots=True)
class Progress:
    """The progress of a run."""

    step: int = 0
    n_tokens: int = 0
    """Tokens trained on, without padding."""
    elapsed_s: float = 0.0
    """Training time, summed over all resumptions."""


def load_student(folder: Path, device: str, dtype: torch.dtype) -> tuple[Student, Tokenizer]:
    """Load the model of a checkpoint for training. Raises ModelError if it does not have the mean readout."""
    config, readout = read_config(folder / "config.json")
    if readout.readout != "mean":
        raise ModelError(
            f"{folder} reads out {readout.readout!r}, not 'mean'", "only a model with the mean readout serves here"
        )
    model, tensors = load_mamba2(folder, config, device, torch.float32)
    student = Student(model, tensors["projection.weight"], tensors["token_log_weight"], dtype)
    return student, read_tokenizer(folder)


def save_average(folders: Sequence[Path], out: Path, shares: Sequence[float] = ()) -> None:
    """Write to `out` the mean of the weights in `folders`, with the configuration and tokenizer of the first.

    `shares` says how much each model counts; () is all alike.

    The models come from one training, or one was trained from the other: Wortsman et al., "Model soups: averaging
    weights of multiple fine-tuned models improves accuracy without increasing inference time" (2022). Raises ModelError
    if their shapes differ.
    """
    students = [load_student(folder, "cpu", torch.float32)[0] for folder in folders]
    states = [student.state_dict() for student in students]
    shapes = [{name: tensor.shape for name, tensor in state.items()} for state in states]
    for folder, shape in zip(folders, shapes, strict=True):
        if shape != shapes[0]:
            raise ModelError(f"{folders[0]} and {folder} have different shapes", "average models of one training")
    counts = torch.tensor(list(shares) or [1.0] * len(states))

    def mean(name: str) -> Tensor:
        return torch.einsum("m,m...->...", counts / counts.sum(), torch.stack([state[name] for state in states]))

    students[0].load_state_dict({name: mean(name) for name in states[0]})
    save_model(students[0], folders[0], out, {})


def save_compact(model: Path, out: Path) -> None:
    """Write the model in `model` to `out` with its table of token vectors in 8 bits (see `engine.models.embedding`).

    Raises ModelError if `out` is `model`, or if the model has no table of floats.
    """
    if out.resolve() == model.resolve():
        raise ModelError(f"{out} is the model itself", "write the compact model to another folder")
    tensors: dict[str, Tensor] = {}
    for path in weight_files(model):
        with opened(path, "pt") as file:
            tensors |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it has no __iter__
    tables = [name for name in tensors if name.endswith("embeddings.weight") and tensors[name].is_floating_point()]
    if len(tables) != 1:
        raise ModelError(f"{model} has no table of token vectors in floats", "give a model that a training wrote")
    tensors[tables[0]], tensors[tables[0] + SCALE] = to_int8_rows(tensors[tables[0]])
    out.mkdir(parents=True, exist_ok=True)
    for path in (model / "config.json", *model.glob("tokenizer*.json")):
        shutil.copyfile(path, out / path.name)
    _write(tensors, out)


def save_model(
    student: Trainable, base: Path, folder: Path, trained: dict[str, Any], shape: dict[str, Any] | None = None
) -> None:
    """Write the model to `folder`, with the configuration and tokenizer of `base`.

    `trained` is added to the section `longsearch` of config.json, and `shape` to its top level. The weights are written
    last, whole or not at all. Raises LongsearchError if a weight is not finite in float16.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = json.loads((base / "config.json").read_text("utf-8")) | (shape or {})
    config["longsearch"] = config.get("longsearch", {}) | student.settings() | trained
    for path in base.glob("tokenizer*.json") if base != folder else ():
        shutil.copyfile(path, folder / path.name)
    if settings := student.tokenizer_settings():
        _add_to(folder / "tokenizer_config.json", settings)
    halves = {name: t.detach().to("cpu", torch.float16).contiguous() for name, t in student.tensors().items()}
    if not all(bool(t.isfinite().all()) for t in halves.values()):
        raise LongsearchError("some weights are no longer finite in float16", "train with a lower rate")
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    _write(halves, folder)


def _write(tensors: dict[str, Tensor], folder: Path) -> None:
    temporary = folder / "model.part"
    save_file(tensors, temporary, {"format": "pt"})
    temporary.chmod(0o644)  # save_file makes it readable by its owner only
    temporary.replace(folder / "model.safetensors")


def _add_to(path: Path, settings: dict[str, Any]) -> None:
    """Add `settings` to a file that holds a JSON object; make the file if there is none."""
    current = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(current | settings, indent=1) + "\n", "utf-8")


def save_resume(student: Trainable, optimiser: Optimiser, progress: Progress, path: Path, stage: str) -> None:
    """Write the file that `load_resume` reads."""
    state = {
        "student": student.trained(),
        "optimiser": optimiser.state_dict(),
        "stage": stage,
        "progress": [progress.step, progress.n_tokens, progress.elapsed_s],
    }
    temporary = path.with_suffix(".part")
    torch.save(state, temporary)
    temporary.replace(path)


def load_resume(student: Trainable, optimiser: Optimiser, path: Path, stage: str) -> Progress:
    """Load weights and moments of an interrupted run. Raises LongsearchError if the file belongs to another run."""
    try:
        state = torch.load(path, map_location=student.device, weights_only=True)
        if state["stage"] != stage:
            raise ValueError(f"it belongs to the stage {state['stage']!r}")
        student.load_trained(state["student"])
        optimiser.load_state_dict(state["optimiser"])
        step, n_tokens, elapsed_s = state["progress"]
    except (OSError, RuntimeError, KeyError, ValueError, EOFError, UnpicklingError) as error:
        raise LongsearchError(f"cannot resume from {path}: {error}", "train into another folder") from error
    return Progress(int(step), int(n_tokens), float(elapsed_s))


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
