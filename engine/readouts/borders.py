"""Maps the passages of a document, and the excerpts in them, from characters to tokens.

Knows no text, only the offsets at which its tokens begin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Borders:
    """Spans of tokens, ascending and not overlapping: the index of the first token and one past the last."""

    passages: NDArray[np.int64]
    """(n_passages, 2)"""
    excerpts: NDArray[np.int64]
    """(n_excerpts, 2); they tile the passages, and each passage has at least one."""
    firsts: NDArray[np.int64]
    """(n_passages + 1,) the index of the first excerpt of each passage, then the number of excerpts."""
    starts: NDArray[np.int64]
    """(n_excerpts,) where each excerpt begins, in characters from the start of its passage."""
    n_instruction: int = 0
    """Tokens of the instruction in front of the text; only a query has one."""

    @classmethod
    def from_characters(
        cls,
        token_starts: NDArray[np.int64],
        passages: Sequence[tuple[int, int]],
        excerpts: Sequence[Sequence[int]],
        n_instruction: int = 0,
    ) -> Self:
        """Convert the borders of passages and excerpts from characters to tokens.

        `token_starts` are the offsets of the tokens, `passages` the (start, stop) of the passages. `excerpts` are the
        starts of each passage's excerpts, counted from the start of the passage; the first is 0. An excerpt holds
        all tokens up to the next excerpt, so no token of a passage is left out.
        """
        begins, ends = np.array(passages, np.int64).reshape(-1, 2).T
        firsts = np.cumsum([0, *map(len, excerpts)])
        starts = np.array([start for of_passage in excerpts for start in of_passage], np.int64)
        tokens = np.searchsorted(token_starts, starts + np.repeat(begins, np.diff(firsts)))
        last = np.searchsorted(token_starts, ends)
        stops = np.roll(tokens, -1)
        stops[firsts[1:] - 1] = last  # the last excerpt of a passage ends with the passage
        borders = np.stack((tokens[firsts[:-1]], last), axis=1)
        return cls(borders, np.stack((tokens, stops), axis=1), firsts, starts, n_instruction)

    def starts_of(self, first: int, stop: int) -> list[NDArray[np.int64]]:
        """Return the `starts` of each passage from `first` to `stop`."""
        return [self.starts[a:b] for a, b in pairwise(self.firsts[first : stop + 1])]

    def n_passages_within(self, n_excerpts: int) -> int:
        """Return how many passages lie completely within the first `n_excerpts` excerpts."""
        return int(np.searchsorted(self.firsts, n_excerpts, side="right")) - 1
