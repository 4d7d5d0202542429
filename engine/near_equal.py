"""How nearly two texts say the same, and which of many do. Pure: texts in, groups out."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import distinct

NEARLY_THE_SAME = 0.6
"""The share of groups of three words that near-duplicates have in common: 0.71 if one of twenty words differs."""
Shingles = NDArray[np.int64]
"""(n,), ascending: a number for each group of three words. Two groups have the same one in 1 of 10^19 cases."""
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64).view(np.int64)


def shingles(text: str) -> Shingles:
    """The groups of three words in a text; the words of a shorter one."""
    words = re.findall(r"\w+", text.casefold())
    codes = np.fromiter(map(hash, words), np.int64, len(words))
    groups = codes if len(words) < 3 else codes[:-2] * _FACTORS[0] + codes[1:-1] * _FACTORS[1] + codes[2:]
    return distinct(groups)[0]


def overlap(one: Shingles, other: Shingles) -> float:
    """The share of the groups of both that are in both (Jaccard)."""
    n = len(np.intersect1d(one, other, assume_unique=True))
    return n / max(len(one) + len(other) - n, 1)


def grouped(texts: Sequence[str]) -> list[list[int]]:
    """The numbers of the texts in groups, in order: those of a group say nearly the same as its first one."""
    known: list[Shingles] = []
    groups: list[list[int]] = []
    for number, text in enumerate(texts):
        own = shingles(text)
        place = next((place for place, other in enumerate(known) if overlap(own, other) >= NEARLY_THE_SAME), None)
        if place is None:
            known.append(own)
            groups.append([number])
        else:
            groups[place].append(number)
    return groups
