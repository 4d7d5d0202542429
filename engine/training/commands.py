"""The command line of the training: from pairs to a model. It wires the parts together and decides nothing."""

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer

from longsearch.engine.errors import LongsearchError
from longsearch.engine.inference.device import Hardware, choose_hardware
from longsearch.engine.printable import printable
from longsearch.engine.training import multilingual, options, preparing, recipe, stage_makers
from longsearch.engine.training.papers import longer_commands
from longsearch.engine.training.papers.lora import load_lora_student
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.reader import commands as reader_commands
from longsearch.engine.training.smoke import smoke
from longsearch.engine.training.stages.loop import LoopOptions
from longsearch.engine.training.stages.loop import run as run_loop
from longsearch.engine.training.stages.probe import HeldOut
from longsearch.engine.training.student.saving import save_average, save_compact, save_slice
from longsearch.engine.training.student.student import Rates, Schedule, Trainable
from longsearch.engine.training.student.whitening import save_whitened
from longsearch.engine.training.student.whole_text import can_compile
from longsearch.engine.training.teachers.opening import MINILM

# Q in tokens: steps are fastest at 48 to 72; the matrix of a block grows with Q, the number of states with 1 / Q
_TRAINING_BLOCK = 64


def run(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status. Errors go to stderr, without a traceback."""
    made = parser()
    arguments = made.parse_args(argv)
    if arguments.recipe:  # it has changed the defaults of the other options: read them again
        arguments = made.parse_args(argv)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    try:
        status: int = arguments.command(arguments)
    except LongsearchError as error:
        hint = f"\n  {printable(error.hint)}" if error.hint else ""
        print(f"{printable(error.message)}{hint}", file=sys.stderr)
        return 1
    return status


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    made = argparse.ArgumentParser(
        prog="python -m longsearch.engine.training", description="Train a model like the bundled one."
    )
    made.set_defaults(threads=0, recipe=None)
    commands = made.add_subparsers(required=True)
    for name, function, add, text in (
        *preparing.COMMANDS,
        *multilingual.COMMANDS,
        *longer_commands.COMMANDS,
        *reader_commands.COMMANDS,
    ):
        add(_command(commands, name, function, text))
    stages = {
        "states": stage_makers.states, "distil": stage_makers.distillation, "contrast": stage_makers.contrast,
        "streams": stage_makers.streams,
    }  # fmt: skip
    for name, stage in stages.items():
        command = _command(commands, name, partial(_train, stage), f"stage {stage.__doc__}")
        command.set_defaults(stage=name)
        options.add_training(command, name)
    average = _command(commands, "average", _average, "write a model whose weights are the means of several models'")
    average.add_argument("models", nargs="+", type=Path, metavar="DIR", help="models of one training")
    options.folder(average, "--out", "where to write the model")
    average.add_argument("--shares", nargs="+", type=float, default=(), metavar="S", help="how much each model counts")
    compact = _command(commands, "compact", _compact, "write a model with its table of token vectors in 8 bits")
    options.folder(compact, "--model", "model to write anew")
    options.folder(compact, "--out", "folder to write it to")
    whiten = _command(commands, "whiten", _whiten, "take out of a model's vectors what tells languages apart")
    options.add_whiten(whiten)
    slice_command = _command(commands, "slice", _slice, "write one width of a model as a smaller model")
    options.add_slice(slice_command)
    options.add_recipe(
        _command(commands, "recipe", _recipe, "train a model by all the steps that made the bundled one")
    )
    smoke_command = _command(commands, "smoke", _smoke, "train a tiny model on generated data, and score it")
    options.number(smoke_command, "--steps", 60, "optimiser steps on pairs")
    return made


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    function: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=text, description=text)
    options.number(made, "--seed", 0, "seed of all random draws")
    made.add_argument("--device", default="auto", help="cpu, cuda or cuda:N (default auto)")
    made.add_argument("--dtype", default="auto", help="type of matrix products: float32 or bfloat16 (default auto)")
    options.number(made, "--threads", 0, "processor threads; 0: all")
    made.set_defaults(command=function)
    return made


def _train(make_stage: stage_makers.StageMaker, arguments: argparse.Namespace) -> int:
    hardware = choose_hardware(arguments.device, arguments.dtype)
    if len(arguments.widths) != len(arguments.width_weights):
        raise LongsearchError(
            f"{len(arguments.widths)} widths, {len(arguments.width_weights)} weights", "give one weight for each width"
        )
    student, tokenizer = _student(arguments, hardware)
    stage, held_out = make_stage(arguments, student, tokenizer, hardware)
    steps = _steps(arguments, held_out)
    loop_options = LoopOptions(
        arguments.out, arguments.model, steps, arguments.minutes, arguments.seed, _rates(arguments, steps),
        tuple(arguments.widths), tuple(arguments.width_weights), arguments.joint, stage=arguments.stage,
    )  # fmt: skip
    progress = run_loop(student, stage, loop_options, held_out)
    print(f"{progress.step} steps, {progress.n_tokens} tokens, {progress.elapsed_s:.0f} s: {arguments.out}")
    return 0


def _steps(arguments: argparse.Namespace, held_out: HeldOut | None) -> int:
    """Return the number of steps: --steps, or fewer if --epochs ends earlier."""
    if arguments.epochs is None or held_out is None:
        return int(arguments.steps)
    n_pairs = len(held_out.pairs) - len(held_out.rows)
    of_epochs: int = max(1, math.ceil(arguments.epochs * n_pairs / arguments.max_pairs))
    return min(of_epochs, int(arguments.steps))


def _rates(arguments: argparse.Namespace, steps: int) -> Rates:
    warm_up = arguments.warm_up
    if arguments.warm_up_steps is not None:
        if steps == options.UNLIMITED:
            raise LongsearchError("--warm-up-steps needs --steps or --epochs", "or give --warm-up, a share of the run")
        warm_up = arguments.warm_up_steps / steps
    decay = arguments.weight_decay
    if decay is None:
        decay = 0.0 if arguments.lora else Rates().weight_decay
    peaks = (arguments.rate, arguments.embedding_rate, arguments.projection_rate)
    return Rates(*peaks, warm_up, decay, Schedule(arguments.schedule))


def _student(arguments: argparse.Namespace, hardware: Hardware) -> tuple[Trainable, Tokenizer]:
    if arguments.lora:
        rank, bits, alpha = arguments.lora, arguments.base_bits, arguments.alpha
        return load_lora_student(arguments.model, hardware.device, hardware.dtype, rank, bits, alpha)
    if arguments.base_bits == 4:
        raise LongsearchError("the weights of a 4-bit model cannot be trained", "give --lora RANK to train adapters")
    layers, trains = tuple(arguments.encoder_layers), not arguments.freeze_encoder
    student, tokenizer = open_student(
        arguments.model, hardware.device, hardware.dtype, arguments.readout, layers, trains
    )
    student.model.block_size = _TRAINING_BLOCK
    if arguments.compile and not can_compile():
        raise LongsearchError("no C++ compiler found", "install g++ or clang++, or leave out --compile")
    student.compiled = arguments.compile
    return student, tokenizer


def _average(arguments: argparse.Namespace) -> int:
    shares = arguments.shares
    if shares and (len(shares) != len(arguments.models) or min(shares) <= 0):
        message = f"{len(arguments.models)} models, and the shares {' '.join(map(str, shares))}"
        raise LongsearchError(message, "give one share above 0 for each model")
    save_average(arguments.models, arguments.out, shares)
    return 0


def _compact(arguments: argparse.Namespace) -> int:
    save_compact(arguments.model, arguments.out)
    return 0


def _whiten(arguments: argparse.Namespace) -> int:
    save_whitened(arguments.model, arguments.shards, arguments.out, arguments.power, arguments.seed)
    return 0


def _slice(arguments: argparse.Namespace) -> int:
    save_slice(arguments.model, arguments.width, arguments.out)
    return 0


def _recipe(arguments: argparse.Namespace) -> int:
    steps = recipe.LANGUAGE_STEPS if arguments.languages else recipe.STEPS
    last = steps[-1].number if arguments.to is None else arguments.to
    if last < steps[0].number:
        raise LongsearchError(f"the recipe has no step {last}", f"steps are 1 to {steps[-1].number}")
    needed = ("shards", "out") if arguments.languages else ("shards", "documents", "out")
    missing = [f"--{name}" for name in needed if not getattr(arguments, name)]
    missing += ["--teacher"] if arguments.languages and not arguments.teacher else []
    if missing and not arguments.list:
        raise LongsearchError(f"the recipe needs {', '.join(missing)}", "see `recipe --help` and docs/training.md")
    total = sum(step.minutes for step in steps)
    teacher = arguments.teacher or ("TEACHER" if arguments.languages else MINILM)
    plan = recipe.Plan(
        arguments.shards or Path("SHARDS"), tuple(arguments.documents or [Path("DOCUMENTS")]),
        arguments.out or Path("OUT"), (arguments.minutes or total) / total, arguments.steps, arguments.seed,
        steps, teacher,
    )  # fmt: skip
    if arguments.list:
        print("\n".join(recipe.listing(plan, last)))
        return 0
    machine = ["--device", arguments.device, "--dtype", arguments.dtype, "--threads", str(arguments.threads)]
    return recipe.carry_out(plan, last, machine + ["--compile"] * arguments.compile, run)


def _smoke(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        result = smoke(Path(folder), arguments.steps, arguments.seed)
    print(f"nDCG@10 {result.before:.3f}, after pairs {result.after_pairs:.3f}, streams {result.after_streams:.3f}")
    return 0 if result.after_pairs > result.before else 1
