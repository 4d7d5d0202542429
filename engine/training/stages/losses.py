"""Loss functions of vectors. All vectors are unit rows (n, dim)."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

DISTILLATION_TEMPERATURE = 0.05
CONTRAST_TEMPERATURE = 0.02
_TWIN_COSINE = 0.999
_LEAST_LOSS = 1e-6
_COSINE_WEIGHT = 8.0  # brings 1 - cos, a few hundredths, to the size of the KL term


def cosine_distance(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean of 1 - cos between corresponding rows."""
    return 1 - (student * teacher).sum(-1).mean()


def similarity_kl(student_scores: Tensor, teacher_scores: Tensor, temperature: float, keep: Tensor) -> Tensor:
    """Return the mean over rows of KL(teacher || student) between softmax rows of scores (n, m).

    Columns where `keep` (n, m) is False are left out.
    """
    student_log = F.log_softmax(student_scores.masked_fill(~keep, -1e4) / temperature, dim=-1)
    teacher_log = F.log_softmax(teacher_scores.masked_fill(~keep, -1e4) / temperature, dim=-1)
    return F.kl_div(student_log, teacher_log, reduction="batchmean", log_target=True)


def distillation(student: Tensor, teacher: Tensor) -> Tensor:
    """Return 8 (1 - cos) + KL between the softmax rows of both sides' similarities in the batch, off the diagonal."""
    others = ~torch.eye(len(student), dtype=torch.bool, device=student.device)
    if len(student) < 2:
        return _COSINE_WEIGHT * cosine_distance(student, teacher)
    kl = similarity_kl(student @ student.T, teacher @ teacher.T, DISTILLATION_TEMPERATURE, others)
    return _COSINE_WEIGHT * cosine_distance(student, teacher) + kl


def info_nce(
    queries: Tensor, passages: Tensor, same: Tensor, temperature: float = CONTRAST_TEMPERATURE, both_ways: bool = True
) -> Tensor:
    """Return the mean over queries of -log softmax(cos(query, passages) / temperature) at the query's answer.

    This is equation 2 of Grantner et al. (arXiv 2604.18199). If `both_ways`, it is averaged with the same loss of each
    answer against all queries, which equation 2 does not have.

    queries (n, dim); passages (m, dim), m >= n: the first n answer the queries, the rest are hard negatives of all.
    same (n, m) is True where a passage is not a fair negative of a query (the same document, or a duplicate). The
    diagonal holds the answers and is never masked.
    """
    n = len(queries)
    answer = torch.eye(n, len(passages), dtype=torch.bool, device=queries.device)
    scores = (queries @ passages.T / temperature).masked_fill(same & ~answer, -torch.inf)
    target = torch.arange(n, device=queries.device)
    loss = F.cross_entropy(scores, target)
    return (loss + F.cross_entropy(scores[:, :n].T, target)) / 2 if both_ways else loss


def unfair_negatives(
    documents: Tensor, passage_documents: Tensor, passages: Sequence[NDArray[np.int64]], teacher: Tensor | None = None
) -> Tensor:
    """Return (n, m): True where query i and passage j have the same document, or passage j is a twin of the answer.

    documents (n,) and passage_documents (m,) are ids. Passages with equal token ids are twins; the first n of the m
    passages are the answers. teacher (k, dim), k <= m, holds unit vectors of the first k passages: two of them with a
    cosine above .999 are twins too. The student cannot change these vectors. Its own must never decide: an encoder
    that gives every text the same vector would make all passages twins and reach a loss of 0.
    """
    n, numbers = len(documents), dict[bytes, int]()
    texts = torch.tensor([numbers.setdefault(ids.tobytes(), len(numbers)) for ids in passages], device=documents.device)
    unfair = (documents[:, None] == passage_documents[None, :]) | (texts[:n, None] == texts[None, :])
    if teacher is not None:
        unfair[:, : len(teacher)] |= teacher[:n] @ teacher.T > _TWIN_COSINE
    return unfair


def stepwise(losses: Tensor) -> Tensor:
    """Return sum_k L_k of losses (K,), one for each number of soft tokens (GIRCSE, equation 7)."""
    return losses.sum()


def refinement(losses: Tensor) -> Tensor:
    """Return the mean over k < K of max(log L_{k+1} - log L_k, 0): 0 if every step improves (GIRCSE, equation 8).

    losses (K,) are clamped at 1e-6 from below: a batch may be solved completely. 0 for a single step.
    """
    logs = losses.clamp(min=_LEAST_LOSS).log()
    return F.relu(logs.diff()).mean() if len(losses) > 1 else losses.sum() * 0
