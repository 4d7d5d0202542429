"""The stages of MiniLM with a longer context: new positions learn by skips, rotary ones from MiniLM itself.

LongEmbed (Zhu et al., arXiv 2404.12096), appendices A and B.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.extension.bert import Bert, mean_of, plain_attention
from longsearch.engine.training.data.batches import Batches
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.papers.longer_minilm import NewPositions, Rotary
from longsearch.engine.training.stages.loop import StepLoss
from longsearch.engine.training.stages.losses import cosine_distance, info_nce, unfair_negatives
from longsearch.engine.training.student.student import Padded

_TEMPERATURE = 0.01  # LongEmbed, table 4
_COSINE_WEIGHT = 4.0
_SHORTEST = 64  # tokens of a text of passages


class Tuning:
    """New positions learn: passages at skipped positions are found by their queries, and keep their first vectors.

    The positions of a passage are u, u + 1, ... with u drawn from {0, ..., L_t - L_o} (PoSE, arXiv 2309.10400).
    Queries are short, so tuning cannot change them: their vectors come from the shards.
    """

    def __init__(self, student: NewPositions, pairs: PairSet, seed: int, batch_tokens: int, max_pairs: int) -> None:
        """Raises LongsearchError if the pairs are not labelled."""
        if pairs.query_vectors is None or pairs.passage_vectors is None:
            raise LongsearchError("tuning needs MiniLM's vectors of the pairs", "label the shards")
        self._student, self._pairs, self._seed = student, pairs, seed
        self._labels = pairs.query_vectors, pairs.passage_vectors
        self._size = batch_tokens, max_pairs
        self.batches = Batches(pairs, seed)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of a batch of pairs of one source."""
        student, pairs = self._student, self._pairs
        rows = self.batches.draw(step, *self._size)
        passages = [pairs.passages[row] for row in rows]
        queries, own = (torch.from_numpy(v[rows].astype(np.float32)).to(student.device) for v in self._labels)
        skips = np.random.default_rng([self._seed, step, 2])
        starts = skips.integers(0, student.length - student.original + 1, len(rows))
        vectors = student.skipped(Padded.of(passages, student.device), torch.from_numpy(starts).to(student.device))
        documents = torch.from_numpy(pairs.documents[rows]).to(student.device)
        nce = info_nce(queries, vectors, unfair_negatives(documents, documents, passages, own), _TEMPERATURE, False)
        distance = cosine_distance(vectors, own)
        figures = {"nce": nce.item(), "cosine_distance": distance.item()}
        return StepLoss(nce + _COSINE_WEIGHT * distance, sum(map(len, passages)), figures, {})


class SelfDistillation:
    """MiniLM with rotary positions learns to give each token, and each text, the vector that MiniLM gives it.

    In three steps of four a text is several passages end to end, up to a length that is drawn anew, at most 512 tokens
    with the marks; in the fourth it is a query.
    """

    def __init__(self, student: Rotary, teacher: Bert, pairs: PairSet, seed: int, batch_tokens: int) -> None:
        self._student, self._teacher, self._pairs = student, teacher, pairs
        self._seed, self._tokens = seed, batch_tokens
        self.batches = Batches(pairs, seed)
        self._drawn = np.setdiff1d(np.arange(len(pairs)), self.batches.held_out)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of a batch of texts."""
        ids = self._texts(step)
        texts = self._student.marked(Padded.of(ids, self._student.device))
        n = texts.tokens.shape[1]
        with torch.no_grad():
            target = self._teacher(texts.tokens, texts.mask, self._teacher.table[:n], plain_attention)
        hidden = self._student.hidden(texts)
        of_tokens = _distance(hidden[texts.mask > 0], target[texts.mask > 0])
        of_texts = _distance(mean_of(hidden, texts.mask), mean_of(target, texts.mask))
        figures = {"tokens_distance": of_tokens.item(), "cosine_distance": of_texts.item(), "length": float(n)}
        return StepLoss(of_tokens + _COSINE_WEIGHT * of_texts, sum(map(len, ids)), figures, {})

    def _texts(self, step: int) -> list[NDArray[np.int64]]:
        random = np.random.default_rng([self._seed, step])
        if step % 4 == 3:
            return [self._pairs.queries[row] for row in random.choice(self._drawn, self._tokens // 64)]
        longest = len(self._teacher.table) - 2
        length = int(np.exp(random.uniform(np.log(_SHORTEST), np.log(longest))))
        texts = []
        for _ in range(max(2, self._tokens // length)):
            rows: list[NDArray[np.int64]] = []
            while sum(map(len, rows)) < length:
                rows.append(self._pairs.passages[int(random.choice(self._drawn))])
            texts.append(np.concatenate(rows)[:length])
        return texts


def _distance(student: Tensor, teacher: Tensor) -> Tensor:
    return cosine_distance(F.normalize(student, dim=-1), F.normalize(teacher, dim=-1))
