"""The commands that come before training: pairs, vocabulary, label and new."""

import argparse
import json
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.minilm import MiniLM, minilm_folder
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.inference.tokens import special_tokens_as_text
from longsearch.engine.training.data.harvest import harvest, word_runs
from longsearch.engine.training.data.pairs import read_pairs, record_of
from longsearch.engine.training.data.shards import MAX_PASSAGE_TOKENS, MAX_QUERY_TOKENS, load_pairs, write_shards
from longsearch.engine.training.data.vocabulary import (
    Kind,
    VocabularyOptions,
    measure,
    save_tokenizer,
    texts_of,
    train_tokenizer,
)
from longsearch.engine.training.lessons.teacher import copy_vectors, label_shards
from longsearch.engine.training.student.from_teacher import config_like, student_of
from longsearch.engine.training.student.initialise import Shape, new_checkpoint, save_new, static_start, token_counts
from longsearch.engine.training.student.student import Padded

_MEASURED_PAIRS = 2000
_SAMPLE_TEXTS = 256


def vocabulary(arguments: argparse.Namespace) -> int:
    """Train a tokenizer, and print its tokens per word."""
    texts = read_pairs(arguments.sources)
    options = VocabularyOptions(arguments.size, Kind(arguments.kind), arguments.cased)
    tokenizer = train_tokenizer(texts_of(islice(texts, arguments.pairs)), options)
    save_tokenizer(tokenizer, arguments.out)
    print(f"{tokenizer.get_vocab_size()} tokens: {arguments.out}")
    if cost := measure(tokenizer, texts_of(islice(texts, _MEASURED_PAIRS))):
        print(f"the next pairs: {cost.tokens_per_word:.3f} tokens a word, {cost.unknown_share:.3%} unknown")
    return 0


def pairs(arguments: argparse.Namespace) -> int:
    """Append the pairs of folders to a file of JSON lines, and print how many."""
    unlike = word_runs(d.full_text for folder in arguments.unlike for d in load_dataset(folder).documents)
    seen: set[tuple[str, str]] = set()
    dropped = 0
    with arguments.out.open("a", encoding="utf-8") as out:
        for folder in arguments.folders:
            for pair in islice(harvest(folder, arguments.source, arguments.seed), arguments.limit):
                if word_runs([pair.passage]) & unlike:
                    dropped += 1
                elif (pair.query, pair.passage) not in seen:
                    seen.add((pair.query, pair.passage))
                    out.write(json.dumps(record_of(pair)) + "\n")
    print(
        f"{len(seen)} pairs" + (f", {dropped} left out because they overlap with an evaluation set" if dropped else "")
    )
    return 0


def _tokenizer(model: Path | None) -> Tokenizer:
    path = (model or minilm_folder()) / "tokenizer.json"
    try:
        return special_tokens_as_text(Tokenizer.from_file(str(path)))
    except Exception as error:  # the library raises bare Exception
        hint = "give a folder with tokenizer.json, as `vocabulary` writes it"
        raise LongsearchError(f"cannot read the tokenizer {path}: {error}", hint) from error


def label(arguments: argparse.Namespace) -> int:
    """Tokenize pairs into shards, and label them with the teacher's vectors."""
    tokenizer = _tokenizer(arguments.model)
    if arguments.sources:
        n = arguments.max_tokens
        limits = (n, n) if n else (MAX_QUERY_TOKENS, MAX_PASSAGE_TOKENS)
        count = write_shards(read_pairs(arguments.sources), tokenizer, arguments.shards, max_tokens=limits)
        print(f"{count} shards")
    if arguments.vectors_of:
        print(f"{copy_vectors(arguments.shards, arguments.vectors_of)} shards labelled")
    elif not arguments.tokens_only:
        hardware = choose_hardware(arguments.device, arguments.dtype)
        for path, tokens in label_shards(arguments.shards, MiniLM(hardware.device, hardware.dtype)):
            print(f"{path.name}: {tokens} tokens labelled", flush=True)
    return 0


def new(arguments: argparse.Namespace) -> int:
    """Write a model to start from: with layers of the teacher, or a static embedder."""
    if arguments.teacher_layers:
        return _from_teacher(arguments)
    hardware = choose_hardware(arguments.device, arguments.dtype)
    tokenizer = _tokenizer(arguments.model)
    counts = token_counts(load_pairs(arguments.shards, tokenizer, labelled_only=False), tokenizer.get_vocab_size())
    start = static_start(tokenizer, MiniLM(hardware.device, hardware.dtype).encode, counts)
    new_checkpoint(arguments.out, Shape(n_layers=arguments.layers), tokenizer, start, arguments.seed)
    return 0


def _from_teacher(arguments: argparse.Namespace) -> int:
    teacher, layers = MiniLM(), arguments.teacher_layers
    deepest = len(teacher.model.encoder.layer) - 1
    if arguments.model or not all(0 <= layer <= deepest for layer in layers):
        raise LongsearchError(
            f"the teacher has layers 0 to {deepest}, and they need the teacher's vocabulary",
            "leave out --model, and give layers such as 0 1 3 5",
        )
    passages = load_pairs(arguments.shards, teacher.tokenizer, labelled_only=False).passages
    sample = Padded.of([passages[row] for row in range(min(_SAMPLE_TEXTS, len(passages)))], "cpu").tokens
    config = config_like(teacher.model, len(layers))
    model = student_of(teacher.model, config, layers, sample, arguments.seed)
    save_new(arguments.out, model, teacher.tokenizer, torch.zeros(config.vocab_size))
    return 0
