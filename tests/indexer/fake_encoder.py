"""An encoder without a model. Each word is a token; vectors are drawn from the hash of the text. Counts its work."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.types.documents import Passage

PASSAGE_TOKENS = 5


@dataclass(frozen=True, slots=True)
class FakePart:
    first_passage: int
    vectors: NDArray[np.float32]
    excerpts: list[tuple[NDArray[np.int64], NDArray[np.float32]]]
    n_tokens_done: int
    saved_state: Callable[[], bytes]
    document_vector: NDArray[np.float32]
    is_last: bool


class FakeEncoder:
    fingerprint = "fake"
    dim = 8
    excerpt_weight = 0.5
    n_rows = 3

    def __init__(self, batch_below_tokens: int = 0, width: float = 1.0) -> None:
        self.batch_below_tokens = batch_below_tokens
        self.width = self.chosen_width = width
        self._others: dict[float, FakeEncoder] = {}
        self.tokens_read = 0
        self.n_tokenised = 0

    def width_for(self, n_tokens_waiting: Callable[[], int]) -> float:
        """Return the width that the test has chosen."""
        return self.chosen_width

    def at(self, width: float) -> "FakeEncoder":
        """Return the encoder of this width: each has vectors and states of its own, and counts its own work."""
        if width == self.width:
            return self
        return self._others.setdefault(width, FakeEncoder(self.batch_below_tokens, width))

    def ensure_loaded(self) -> None:
        """Do nothing: there are no weights."""

    def tokenize(self, text: str) -> list[str]:
        self.n_tokenised += 1
        return text.split()

    def split(self, text: str) -> tuple[list[str], list[Passage]]:
        words = list(re.finditer(r"\S+", text))
        groups = [words[i : i + PASSAGE_TOKENS] for i in range(0, len(words), PASSAGE_TOKENS)]
        return self.tokenize(text), [Passage(g[0].start(), g[-1].end(), len(g)) for g in groups]

    def stream(
        self, tokens: list[str], passages: list[Passage], saved_state: bytes | None = None
    ) -> Iterator[FakePart]:
        """Yield a part for each passage. Each vector depends on all tokens so far, as with a recurrent model."""
        first, history = json.loads(saved_state) if saved_state else (0, self._beginning())
        for index in range(first, len(passages)):
            stop = min((index + 1) * PASSAGE_TOKENS, len(tokens))
            history = _next(history, tokens, index)
            self.tokens_read += stop - index * PASSAGE_TOKENS
            vector = _unit(history)
            state = json.dumps([index + 1, history]).encode()
            of_two = (np.array([0, 2]), np.stack([_unit(history[8:]), _unit(history[16:])]))
            excerpts = of_two if index % 2 else (of_two[0][:0], of_two[1][:0])
            is_last = index + 1 == len(passages)
            yield FakePart(index, vector[None], [excerpts], stop, lambda state=state: state, vector, is_last)

    def stream_many(
        self, documents: Iterable[tuple[int, list[str], list[Passage], bytes | None]]
    ) -> Iterator[tuple[int, FakePart]]:
        """Read a few documents at once, a part of each in turn. Take the next document when one of them is finished."""
        waiting = ((key, self.stream(tokens, passages, state)) for key, tokens, passages, state in documents)
        rows = list(islice(waiting, self.n_rows))
        while rows:
            for key, parts in list(rows):
                part = next(parts)
                yield key, part
                if part.is_last:
                    rows.remove((key, parts))
                    rows.extend(islice(waiting, 1))

    def can_resume(self, tokens: list[str], passages: list[Passage], saved_state: bytes) -> bool:
        """Return whether the state was saved after the first passages of these tokens."""
        try:
            n_passages, history = json.loads(saved_state)
        except ValueError:
            return False
        found = self._beginning()
        for index in range(n_passages):
            found = _next(found, tokens, index)
        return bool(found == history)

    def _beginning(self) -> str:
        return "" if self.width == 1 else f"at {self.width}"


def _next(history: str, tokens: list[str], index: int) -> str:
    passage = tokens[index * PASSAGE_TOKENS : (index + 1) * PASSAGE_TOKENS]
    return hashlib.sha256((history + " ".join(passage)).encode()).hexdigest()


def _unit(seed: str) -> NDArray[np.float32]:
    vector = np.random.default_rng(int(seed[:8], 16)).normal(size=FakeEncoder.dim)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
