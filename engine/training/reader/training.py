"""Trains one reader: the losses, the loop, and what is written as it goes."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.training.reader.batches import Batch, Shelf
from longsearch.engine.training.reader.examining import Exam, examine
from longsearch.engine.training.reader.model import Scores
from longsearch.engine.training.reader.sampling import CUT, Sampler, Shares

_TOPIC, _TOKEN, _RANK, _CUT_RANK, _TEACHER = 0.5, 0.3, 0.7, 0.3, 1.0
"""The weights of the parts of the loss, against that of a question's sentence."""
RATES = {"body": 3e-4, "heads": 1e-3, "mix": 5e-3}
SET_WEIGHTS = {"cuad-en": 0.25, "policyqa-en": 0.35, "fairytaleqa-en": 0.7, "squad1-train-sentences-en": 0.6}
"""How often the queries of a set come, beside those of the others: less where questions repeat or spans are coarse."""
_WARM_UP = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """One training."""

    pairs: int
    """Pairs to read; the rates fall towards their end."""
    minutes: float
    """The longest it may take: it ends earlier, with its rates down, if the pairs take longer."""
    shares: Shares
    """What a batch is made of."""
    seed: int = 0
    """The seed of all random draws."""
    rate: float = 1.0
    """A factor of all learning rates."""
    measure: int = 100_000
    """After how many pairs to measure, again and again."""


def sentence_loss(scores: Scores, batch: Batch, weight: Tensor) -> Tensor:
    """Return the weighted mean of -log of the share that the right sentences, or "none", have among all sentences."""
    logits = torch.cat((scores.sentences, scores.nothing[:, None]), 1)
    right = batch.right & (scores.sentences > -5e3)
    is_right = torch.cat((right, ~batch.answers[:, None]), 1)
    counted = torch.cat(
        (~(batch.doubtful & batch.answers[:, None]) | right, torch.ones_like(batch.answers[:, None])), 1
    )
    of_all = logits.masked_fill(~counted, -1e4).logsumexp(1)
    of_right = logits.masked_fill(~is_right, -1e4).logsumexp(1)
    weight = weight * is_right.any(1)
    return (weight * (of_all - of_right)).sum() / weight.sum().clamp(min=1e-6)


def token_loss(scores: Scores, batch: Batch) -> Tensor:
    """Return the mean of -log of the share of the answer's first token, or "none", among the tokens."""
    if scores.tokens is None:
        return scores.nothing.sum() * 0
    logits = torch.cat((scores.tokens, scores.nothing[:, None]), 1)
    target = torch.where(batch.answers, batch.answer_token, scores.tokens.shape[1])
    counted = (target >= 0).float()
    each = F.cross_entropy(logits, target.clamp(min=0), reduction="none")
    return (each * counted).sum() / counted.sum().clamp(min=1)


def rank_loss(scores: Scores, batch: Batch, groups: int) -> Tensor:
    """Return the mean of -log of the share of each group's answering window; a cut window weighs less."""
    relevance = scores.relevance[: 3 * groups].view(3, groups)
    is_cut = batch.kind[: 3 * groups].view(3, groups) == CUT
    relevance = relevance + torch.where(is_cut, torch.tensor(_CUT_RANK, device=relevance.device).log(), 0.0)
    return (relevance.logsumexp(0) - relevance[0]).mean()


def teacher_loss(scores: Scores, taught: Scores, groups: int) -> Tensor:
    """Return how far the scores are from a teacher's: over sentences and none, and over the windows of a group."""
    own = torch.cat((scores.sentences, scores.nothing[:, None]), 1).log_softmax(1)
    other = torch.cat((taught.sentences, taught.nothing[:, None]), 1).log_softmax(1)
    ranks = [scored.relevance[: 3 * groups].view(3, groups).log_softmax(0) for scored in (scores, taught)]
    rank = F.kl_div(ranks[0], ranks[1], log_target=True, reduction="sum") / groups
    return F.kl_div(own, other, log_target=True, reduction="batchmean") + _RANK * rank


class Training:
    """One training: its reader, its optimiser, and what it measured."""

    def __init__(self, plan: Plan, reader: nn.Module, shelf: Shelf, teacher: nn.Module | None = None) -> None:
        self.plan, self.reader, self.shelf = plan, reader.to(shelf.device), shelf
        self.teacher = teacher.to(shelf.device).eval() if teacher else None
        self.curve: list[dict[str, Any]] = []
        self._topics = torch.from_numpy(shelf.library.is_topic).to(shelf.device)
        self._optimiser = _optimiser(reader, plan.rate)

    def run(self, marked: list[Exam]) -> int:
        """Train, measure on the exams `marked` as it goes, and return the number of pairs that were read."""
        torch.manual_seed(self.plan.seed)
        plan, began = self.plan, time.monotonic()
        pairs, next_mark, mean = 0, plan.measure, torch.zeros((), device=self.shelf.device)
        self.reader.train()
        for step, batch in enumerate(self._batches()):
            seconds = time.monotonic() - began
            done = max(pairs / plan.pairs, seconds / max(60 * plan.minutes, 1e-3))
            if done >= 1:
                break
            if pairs >= next_mark:
                next_mark += plan.measure
                self._measure(pairs, seconds, float(mean), marked)
            for group in self._optimiser.param_groups:
                group["lr"] = group["base"] * min(1.0, (step + 1) / _WARM_UP) * (1 - 0.97 * done)
            loss = self._loss(batch)
            self._optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
            self._optimiser.step()
            mean = 0.98 * mean + 0.02 * loss.detach()
            pairs += len(batch.number)
        return pairs

    def _batches(self) -> Iterator[Batch]:
        """Yield batches; the next is drawn in a thread while this one trains."""
        drawn = Sampler(self.shelf.library, SET_WEIGHTS, self.plan.shares, self.plan.seed).batches()
        with ThreadPoolExecutor(1) as thread:
            coming = thread.submit(lambda: self.shelf.batch(next(drawn)))
            while True:
                batch = coming.result()
                coming = thread.submit(lambda: self.shelf.batch(next(drawn)))
                yield batch

    def _loss(self, batch: Batch) -> Tensor:
        on_gpu = self.shelf.device != "cpu"
        groups = self.plan.shares.groups
        with torch.autocast(self.shelf.device, torch.bfloat16, enabled=on_gpu):
            scores = self.reader(batch)
            taught = None
            if self.teacher is not None:
                with torch.no_grad():
                    taught = self.teacher(batch)
        weight = torch.where(self._topics[batch.number], _TOPIC, 1.0)
        loss = sentence_loss(scores, batch, weight) + _TOKEN * token_loss(scores, batch)
        loss = loss + _RANK * rank_loss(scores, batch, groups)
        return loss if taught is None else loss + _TEACHER * teacher_loss(scores, taught, groups)

    def _measure(self, pairs: int, seconds: float, loss: float, exams: list[Exam]) -> None:
        point: dict[str, Any] = {"pairs": pairs, "seconds": round(seconds, 1), "loss": loss}
        for name, figures in examine(self.reader, self.shelf, exams).items():
            point[name] = {key: value for key, value in figures.items() if key != "sets"}
        self.curve.append(point)
        print(json.dumps(point), flush=True)


def _optimiser(reader: nn.Module, rate: float) -> torch.optim.AdamW:
    by_kind: dict[str, list[Tensor]] = {"body": [], "heads": [], "mix": []}
    for name, parameter in reader.named_parameters():
        if parameter.requires_grad:
            by_kind["body" if name.startswith("body.") else "mix" if name == "mix" else "heads"].append(parameter)
    groups = [{"params": found, "lr": 0.0, "base": RATES[kind] * rate} for kind, found in by_kind.items() if found]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)


def write_figures(path: Path, plan: Plan, pairs: int, training: Training, final: list[Exam]) -> None:
    """Measure a finished training on the exams `final`, and write all figures as JSON."""
    end = examine(training.reader, training.shelf, final)
    path.write_text(json.dumps({"plan": asdict(plan), "pairs": pairs, "curve": training.curve, "end": end}), "utf-8")


def save(reader: nn.Module, idf: Tensor, path: Path) -> None:
    """Write the trained weights and the tokens' weights in float16, without the table, which is the bundled model's."""
    tensors = {**reader.state_dict(), "idf": idf}
    save_file({name: tensor.detach().half().cpu().contiguous() for name, tensor in tensors.items()}, path)


def load(reader: nn.Module, path: Path) -> None:
    """Read weights that `save` wrote."""
    reader.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items() if name != "idf"})
