"""What smaller vectors find: int8, signs with rescoring, and the first dimensions, on sets of your own.

    python tests/bench/shorter_vectors.py SETS/stackfaq SETS/squad2_dev --cache DIR

Passages are ranked by their own vectors alone, without words, excerpts or documents, so that nothing makes up for what
a smaller vector loses. For each form: bytes a passage, nDCG@10 of each set, and the share of the 20 passages nearest by
float32 that are among its own first 20, over the passages of all sets together.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.our_vectors import OurVectors, first_dims
from longsearch.engine.evaluation.ranked_spans import Ranked
from longsearch.engine.evaluation.scoring import score_system
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder

NEAREST = 20
DIMS = (256, 192, 128, 64)
RESCORED = (100, 200, 400)
"""Passages that the signs pick."""

Scores = Callable[[Vectors, Vectors], Vectors]
"""Of queries (n_queries, dim) and passages (n, dim) the scores (n_queries, n)."""


def in_int8(vectors: Vectors) -> Vectors:
    """Return vectors as a scale for each and 127 steps give them back."""
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-12) / 127
    rounded: Vectors = np.rint(vectors / scales) * scales
    return rounded


def exactly(queries: Vectors, passages: Vectors) -> Vectors:
    scores: Vectors = queries @ passages.T
    return scores


def by_int8(queries: Vectors, passages: Vectors) -> Vectors:
    return exactly(queries, in_int8(passages))


def by_signs(queries: Vectors, passages: Vectors) -> Vectors:
    """The number of equal signs, as a Hamming distance counts them."""
    return exactly(np.sign(queries), np.sign(passages))


def rescored(n_picked: int, dim: int | None = None) -> Scores:
    """By signs, of the first dimensions if `dim` is given; then the first of these by all dimensions in int8."""

    def scores(queries: Vectors, passages: Vectors) -> Vectors:
        rough = by_signs(queries[:, :dim], passages[:, :dim])
        n = min(n_picked, len(passages))
        picked = np.argpartition(-rough, n - 1, axis=1)[:, :n]
        fine = np.take_along_axis(by_int8(queries, passages), picked, axis=1)
        found = np.full_like(rough, -2.0)
        np.put_along_axis(found, picked, fine, axis=1)
        return found

    return scores


def first(dim: int, then: Scores = exactly) -> Scores:
    """By the first dimensions alone."""
    return lambda queries, passages: then(first_dims(queries, dim), first_dims(passages, dim))


def forms(dim: int) -> dict[str, tuple[float, Scores]]:
    """Each form with the bytes of a passage that are scanned."""
    found: dict[str, tuple[float, Scores]] = {"float32": (4.0 * dim, exactly), "int8": (dim + 4.0, by_int8)}
    for size in (d for d in DIMS if d < dim):
        found[f"first {size}, float32"] = 4.0 * size, first(size)
        found[f"first {size}, int8"] = size + 4.0, first(size, by_int8)
    found["signs"] = dim / 8, by_signs
    for size in (dim, *(d for d in DIMS if d < dim)):
        which = "signs" if size == dim else f"signs of the first {size}"
        found |= {f"{which}, {n} rescored in int8": (size / 8, rescored(n, size)) for n in RESCORED}
    return found


def ndcg(vectors: OurVectors, score: Scores) -> float:
    """Return nDCG@10 of passages ranked by a form."""
    scores = score(vectors.queries, vectors.passage_vectors)
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :1000]
    ranked = Ranked(vectors.passages, list(rows), list(np.take_along_axis(scores, rows, axis=1)))
    values = score_system(vectors.dataset, ranked)
    assert values is not None
    return 100 * float(values["ndcg@10"].mean())


def overlap(queries: Vectors, passages: Vectors, score: Scores) -> float:
    """Return the share of the nearest by float32 that a form has among its first."""
    nearest, found = (
        np.argpartition(-how(queries, passages), NEAREST - 1, axis=1)[:, :NEAREST] for how in (exactly, score)
    )
    same = [len(np.intersect1d(*pair)) for pair in zip(nearest, found, strict=True)]
    return 100 * float(np.mean(same)) / NEAREST


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path, help="sets in BEIR format")
    parser.add_argument("--limit", type=int, default=300, help="queries of each set")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or int8: how the model runs")
    parser.add_argument("--cache", type=Path, help="a folder that keeps the vectors")
    options = parser.parse_args()
    encoder = Encoder.open(options.model, dtype=options.dtype)
    cache = VectorCache(options.cache)
    sets = [OurVectors(load_dataset(path).limited(options.limit), encoder, None, cache=cache) for path in options.sets]
    queries = np.concatenate([own.queries for own in sets])
    passages = np.concatenate([own.passage_vectors for own in sets])
    print(f"{len(passages):,} passages, {len(queries):,} queries, {encoder.hardware.products}\n")
    print("| vectors | bytes scanned | recall@20 | " + " | ".join(own.dataset.name for own in sets) + " |")
    print("| --- | --- | --- |" + " --- |" * len(sets))
    for name, (n_bytes, score) in forms(encoder.dim).items():
        found = [f"{ndcg(own, score):.1f}" for own in sets]
        recall = f"{overlap(queries, passages, score):.1f}"
        print(f"| {name} | {n_bytes:.0f} | {recall} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    main()
