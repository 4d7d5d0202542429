"""A stage that distils single sentences of the pairs' passages, each read alone.

A passage's target vector is spread over a hundred tokens; a sentence's over twenty. In five minutes at one rate, with
half of the steps on sentences, vectors of six dev sets came nearer to the teacher's: passages by .0023 (mean cosine),
queries by .0009, though a third fewer tokens were read.
"""

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from longsearch.engine.training.data.batches import Batches
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.stages.loop import StepLoss
from longsearch.engine.training.stages.losses import cosine_distance, distillation
from longsearch.engine.training.stages.pair_stages import PairOptions, n_tokens
from longsearch.engine.training.stages.streams import Encode
from longsearch.engine.training.student.student import Padded, Trainable

_LEAST_TOKENS, _MOST_TOKENS = 8, 64
_ENDS = ".?!。।؟"  # NFKC, which multilingual tokenizers apply, turns ！ and ？ into ! and ?
# groups by length, each padded to its longest; tokens/s at full width on two cores, by number of groups:
# 1 group 2,900, 2 groups 3,900, 3 groups 4,000, 6 groups 2,750
_GROUPS = 3
_OTHER_SEED = 1  # draws other passages than the stage of pairs does


class Sentences:
    """The stage. It needs no labels: the teacher reads the sentences too, twice as fast as the student trains."""

    def __init__(
        self, student: Trainable, pairs: PairSet, options: PairOptions, teacher: Encode, tokenizer: Tokenizer
    ) -> None:
        self._student, self._pairs, self._options, self._teacher = student, pairs, options, teacher
        self._ends = np.array([i for end in _ENDS if (i := tokenizer.token_to_id(end)) is not None], np.int64)
        self._batches = Batches(pairs, options.seed + _OTHER_SEED, options.sampling)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of one source's sentences, on three quarters of the usual tokens: short texts are slow."""
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
    """Cut a text's ids into sentences, which end with an id of `ends`.

    A sentence below 8 tokens is joined to the next; of a sentence above 64 tokens the first 64 are kept.
    """
    stops = [0]
    for stop in np.flatnonzero(np.isin(ids, ends)) + 1:
        if stop - stops[-1] >= _LEAST_TOKENS:
            stops.append(int(stop))
    if len(ids) - stops[-1] >= _LEAST_TOKENS or len(stops) == 1:
        stops.append(len(ids))
    return [ids[first : min(stop, first + _MOST_TOKENS)] for first, stop in pairwise(stops)]
