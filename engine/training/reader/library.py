"""Holds the texts and questions of the reader's training as flat arrays. Knows no model and draws nothing."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

NOT_HELD, HELD, TRANSFER = 0, 1, 2
"""Where a context belongs: to the training, to the held-out contexts, to the set that is kept whole."""


@dataclass(frozen=True, slots=True)
class Library:
    """Contexts cut into sentences, and the questions about them. Every index counts from the library's beginning."""

    names: NDArray[np.str_]
    """The name of each set."""
    tokens: NDArray[np.uint16]
    """The word pieces of all contexts, one after another."""
    sentence_start: NDArray[np.int32]
    """The first token of each sentence, and the number of tokens."""
    context_start: NDArray[np.int32]
    """The first sentence of each context, and the number of sentences."""
    query_tokens: NDArray[np.uint16]
    """The word pieces of all queries, one after another."""
    query_start: NDArray[np.int32]
    """The first token of each query, and the number of tokens."""
    set_of: NDArray[np.uint8]
    """The set of each query."""
    part: NDArray[np.uint8]
    """`NOT_HELD`, `HELD` or `TRANSFER`, of each query."""
    context: NDArray[np.int32]
    """The context of each query."""
    right: NDArray[np.int32]
    """(queries, 3, 2): up to three runs of sentences that answer, first and one past the last; -1: none."""
    doubtful: NDArray[np.int32]
    """(queries, 3): the nearest other sentences with the answer's words; -1: none. They count neither way."""
    answer_token: NDArray[np.int32]
    """The first token of a short answer, or -1."""
    others: NDArray[np.int32]
    """(queries, 8): other contexts that share rare words with the query and do not answer it; -1: none."""
    changed: NDArray[np.int32]
    """The query that is this one with a name, number or date changed, or -1. Changed queries stand after the others."""
    is_topic: NDArray[np.bool_]
    """Whether the query is a title, key words or a claim: the whole context is right, no sentence is known."""
    idf: NDArray[np.float32]
    """The weight of each word piece in late interaction."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a library from an .npz file."""
        with np.load(path) as file:
            return cls(**{field.name: file[field.name] for field in fields(cls)})

    def save(self, path: Path) -> None:
        """Write the library as an .npz file."""
        np.savez(path, **{field.name: getattr(self, field.name) for field in fields(self)})

    def span(self, contexts: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the first sentence of each of `contexts`, and one past its last."""
        return self.context_start[contexts], self.context_start[contexts + 1]
