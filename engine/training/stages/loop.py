"""The training loop of every stage: draw, loss, backward, update, log, save.

It ends after a number of steps or minutes, whichever comes first. The learning rate follows that progress, so its
schedule always completes. A run that Ctrl+C or SIGTERM ends is saved after its step. It resumes from a resume.pt in its
folder. The log has one JSON line a step.
"""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TextIO

import torch
from torch import Tensor

from longsearch.engine.training.data.batches import pick
from longsearch.engine.training.stages.probe import HeldOut
from longsearch.engine.training.student.optimiser import Optimiser, rate_factor
from longsearch.engine.training.student.saving import Progress, load_resume, save_model, save_resume
from longsearch.engine.training.student.student import Rates, Trainable

WIDTHS, WIDTH_WEIGHTS = (1.0, 0.5, 0.25, 0.125), (4.0, 2.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """When to stop, how to step, where to write."""

    out: Path
    """Folder of the checkpoint, the log and resume.pt."""
    base: Path
    """Folder whose configuration and tokenizer the checkpoint copies."""
    steps: int = 10**9
    minutes: float = 10**6
    seed: int = 0
    rates: Rates = field(default_factory=Rates)
    widths: tuple[float, ...] = WIDTHS
    width_weights: tuple[float, ...] = WIDTH_WEIGHTS
    """Relative frequencies of the widths: each step draws one width. A joint step does not use them."""
    joint: bool = False
    """Whether each step trains all widths (MatMamba, equation 7) instead of one."""
    save_every_s: float = 300.0
    stage: str = ""
    """Name of the stage. A run is resumed only by the stage that started it."""


@dataclass(frozen=True, slots=True)
class StepLoss:
    """The result of a stage for one step."""

    loss: Tensor
    n_tokens: int
    parts: dict[str, float]
    """Terms of the loss and other figures, for the log."""
    labels: dict[str, str]
    """Words for the log, such as the source of the pairs."""


Stage = Callable[[int, float], StepLoss]
"""Computes the loss of a step from (step, width); deterministic in `step`."""


def run(student: Trainable, stage: Stage, options: LoopOptions, held_out: HeldOut | None = None) -> Progress:
    """Train for the steps or minutes of `options`, and leave the checkpoint in `options.out`. Returns the progress.

    With every checkpoint, a line in the log says how well the `held_out` queries find their passages.
    """
    options.out.mkdir(parents=True, exist_ok=True)
    optimiser = Optimiser(student, options.rates)
    resume = options.out / "resume.pt"
    progress = load_resume(student, optimiser, resume, options.stage) if resume.exists() else Progress()
    saved_s = progress.elapsed_s
    with (options.out / "log.jsonl").open("a", encoding="utf-8") as log, stops_between_steps() as must_stop:
        while (done := _share_done(progress, options)) < 1 and not must_stop():
            began = time.monotonic()
            record = _step(student, optimiser, stage, options, progress, done)
            progress.elapsed_s += time.monotonic() - began
            _log(log, record, progress)
            is_due = progress.elapsed_s - saved_s > options.save_every_s or _share_done(progress, options) >= 1
            if is_due or must_stop():
                _save(student, optimiser, options, progress)
                saved_s = progress.elapsed_s
                if (
                    held_out
                    and not must_stop()
                    and (scores := held_out(student, (max(options.widths), min(options.widths))))
                ):
                    _log(log, {"step": progress.step, "tokens": progress.n_tokens, **scores}, progress)
    return progress


def _log(log: TextIO, record: dict[str, float | str], progress: Progress) -> None:
    log.write(json.dumps(record | {"elapsed_s": round(progress.elapsed_s, 2)}) + "\n")
    log.flush()


def _share_done(progress: Progress, options: LoopOptions) -> float:
    return max(progress.step / options.steps, progress.elapsed_s / (60 * options.minutes))


def _step(
    student: Trainable, optimiser: Optimiser, stage: Stage, options: LoopOptions, progress: Progress, done: float
) -> dict[str, float | str]:
    """Run one step and return its log record. If the gradient is not finite, the weights stay as they are."""
    torch.manual_seed(options.seed * 1_000_003 + progress.step)
    if options.joint:
        result, figures = _joint_gradient(stage, progress.step, options.widths)
    else:
        width = options.widths[pick(options.width_weights, options.seed, progress.step)]
        result = stage(progress.step, width)
        result.loss.backward()
        figures = {"width": width, "loss": result.loss.item(), **result.parts}
    factor = rate_factor(done, options.rates.warm_up, options.rates.schedule)
    norm = optimiser.step(factor)
    progress.step += 1
    progress.n_tokens += result.n_tokens
    rounded = {name: round(value, 5) for name, value in (figures | {"norm": norm, "factor": factor}).items()}
    return {"step": progress.step, "tokens": progress.n_tokens, **rounded, **result.labels}


def _joint_gradient(stage: Stage, step: int, widths: tuple[float, ...]) -> tuple[StepLoss, dict[str, float]]:
    """Add the gradient of the joint loss to the weights: L = sum_i lambda_i L_i over the g widths, lambda_i = 1 / g.

    This is equation 7 of MatMamba (Shukla et al., arXiv 2410.06718). The widths are read one after the other, so
    memory is that of one width. Returns the result of the last width, and figures for the log: means over the widths,
    and each width's loss. A text counts once as tokens, though every width reads it.
    """
    figures: dict[str, float] = {}
    sums: dict[str, float] = {}
    for width in widths:
        result = stage(step, width)
        (result.loss / len(widths)).backward()
        figures[f"loss@{width:g}"] = loss = result.loss.item()
        for name, value in {**result.parts, "loss": loss, "width": width}.items():
            sums[name] = sums.get(name, 0.0) + value / len(widths)
    del sums["width"]  # a mean of widths says nothing
    return result, figures | sums


def _save(student: Trainable, optimiser: Optimiser, options: LoopOptions, progress: Progress) -> None:
    save_model(student, options.base, options.out, {"widths": list(options.widths)})
    save_resume(student, optimiser, progress, options.out / "resume.pt", options.stage)


@contextmanager
def stops_between_steps() -> Iterator[Callable[[], bool]]:
    """Yield whether the process was asked to stop. If it was, leaving the block raises SystemExit with 128 + signal.

    A second signal stops at once. Other threads than the main one get no signals: there the answer is always False.
    """
    asked: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        if asked:
            raise SystemExit(128 + number)
        asked.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        raise SystemExit(128 + asked[0])
