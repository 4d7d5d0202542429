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
    """(sentences,), -1 to 1: the weighted mean over the query's tokens of the cosine with the nearest token there."""
    pairs: Array
    """(sentences - 1,): the same of each sentence and the one after it, taken together."""
    answers: float
    """The logit that some sentence answers."""
    relevance: float
    """The logit that the window is about the query."""


def score(near: Array, weight: Array, starts: NDArray[np.int64], mix: Array, threshold: float) -> Scores:
    """Return the scores of a window.

    near (window length, query length): the cosine of each token with each of the query's; weight (query length,).
    starts: the first token of each sentence. mix: what a sentence's nearness counts, the logit that none answers, what
    the window's nearness counts.
    """
    share = weight / max(float(weight.sum()), 0.1)
    nearest = np.maximum.reduceat(near, starts)  # (sentences, query length)
    sentences: Array = nearest @ share
    pairs: Array = np.maximum(nearest[:-1], nearest[1:]) @ share
    answers = np.logaddexp.reduce(mix[0] * sentences) - mix[1] - threshold
    relevance = mix[0] * sentences.max() + mix[2] * (nearest.max(0) @ share)
    return Scores(sentences, pairs, float(answers), float(relevance))
