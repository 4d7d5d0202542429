"""The commands that train MiniLM with a longer context, the baselines `minilm-tuned-…` and `minilm-rope-…`."""

import argparse
from pathlib import Path

from longsearch.engine.evaluation.embedders.minilm import MiniLM, minilm_folder
from longsearch.engine.evaluation.extension.bert import Bert
from longsearch.engine.evaluation.extension.names import LENGTHS
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.training.data.shards import PairSet, load_pairs
from longsearch.engine.training.papers.longer_minilm import Extended, NewPositions, Rotary
from longsearch.engine.training.papers.longer_stages import SelfDistillation, Tuning
from longsearch.engine.training.stages.loop import LoopOptions, Stage
from longsearch.engine.training.stages.loop import run as run_loop
from longsearch.engine.training.stages.probe import HeldOut
from longsearch.engine.training.student.student import Padded, Rates

_BATCH_TOKENS, _MAX_PAIRS = 4096, 64
_SAMPLE_TEXTS = 32
_PROBED = 64  # held-out pairs that measure the rotary model


def tuned(arguments: argparse.Namespace) -> int:
    """Tune new positions of MiniLM on interpolated ones (LongEmbed); the 512 that it has stay."""
    minilm, pairs = _opened(arguments, labelled_only=True)
    student = NewPositions(minilm, arguments.length)
    stage = Tuning(student, pairs, arguments.seed, arguments.batch_tokens, _MAX_PAIRS)
    return _train(arguments, "tuned", student, stage, None)


def rope(arguments: argparse.Namespace) -> int:
    """Give MiniLM rotary positions, learned from MiniLM's own vectors of texts of up to 512 tokens."""
    minilm, pairs = _opened(arguments, labelled_only=False)
    sample = [pairs.passages[row] for row in range(min(_SAMPLE_TEXTS, len(pairs)))]
    student = Rotary(minilm, Padded.of(sample, minilm.device))
    stage = SelfDistillation(student, Bert(minilm.model), pairs, arguments.seed, arguments.batch_tokens)
    return _train(arguments, "rope", student, stage, HeldOut(pairs, stage.batches.held_out[:_PROBED]))


def add_tuned(command: argparse.ArgumentParser) -> None:
    """Add the options of `tuned`."""
    command.add_argument("--length", type=int, default=LENGTHS[-1], choices=LENGTHS, help="positions to have")
    _add(command, 5e-4)


def add_rope(command: argparse.ArgumentParser) -> None:
    """Add the options of `rope`."""
    _add(command, 3e-4)


def _add(command: argparse.ArgumentParser, rate: float) -> None:
    command.add_argument("--shards", type=Path, required=True, metavar="DIR", help="pairs, in MiniLM's tokens")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint; a run there is resumed")
    command.add_argument("--steps", type=int, required=True, help="stop after so many steps")
    command.add_argument("--rate", type=float, default=rate, help=f"peak learning rate (default {rate:g})")
    command.add_argument("--batch-tokens", type=int, default=_BATCH_TOKENS, help="tokens of a step")


def _opened(arguments: argparse.Namespace, labelled_only: bool) -> tuple[MiniLM, PairSet]:
    hardware = choose_hardware(arguments.device, "float32")
    minilm = MiniLM(hardware.device)
    return minilm, load_pairs(arguments.shards, minilm.tokenizer, labelled_only)


def _train(arguments: argparse.Namespace, name: str, student: Extended, stage: Stage, held_out: HeldOut | None) -> int:
    options = LoopOptions(
        arguments.out, minilm_folder(), arguments.steps, seed=arguments.seed, rates=Rates(arguments.rate),
        widths=(1.0,), width_weights=(1.0,), stage=name,
    )  # fmt: skip
    progress = run_loop(student, stage, options, held_out)
    print(f"{progress.step} steps, {progress.n_tokens} tokens, {progress.elapsed_s:.0f} s: {arguments.out}")
    return 0


COMMANDS = (
    ("tuned", tuned, add_tuned, "baseline: tune new positions of MiniLM on interpolated ones (LongEmbed)"),
    ("rope", rope, add_rope, "baseline: give MiniLM rotary positions, learned from MiniLM's own vectors"),
)
"""Each command's name, function, options and description."""
