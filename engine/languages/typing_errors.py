"""How many typing errors lie between a word and many others, all at once. Pure.

An error is a letter too many, one too few, a wrong one, or two neighbours in the wrong order: optimal string alignment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FAR = 100  # more than any word that is asked for


@dataclass(frozen=True, slots=True)
class Letters:
    """Many words as one array."""

    codes: NDArray[np.uint32]
    """The code points of all words."""
    starts: NDArray[np.int64]
    """(n,): where each word begins."""
    lengths: NDArray[np.int64]
    """(n,)"""

    @classmethod
    def of(cls, words: Iterable[str]) -> "Letters":
        """The letters of these words."""
        listed = list(words)
        lengths = np.array([len(word) for word in listed], np.int64)
        return cls(codes_of("".join(listed)), np.cumsum(lengths) - lengths, lengths)


def codes_of(text: str) -> NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def n_errors(typed: str, words: Letters, most: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """(errors in `typed`, errors in that beginning of it which is nearest), (n,) each, for each of these words.

    Numbers above `most` mean no more than that. The index has words without their endings, so each beginning of the
    typed word is compared too. All words are compared at once, letter by letter, shorter ones first: so the words that
    have a letter at a place are the last ones.
    """
    order = np.argsort(words.lengths, kind="stable")
    lengths, left = words.lengths[order], np.arange(len(order))
    whole, begun = np.full((2, len(order)), _FAR, np.int8)
    longest = min(int(lengths[-1]) if len(order) else 0, len(typed) + most)
    places = words.starts[order] + np.arange(longest)[:, None]
    grid = words.codes[np.minimum(places, len(words.codes) - 1)] if longest else places
    first = np.searchsorted(lengths, np.arange(longest + 2))
    codes = codes_of(typed).tolist()
    older, last = np.full((2, longest + 1, len(left)), _FAR, np.int8)
    last[: most + 1] = np.arange(min(most, longest) + 1, dtype=np.int8)[:, None]
    for i in range(1, len(codes) + 1):
        older, last = last, _next_row(older, last, grid, first, codes[max(0, i - 2) : i], i, most)
        for j in range(max(1, i - most), min(longest, i + most) + 1):
            ending = slice(first[j], first[j + 1])
            begun[left[ending]] = np.minimum(begun[left[ending]], last[j, ending])
            if i == len(codes):
                whole[left[ending]] = last[j, ending]
        if i in (most + 1, most + 3):  # most words are too far from now on
            near = np.flatnonzero(last.min(axis=0, initial=_FAR) <= most)
            older, last, grid, left, lengths = older[:, near], last[:, near], grid[:, near], left[near], lengths[near]
            first = np.searchsorted(lengths, np.arange(longest + 2))
    back = np.argsort(order, kind="stable")
    return whole[back], begun[back]


def _next_row(
    older: NDArray[np.int8],
    last: NDArray[np.int8],
    grid: NDArray[np.integer[Any]],
    first: NDArray[np.int64],
    typed: Sequence[int],
    i: int,
    most: int,
) -> NDArray[np.int8]:
    """The errors in the first `i` letters against the first j of each word, from those in one and in two letters less.

    grid (letters, n): the words, of which the first with at least j letters is `first[j]`. `typed`: the last two of the
    `i` letters.
    """
    row = np.full_like(last, _FAR)
    row[0] = min(i, _FAR)
    for j in range(max(1, i - most), min(len(grid), i + most) + 1):
        having = slice(first[j], None)
        best = last[j - 1, having] + (grid[j - 1, having] != typed[-1])
        best = np.minimum(best, np.minimum(last[j, having], row[j - 1, having]) + 1)
        if i > 1 and j > 1:
            is_other = (grid[j - 2, having] != typed[-1]) | (grid[j - 1, having] != typed[-2])
            best = np.minimum(best, older[j - 2, having] + 1 + is_other * np.int8(most))
        row[j, having] = best
    return row
