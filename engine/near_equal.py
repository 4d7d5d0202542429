"""How nearly two texts say the same, and which of many do. Pure: texts in, groups out."""

import re
from collections.abc import Sequence

NEARLY_THE_SAME = 0.6
"""The share of groups of three words that near-duplicates have in common: 0.71 if one of twenty words differs."""
Shingles = frozenset[tuple[str, ...]]


def shingles(text: str) -> Shingles:
    """The groups of three words in a text; the words of a shorter one."""
    words = re.findall(r"\w+", text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset((word,) for word in words)


def overlap(one: Shingles, other: Shingles) -> float:
    """The share of the groups of both that are in both (Jaccard)."""
    return len(one & other) / max(len(one | other), 1)


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
