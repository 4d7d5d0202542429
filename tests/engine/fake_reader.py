"""A reader that prefers the last sentence, and is as sure of it as it is told to be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.sentences import Span, cut_sentences


@dataclass(frozen=True)
class Said:
    sentences: Sequence[Span]
    scores: NDArray[np.float32]
    pairs: NDArray[np.float32]
    answers: float


KNOWN = {"sugar", "bees", "telescope"}


@dataclass(frozen=True)
class FakeReader:
    """Prefers the last sentence."""

    answers: float

    def knows(self, word: str) -> bool:
        return word in KNOWN

    def read(self, query: str, passages: Sequence[tuple[str, str]]) -> list[Said]:
        cut = [cut_sentences(text, language) for text, language in passages]
        scores = [np.linspace(0, 1, len(own), dtype=np.float32) for own in cut]
        return [Said(own, rising, rising[1:], self.answers) for own, rising in zip(cut, scores, strict=True)]
