"""A stage that learns what the teacher makes of each token, layer by layer, beside its vectors of whole texts.

A text gives one vector to learn from, but hundreds of states, and these say how words of any subject are understood.
A student of multilingual-e5-small that had read 140,000 tokens this way had a mean cosine to its teacher of .54 on
text of other sources, in six languages; one that had read 5.9M tokens by `contrast` had .47. The idea is that of
TinyBERT (Jiao et al., arXiv 1909.10351) and of MOHAWK (Bick et al., arXiv 2408.10189), which compares the states after
each block too.
"""

import torch
from torch import Tensor

from longsearch.engine.training.data.batches import Batches
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.lessons.loop import StepLoss
from longsearch.engine.training.lessons.losses import cosine_distance
from longsearch.engine.training.lessons.stages import PairOptions, n_tokens, source_of
from longsearch.engine.training.student.student import Padded, Student
from longsearch.engine.training.teachers.states import StateTeacher

_LEAST_SPREAD = 0.25  # of the median: else channels that hardly vary would count most


class States:
    """The stage. It needs no labels: the teacher reads each text during the training."""

    def __init__(self, student: Student, pairs: PairSet, options: PairOptions, teacher: StateTeacher) -> None:
        self._student, self._pairs, self._options, self._teacher = student, pairs, options, teacher
        self.batches = Batches(pairs, options.seed, options.sampling)

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of passages in three steps of four, and of queries in the fourth."""
        o, pairs = self._options, self._pairs
        rows = self.batches.draw(step, o.batch_tokens, o.max_pairs)
        texts = pairs.queries if step % 4 == 3 else pairs.passages
        told = self._teacher([texts[row] for row in rows])
        device = self._student.device
        vectors, layers = self._student.with_layers(Padded.of(told.ids, device), width)
        cosine = cosine_distance(vectors, told.vectors.to(device))
        figures = {"cosine_distance": cosine.item()}
        loss = o.cosine_weight * cosine
        if layers:
            differences = [
                state_difference(own[told.rows, told.places], theirs.to(device))
                for own, theirs in zip(layers, told.layers, strict=True)
            ]
            loss = loss + torch.stack(differences).mean()
            figures |= {f"layer_{i}": difference.item() for i, difference in enumerate(differences, 1)}
        return StepLoss(loss, n_tokens(told.ids), figures, {"source": source_of(pairs, rows)})


def state_difference(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean squared difference of states (n, dim), as a share of each channel's variance in the teacher."""
    spread = teacher.std(0)
    spread = spread.clamp(min=_LEAST_SPREAD * float(spread.median()) + 1e-6)
    return ((student - teacher) / spread).square().mean()
