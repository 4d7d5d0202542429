"""The commands before any training: a vocabulary, labelled shards, a static model. Wires the parts, decides nothing."""

import argparse
from itertools import islice
from pathlib import Path

from tokenizers import Tokenizer

from engine.errors import LongsearchError
from engine.evaluation.minilm import MiniLM, minilm_folder
from engine.inference.device import choose_hardware
from engine.training.data import read_pairs
from engine.training.initialise import Shape, new_checkpoint, static_start, token_counts
from engine.training.shards import load_pairs, write_shards
from engine.training.teacher import adopt_vectors, label_shards
from engine.training.vocabulary import Kind, VocabularyOptions, measure, save_tokenizer, sides, train_tokenizer

_MEASURED_PAIRS = 2000


def vocabulary(arguments: argparse.Namespace) -> int:
    """Train a tokenizer; say what it costs."""
    texts = read_pairs(arguments.sources)
    options = VocabularyOptions(arguments.size, Kind(arguments.kind), arguments.cased)
    tokenizer = train_tokenizer(sides(islice(texts, arguments.pairs)), options)
    save_tokenizer(tokenizer, arguments.out)
    print(f"{tokenizer.get_vocab_size()} tokens: {arguments.out}")
    if cost := measure(tokenizer, sides(islice(texts, _MEASURED_PAIRS))):
        print(f"the pairs after those: {cost.tokens_per_word:.3f} tokens a word, {cost.unknown_share:.3%} unknown")
    return 0


def _tokenizer(model: Path | None) -> Tokenizer:
    path = (model or minilm_folder()) / "tokenizer.json"
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        hint = "name a folder that holds one, as `vocabulary` writes it"
        raise LongsearchError(f"cannot read the tokenizer {path}: {error}", hint) from error


def label(arguments: argparse.Namespace) -> int:
    """Tokenise pairs into shards, and have them labelled."""
    tokenizer = _tokenizer(arguments.model)
    if arguments.sources:
        count = write_shards(read_pairs(arguments.sources), tokenizer, arguments.shards)
        print(f"{count} shards")
    if arguments.vectors_of:
        print(f"{adopt_vectors(arguments.shards, arguments.vectors_of)} shards labelled")
    elif not arguments.tokens_only:
        hardware = choose_hardware(arguments.device, arguments.dtype)
        for path, tokens in label_shards(arguments.shards, MiniLM(hardware.device, hardware.dtype)):
            print(f"{path.name}: {tokens} tokens labelled", flush=True)
    return 0


def new(arguments: argparse.Namespace) -> int:
    """Write a static embedder."""
    hardware = choose_hardware(arguments.device, arguments.dtype)
    tokenizer = _tokenizer(arguments.model)
    counts = token_counts(load_pairs(arguments.shards, tokenizer, labelled_only=False), tokenizer.get_vocab_size())
    start = static_start(tokenizer, MiniLM(hardware.device, hardware.dtype).encode, counts)
    new_checkpoint(arguments.out, Shape(n_layers=arguments.layers), tokenizer, start, arguments.seed)
    return 0
