"""Reciprocal rank fusion: one ranking out of several, by places alone. Pure; knows neither scores nor passages.

Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009: score(d) = sum over rankings of 1 / (k + place of d), with k = 60.
"""

from collections.abc import Sequence

_K = 60


def fuse(rankings: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """(id, score), best first. 1.0 for what is first in every ranking; an id may be missing from some of them."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, ranked_id in enumerate(ranking, start=1):
            scores[ranked_id] = scores.get(ranked_id, 0.0) + 1 / (_K + place)
    highest = len(rankings) / (_K + 1)
    return sorted(
        ((ranked_id, score / highest) for ranked_id, score in scores.items()), key=lambda row: (-row[1], row[0])
    )
