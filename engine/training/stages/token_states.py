"""Teaches a student the states of tokens, the vectors and the scores of a teacher that reads beside it.

A text gives one vector to learn from, but hundreds of states, and these say how words of any subject are understood.
The idea is that of TinyBERT (Jiao et al., arXiv 1909.10351) and of MOHAWK (Bick et al., arXiv 2408.10189), which
compares the states after each block too. Scores against a queue of the teacher's vectors teach which of two near texts
is the nearer. docs/training.md#states-of-tokens says what each part brings.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.training.data.batches import Batches
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.stages.loop import StepLoss
from longsearch.engine.training.stages.losses import (
    DISTILLATION_TEMPERATURE,
    cosine_distance,
    info_nce,
    similarity_kl,
    unfair_negatives,
)
from longsearch.engine.training.stages.pair_stages import PairOptions, kl_to_scores, n_tokens, source_of
from longsearch.engine.training.student.student import Padded, Student
from longsearch.engine.training.teachers.state_teacher import StateTeacher, TokenStates

_LEAST_SPREAD = 0.25  # of the median: else channels that hardly vary would count most
_OWN_OPENING = "ict"  # a kind of pairs: the query is the passage's first sentence, which asks for nothing
_QUEUE = 768
"""The teacher's vectors that the queue keeps of each source, and of all sources together."""
_OF_A_BATCH = 8  # vectors of a batch that the queue of all sources takes, so that one batch does not fill it


@dataclass(frozen=True, slots=True)
class _Read:
    """The vectors of student and teacher, of the queries or of the passages of a batch."""

    student: Tensor
    """(n, dim), the student's unit vectors."""
    teacher: Tensor
    """(n, dim), the teacher's."""
    differences: Tensor
    """(layers,) how far their states differ; (0,) if the slow twin had to read, which keeps no states."""
    n_tokens: int


class States:
    """The stage. It needs no labels: the teacher reads each text during the training."""

    def __init__(
        self, student: Student, pairs: PairSet, options: PairOptions, teacher: StateTeacher, prompter: Prompter
    ) -> None:
        self._student, self._pairs, self._options, self._prompter = student, pairs, options, prompter
        self._teacher, self._of_queries = teacher, teacher.of_queries
        self._queue = Queue(_QUEUE, len(student.projection), student.device)
        self.batches = Batches(pairs, options.seed, options.sampling)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of a batch of pairs of one source. After a resumption the queue is empty."""
        o, pairs = self._options, self._pairs
        rows = self._rows(step)
        source, kind = source_of(pairs, rows), pairs.kind_names[int(pairs.kinds[rows[0]])]
        taught_passages = self._teacher([pairs.passages[row] for row in rows])
        passages = self._read(taught_passages, taught_passages.ids, 0, width)
        taught_queries = self._of_queries([pairs.queries[row] for row in rows])
        prompted = self._prompter(taught_queries.ids, kind, o.seed, step)
        queries = self._read(taught_queries, prompted, self._prompter.n_tokens(kind, o.seed, step), width)
        differences = (passages.differences + queries.differences) / 2
        terms = self._scored(queries, passages, source)
        if kind != _OWN_OPENING:
            documents = torch.from_numpy(pairs.documents[rows]).to(self._student.device)
            same = unfair_negatives(documents, documents, taught_passages.ids, passages.teacher)
            terms["nce"] = info_nce(queries.student, passages.student, same, o.temperature, o.both_ways)
        if len(differences):
            terms["states"] = differences.mean()
        weights = {
            "nce": o.contrast_weight, "cosine_distance": o.cosine_weight, "states": o.states_weight,
            "kl": o.scores_weight, "queue_kl": o.scores_weight,
        }  # fmt: skip
        loss = torch.stack([weights[name] * term for name, term in terms.items()]).sum()
        figures = {name: term.item() for name, term in terms.items()}
        figures |= {f"layer_{i}": difference.item() for i, difference in enumerate(differences, 1)}
        return StepLoss(loss, passages.n_tokens + queries.n_tokens, figures, {"source": source})

    def _rows(self, step: int) -> NDArray[np.int64]:
        """Draw pairs whose queries and passages together have about as many tokens as a batch may have."""
        o = self._options
        rows = self.batches.draw(step, o.batch_tokens, o.max_pairs)
        total = np.cumsum(self._pairs.passages.lengths[rows] + self._pairs.queries.lengths[rows])
        return rows[: max(2, int(np.searchsorted(total, o.batch_tokens)))]

    def _read(self, taught: TokenStates, texts: list[NDArray[np.int64]], n_instruction: int, width: float) -> _Read:
        """Read `texts`, which are those of `taught` after an instruction of `n_instruction` tokens."""
        device = self._student.device
        vectors, layers = self._student.with_layers(Padded.of(texts, device, n_instruction), width)
        rows, places = compared(taught, texts)
        differences = [
            state_difference(mine[taught.rows[rows], places], theirs[rows].to(device))
            for mine, theirs in zip(layers, taught.layers, strict=bool(layers))
        ]
        by_layer = torch.stack(differences) if differences else torch.zeros(0, device=device)
        return _Read(vectors, taught.vectors.to(device), by_layer, n_tokens(texts))

    def _scored(self, queries: _Read, passages: _Read, source: str) -> dict[str, Tensor]:
        """Return 1 - cos to the teacher's vectors, and the KL to its scores in the batch and against the queue."""
        own, taught = torch.cat((queries.student, passages.student)), torch.cat((queries.teacher, passages.teacher))
        references = torch.cat((taught, self._queue.vectors(source)))
        others = torch.ones(len(own), len(references), dtype=torch.bool, device=own.device)
        others[:, : len(own)].fill_diagonal_(False)
        self._queue.add(source, passages.teacher)
        both = torch.cat((passages.teacher, queries.teacher))
        return {
            "cosine_distance": cosine_distance(own, taught),
            "queue_kl": similarity_kl(own @ references.T, taught @ references.T, DISTILLATION_TEMPERATURE, others),
            "kl": kl_to_scores(queries.student, passages.student, queries.teacher @ both.T, DISTILLATION_TEMPERATURE),
        }


def compared(taught: TokenStates, texts: list[NDArray[np.int64]]) -> tuple[Tensor, Tensor]:
    """Return which of the tokens of `taught` are compared, and the place of each in its text of `texts`.

    A text of `texts` is that of `taught` after an instruction. It is left out if the instruction changed its pieces.
    """
    starts = [len(text) - len(ids) for text, ids in zip(texts, taught.ids, strict=True)]
    same = [
        start >= 0 and np.array_equal(text[start:], ids)
        for start, text, ids in zip(starts, texts, taught.ids, strict=True)
    ]
    rows = torch.tensor(same)[taught.rows].nonzero()[:, 0]
    return rows, taught.places[rows] + torch.tensor(starts)[taught.rows[rows]]


def state_difference(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean squared difference of states (n, dim), as a share of each channel's variance in the teacher."""
    spread = teacher.std(0)
    spread = spread.clamp(min=_LEAST_SPREAD * float(spread.median()) + 1e-6)
    return ((student - teacher) / spread).square().mean()


class Queue:
    """Keeps the teacher's last `length` vectors of each source, and of all (SEED, arXiv 2101.04731)."""

    def __init__(self, length: int, dim: int, device: torch.device) -> None:
        self._length = length
        self._empty = torch.zeros(0, dim, device=device)
        self._of_source: dict[str, Tensor] = {}
        self._of_all = self._empty

    def vectors(self, source: str) -> Tensor:
        """Return (m, dim), m <= 2 `length`: those of `source`, whose texts are nearest, then those of all sources."""
        return torch.cat((self._of_source.get(source, self._empty), self._of_all))

    def add(self, source: str, vectors: Tensor) -> None:
        """Keep the unit vectors (n, dim) of a batch, and let go of the oldest."""
        kept = self._of_source.get(source, self._empty)
        self._of_source[source] = torch.cat((vectors, kept))[: self._length]
        self._of_all = torch.cat((vectors[:_OF_A_BATCH], self._of_all))[: self._length]
