"""The options of each training command, and short ways to add one."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from longsearch.engine.models.hub import bundled_model
from longsearch.engine.models.readout_config import READOUTS
from longsearch.engine.training import recipe
from longsearch.engine.training.papers.generative import SOFT_TOKENS
from longsearch.engine.training.papers.lora_recipe import PAPER
from longsearch.engine.training.papers.opening import ENCODER_LAYERS
from longsearch.engine.training.papers.refine import RefineOptions
from longsearch.engine.training.stages.loop import WIDTH_WEIGHTS, WIDTHS
from longsearch.engine.training.stages.pair_stages import PairOptions
from longsearch.engine.training.stages.streams import StreamOptions
from longsearch.engine.training.student.student import Rates, Schedule
from longsearch.engine.training.student.whitening import POWER
from longsearch.engine.training.teachers.opening import MINILM
from longsearch.engine.widths import parse_width

_OF_STATES = 2048  # every token is a target, so small batches serve
UNLIMITED = 10**9
"""Steps of a run that only the clock ends."""
_PAIRS: Final = PairOptions()
_ABSENT: Final[dict[str, Any]] = {
    "lora": 0, "alpha": None, "base_bits": 16, "without_teacher": False, "words_share": 0.0, "teacher": None,
    "states_weight": _PAIRS.states_weight, "scores_weight": _PAIRS.scores_weight, "hard_share": _PAIRS.hard_share,
    "epochs": None, "text_tokens": None, "accumulate": 1, "readout": None, "encoder_layers": ENCODER_LAYERS,
    "freeze_encoder": False, "soft_tokens": None, "loss_at": "every", "refinement_weight": RefineOptions().regulariser,
}  # fmt: skip
"""The values of options that only some of the stages have."""


def number(command: argparse.ArgumentParser, flag: str, default: float, text: str, **given: Any) -> None:
    """Add a number of the type of its default, which the help names."""
    command.add_argument(flag, type=type(default), default=default, help=f"{text} (default {default:g})", **given)


def folder(command: argparse.ArgumentParser, flag: str, text: str, **given: Any) -> None:
    """Add a folder. It must be given, unless `given` has a default or says otherwise."""
    needed = {} if "default" in given else {"required": True}
    command.add_argument(flag, type=Path, metavar="DIR", help=text, **needed | given)


def switch(command: argparse.ArgumentParser, flag: str, text: str) -> None:
    """Add an option without a value."""
    command.add_argument(flag, action="store_true", help=text)


def add_whiten(command: argparse.ArgumentParser) -> None:
    """Add the options of `whiten`."""
    folder(command, "--model", "model, with a table of floats")
    folder(command, "--shards", "pairs to measure on")
    folder(command, "--out", "folder to write the new model to")
    number(command, "--power", POWER, "how much what parts a pair is lessened")


def add_slice(command: argparse.ArgumentParser) -> None:
    """Add the options of `slice`."""
    folder(command, "--model", "model to slice", default=bundled_model())
    command.add_argument("--width", type=_fraction, required=True, metavar="W", help="fraction of its heads, as 1/2")
    folder(command, "--out", "folder to write the small model to")


def add_training(command: argparse.ArgumentParser, name: str) -> None:
    """Add the options of the stage `name`: states, distil, contrast or streams."""
    folder(command, "--model", "model to start from", default=bundled_model())
    folder(command, "--out", "checkpoint; a run there is resumed")
    folder(command, "--shards", "labelled pairs", required=name != "streams")
    _add_schedule(command)
    _add_losses(command)
    command.set_defaults(**_ABSENT)
    if name == "states":
        _add_states(command)
    if name in ("distil", "contrast"):
        _add_readout(command)
    if name in ("contrast", "streams"):
        switch(command, "--without-teacher", "train by InfoNCE alone, without labels")
        number(command, "--words-share", 0.0, "share of the targets from words (BM25) instead of the teacher")
    if name == "contrast":
        command.add_argument(
            "--teacher", metavar="DIR", help="teacher whose pieces --words-share reads (default minilm)"
        )
        _add_contrast(command)
    if name == "streams":
        _add_streams(command)


def _add_states(command: argparse.ArgumentParser) -> None:
    command.set_defaults(batch_tokens=_OF_STATES)
    command.add_argument("--teacher", metavar="DIR", help="folder of an E5, as `cut` writes it (default minilm)")
    number(command, "--states-weight", _PAIRS.states_weight, "weight of the differences of token states")
    number(command, "--scores-weight", _PAIRS.scores_weight, "weight of the teacher's scores in batch and queue")
    beside = "labelled pairs whose vectors to learn in some steps, such as an older model's vectors of code"
    folder(command, "--beside", beside, required=False)
    number(command, "--beside-share", 0.15, "share of the steps that --beside gets", metavar="S")
    switch(
        command,
        "--beside-scores",
        "learn how near the vectors of --beside are to each other: their teacher has another space",
    )
    switch(command, "--new-readout", "make the readout's matrix the identity first: after `whiten`")


def _add_readout(command: argparse.ArgumentParser) -> None:
    command.add_argument("--readout", choices=READOUTS, help="train for this readout (default: the model's own)")
    command.add_argument(
        "--encoder-layers", type=int, nargs="+", default=ENCODER_LAYERS, metavar="LAYER",
        help="make the encoder of a new contextual readout from these layers of the teacher (default the last)",
    )  # fmt: skip
    switch(command, "--freeze-encoder", "do not train the encoder of the contextual readout")


def _add_contrast(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    paper = "paper: LoRA as in arXiv 2604.18199, F.2 (QLoRA r = alpha = 16, batch 2,048, 512 tokens, one epoch, ...)"
    add("--recipe", choices=("paper",), action=_Recipe, help=paper)
    add("--lora", type=int, default=0, metavar="RANK", help="train adapters; freeze the model")
    add("--alpha", type=float, help="scale of the adapters times the rank (default twice the rank)")
    number(command, "--base-bits", 16, "bits of a frozen weight; 4: QLoRA", choices=(4, 16))
    add("--soft-tokens", type=_positive, metavar="K", help=f"soft tokens of a generative model (default {SOFT_TOKENS})")
    loss_at = "InfoNCE at every soft token, as in GIRCSE, or at the last (default every)"
    add("--loss-at", choices=("every", "last"), default="every", help=loss_at)
    penalty = "weight of the penalty for soft tokens that do not improve the loss, with --loss-at every"
    number(command, "--refinement-weight", RefineOptions().regulariser, penalty, metavar="LAMBDA")
    add("--max-tokens", type=int, dest="text_tokens", metavar="N", help="tokens read of a text, with its instruction")
    add("--epochs", type=float, metavar="E", help="stop after drawing E times as many pairs as there are")
    pieces = "read a batch in K pieces: less memory, the same gradient, every text read twice (default 1)"
    add("--accumulate", type=_positive, default=1, metavar="K", help=pieces)


class _Recipe(argparse.Action):
    """Makes the values of a recipe the defaults of the other options."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        parser.set_defaults(**PAPER)
        setattr(namespace, self.dest, values)


def _fraction(text: str) -> float:
    width = parse_width(text)
    if isinstance(width, tuple):
        raise argparse.ArgumentTypeError("give one fraction for all layers")
    return width


def _positive(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return count


def _add_schedule(command: argparse.ArgumentParser) -> None:
    """Options of duration, learning rates and widths."""
    rates, add = Rates(), command.add_argument
    add("--steps", type=int, default=UNLIMITED, help="stop after so many steps")
    add("--minutes", type=float, default=10.0**6, help="stop after so many minutes")
    number(command, "--rate", rates.blocks, "peak learning rate of the blocks")
    number(command, "--embedding-rate", rates.embedding, "peak learning rate of the embedding")
    number(command, "--projection-rate", rates.projection, "peak learning rate of the projection")
    number(command, "--warm-up", rates.warm_up, "share of the run in which rates rise")
    add("--warm-up-steps", type=int, metavar="N", help="steps in which rates rise, instead of --warm-up")
    schedules = [schedule.value for schedule in Schedule]
    add("--schedule", default=rates.schedule.value, choices=schedules, help="curve of the rates (default cosine)")
    add("--weight-decay", type=float, help=f"of the matrices (default {rates.weight_decay:g}; with --lora 0)")
    add("--widths", type=_fraction, nargs="+", default=WIDTHS, help="nested widths such as 1 1/2; a step draws one")
    add("--width-weights", type=float, nargs="+", default=WIDTH_WEIGHTS, help="relative frequency of each width")
    switch(command, "--joint", "train all widths in each step, equally (MatMamba, equation 7)")
    switch(command, "--compile", "compile the code for short texts: twice as fast, after minutes")


def _add_losses(command: argparse.ArgumentParser) -> None:
    """Options of batches of pairs and of their losses."""
    draws = _PAIRS.sampling
    number(command, "--batch-tokens", _PAIRS.batch_tokens, "passage tokens of a step")
    number(command, "--max-pairs", _PAIRS.max_pairs, "pairs of a step at most")
    number(command, "--instruction-share", 0.2, "share of batches with an instruction")
    number(command, "--source-power", draws.source_power, "draw a source of n pairs as often as n ** P", metavar="P")
    number(command, "--question-weight", draws.question_weight, "draw questions W times as often", metavar="W")
    switch(command, "--mixed-lengths", "draw from the whole source, not similar lengths")
    number(command, "--contrast-weight", _PAIRS.contrast_weight, "weight of InfoNCE")
    number(command, "--cosine-weight", _PAIRS.cosine_weight, "weight of 1 - cosine")
    switch(command, "--one-way", "InfoNCE of queries only, as in the paper; default: of passages too")
    number(command, "--temperature", _PAIRS.temperature, "tau of InfoNCE on pairs")


def _add_streams(command: argparse.ArgumentParser) -> None:
    streams = StreamOptions()
    command.add_argument("documents", nargs="+", type=Path, help="long documents (.jsonl, .jsonl.xz)")
    number(command, "--pairs-share", 0.5, "share of steps on pairs, if --shards is given")
    number(command, "--slice-tokens", streams.slice_tokens, "tokens of a slice")
    number(command, "--max-tokens", streams.max_tokens, "tokens read of a document at most")
    teacher = "pull passages towards the teacher's vectors; DIR: of the E5 in this folder (default minilm)"
    command.add_argument("--teacher", nargs="?", const=MINILM, metavar="DIR", help=teacher)
    number(command, "--sentences-share", 0.0, "share of the pairs' steps that learn single sentences, by --teacher")


def add_recipe(command: argparse.ArgumentParser) -> None:
    """Add the options of `recipe`."""
    command.description = f"{command.description}; --seed is added to the seed of each step"
    add = command.add_argument
    add("--list", action="store_true", help="only print the commands of the steps")
    switch(command, "--languages", "the recipe of a model of many languages")
    add("--teacher", metavar="DIR", help="folder of the multilingual E5 that `cut` wrote, for --languages")
    add("--to", type=int, metavar="STEP", help="last step to run (default the last one)")
    folder(command, "--shards", "labelled pairs, or folders step-NN of them", required=False)
    add("--documents", type=Path, nargs="+", metavar="FILE", help="long documents, best in three files")
    folder(command, "--out", "folder to write the models to, one per step", required=False)
    minutes = f"training time of all steps (default {recipe.TOTAL_MINUTES:g} of the bundled model)"
    add("--minutes", type=float, help=minutes)
    add("--steps", type=int, metavar="N", help="optimiser steps of each training at most")
    switch(command, "--compile", "compile the code for short texts: twice as fast, after minutes")
