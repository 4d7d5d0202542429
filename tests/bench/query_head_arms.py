"""The arms of query_heads.py: queries that the frozen model has read, and the heads that move their vectors."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.mamba2 import Mamba2State
from longsearch.engine.papers.gircse.soft_tokens import SoftTokens, generate
from longsearch.engine.training.student.student import Padded, Student

THOUGHTS = 4
"""K of the arm `think`."""
Ids = NDArray[np.int64]
Pieces = tuple[Tensor, Tensor]
"""(n,) ids of the pieces that soft tokens are made of, and (n,) how often each occurs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Queries, read once by the frozen model; (n, d_model) each."""

    ids: list[Ids]
    vectors: Tensor
    last: Tensor
    again: Tensor
    conv: list[Tensor]
    """For each layer the state after the query, in float16 as `ssm`."""
    ssm: list[Tensor]

    def state(self, rows: Tensor) -> Mamba2State:
        """Return the states of some rows."""
        conv, ssm = (tuple(t[rows].float() for t in tensors) for tensors in (self.conv, self.ssm))
        return Mamba2State(conv, ssm)


@torch.no_grad()
def read_queries(student: Student, ids: list[Ids]) -> Asked:
    """Read queries twice, those of one length together."""
    by_length = defaultdict[int, list[int]](list)
    for row, own in enumerate(ids):
        by_length[len(own)].append(row)
    batches = [rows[i : i + 128] for rows in by_length.values() for i in range(0, len(rows), 128)]
    parts = []
    for rows in batches:
        tokens = torch.from_numpy(np.stack([ids[row] for row in rows]))
        hidden, state = student.model.step(tokens, student.model.initial_state(len(rows)))
        twice, _ = student.model.step(tokens, state)
        vectors = student.project(student.weighted(hidden, tokens).sum(1))
        again = student.weighted(twice, tokens).sum(1) / student.token_log_weight[tokens].exp().sum(1, keepdim=True)
        parts.append((vectors, hidden[:, -1], again, *(t.half() for t in (*state.conv, *state.ssm))))
    order = torch.from_numpy(np.argsort(np.concatenate(batches)))
    vectors, last, again, *states = (torch.cat(column)[order] for column in zip(*parts, strict=True))
    n_layers = len(states) // 2
    return Asked(ids, vectors, last, again, states[:n_layers], states[n_layers:])


class Head(nn.Module):
    """P and gate; `z` is that of the arms `linear`, `last` and `echo`."""

    def __init__(self, student: Student, made: Callable[[Asked], Tensor]) -> None:
        super().__init__()
        self.projection = nn.Parameter(student.projection.clone())
        self.gate = nn.Parameter(torch.zeros(()))
        self._made = made

    def z(self, asked: Asked, rows: Tensor) -> Tensor:
        """Return (n, k, d_model), one z for each k."""
        return self._made(asked)[rows][:, None]

    def forward(self, asked: Asked, rows: Tensor) -> Tensor:
        """Return the unit vectors (n, k, d_model) of some queries."""
        moved = F.normalize(self.z(asked, rows) @ self.projection.T, dim=-1)
        return F.normalize(asked.vectors[rows][:, None] + self.gate * moved, dim=-1)


class Think(Head):
    """The arm `think`: soft tokens over the pieces that are most frequent in the pairs."""

    def __init__(self, student: Student, pieces: Pieces) -> None:
        """Begin with the mean of all pieces by frequency, as `new_soft_tokens` does."""
        kept, counts = pieces
        super().__init__(student, lambda asked: asked.last)
        size = student.model.config.d_model
        frequency = (counts.float() + 1) / (counts.sum() + len(counts))
        self.soft = SoftTokens(torch.zeros(size, size), frequency.log())
        self._model, self._table = (student.model,), student.model.embeddings.weight[kept]

    def z(self, asked: Asked, rows: Tensor) -> Tensor:
        """See `Head`."""
        step, state = self._model[0].step_embedded, asked.state(rows)
        made = generate(step, self._table, self.soft, asked.last[rows], state, THOUGHTS)
        return made.cumsum(1) / torch.arange(1, THOUGHTS + 1)[:, None]


class Before(Head):
    """The arm `before-N`."""

    def __init__(self, student: Student, n: int) -> None:
        super().__init__(student, lambda asked: asked.vectors)
        self.tokens = nn.Linear(student.model.config.d_model, n * student.model.config.d_model)
        nn.init.zeros_(self.tokens.weight)
        nn.init.zeros_(self.tokens.bias)
        self._student, self.n = (student,), n

    def z(self, asked: Asked, rows: Tensor) -> Tensor:
        """See `Head`."""
        (student,) = self._student
        texts = Padded.of([asked.ids[row] for row in rows.tolist()], "cpu")
        first = self.tokens(asked.vectors[rows]).unflatten(-1, (self.n, -1))
        embedded = torch.cat((first, student.model.embeddings(texts.tokens).float()), 1)
        hidden, _ = student.model.step_embedded(embedded, student.model.initial_state(len(rows)))
        weight = student.token_log_weight[texts.tokens].exp() * texts.mask
        mean = (hidden[:, self.n :] * weight[..., None]).sum(1) / weight.sum(1, keepdim=True)
        return mean[:, None]


def made(name: str, student: Student, pieces: Pieces) -> Head:
    """Return the untrained head of an arm."""
    if name == "think":
        return Think(student, pieces)
    if name.startswith("before-"):
        return Before(student, int(name.partition("-")[2]))
    plain: dict[str, Callable[[Asked], Tensor]] = {
        "linear": lambda asked: asked.vectors,
        "last": lambda asked: asked.last,
        "echo": lambda asked: asked.again,
    }
    return Head(student, plain[name])
