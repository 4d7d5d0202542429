"""The commands that come before training: pairs, label and new."""

import argparse
import json
from itertools import islice
from pathlib import Path

import torch

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.embedders.bert import BertEmbedder
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.training.data.harvest import harvest, word_runs
from longsearch.engine.training.data.labelling import copy_vectors, label_shards
from longsearch.engine.training.data.pairs import read_pairs, record_of
from longsearch.engine.training.data.shards import (
    MAX_PASSAGE_TOKENS,
    MAX_QUERY_TOKENS,
    load_pairs,
    read_tokenizer,
    write_shards,
)
from longsearch.engine.training.options import folder, switch
from longsearch.engine.training.student.from_teacher import centre, config_like, student_of
from longsearch.engine.training.student.initialise import save_new
from longsearch.engine.training.student.student import Padded
from longsearch.engine.training.teachers.opening import MINILM, OlderModel, open_teacher, teacher_folder

_SAMPLE_TEXTS, _CENTRE_TEXTS = 256, 64


def pairs(arguments: argparse.Namespace) -> int:
    """Append the pairs of folders to a file of JSON lines, and print how many."""
    unlike = word_runs(d.full_text for path in arguments.unlike for d in load_dataset(path).documents)
    seen: set[tuple[str, str]] = set()
    dropped = 0
    with arguments.out.open("a", encoding="utf-8") as out:
        for path in arguments.folders:
            for pair in islice(harvest(path, arguments.source, arguments.seed), arguments.limit):
                if word_runs([pair.passage]) & unlike:
                    dropped += 1
                elif (pair.query, pair.passage) not in seen:
                    seen.add((pair.query, pair.passage))
                    out.write(json.dumps(record_of(pair)) + "\n")
    print(
        f"{len(seen)} pairs" + (f", {dropped} left out because they overlap with an evaluation set" if dropped else "")
    )
    return 0


def label(arguments: argparse.Namespace) -> int:
    """Tokenize pairs into shards, and label them with the teacher's vectors."""
    arguments.model = arguments.model or arguments.by_model
    tokenizer = read_tokenizer(arguments.model or teacher_folder(arguments.teacher))
    if arguments.sources:
        n = arguments.max_tokens
        limits = (n, n) if n else (MAX_QUERY_TOKENS, MAX_PASSAGE_TOKENS)
        count = write_shards(read_pairs(arguments.sources), tokenizer, arguments.shards, max_tokens=limits)
        print(f"{count} shards")
    if arguments.vectors_of:
        print(f"{copy_vectors(arguments.shards, arguments.vectors_of)} shards labelled")
    elif not arguments.tokens_only:
        hardware = choose_hardware(arguments.device, arguments.dtype)
        older = arguments.by_model and OlderModel(arguments.by_model, hardware.device, hardware.dtype)
        for path, tokens in label_shards(arguments.shards, older or _teacher(arguments)):
            print(f"{path.name}: {tokens} tokens labelled", flush=True)
    return 0


def _teacher(arguments: argparse.Namespace) -> BertEmbedder:
    hardware = choose_hardware(arguments.device, arguments.dtype)
    return open_teacher(arguments.teacher, hardware.device, hardware.dtype)


def new(arguments: argparse.Namespace) -> int:
    """Write a model to start from, with layers of the teacher and mixers in place of attention."""
    teacher, layers = open_teacher(arguments.teacher), arguments.teacher_layers
    deepest = len(teacher.model.encoder.layer) - 1
    if not all(0 <= layer <= deepest for layer in layers):
        raise LongsearchError(f"the teacher has layers 0 to {deepest}", "give layers such as 0 1 3 5")
    passages = load_pairs(arguments.shards, teacher.tokenizer, labelled_only=False).passages
    sample = Padded.of([passages[row] for row in range(min(_SAMPLE_TEXTS, len(passages)))], "cpu").tokens
    model = student_of(teacher.model, config_like(teacher.model, len(layers)), layers, sample, arguments.seed)
    if teacher.centre is not None:
        centre(model, [torch.from_numpy(passages[row]) for row in range(min(_CENTRE_TEXTS, len(passages)))])
    save_new(arguments.out, model, teacher.tokenizer)
    return 0


def add_pairs(command: argparse.ArgumentParser) -> None:
    """Add the options of `pairs`."""
    add = command.add_argument
    add("folders", nargs="+", type=Path, help="folders, or Posts.xml and .csv files of posts")
    add("--source", required=True, metavar="NAME", help="name of the source; a batch has one source")
    add("--out", type=Path, required=True, metavar="FILE.jsonl", help="file to append the pairs to")
    add("--limit", type=int, metavar="PAIRS", help="pairs of each folder at most, drawn by --seed")
    unlike = "evaluation sets: leave out passages that share 25 words in a row with one of them"
    folder(command, "--unlike", unlike, nargs="+", default=())


def add_label(command: argparse.ArgumentParser) -> None:
    """Add the options of `label`."""
    add = command.add_argument
    add("sources", nargs="*", type=Path, help="pairs (.jsonl, .jsonl.xz) and BEIR folders")
    folder(command, "--shards", "folder to write the shards to")
    folder(command, "--model", "model whose tokenizer to use (default the teacher)", required=False)
    _add_teacher(command)
    limits = f"{MAX_QUERY_TOKENS} of a query, {MAX_PASSAGE_TOKENS} of a passage"
    add("--max-tokens", type=int, metavar="N", help=f"tokens kept of a text (default {limits})")
    switch(command, "--tokens-only", "tokenize only; a later call adds the vectors")
    folder(command, "--by-model", "store the vectors of this longsearch model, to hold another to it", required=False)
    folder(command, "--vectors-of", "copy the vectors from shards of the same pairs", required=False)


def add_new(command: argparse.ArgumentParser) -> None:
    """Add the options of `new`."""
    folder(command, "--shards", "pairs in the teacher's tokens")
    folder(command, "--out", "folder to write the model to")
    _add_teacher(command)
    layers = "the teacher's layers to take"
    command.add_argument("--teacher-layers", type=int, nargs="+", required=True, metavar="LAYER", help=layers)


def _add_teacher(command: argparse.ArgumentParser) -> None:
    text = "folder of an E5, as `cut` writes it (default minilm)"
    command.add_argument("--teacher", default=MINILM, metavar="DIR", help=text)


COMMANDS = (
    ("pairs", pairs, add_pairs, "make pairs from Markdown, code and tables of posts"),
    ("label", label, add_label, "tokenize pairs into shards; store the teacher's vectors"),
    ("new", new, add_new, "write a new model, made from the teacher"),
)
"""Each command's name, function, options and description."""
