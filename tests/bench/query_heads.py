"""Trains small heads for queries over the frozen bundled model: does a query find more that is thought about first?

`python tests/bench/query_heads.py PAIRS… --sets SET… --out FILE`: PAIRS are files of pairs as `training label` takes
them. Documents keep the vectors that they have; the vector of a query is normalise(v + gate normalise(P z)), where v is
the model's own and gate starts at 0. P, gate and what makes z are trained, by InfoNCE against the passages of all
pairs. The arms differ in z:

    linear      v itself: nothing more is read
    last        the hidden state of the query's last token
    echo        the mean of the hidden states of a second reading of the query, from the state after the first
    think       the mean of the hidden states of k soft tokens (GIRCSE), k = 1 … 4: InfoNCE at each k, and the
                regulariser
    before-N    as echo, but a new reading of the query behind N contextual tokens, which are linear in v (Causal2Vec)

Beside them stand ways without a training: `again`, the vector of the second reading alone, and `rocchio`, the query
moved towards its first passages. Scores are nDCG@10 by passages and excerpts. FILE is written after each arm; an arm
that is in it is not trained again. Printed: the mean over sets of the difference to v, with 95 % of paired bootstraps
over the queries of each set.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from arm_scores import difference
from query_head_arms import Asked, Head, Ids, Pieces, made, read_queries
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.our_vectors import OurVectors, passage_scores
from longsearch.engine.evaluation.ranked_spans import by_scores
from longsearch.engine.evaluation.scoring import score_system
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.hub import bundled_model
from longsearch.engine.models.matmamba import at_width
from longsearch.engine.training.data.pairs import Pair, read_pairs
from longsearch.engine.training.stages.losses import refinement, stepwise
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Student, read_all

TEMPERATURE = 0.05
SHOWN = {"think": (1, 2, 4)}
"""The numbers of soft tokens that are scored; other arms have one z."""
SHARES, FIRST = (0.1, 0.2), 3
"""Rocchio: how much the mean of the first passages weighs, and how many these are."""
Rows = dict[str, dict[str, Any]]
"""The figures of an arm by the names of their rows. MRR@10 of held-out pairs and nDCG@10 by query are among them."""


@dataclass(frozen=True, slots=True)
class Data:
    """The pairs that teach, those that are held out, and the sets."""

    taught: Asked
    held_out: Asked
    passages: Tensor
    """(n_taught + n_held_out, dim): the answers of both, in this order."""
    sets: dict[str, tuple[OurVectors, Asked]]
    pieces: Pieces


def train(head: Head, data: Data, steps: int, batch: int, rate: float, seed: int) -> float:
    """Train a head in place. Returns the seconds of processor time of a step."""
    fast = [head.gate]
    slow = [p for name, p in head.named_parameters() if name != "gate"]
    optimiser = torch.optim.AdamW([{"params": slow}, {"params": fast, "lr": 10 * rate}], rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, [rate, 10 * rate], total_steps=steps, pct_start=0.1)
    draw, began = torch.Generator().manual_seed(seed), time.process_time()
    for _ in range(steps):
        rows = torch.randint(len(data.taught.ids), (batch,), generator=draw)
        vectors = head(data.taught, rows)
        scores = vectors @ data.passages.T / TEMPERATURE  # (batch, k, passages)
        losses = torch.stack([F.cross_entropy(scores[:, k], rows) for k in range(scores.shape[1])])
        optimiser.zero_grad()
        (stepwise(losses) + refinement(losses)).backward()
        optimiser.step()
        schedule.step()
    return (time.process_time() - began) / steps


@torch.no_grad()
def vectors_of(head: Head, asked: Asked) -> Tensor:
    """Return the vectors (n, k, dim) of all queries."""
    return torch.cat([head(asked, rows) for rows in torch.arange(len(asked.ids)).split(128)])


def mrr(vectors: Tensor, data: Data) -> float:
    """Return MRR@10 of held-out queries among the passages of all pairs."""
    scores = vectors @ data.passages.T
    first = len(data.taught.ids)
    own = scores[torch.arange(len(scores)), first + torch.arange(len(scores))]
    rank = (scores > own[:, None]).sum(1) + 1
    return float(torch.where(rank <= 10, 1 / rank, 0.0).mean())


def ndcg(ours: OurVectors, queries: Vectors) -> list[float]:
    """Return nDCG@10 of each query of a set, by passages and excerpts."""
    given = ours.passage_vectors, ours.excerpt_vectors, ours.n_excerpts, ours.encoder.excerpt_weight
    values = score_system(ours.dataset, by_scores(ours.passages, passage_scores(queries, *given), 200))
    assert values is not None
    return [round(float(value), 4) for value in values["ndcg@10"]]


def moved(queries: Tensor, passages: Tensor, share: float) -> Tensor:
    """Return queries after Rocchio: the mean of their first passages weighs `share` beside them."""
    first = (queries @ passages.T).topk(FIRST).indices
    return F.normalize(queries + share * passages[first].mean(1), dim=-1)


def load(options: argparse.Namespace, student: Student, encoder: Encoder) -> Data:
    """Read pairs and sets by the frozen model; `encoder` reads the documents."""
    chosen: dict[str, Pair] = {}
    for pair in (pair for pair in read_pairs(options.pairs) if pair.kind != "ict"):
        chosen.setdefault(f"{pair.source} {pair.document}", pair)
        if len(chosen) == options.n_pairs + options.n_held_out:
            break

    def ids(texts: Sequence[str], most: int) -> list[Ids]:
        return [encoder.tokenizer.tokenize(text[: 16 * most]).ids[:most] for text in texts]

    queries = ids([pair.query for pair in chosen.values()], 48)
    answers = ids([pair.passage for pair in chosen.values()], 160)
    cache = VectorCache(options.cache)
    key = [encoder.fingerprint, str(options.width), *(own.tobytes().hex() for own in answers)]
    passages = cache.vectors("pairs", key, lambda: read_all(student, answers, options.width))
    student.model = at_width(student.model, options.width)
    counts = torch.bincount(
        torch.from_numpy(np.concatenate(queries + answers)), minlength=len(student.token_log_weight)
    )
    sets = {}
    for path in options.sets:
        dataset = load_dataset(path).limited(options.queries)
        ours = OurVectors(dataset, encoder, None, options.width, cache)
        sets[dataset.name] = ours, read_queries(student, ids([query.text for query in dataset.queries], 64))
        print(f"{dataset.name}: {len(ours.passage_vectors)} passages, {len(dataset.queries)} queries", flush=True)
    kept = counts.topk(options.pieces).indices
    n = options.n_pairs
    taught, held_out = read_queries(student, queries[:n]), read_queries(student, queries[n:])
    return Data(taught, held_out, torch.from_numpy(passages), sets, (kept, counts[kept]))


def run_arm(name: str, seed: int, student: Student, data: Data, options: argparse.Namespace) -> Rows:
    """Train and score one arm with one seed."""
    torch.manual_seed(seed)
    head = made(name, student, data.pieces)
    seconds = train(head, data, options.steps, options.batch, options.rate, seed)
    held_out = vectors_of(head, data.held_out)
    found = {set_name: vectors_of(head, asked).numpy() for set_name, (_, asked) in data.sets.items()}
    rows: Rows = {}
    for k in SHOWN.get(name, (1,)):
        rows[f"{name} {k}" if name in SHOWN else name] = {
            "gate": float(head.gate.detach()),
            "step_s": seconds,
            "mrr": mrr(held_out[:, k - 1], data),
            "ndcg": {of: ndcg(data.sets[of][0], vectors[:, k - 1]) for of, vectors in found.items()},
        }
    return rows


def run_untrained(student: Student, data: Data) -> Rows:
    """Score v itself and the ways without a training."""
    ways: Rows = {"v": {}, "again": {}} | {f"rocchio {share}": {} for share in SHARES}

    def vectors(way: str, asked: Asked, passages: Tensor) -> Tensor:
        if way.startswith("rocchio"):
            return moved(asked.vectors, passages, float(way.split()[1]))
        return student.project(asked.again) if way == "again" else asked.vectors

    for way, told in ways.items():
        told["mrr"] = mrr(vectors(way, data.held_out, data.passages), data)
        told["ndcg"] = {
            name: ndcg(ours, vectors(way, asked, torch.from_numpy(ours.passage_vectors)).numpy())
            for name, (ours, asked) in data.sets.items()
        }
    return ways


def summary(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return a line for each row: its difference to v over all sets, the mean of its seeds, and each seed."""
    base = [np.array(values) for values in results["v"]["-"]["ndcg"].values()]
    lines = [f"{'v':20} {100 * float(np.mean([row.mean() for row in base])):.2f}"]
    for name, by_seed in results.items():
        seeds = [[np.array(values) for values in told["ndcg"].values()] for told in by_seed.values()]
        mean, low, high = difference([np.mean(columns, axis=0) for columns in zip(*seeds, strict=True)], base)
        each = " ".join(f"{100 * difference(own, base, 10)[0]:+.2f}" for own in seeds)
        lines.append(f"{name:20} {100 * mean:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]  {each}")
    return "\n".join(lines)


def main() -> None:
    """Train and score all arms."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("pairs", type=Path, nargs="+")
    add("--sets", type=Path, nargs="+", required=True, metavar="SET")
    add("--out", type=Path, required=True, metavar="FILE", help="scores of each query, as JSON")
    add("--cache", type=Path, metavar="DIR", help="folder for vectors of documents")
    add("--arms", nargs="+", default=["linear", "last", "echo", "think", "before-4"])
    add("--seeds", type=int, nargs="+", default=[0, 1, 2])
    add("--steps", type=int, default=96)
    add("--batch", type=int, default=64, help="queries of a step")
    add("--rate", type=float, default=5e-4)
    add("--n-pairs", type=int, default=6144)
    add("--n-held-out", type=int, default=512)
    add("--queries", type=int, default=200, help="queries of a set at most")
    add("--pieces", type=int, default=4096, help="pieces of the vocabulary that soft tokens are made of")
    add("--width", type=float, default=0.25, help="of the frozen model, for queries and documents")
    options = parser.parse_args()
    torch.set_num_threads(1)
    student, _ = load_student(bundled_model(), "cpu", torch.float32)
    student.requires_grad_(False).eval()
    data = load(options, student, Encoder.open(dtype="float32", device="cpu").at(options.width))
    results = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {"v": {}}
    jobs: list[tuple[str, str, Callable[[], Rows]]] = [("v", "-", partial(run_untrained, student, data))]
    for seed in options.seeds:
        jobs += [(name, str(seed), partial(run_arm, name, seed, student, data, options)) for name in options.arms]
    for name, seed, run in jobs:
        first = f"{name} {SHOWN[name][0]}" if name in SHOWN else name
        if seed in results.get(first, {}):
            continue
        for row, told in run().items():
            results.setdefault(row, {})[seed] = told
            shown = {what: value for what, value in told.items() if what != "ndcg"}
            print(f"{time.process_time():.0f} s  {row} {seed}: {shown}", flush=True)
        options.out.write_text(json.dumps(results), "utf-8")
    print(summary(results))


if __name__ == "__main__":
    main()
