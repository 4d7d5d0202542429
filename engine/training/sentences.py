"""Sentences of the pairs' passages, each read alone, to the teacher's vectors of them.

A passage's vector says to all its hundred tokens at once in which direction it lies; that of a sentence says it to
twenty. In five minutes at one rate, half of the steps on sentences brought vectors of six dev sets' passages .0023
nearer to the teacher's (mean cosine) and of their queries .0009, though a third fewer tokens were read in them.
"""

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from engine.training.batches import Batches
from engine.training.loop import StepLoss
from engine.training.losses import cosine_distance, distillation
from engine.training.shards import PairSet
from engine.training.stages import PairOptions, n_tokens
from engine.training.streams import Encode
from engine.training.student import Padded, Trainable

_LEAST_TOKENS, _MOST_TOKENS = 8, 64
_ENDS = ".?!"
# by length, each padded to its own longest; tokens a second, full width, two cores: 1 2,900, 2 3,900, 3 4,000, 6 2,750
_GROUPS = 3
_OTHER_SEED = 1  # so that the passages are not those of the step's pairs


class Sentences:
    """A stage that needs no labels: the teacher reads along, twice as fast as the student learns."""

    def __init__(
        self, student: Trainable, pairs: PairSet, options: PairOptions, teacher: Encode, tokenizer: Tokenizer
    ) -> None:
        self._student, self._pairs, self._options, self._teacher = student, pairs, options, teacher
        self._ends = np.array([i for end in _ENDS if (i := tokenizer.token_to_id(end)) is not None], np.int64)
        self._batches = Batches(pairs, options.seed + _OTHER_SEED)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Of one source's passages; three quarters of a batch's tokens, as short texts take longer a token."""
        rows = self._batches.draw(step, self._options.batch_tokens * 3 // 4, len(self._pairs.passages))
        passages = [self._pairs.passages[row] for row in rows]
        texts = sorted((text for ids in passages for text in cut_sentences(ids, self._ends)), key=len)
        size = -(-len(texts) // _GROUPS)
        groups = [texts[i : i + size] for i in range(0, len(texts), size)]
        vectors = torch.cat([self._student(Padded.of(group, self._student.device), width) for group in groups])
        teacher = torch.from_numpy(self._teacher(texts)).to(self._student.device)
        loss = distillation(vectors, teacher)
        figures = {"cosine_distance": float(cosine_distance(vectors.detach(), teacher)), "pairs": float(len(texts))}
        return StepLoss(loss, n_tokens(texts), figures, {"source": "sentences"})


def cut_sentences(ids: NDArray[np.int64], ends: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """A text's sentences, whose last token is one of `ends`; short ones joined to the next, long ones cut short."""
    stops = [0]
    for stop in np.flatnonzero(np.isin(ids, ends)) + 1:
        if stop - stops[-1] >= _LEAST_TOKENS:
            stops.append(int(stop))
    if len(ids) - stops[-1] >= _LEAST_TOKENS or len(stops) == 1:
        stops.append(len(ids))
    return [ids[first : min(stop, first + _MOST_TOKENS)] for first, stop in pairwise(stops)]
