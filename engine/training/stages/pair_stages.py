"""The stages that learn from pairs: stage 1, the teacher's vectors; stage 2, which passage answers which query."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training.data.batches import DEFAULT_SAMPLING, Batches, Sampling, pick
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.stages.gradient_cache import read_in_pieces
from longsearch.engine.training.stages.loop import Stage, StepLoss
from longsearch.engine.training.stages.losses import (
    CONTRAST_TEMPERATURE,
    DISTILLATION_TEMPERATURE,
    cosine_distance,
    distillation,
    info_nce,
    similarity_kl,
    unfair_negatives,
)
from longsearch.engine.training.stages.words import Words
from longsearch.engine.training.student.student import Padded, Trainable

_NO_DOCUMENT = -1  # the id of a hard negative's document; hashes of documents are not negative
_OTHER_DRAW = 1 << 40  # so that stage and width are drawn independently


@dataclass(frozen=True, slots=True)
class PairOptions:
    """Options of the stages that learn from pairs."""

    seed: int = 0
    batch_tokens: int = 8192
    """Passage tokens of a step, with padding."""
    max_pairs: int = 128
    hard_share: float = 0.5
    """Share of a batch whose passages are near each other by the teacher."""
    contrast_weight: float = 0.25
    """Weight of InfoNCE beside the KL to the teacher's similarities."""
    cosine_weight: float = 4.0
    """Weight of 1 - cos to the teacher's vectors."""
    both_ways: bool = True
    """Whether passages must also find their queries in InfoNCE. Equation 2 of the paper has queries only."""
    max_tokens: int | None = None
    """Tokens of a text that `Contrast` reads at most, with the instruction; None: all that the shards keep."""
    accumulate: int = 1
    """Pieces that `Contrast` reads a batch in, one at a time; the gradient is that of the whole batch."""
    sampling: Sampling = DEFAULT_SAMPLING
    temperature: float = CONTRAST_TEMPERATURE
    """tau of InfoNCE in `Contrast` and `States`."""
    states_weight: float = 1.0
    """Weight of the differences of token states in `States`."""
    scores_weight: float = 0.5
    """Weight of each of the two KL terms of `States`."""


class Distillation:
    """Stage 1: distil the teacher's vectors of queries and passages as single texts."""

    def __init__(self, student: Trainable, pairs: PairSet, options: PairOptions) -> None:
        """Raises LongsearchError if the pairs are not labelled."""
        self._student, self._pairs, self._options = student, pairs, options
        self._queries, self._passages = labels_of(pairs)
        self.batches = Batches(pairs, options.seed, options.sampling)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of passages in three steps of four, and of the much shorter queries in the fourth."""
        o, pairs = self._options, self._pairs
        of_queries = step % 4 == 3
        tokens = o.batch_tokens // 2 if of_queries else o.batch_tokens
        rows = self.batches.draw(step, tokens, o.max_pairs)
        texts, labels = (pairs.queries, self._queries) if of_queries else (pairs.passages, self._passages)
        ids = [texts[row] for row in rows]
        vectors = self._student(Padded.of(ids, self._student.device), width)
        teacher = on_device(labels[rows], self._student)
        loss = distillation(vectors, teacher)
        cosine = float(cosine_distance(vectors.detach(), teacher))
        return StepLoss(loss, n_tokens(ids), {"cosine_distance": cosine}, {"source": source_of(pairs, rows)})


class Contrast:
    """Stage 2: InfoNCE over the batch, half of it near passages; with labels, also the teacher's scores and vectors.

    The negatives of a query are the passages of the other pairs and the hard negatives of all pairs of the batch.
    """

    def __init__(
        self, student: Trainable, pairs: PairSet, options: PairOptions, prompter: Prompter, words: Words | None = None
    ) -> None:
        """If `words` are given, the targets mix the teacher's scores and vectors with those of the words."""
        self._student, self._pairs, self._options, self._prompter = student, pairs, options, prompter
        self._words = words
        self.batches = Batches(pairs, options.seed, options.sampling)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of a batch of pairs of one source."""
        o, pairs = self._options, self._pairs
        rows = self.batches.draw(step, o.batch_tokens, o.max_pairs, o.hard_share)
        kind = pairs.kind_names[int(pairs.kinds[rows[0]])]
        queries = self._prompter([pairs.queries[row] for row in rows], kind, o.seed, step)
        passages = [pairs.passages[row] for row in rows]
        negatives = [ids for row in rows for ids in pairs.hard_negatives.of(int(row))]
        queries, passages, negatives = ([t[: o.max_tokens] for t in ids] for ids in (queries, passages, negatives))
        q = self._read(queries, width, self._prompter.n_tokens(kind, o.seed, step))
        p = self._read(passages, width)
        hard = self._read(negatives, width) if negatives else p[:0]
        terms = self._contrasted(q, torch.cat((p, hard)), rows, passages + negatives)
        terms |= self._taught(q, p, rows, passages)
        weights = {"kl": 1.0, "cosine_distance": o.cosine_weight}
        loss = torch.stack([weights.get(name, o.contrast_weight) * term for name, term in terms.items()]).sum()
        figures = {name: value.item() for name, value in terms.items()} | {"pairs": float(len(rows))}
        return StepLoss(loss, n_tokens(queries + passages + negatives), figures, {"source": source_of(pairs, rows)})

    def _read(self, texts: list[NDArray[np.int64]], width: float, n_instruction: int = 0) -> Tensor:
        return read_in_pieces(self._student, texts, width, self._options.accumulate, n_instruction)

    def _contrasted(
        self, q: Tensor, p: Tensor, rows: NDArray[np.int64], texts: list[NDArray[np.int64]]
    ) -> dict[str, Tensor]:
        """Return the terms of InfoNCE. p (m, dim) and `texts` are as in `_nce`."""
        return {"nce": self._nce(q, p, rows, texts)}

    def _nce(self, q: Tensor, p: Tensor, rows: NDArray[np.int64], texts: list[NDArray[np.int64]]) -> Tensor:
        """Return InfoNCE. p (m, dim) and `texts` are the passages of `rows`, then the hard negatives."""
        documents = torch.from_numpy(self._pairs.documents[rows]).to(q.device)
        of_texts = F.pad(documents, (0, len(texts) - len(rows)), value=_NO_DOCUMENT)
        vectors = self._pairs.passage_vectors
        teacher = None if vectors is None else on_device(vectors[rows], self._student)
        same = unfair_negatives(documents, of_texts, texts, teacher)
        o = self._options
        return info_nce(q, p, same, o.temperature, o.both_ways)

    def _taught(
        self, q: Tensor, p: Tensor, rows: NDArray[np.int64], passages: list[NDArray[np.int64]]
    ) -> dict[str, Tensor]:
        """Return the terms that compare the student with the teacher; none if the pairs have no labels."""
        if self._pairs.query_vectors is None or self._pairs.passage_vectors is None:
            return {}
        teacher_q = on_device(self._pairs.query_vectors[rows], self._student)
        teacher_p = on_device(self._pairs.passage_vectors[rows], self._student)
        scores = teacher_q @ torch.cat((teacher_p, teacher_q)).T
        temperature = DISTILLATION_TEMPERATURE
        if self._words:
            queries = [self._pairs.queries[row] for row in rows]
            scores = self._words.mixed_scores(scores, queries, passages + queries)
            teacher_q = self._words.mixed_vectors(teacher_q, queries)
            teacher_p = self._words.mixed_vectors(teacher_p, passages)
            temperature *= 1 - self._words.share  # mixing shrinks the differences by this factor
        terms = {"kl": kl_to_scores(q, p, scores, temperature)}
        # a larger model's vectors have more dimensions than the teacher's: then there is no cosine
        if q.shape == teacher_q.shape:
            terms["cosine_distance"] = (cosine_distance(q, teacher_q) + cosine_distance(p, teacher_p)) / 2
        return terms


class Mixture:
    """Runs two stages by turns: a model that reads only long documents forgets what pairs taught it."""

    def __init__(self, main: Stage, other: Stage, other_share: float, seed: int) -> None:
        self._stages, self._weights, self._seed = (main, other), (1 - other_share, other_share), seed

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of one of the two stages, drawn by weight."""
        return self._stages[pick(self._weights, self._seed, step + _OTHER_DRAW)](step, width)


def kl_to_scores(q: Tensor, p: Tensor, scores: Tensor, temperature: float) -> Tensor:
    """Return the KL to `scores` (n, 2n) of queries with passages and queries; the latter separate near queries."""
    others = torch.ones(scores.shape, dtype=torch.bool, device=q.device)
    others[:, len(p) :].fill_diagonal_(False)
    return similarity_kl(q @ torch.cat((p, q)).T, scores, temperature, others)


def labels_of(pairs: PairSet) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    """Return the teacher's vectors of queries and of passages. Raises LongsearchError if there are none."""
    if pairs.query_vectors is None or pairs.passage_vectors is None:
        raise LongsearchError(
            "the shards have no teacher's vectors", "run `python -m longsearch.engine.training label` first"
        )
    return pairs.query_vectors, pairs.passage_vectors


def on_device(vectors: NDArray[np.float16], student: Trainable) -> Tensor:
    """Return rows of labels in float32 on the student's device, normalised again after float16."""
    rows = torch.from_numpy(vectors).to(student.device).float()
    return F.normalize(rows, dim=-1)


def n_tokens(rows: list[NDArray[np.int64]]) -> int:
    """Return the number of tokens of all texts."""
    return sum(len(row) for row in rows)


def source_of(pairs: PairSet, rows: NDArray[np.int64]) -> str:
    """Return the source of a batch, all of whose pairs come from one."""
    return pairs.source_names[int(pairs.sources[rows[0]])]
