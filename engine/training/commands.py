"""The command line of the training: from pairs to a model. Wires the parts, decides nothing."""

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer

from engine.errors import LongsearchError
from engine.inference.device import Hardware, choose_hardware
from engine.models.hub import bundled_model
from engine.printable import printable
from engine.training import preparing, stage_makers
from engine.training.initialise import Shape
from engine.training.loop import WIDTH_WEIGHTS, WIDTHS, LoopOptions
from engine.training.loop import run as run_loop
from engine.training.lora import load_lora_student
from engine.training.saving import load_student, save_average
from engine.training.smoke import smoke
from engine.training.stages import PairOptions
from engine.training.streams import StreamOptions
from engine.training.student import Rates, Trainable
from engine.training.vocabulary import Kind, VocabularyOptions
from engine.training.whole_text import can_compile

_TRAINING_BLOCK = (
    64  # Q: at 48 to 72 a step costs least; the block's matrix grows with Q, the blocks' states with 1 / Q
)


def run(argv: list[str] | None = None) -> int:
    """Run one command. Returns the exit status; errors are a line on stderr."""
    arguments = parser().parse_args(argv)
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
    """All commands and their options."""
    made = argparse.ArgumentParser(prog="python -m engine.training", description="Make a model like the bundled one.")
    made.set_defaults(threads=0)
    commands = made.add_subparsers(required=True)
    pairs = _command(commands, "pairs", preparing.pairs, "make pairs of Markdown, code and tables of posts")
    pairs.add_argument("folders", nargs="+", type=Path, help="folders, or Posts.xml and .csv files of posts")
    pairs.add_argument("--source", required=True, metavar="NAME", help="what to call them: a batch is of one source")
    pairs.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="is added to")
    pairs.add_argument("--limit", type=int, default=None, metavar="PAIRS", help="of each folder, drawn by --seed")
    pairs.add_argument(
        "--unlike", type=Path, nargs="+", default=(), metavar="DIR", help="evaluation sets to share no 25 words with"
    )
    vocabulary = _command(
        commands, "vocabulary", preparing.vocabulary, "train a tokenizer on pairs: a vocabulary of our own"
    )
    vocabulary.add_argument("sources", nargs="+", type=Path, help="pairs (.jsonl, .jsonl.xz) and BEIR folders")
    vocabulary.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets tokenizer.json")
    vocabulary.add_argument("--size", type=int, default=VocabularyOptions().size, help="tokens at most")
    vocabulary.add_argument("--kind", default=Kind.WORDPIECE.value, choices=[kind.value for kind in Kind])
    vocabulary.add_argument("--cased", action="store_true", help="tell capitals from small letters")
    vocabulary.add_argument("--pairs", type=int, default=100_000, help="the first so many are trained on")
    label = _command(
        commands, "label", preparing.label, "tokenise pairs into shards and store the teacher's vectors of them"
    )
    label.add_argument("sources", nargs="*", type=Path, help="pairs (.jsonl, .jsonl.xz) and BEIR folders")
    label.add_argument("--shards", type=Path, required=True, metavar="DIR")
    label.add_argument("--model", type=Path, default=None, metavar="DIR", help="whose tokenizer; else the teacher's")
    label.add_argument("--tokens-only", action="store_true", help="leave the teacher's vectors to a later call")
    label.add_argument("--vectors-of", type=Path, metavar="DIR", help="take them from shards of the same pairs")
    new = _command(commands, "new", preparing.new, "a static embedder from the teacher's vectors of single tokens")
    new.add_argument("--shards", type=Path, required=True, metavar="DIR", help="whose tokens are counted")
    new.add_argument("--out", type=Path, required=True, metavar="DIR")
    new.add_argument("--model", type=Path, default=None, metavar="DIR", help="whose tokenizer; else the teacher's")
    new.add_argument("--layers", type=int, default=Shape().n_layers)
    new.add_argument(
        "--teacher-layers", type=int, nargs="+", default=(), metavar="LAYER",
        help="begin with these layers of the teacher, mixers in the place of their attention: far better than static",
    )  # fmt: skip
    stages = {"distil": stage_makers.distillation, "contrast": stage_makers.contrast, "streams": stage_makers.streams}
    for name, stage in stages.items():
        command = _command(commands, name, partial(_train, stage), f"stage {stage.__doc__}")
        command.set_defaults(stage=name)
        _add_training(command, name)
    average = _command(commands, "average", _average, "one model of the means of several's weights")
    average.add_argument("models", nargs="+", type=Path, metavar="DIR", help="of one training, or one after the other")
    average.add_argument("--out", type=Path, required=True, metavar="DIR")
    smoke_command = _command(commands, "smoke", _smoke, "train a tiny model on made data and say what it learnt")
    smoke_command.add_argument("--steps", type=int, default=60)
    return made


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    function: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=text, description=text)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--device", default="auto")
    made.add_argument("--dtype", default="auto", help="of the products: float32 or bfloat16")
    made.add_argument("--threads", type=int, default=0, help="of the processor; 0: all")
    made.set_defaults(command=function)
    return made


def _add_training(command: argparse.ArgumentParser, name: str) -> None:
    pairs, streams, rates = PairOptions(), StreamOptions(), Rates()
    command.add_argument("--model", type=Path, default=bundled_model(), metavar="DIR", help="to begin with")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint; a run there goes on")
    command.add_argument("--shards", type=Path, required=name != "streams", metavar="DIR", help="labelled pairs")
    command.add_argument("--steps", type=int, default=10**9)
    command.add_argument("--minutes", type=float, default=10.0**6)
    command.add_argument("--rate", type=float, default=rates.blocks, help="peak, of the blocks")
    command.add_argument("--embedding-rate", type=float, default=rates.embedding)
    command.add_argument("--projection-rate", type=float, default=rates.projection)
    command.add_argument("--warm-up", type=float, default=rates.warm_up, help="share of the run")
    command.add_argument("--widths", type=float, nargs="+", default=WIDTHS)
    command.add_argument("--width-weights", type=float, nargs="+", default=WIDTH_WEIGHTS)
    command.add_argument("--batch-tokens", type=int, default=pairs.batch_tokens, help="of passages, a step")
    command.add_argument("--max-pairs", type=int, default=pairs.max_pairs)
    command.add_argument("--instruction-share", type=float, default=0.2)
    command.add_argument("--hard-share", type=float, default=pairs.hard_share)
    command.add_argument("--contrast-weight", type=float, default=pairs.contrast_weight)
    command.add_argument("--cosine-weight", type=float, default=pairs.cosine_weight)
    command.add_argument(
        "--compile", action="store_true", help="short texts by compiled code: twice as fast, after minutes of compiling"
    )
    command.add_argument("--dims", type=int, nargs="*", default=(), help="Matryoshka dimensions besides the whole")
    command.set_defaults(lora=0, base_bits=16, without_teacher=False, words_share=0.0)
    if name != "distil":
        command.add_argument("--without-teacher", action="store_true", help="shards need no labels; InfoNCE alone")
        command.add_argument(
            "--words-share", type=float, default=0.0, help="of what is taught, by words (BM25) instead of the teacher"
        )
    if name == "contrast":
        command.add_argument("--lora", type=int, default=0, metavar="RANK", help="adapters beside a frozen model")
        command.add_argument("--base-bits", type=int, default=16, choices=(4, 16), help="of the frozen model (QLoRA)")
    if name == "streams":
        command.add_argument("documents", nargs="+", type=Path, help="long documents (.jsonl, .jsonl.xz)")
        command.add_argument("--pairs-share", type=float, default=0.5, help="of the steps, where --shards are given")
        command.add_argument("--side-by-side", type=int, default=streams.documents)
        command.add_argument("--slice-tokens", type=int, default=streams.slice_tokens)
        command.add_argument("--max-tokens", type=int, default=streams.max_tokens)
        command.add_argument("--teacher", action="store_true", help="hold passages near the teacher's vectors")
        command.add_argument(
            "--sentences-share", type=float, default=0.0, help="of the pairs' steps, on their sentences; with --teacher"
        )


def _train(make_stage: stage_makers.StageMaker, arguments: argparse.Namespace) -> int:
    hardware = choose_hardware(arguments.device, arguments.dtype)
    if len(arguments.widths) != len(arguments.width_weights):
        raise LongsearchError(f"{len(arguments.widths)} widths, {len(arguments.width_weights)} weights of them")
    student, tokenizer = _student(arguments, hardware)
    stage, held_out = make_stage(arguments, student, tokenizer, hardware)
    rates = Rates(arguments.rate, arguments.embedding_rate, arguments.projection_rate, arguments.warm_up)
    options = LoopOptions(
        arguments.out, arguments.model, arguments.steps, arguments.minutes, arguments.seed, rates,
        tuple(arguments.widths), tuple(arguments.width_weights), stage=arguments.stage,
    )  # fmt: skip
    progress = run_loop(student, stage, options, held_out)
    print(f"{progress.step} steps, {progress.n_tokens} tokens, {progress.elapsed_s:.0f} s: {arguments.out}")
    return 0


def _student(arguments: argparse.Namespace, hardware: Hardware) -> tuple[Trainable, Tokenizer]:
    if arguments.lora:
        rank, bits = arguments.lora, arguments.base_bits
        return load_lora_student(arguments.model, hardware.device, hardware.dtype, rank, bits)
    if arguments.base_bits == 4:
        raise LongsearchError("a model in 4 bits cannot be trained whole", "give --lora RANK: adapters beside it")
    student, tokenizer = load_student(arguments.model, hardware.device, hardware.dtype)
    student.model.block_size = _TRAINING_BLOCK
    if arguments.compile and not can_compile():
        raise LongsearchError("no C++ compiler is found", "install g++ or clang++, or leave out --compile")
    student.compiled = arguments.compile
    return student, tokenizer


def _average(arguments: argparse.Namespace) -> int:
    save_average(arguments.models, arguments.out)
    return 0


def _smoke(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        result = smoke(Path(folder), arguments.steps, arguments.seed)
    print(f"nDCG@10 {result.before:.3f}, after pairs {result.after_pairs:.3f}, streams {result.after_streams:.3f}")
    return 0 if result.after_pairs > result.before else 1
