"""Scores a student on evaluation sets, query by query, so that two trainings can be compared in pairs."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from longsearch.engine.evaluation.datasets import Dataset
from longsearch.engine.evaluation.metrics import ndcg, reciprocal_rank
from longsearch.engine.models.readout_config import INSTRUCTION_TEMPLATE
from longsearch.engine.training.data.instructions import GENERAL
from longsearch.engine.training.student.student import Padded, WholeStudent

_CHARACTERS = 16  # of a token at most, on average: what comes later cannot be among the tokens that are read


@dataclass(frozen=True, slots=True)
class Task:
    """The first queries of a set and the documents they are searched among, as token ids."""

    name: str
    queries: list[NDArray[np.int64]]
    """Each begins with the instruction."""
    documents: list[NDArray[np.int64]]
    """Those that answer a query, filled up with others."""
    gains: list[dict[int, int]]
    """For each query, the gains of the documents by their place in `documents`."""
    ideals: list[NDArray[np.float64]]
    """For each query, all its gains, the highest first."""
    n_instruction: int
    """Tokens of the instruction."""


def task_of(dataset: Dataset, tokenizer: Tokenizer, n_queries: int, n_documents: int, max_tokens: int) -> Task:
    """Cut each text at `max_tokens`, and the set at `n_queries` and `n_documents`."""
    queries = dataset.queries[:n_queries]
    answers = {document for query in queries for document in dataset.qrels[query.id]}
    by_need = sorted(dataset.documents, key=lambda document: document.id not in answers)[:n_documents]

    def ids(texts: list[str]) -> list[NDArray[np.int64]]:
        cut = [text[: _CHARACTERS * max_tokens] for text in texts]
        read = tokenizer.encode_batch_fast(cut, add_special_tokens=False)
        return [np.array(encoding.ids[:max_tokens], np.int64) for encoding in read]

    (prefix,) = ids([INSTRUCTION_TEMPLATE.format(prompt=GENERAL[0], text="")])
    asked = [np.concatenate((prefix, row)) for row in ids([query.text for query in queries])]
    places = {document.id: place for place, document in enumerate(by_need)}
    judged = [dataset.qrels[query.id] for query in queries]
    return Task(
        dataset.name, asked, ids([document.full_text for document in by_need]),
        [{places[document]: gain for document, gain in row.items() if document in places} for row in judged],
        [np.array(sorted(row.values(), reverse=True), np.float64) for row in judged],
        len(prefix),
    )  # fmt: skip


@torch.no_grad()
def encode(
    student: WholeStudent, texts: list[NDArray[np.int64]], n_instruction: int, batch: int, width: float = 1.0
) -> NDArray[np.float32]:
    """Return unit vectors (n, dim) of texts, each read alone. Texts of similar length share a batch."""
    order = np.argsort([len(ids) for ids in texts], kind="stable")
    parts = []
    for i in range(0, len(order), batch):
        padded = Padded.of([texts[row] for row in order[i : i + batch]], student.device, n_instruction)
        parts.append(student(padded, width).float().cpu().numpy())
    vectors: NDArray[np.float32] = np.concatenate(parts)[np.argsort(order)]
    return vectors


def scores(student: WholeStudent, task: Task, batch: int, width: float = 1.0) -> tuple[list[float], list[float]]:
    """Return nDCG@10 and MRR@10 of each query."""
    asked = encode(student, task.queries, task.n_instruction, batch, width)
    found = encode(student, task.documents, 0, batch, width)
    both = []
    for row, judged, ideal in zip(asked @ found.T, task.gains, task.ideals, strict=True):
        gains = np.array([judged.get(int(i), 0) for i in np.argsort(-row, kind="stable")[:10]], np.float64)
        both.append((ndcg(gains, ideal), reciprocal_rank(gains)))
    of_ndcg, of_mrr = zip(*both, strict=True)
    return list(of_ndcg), list(of_mrr)


def difference(
    one: list[NDArray[np.float64]], other: list[NDArray[np.float64]], n_samples: int = 10_000, seed: int = 0
) -> tuple[float, float, float]:
    """Return the mean over sets of the mean of `one` less `other`, and its 95 % interval by a paired bootstrap.

    Both have an array (queries,) for each set; the queries of each set are drawn apart.
    """
    random = np.random.default_rng(seed)
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    drawn = np.mean([gap[random.integers(len(gap), size=(n_samples, len(gap)))].mean(1) for gap in gaps], axis=0)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(np.mean([gap.mean() for gap in gaps])), float(low), float(high)
