"""Measures a reader on held-out questions: the right sentence, the answer cut out, other passages, topics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from longsearch.engine.training.reader.batches import Shelf
from longsearch.engine.training.reader.library import HELD, TRANSFER, Library
from longsearch.engine.training.reader.sampling import (
    Ints,
    Rows,
    cut_rows,
    elsewhere_rows,
    joined,
    other_rows,
    positive_rows,
)

LOST = 0.04
"""The share of answerable questions that a threshold may lose."""
_RANKED = 8


@dataclass(frozen=True, slots=True)
class Exam:
    """Rows that stay the same for every reader."""

    name: str
    rows: Rows
    """The answering windows of all questions, then the cut ones, the other contexts, the changed queries."""
    parts: dict[str, tuple[int, int]]
    """Where each kind of row begins and ends."""
    of: dict[str, Ints]
    """For each kind, the question of each row, counted from 0."""
    sets: NDArray[np.str_]
    """The set of each question."""
    is_told: NDArray[np.bool_]
    """Whether at most two sentences of a question are right, so that choosing one can be counted."""


def set_exams(library: Library, most: int) -> list[Exam]:
    """Return the exams on held-out contexts, on the set that was kept whole, and on topics."""
    rng = np.random.default_rng(7)
    n_own = library.changed.size - int((library.changed >= 0).sum())
    own = np.arange(n_own)
    right = library.right[:n_own, 0, 0] >= 0
    topic = library.is_topic[:n_own]
    part = library.part[:n_own]
    pools = {"held": right & ~topic & (part == HELD), "transfer": right & ~topic & (part == TRANSFER)}
    exams = [_exam(name, library, rng.permutation(own[pool])[:most], rng) for name, pool in pools.items() if pool.any()]
    topics = rng.permutation(own[right & topic & (part == HELD)])[: most // 2]
    return [*exams, *([_exam("topics", library, topics, rng)] if len(topics) else [])]


def _exam(name: str, library: Library, queries: Ints, rng: np.random.Generator) -> Exam:
    positive = positive_rows(library, queries, rng)
    numbers = np.arange(len(queries))
    cut, sure = cut_rows(library, positive)
    away, away_sure = elsewhere_rows(library, positive, rng)
    changed = library.changed[queries]
    new = Rows(np.maximum(changed, 0).astype(np.int64), positive.runs, np.zeros(len(queries), bool), positive.kind)
    others = [other_rows(library, queries, rng) for _ in range(_RANKED - 1)]
    kinds = {
        "right": (positive, numbers), "cut": (cut.take(numbers[sure]), numbers[sure]),
        "elsewhere": (away.take(numbers[away_sure]), numbers[away_sure]),
        "other": (joined(others), np.tile(numbers, len(others))),
        "changed": (new.take(numbers[changed >= 0]), numbers[changed >= 0]),
    }  # fmt: skip
    ends = np.cumsum([len(rows.query) for rows, _ in kinds.values()])
    parts = {
        kind: (int(end) - len(rows.query), int(end)) for (kind, (rows, _)), end in zip(kinds.items(), ends, strict=True)
    }
    runs = library.right[queries]
    told = np.where(runs[:, :, 0] >= 0, runs[:, :, 1] - runs[:, :, 0], 0).sum(1) <= 2
    return Exam(
        name, joined([rows for rows, _ in kinds.values()]), parts, {kind: of for kind, (_, of) in kinds.items()},
        library.names[library.set_of[queries]], told,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Marks:
    """What a reader said of each row of an exam."""

    answers: NDArray[np.float32]
    relevance: NDArray[np.float32]
    chosen: NDArray[np.bool_]
    """Whether the best sentence is right."""
    sentences: NDArray[np.int64]
    """How many sentences there are to choose from."""


@torch.no_grad()
def mark(reader: nn.Module, shelf: Shelf, rows: Rows, size: int = 512) -> Marks:
    """Read all rows. Rows of like length are read together."""
    reader.eval()
    order = np.argsort(rows.lengths(shelf.library)[1], kind="stable")
    found = []
    for first in range(0, len(order), size):
        batch = shelf.batch(rows.take(order[first : first + size]))
        with torch.autocast(shelf.device, torch.bfloat16, enabled=shelf.device != "cpu"):
            scores = reader(batch)
        best = scores.sentences.argmax(1, keepdim=True)
        chosen = (batch.right.gather(1, best) | (batch.doubtful.gather(1, best) & batch.answers[:, None]))[:, 0]
        there = (scores.sentences > -5e3).sum(1)
        found.append(torch.stack((scores.answers.float(), scores.relevance.float(), chosen.float(), there.float())))
    whole = torch.cat(found, 1).cpu().numpy()
    back = np.empty_like(whole)
    back[:, order] = whole
    reader.train()
    return Marks(back[0], back[1], back[2] > 0, back[3].astype(np.int64))


def examine(reader: nn.Module, shelf: Shelf, exams: Sequence[Exam]) -> dict[str, Any]:
    """Return the figures of each exam, over all its questions and by set."""
    found: dict[str, Any] = {}
    threshold = None
    for exam in exams:
        marks = mark(reader, shelf, exam.rows)
        figures = _figures(exam, marks, np.ones(len(exam.sets), bool))
        names, counts = np.unique(exam.sets, return_counts=True)
        figures["sets"] = {
            str(name): _figures(exam, marks, exam.sets == name)
            for name, n in zip(names, counts, strict=True)
            if n >= 30
        }
        right = marks.answers[slice(*exam.parts["right"])]
        if threshold is None:
            threshold = float(np.quantile(right, LOST))
        figures["carried"] = {"lost": float((right < threshold).mean())} | {
            kind: float((marks.answers[slice(*exam.parts[kind])] < threshold).mean())
            for kind in ("cut", "elsewhere", "other", "changed") if len(exam.of[kind])
        }  # fmt: skip
        found[exam.name] = figures
    return found


def _figures(exam: Exam, marks: Marks, asked: NDArray[np.bool_]) -> dict[str, Any]:
    right = slice(*exam.parts["right"])
    several = asked & exam.is_told & (marks.sentences[right] > 1)
    found: dict[str, Any] = {"n": int(asked.sum()), "n_sentence": int(several.sum())}
    if several.any():
        found["sentence@1"] = float(marks.chosen[right][several].mean())
    answered = marks.answers[right][asked]
    for kind in ("cut", "elsewhere", "other", "changed"):
        own = asked[exam.of[kind]]
        if own.any():
            found[kind] = _told(answered, marks.answers[slice(*exam.parts[kind])][own])
    others = slice(*exam.parts["other"])
    for name in ("relevance", "answers"):
        values = getattr(marks, name)
        below = (values[others].reshape(_RANKED - 1, -1) < values[right]).all(0)
        found[f"first by {name}"] = float(below[asked].mean())
    return found


def _told(answered: NDArray[np.float32], absent: NDArray[np.float32]) -> dict[str, float]:
    """Return how well absent answers are told from answered ones: AUC, and the share told when 4 % are lost."""
    ranks = np.searchsorted(np.sort(absent), answered, "left") + np.searchsorted(np.sort(absent), answered, "right")
    lost = np.quantile(answered, LOST)
    return {
        "auc": float(ranks.mean() / 2 / len(absent)), "told": float((absent < lost).mean()), "n": len(absent),
    }  # fmt: skip
