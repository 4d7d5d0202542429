"""Measures how well a document's vector finds similar documents: python tests/bench/likeness.py PATH… [--documents N]

PATH: long documents (.jsonl, .jsonl.xz) or the folder of an evaluation set. Draws N documents of each source and cuts
each in two. Each first half ranks all second halves by the cosine of their vectors. Prints how often its own second
half is first, and the cosines of own and other halves.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.datasets import load_dataset
from engine.evaluation.metrics import reciprocal_rank
from engine.inference import Encoder
from engine.training.data import read_long_documents

_CHARACTERS = 6_000, 40_000
"""Shorter documents are skipped; longer documents are cut."""


def read(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Yield (source, text) of every document."""
    for path in paths:
        if path.is_dir():
            yield from ((path.name, document.full_text) for document in load_dataset(path).documents)
        else:
            yield from ((document.source, document.text) for document in read_long_documents([path]))


def halves(texts: list[str], encoder: Encoder) -> NDArray[np.float32]:
    """Return the cosines (n, n) of first halves (rows) and second halves (columns)."""
    pairs = [
        [encoder.encode_document(half).vector for half in (text[: len(text) // 2], text[len(text) // 2 :])]
        for text in texts
    ]
    first, second = (np.stack(side) for side in zip(*pairs, strict=True))
    cosines: NDArray[np.float32] = first @ second.T
    return cosines


def main() -> None:
    """Print one line per source, and one for all documents mixed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument(
        "--documents", type=int, default=80, dest="n", metavar="N", help="documents of each source (default 80)"
    )
    options = parser.parse_args()
    by_source: dict[str, list[str]] = {}
    for source, text in read(options.paths):
        if len(text) >= _CHARACTERS[0]:
            by_source.setdefault(source, []).append(text[: _CHARACTERS[1]])
    by_source["mixed"] = [text for texts in by_source.values() for text in texts]
    encoder, random = Encoder.open("bundled"), np.random.default_rng(0)
    print(f"{'source':24} {'n':>4} {'first':>6} {'MRR':>6} {'own':>6} {'others: median':>15} {'95 %':>6}")
    for source, texts in by_source.items():
        drawn = [texts[i] for i in random.permutation(len(texts))[: options.n]]
        if len(drawn) < 2:
            continue
        cosines = halves(drawn, encoder)
        own = np.eye(len(drawn), dtype=bool)
        found = [own[row][np.argsort(-cosines[row], kind="stable")].astype(float) for row in range(len(drawn))]
        middle, high = np.percentile(cosines[~own], (50, 95))
        is_first, mrr = np.mean([row[0] for row in found]), np.mean([reciprocal_rank(row) for row in found])
        line = f"{source:24} {len(drawn):4} {is_first:6.3f} {mrr:6.3f} {cosines[own].mean():6.3f}"
        print(f"{line} {middle:15.3f} {high:6.3f}", flush=True)


if __name__ == "__main__":
    main()
