"""Measures what a passage gains by what stands before it: `python tests/bench/read_alone.py SET…`.

SET is an evaluation set in BEIR's layout. The same passages and excerpts are read twice: in the stream of their
document, as longsearch does, and each passage alone. Prints nDCG@10 of both, by passages with their excerpts and
without, the difference with 95 % of paired bootstraps over the queries, and the median cosine of a passage's two
vectors.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from arm_scores import difference
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.our_vectors import OurVectors, passage_scores, whole_excerpts
from longsearch.engine.evaluation.ranked_spans import by_scores
from longsearch.engine.evaluation.scoring import score_system
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.tokens import TokenizedText
from longsearch.engine.readouts.parts import CollectedParts
from longsearch.engine.types.documents import Passage
from longsearch.engine.widths import parse_width

Read = tuple[int, TokenizedText, list[Passage], None]


def alone(ours: OurVectors, cache: VectorCache) -> tuple[Vectors, Vectors]:
    """Return the vectors of passages (n, dim) and of all their excerpts, each passage read as a text of its own."""
    texts = list(ours.passages.texts(ours.dataset.documents))
    both = cache.vectors("alone", [*ours.cache_key, *texts], lambda: _read_alone(ours.encoder, texts))
    return both[: len(texts)], both[len(texts) :]


def _read_alone(encoder: Encoder, texts: list[str]) -> Vectors:
    collected: dict[int, CollectedParts] = {}

    def given() -> Iterator[Read]:
        for row, text in enumerate(texts):
            tokens = encoder.tokenize(text)
            passages = [Passage(0, len(text), len(tokens))]
            collected[row] = CollectedParts(passages)
            yield row, tokens, passages, None

    passages = np.zeros((len(texts), encoder.dim), np.float32)
    excerpts = [passages[:0]] * len(texts)
    for row, part in encoder.stream_many(given()):
        collected[row].add(part)
        if part.is_last:
            found = collected.pop(row).embedding(part)
            passages[row] = found.passage_vectors[0]
            excerpts[row] = whole_excerpts(found.passage_vectors, found.excerpts)
    return np.concatenate((passages, *excerpts))


def ndcg(ours: OurVectors, passages: Vectors, excerpts: Vectors, weight: float) -> NDArray[np.float64]:
    """Return nDCG@10 of each query by these vectors; `weight` is that of the nearest excerpt."""
    scores = passage_scores(ours.queries, passages, excerpts, ours.n_excerpts, weight)
    found = score_system(ours.dataset, by_scores(ours.passages, scores))
    assert found is not None
    return found["ndcg@10"]


def main() -> None:
    """Measure and print two rows for each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--width", type=parse_width, default=1.0, metavar="W")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep vectors here for other runs")
    options = parser.parse_args()
    encoder, cache = Encoder.open("bundled", width=options.width, dtype="float32"), VectorCache(options.cache)
    print("| nDCG@10 by passages | read in the stream | read alone | difference |\n| --- | --- | --- | --- |")
    for path in options.sets:
        dataset = load_dataset(path)
        ours = OurVectors(dataset, encoder, None, options.width, cache)
        streamed, single = (ours.passage_vectors, ours.excerpt_vectors), alone(ours, cache)
        for name, weight in (("passages and excerpts", encoder.excerpt_weight), ("passages", 0.0)):
            whole, parts = (ndcg(ours, *vectors, weight) for vectors in (streamed, single))
            gap, low, high = (100 * value for value in difference([whole], [parts]))
            means = f"{100 * whole.mean():.1f} | {100 * parts.mean():.1f}"
            print(f"| {dataset.name}: {name} | {means} | {gap:.1f} [{low:.1f}, {high:.1f}] |", flush=True)
        cosine = float(np.median((streamed[0] * single[0]).sum(1)))
        n = f"{len(dataset.queries)} questions, {len(dataset.documents)} documents, {len(single[0])} passages"
        print(f"{dataset.name}: {n}; median cosine {cosine:.3f}", flush=True)


if __name__ == "__main__":
    main()
