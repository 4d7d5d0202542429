"""Reciprocal rank fusion, which longsearch's weighted sum of scores is compared with. Pure arithmetic on ranks."""

from collections.abc import Sequence

from longsearch.engine.search.fusion import best_first

_K = 60


def fuse(rankings: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """(id, score), best first, by reciprocal ranks; 1.0 for an id that is first in every ranking.

    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009: score(d) = sum over rankings of 1 / (k + rank of d), with k = 60.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, ranked_id in enumerate(ranking, start=1):
            scores[ranked_id] = scores.get(ranked_id, 0.0) + 1 / (_K + rank)
    highest = len(rankings) / (_K + 1)
    return best_first({ranked_id: score / highest for ranked_id, score in scores.items()})
