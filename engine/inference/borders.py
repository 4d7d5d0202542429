"""Where a document's passages, and the excerpts in them, lie among its tokens.

Knows no text beyond where in it the tokens begin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Borders:
    """Spans of tokens, each the index of its first and one past its last: ascending, not overlapping."""

    passages: NDArray[np.int64]
    """(n_passages, 2)"""
    excerpts: NDArray[np.int64]
    """(n_excerpts, 2) that tile the passages: of each at least one."""
    firsts: NDArray[np.int64]
    """(n_passages + 1,) the number of each passage's first excerpt, then of all."""

    @classmethod
    def of_passages(cls, passages: NDArray[np.int64]) -> Self:
        """Each passage (n_passages, 2) its own one excerpt."""
        return cls(passages, passages, np.arange(len(passages) + 1))

    @classmethod
    def among(
        cls,
        token_starts: NDArray[np.int64],
        passages: Sequence[tuple[int, int]],
        excerpts: Sequence[Sequence[tuple[int, int]]],
    ) -> Self:
        """From characters: (start, stop) of the passages and of each one's excerpts; tokens begin at `token_starts`.

        An excerpt has the tokens up to the next one's, so that none is left out.
        """
        borders = np.searchsorted(token_starts, np.array(passages, np.int64).reshape(-1, 2))
        firsts, starts, stops = [0], [], []
        for (first, last), own in zip(borders.tolist(), excerpts, strict=True):
            inner = np.searchsorted(token_starts, [start for start, _ in own[1:]]).tolist()
            starts += [first, *inner]
            stops += [*inner, last]
            firsts.append(len(starts))
        return cls(borders, np.array([starts, stops], np.int64).T, np.array(firsts, np.int64))

    def sizes(self, first: int, stop: int) -> NDArray[np.int64]:
        """How many excerpts each of the passages from `first` to `stop` has."""
        return np.diff(self.firsts[first : stop + 1])

    def n_passages_within(self, n_excerpts: int) -> int:
        """How many passages lie whole in the first `n_excerpts` excerpts."""
        return int(np.searchsorted(self.firsts, n_excerpts, side="right")) - 1
