"""Late interaction of a query's tokens with a passage's. Pure: hidden states in, scores out.

Twin of `engine.training.reader.model.Late`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.reader.layers import Array


@dataclass(frozen=True, slots=True)
class Scores:
    """What the reader says of a window."""

    sentences: Array
    """(sentences,): a logit for each."""
    nothing: float
    """The logit beside them that no sentence answers."""
    relevance: float
    """A logit, to rank passages by."""

    @property
    def answers(self) -> float:
        """The logit that some sentence answers."""
        return float(np.logaddexp.reduce(self.sentences)) - self.nothing


def score(near: Array, weight: Array, starts: NDArray[np.int64], mix: Array, threshold: float) -> Scores:
    """Return the scores of a window.

    near (window length, query length): the cosine of each token with each of the query's; weight (query length,).
    starts: the first token of each sentence. mix: how much a sentence's nearness counts, a constant, and the window's.
    """
    share = weight / max(float(weight.sum()), 0.1)
    nearest = np.maximum.reduceat(near, starts)  # (sentences, query length)
    by_sentence = nearest @ share
    sentences = mix[0] * by_sentence
    relevance = float(sentences.max() + mix[2] * (nearest.max(0) @ share))
    return Scores(sentences, float(mix[1] + threshold), relevance)
