"""Checkpoints: a folder that `Encoder.open` reads at any time, and beside it what a run needs to go on.

The folder holds config.json, tokenizer.json and model.safetensors in float16, as the bundled model; resume.pt, float32
weights and the optimisers' moments, is for the trainer alone.
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

from engine.errors import LongsearchError, ModelError
from engine.models.config import read_config
from engine.models.weights import load_mamba2
from engine.training.optimiser import Optimiser
from engine.training.student import Student, Trainable


@dataclass(slots=True)
class Progress:
    """How far a run has come."""

    step: int = 0
    n_tokens: int = 0
    """Tokens trained on, padding not counted."""
    elapsed_s: float = 0.0
    """Training time, over all its resumptions."""


def load_student(folder: Path, device: str, dtype: torch.dtype) -> tuple[Student, Tokenizer]:
    """The model of a checkpoint's folder, made trainable. Raises ModelError where it is none with the mean readout."""
    config, readout = read_config(folder / "config.json")
    if readout.readout != "mean":
        raise ModelError(f"{folder} reads out {readout.readout!r}", "training knows the mean readout alone")
    model, tensors = load_mamba2(folder, config, device, torch.float32)
    student = Student(model, tensors["projection.weight"], tensors["token_log_weight"], dtype)
    return student, Tokenizer.from_file(str(folder / "tokenizer.json"))


def save_average(folders: Sequence[Path], out: Path) -> None:
    """Write to `out` the model whose weights are the means of those in `folders`; all else is the first's.

    Of models that are one training's, or go on from each other: Wortsman et al., "Model soups: averaging weights of
    multiple fine-tuned models improves accuracy without increasing inference time" (2022). Raises ModelError.
    """
    students = [load_student(folder, "cpu", torch.float32)[0] for folder in folders]
    states = [student.state_dict() for student in students]
    shapes = [{name: tensor.shape for name, tensor in state.items()} for state in states]
    for folder, found in zip(folders, shapes, strict=True):
        if found != shapes[0]:
            raise ModelError(f"{folders[0]} and {folder} are of different shapes", "average models of one training")
    students[0].load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    save_model(students[0], folders[0], out, {})


def save_model(student: Trainable, like: Path, folder: Path, trained: dict[str, Any]) -> None:
    """Write the model to `folder` with the configuration and tokenizer of `like`; `trained` goes into its section.

    Each file is written whole or not at all, the weights last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = json.loads((like / "config.json").read_text("utf-8"))
    config["longsearch"] = config.get("longsearch", {}) | trained
    for path in like.glob("tokenizer*.json") if like != folder else ():
        shutil.copyfile(path, folder / path.name)
    halves = {name: t.detach().to("cpu", torch.float16).contiguous() for name, t in student.tensors().items()}
    if not all(bool(t.isfinite().all()) for t in halves.values()):
        raise LongsearchError("the weights are no longer finite in float16", "train with a lower rate")
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    temporary = folder / "model.part"
    save_file(halves, temporary, {"format": "pt"})
    temporary.chmod(0o644)  # save_file lets nobody else read it
    temporary.replace(folder / "model.safetensors")


def save_resume(student: Trainable, optimiser: Optimiser, progress: Progress, path: Path, stage: str) -> None:
    """Write what `load_resume` goes on from."""
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
    """Put a run back where `save_resume` left it. Raises LongsearchError where the file is of another run."""
    try:
        state = torch.load(path, map_location=student.device, weights_only=True)
        if state["stage"] != stage:
            raise ValueError(f"it is of the stage {state['stage']!r}")
        student.load_trained(state["student"])
        optimiser.load_state_dict(state["optimiser"])
        step, n_tokens, elapsed_s = state["progress"]
    except (OSError, RuntimeError, KeyError, ValueError, EOFError, UnpicklingError) as error:
        raise LongsearchError(f"cannot go on from {path}: {error}", "train into another folder") from error
    return Progress(int(step), int(n_tokens), float(elapsed_s))
