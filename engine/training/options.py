"""The options of each training command."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
from longsearch.engine.training.student.whitening import PER_SOURCE, POWER
from longsearch.engine.training.teachers.opening import MINILM
from longsearch.engine.widths import parse_width

_BESIDE = 0.15
_OF_STATES = 2048  # every token is a target, so small batches serve
UNLIMITED = 10**9
"""Steps of a run that only the clock ends."""


def add_whiten(command: argparse.ArgumentParser) -> None:
    """Add the options of `whiten`."""
    command.add_argument("--model", type=Path, required=True, metavar="DIR", help="model, with a table of floats")
    command.add_argument("--shards", type=Path, required=True, metavar="DIR", help="pairs to measure on")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write the new model to")
    command.add_argument(
        "--power", type=float, default=POWER, help=f"how much what parts a pair is lessened (default {POWER})"
    )
    command.add_argument(
        "--per-source", type=int, default=PER_SOURCE, help=f"pairs of each source (default {PER_SOURCE})"
    )


def add_slice(command: argparse.ArgumentParser) -> None:
    """Add the options of `slice`."""
    command.add_argument("--model", type=Path, default=bundled_model(), metavar="DIR", help="model to slice")
    command.add_argument("--width", type=_fraction, required=True, metavar="W", help="fraction of its heads, as 1/2")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write the small model to")


def add_training(command: argparse.ArgumentParser, name: str) -> None:
    """Add the options of the stage `name`: states, distil, contrast or streams."""
    command.add_argument("--model", type=Path, default=bundled_model(), metavar="DIR", help="model to start from")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint; a run there is resumed")
    command.add_argument("--shards", type=Path, required=name != "streams", metavar="DIR", help="labelled pairs")
    _add_schedule(command)
    _add_losses(command)
    command.set_defaults(lora=0, alpha=None, base_bits=16, without_teacher=False, words_share=0.0)
    of_states = PairOptions()
    command.set_defaults(
        states_weight=of_states.states_weight, scores_weight=of_states.scores_weight, queue=of_states.queue
    )
    command.set_defaults(epochs=None, text_tokens=None, accumulate=1, readout=None, teacher=None)
    command.set_defaults(encoder_layers=ENCODER_LAYERS, freeze_encoder=False)
    command.set_defaults(soft_tokens=None, loss_at="every", refinement_weight=RefineOptions().regulariser)
    if name == "states":
        _add_states(command)
    if name in ("distil", "contrast"):
        _add_readout(command)
    if name in ("contrast", "streams"):
        command.add_argument("--without-teacher", action="store_true", help="train by InfoNCE alone, without labels")
        command.add_argument(
            "--words-share", type=float, default=0.0,
            help="share of the targets that come from words (BM25) instead of the teacher (default 0)",
        )  # fmt: skip
    if name == "contrast":
        command.add_argument(
            "--teacher", metavar="DIR", help="teacher whose pieces --words-share reads (default minilm)"
        )
        _add_contrast(command)
    if name == "streams":
        _add_streams(command)


def _add_states(command: argparse.ArgumentParser) -> None:
    pairs, add = PairOptions(), command.add_argument
    command.set_defaults(batch_tokens=_OF_STATES)
    add("--teacher", metavar="DIR", help="folder of an E5, as `cut` writes it (default minilm)")
    add(
        "--states-weight", type=float, default=pairs.states_weight,
        help=f"weight of the differences of token states (default {pairs.states_weight:g})",
    )  # fmt: skip
    add(
        "--scores-weight", type=float, default=pairs.scores_weight,
        help=f"weight of the teacher's scores in the batch, and of the queue's (default {pairs.scores_weight:g})",
    )  # fmt: skip
    add(
        "--queue", type=int, default=pairs.queue, metavar="N",
        help=f"vectors of the teacher to keep of each source, and of all, for its scores (default {pairs.queue})",
    )  # fmt: skip
    add(
        "--beside", type=Path, metavar="DIR",
        help="labelled pairs whose vectors to learn in some steps, such as an older model's vectors of code",
    )  # fmt: skip
    add(
        "--beside-share", type=float, default=_BESIDE, metavar="S",
        help=f"share of the steps that --beside gets (default {_BESIDE:g})",
    )  # fmt: skip
    add(
        "--beside-scores", action="store_true",
        help="learn the scores of --beside's vectors, not the vectors: those of a teacher with a space of its own",
    )  # fmt: skip
    add("--new-readout", action="store_true", help="make the readout's matrix the identity first: after `whiten`")


def _add_readout(command: argparse.ArgumentParser) -> None:
    command.add_argument("--readout", choices=READOUTS, help="train for this readout (default: the model's own)")
    command.add_argument(
        "--encoder-layers", type=int, nargs="+", default=ENCODER_LAYERS, metavar="LAYER",
        help="make the encoder of a new contextual readout from these layers of the teacher (default the last)",
    )  # fmt: skip
    command.add_argument(
        "--freeze-encoder", action="store_true", help="do not train the encoder of the contextual readout"
    )


def _add_contrast(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "--recipe", choices=("paper",), action=_Recipe,
        help="paper: LoRA as in arXiv 2604.18199, F.2 (QLoRA r = alpha = 16, batch 2,048, 512 tokens, one epoch, ...)",
    )  # fmt: skip
    add("--lora", type=int, default=0, metavar="RANK", help="train adapters; freeze the model")
    add("--alpha", type=float, help="scale of the adapters times the rank (default twice the rank)")
    add("--base-bits", type=int, default=16, choices=(4, 16), help="bits of a frozen weight; 4: QLoRA (default 16)")
    add("--soft-tokens", type=_positive, metavar="K", help=f"soft tokens of a generative model (default {SOFT_TOKENS})")
    add(
        "--loss-at", choices=("every", "last"), default="every",
        help="InfoNCE at every soft token, as in GIRCSE, or at the last (default every)",
    )  # fmt: skip
    add(
        "--refinement-weight", type=float, default=RefineOptions().regulariser, metavar="LAMBDA",
        help="weight of the penalty for soft tokens that do not improve the loss, with --loss-at every (default 1)",
    )  # fmt: skip
    add("--max-tokens", type=int, dest="text_tokens", metavar="N", help="tokens read of a text, with its instruction")
    add("--epochs", type=float, metavar="E", help="stop after drawing E times as many pairs as there are")
    add(
        "--accumulate", type=_positive, default=1, metavar="K",
        help="read a batch in K pieces: less memory, the same gradient, every text read twice (default 1)",
    )  # fmt: skip


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
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _add_schedule(command: argparse.ArgumentParser) -> None:
    """Options of duration, learning rates and widths."""
    rates, add = Rates(), command.add_argument
    add("--steps", type=int, default=UNLIMITED, help="stop after so many steps")
    add("--minutes", type=float, default=10.0**6, help="stop after so many minutes")
    add("--rate", type=float, default=rates.blocks, help="peak learning rate of the blocks")
    add("--embedding-rate", type=float, default=rates.embedding, help="peak learning rate of the embedding")
    add("--projection-rate", type=float, default=rates.projection, help="peak learning rate of the projection")
    add("--warm-up", type=float, default=rates.warm_up, help="share of the run in which rates rise")
    add("--warm-up-steps", type=int, metavar="N", help="steps in which rates rise, instead of --warm-up")
    schedules = [schedule.value for schedule in Schedule]
    add("--schedule", default=rates.schedule.value, choices=schedules, help="curve of the rates (default cosine)")
    add("--weight-decay", type=float, help=f"of the matrices (default {rates.weight_decay:g}; with --lora 0)")
    add("--widths", type=_fraction, nargs="+", default=WIDTHS, help="nested widths such as 1 1/2; a step draws one")
    add("--width-weights", type=float, nargs="+", default=WIDTH_WEIGHTS, help="relative frequency of each width")
    add("--joint", action="store_true", help="train all widths in each step, equally (MatMamba, equation 7)")
    add("--compile", action="store_true", help="compile the code for short texts: twice as fast, after minutes")


def _add_losses(command: argparse.ArgumentParser) -> None:
    """Options of batches of pairs and of their losses."""
    pairs = PairOptions()
    command.add_argument("--batch-tokens", type=int, default=pairs.batch_tokens, help="passage tokens of a step")
    command.add_argument("--max-pairs", type=int, default=pairs.max_pairs, help="pairs of a step at most")
    command.add_argument("--instruction-share", type=float, default=0.2, help="share of batches with an instruction")
    command.add_argument("--hard-share", type=float, default=pairs.hard_share, help="share of near passages in a batch")
    sampling = pairs.sampling
    command.add_argument(
        "--source-power", type=float, default=sampling.source_power, metavar="P",
        help=f"draw a source of n pairs as often as n ** P (default {sampling.source_power:g})",
    )  # fmt: skip
    command.add_argument(
        "--question-weight", type=float, default=sampling.question_weight, metavar="W",
        help=f"draw sources of questions W times as often (default {sampling.question_weight:g})",
    )  # fmt: skip
    command.add_argument("--mixed-lengths", action="store_true", help="draw from the whole source, not similar lengths")
    command.add_argument("--contrast-weight", type=float, default=pairs.contrast_weight, help="weight of InfoNCE")
    command.add_argument("--cosine-weight", type=float, default=pairs.cosine_weight, help="weight of 1 - cosine")
    command.add_argument(
        "--one-way", action="store_true", help="InfoNCE of queries only, as in the paper; default: of passages too"
    )
    command.add_argument(
        "--temperature", type=float, default=pairs.temperature,
        help=f"tau of InfoNCE on pairs (default {pairs.temperature:g})",
    )  # fmt: skip


def _add_streams(command: argparse.ArgumentParser) -> None:
    streams = StreamOptions()
    command.add_argument("documents", nargs="+", type=Path, help="long documents (.jsonl, .jsonl.xz)")
    command.add_argument("--pairs-share", type=float, default=0.5, help="share of steps on pairs, if --shards is given")
    command.add_argument("--side-by-side", type=int, default=streams.documents, help="documents read at once")
    command.add_argument("--slice-tokens", type=int, default=streams.slice_tokens, help="tokens of a slice")
    command.add_argument("--max-tokens", type=int, default=streams.max_tokens, help="tokens read of a document at most")
    command.add_argument(
        "--teacher", nargs="?", const=MINILM, metavar="DIR",
        help="pull passages towards the teacher's vectors; DIR: of the E5 in this folder (default minilm)",
    )  # fmt: skip
    command.add_argument(
        "--sentences-share", type=float, default=0.0,
        help="share of the pairs' steps that learn single sentences; needs --teacher (default 0)",
    )  # fmt: skip


def add_recipe(command: argparse.ArgumentParser) -> None:
    """Add the options of `recipe`."""
    command.description = f"{command.description}; --seed is added to the seed of each step"
    add = command.add_argument
    add("--list", "--dry-run", action="store_true", dest="list", help="only print the commands of the steps")
    add("--languages", action="store_true", help="the recipe of a model of many languages")
    add("--teacher", metavar="DIR", help="folder of the multilingual E5 that `cut` wrote, for --languages")
    add("--to", type=int, metavar="STEP", help="last step to run (default the last one)")
    add("--shards", type=Path, metavar="DIR", help="labelled pairs, or folders step-NN of them")
    add("--documents", type=Path, nargs="+", metavar="FILE", help="long documents, best in three files")
    add("--out", type=Path, metavar="DIR", help="folder to write the models to, one per step")
    minutes = f"training time of all steps (default {recipe.TOTAL_MINUTES:g} of the bundled model)"
    add("--minutes", type=float, help=minutes)
    add("--steps", type=int, metavar="N", help="optimiser steps of each training at most")
    add("--compile", action="store_true", help="compile the code for short texts: twice as fast, after minutes")
