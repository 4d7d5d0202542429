"""Where a document's passages, and the excerpts in them, lie among its tokens.

Knows no text beyond where in it the tokens begin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    starts: NDArray[np.int64]
    """(n_excerpts,) where each begins, in characters from its passage's start."""

    @classmethod
    def among(
        cls, token_starts: NDArray[np.int64], passages: Sequence[tuple[int, int]], excerpts: Sequence[Sequence[int]]
    ) -> Self:
        """From characters: (start, stop) of the passages, and where each one's excerpts begin, from its start: at 0 the
        first; tokens begin at `token_starts`. An excerpt has the tokens up to the next one's, so that none is left out.
        """
        begins, ends = np.array(passages, np.int64).reshape(-1, 2).T
        firsts = np.cumsum([0, *map(len, excerpts)])
        starts = np.array([start for own in excerpts for start in own], np.int64)
        tokens = np.searchsorted(token_starts, starts + np.repeat(begins, np.diff(firsts)))
        last = np.searchsorted(token_starts, ends)
        stops = np.roll(tokens, -1)
        stops[firsts[1:] - 1] = last  # of a passage's last excerpt not where the next begins
        borders = np.stack((tokens[firsts[:-1]], last), axis=1)
        return cls(borders, np.stack((tokens, stops), axis=1), firsts, starts)

    def starts_of(self, first: int, stop: int) -> list[NDArray[np.int64]]:
        """The `starts` of each of the passages from `first` to `stop`."""
        return [self.starts[a:b] for a, b in pairwise(self.firsts[first : stop + 1])]

    def n_passages_within(self, n_excerpts: int) -> int:
        """How many passages lie whole in the first `n_excerpts` excerpts."""
        return int(np.searchsorted(self.firsts, n_excerpts, side="right")) - 1
