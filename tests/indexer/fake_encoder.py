"""An encoder without a model: a word is a token, a vector is drawn from the text's hash. Counts what it embeds."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.types import Passage

PASSAGE_TOKENS = 5


@dataclass(frozen=True, slots=True)
class FakePart:
    first_passage: int
    vectors: NDArray[np.float32]
    n_tokens_done: int
    checkpoint: Callable[[], bytes]
    document_vector: NDArray[np.float32]


class FakeEncoder:
    fingerprint = "fake"
    dim = 8

    def __init__(self) -> None:
        self.tokens_read = 0

    def tokenize(self, text: str) -> list[str]:
        return text.split()

    def split(self, text: str) -> tuple[list[str], list[Passage]]:
        words = list(re.finditer(r"\S+", text))
        groups = [words[i : i + PASSAGE_TOKENS] for i in range(0, len(words), PASSAGE_TOKENS)]
        return self.tokenize(text), [Passage(g[0].start(), g[-1].end(), len(g)) for g in groups]

    def stream(self, tokens: list[str], passages: list[Passage], checkpoint: bytes | None = None) -> Iterator[FakePart]:
        """A part for each passage; each vector depends on all tokens so far, as a carried state's would."""
        first, history = 0, ""
        if checkpoint:
            try:
                first, history = json.loads(checkpoint)
            except ValueError as error:
                raise ModelError("damaged state") from error
        for index in range(first, len(passages)):
            stop = min((index + 1) * PASSAGE_TOKENS, len(tokens))
            history = hashlib.sha256((history + " ".join(tokens[index * PASSAGE_TOKENS : stop])).encode()).hexdigest()
            self.tokens_read += stop - index * PASSAGE_TOKENS
            vector = _unit(history)
            state = json.dumps([index + 1, history]).encode()
            yield FakePart(index, vector[None], stop, lambda state=state: state, vector)


def _unit(seed: str) -> NDArray[np.float32]:
    vector = np.random.default_rng(int(seed[:8], 16)).normal(size=FakeEncoder.dim)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
