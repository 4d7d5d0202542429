"""One ranking out of two. Pure arithmetic; knows no index.

`combine` is what longsearch uses: the weighted sum of two scores that each mean something by themselves (Bruch, Gai,
Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023, with each function's theoretical range for
its normalisation). `fuse`, by places alone, is what it is measured against: on eight dev sets nDCG@10 of MiniLM and
BM25 is .865 by `combine`, .841 by `fuse`, .812 by words alone. Places throw away that a query's every word was met.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Score = TypeVar("Score", float, NDArray[np.float32])

# ten dev sets' mean nDCG@10 at .35, .4, .45, .5: .851 .852 .852 .851; where words are remembered (hotpot100, the long
# reports of kgrag_docs), less is better; for questions asked again (stackfaq), more
WEIGHT_OF_MEANING = 0.4
# eight dev sets' mean nDCG@10 by meaning at 0, .35, .5, .65: .779 .800 .803 .805
WEIGHT_OF_EXCERPT = 0.5
# nine dev sets' mean nDCG@10 by meaning at 0, .1, .2, .3, .4, .5: .764 .768 .773 .774 .773 .771
WEIGHT_OF_DOCUMENT = 0.3
# nine dev sets' mean nDCG@10 by words at 0, .2, .3, .4, .5, .6: .780 .812 .818 .820 .819 .817; of long reports
# (kgrag_docs) .463 .712 .752 .763 .770 .775
WEIGHT_OF_DOCUMENT_WORDS = 0.4
_K = 60


def with_excerpt(passage: Score, excerpt: Score) -> Score:
    """A passage's score by meaning, alone: half of its own cosine and half of its nearest excerpt's.

    One sentence that answers weighs little in the vector of a whole passage on something else.
    """
    return (1 - WEIGHT_OF_EXCERPT) * passage + WEIGHT_OF_EXCERPT * excerpt


def in_document(passage: Score, document: Score) -> Score:
    """A passage's score by meaning: 0.7 of its own, as `with_excerpt` gives it, and 0.3 of its document's cosine.

    What a passage says is not all that it is about: an answer need not repeat what the whole page is on.
    """
    return (1 - WEIGHT_OF_DOCUMENT) * passage + WEIGHT_OF_DOCUMENT * document


def words_in_document(passage: float, document: float) -> float:
    """A passage's score by words: 0.6 of its own and 0.4 of its document's.

    Of a query's words some are said once for all pages: whose report it is, which year, which law.
    """
    return (1 - WEIGHT_OF_DOCUMENT_WORDS) * passage + WEIGHT_OF_DOCUMENT_WORDS * document


def combine(by_words: Mapping[int, float], by_meaning: Mapping[int, float]) -> list[tuple[int, float]]:
    """(id, score), best first: 0.4 of the score by meaning, 0.6 of that by words, each from 0 to 1, 0 if missing."""
    scores = {
        ranked_id: (1 - WEIGHT_OF_MEANING) * by_words.get(ranked_id, 0.0)
        + WEIGHT_OF_MEANING * by_meaning.get(ranked_id, 0.0)
        for ranked_id in by_words.keys() | by_meaning.keys()
    }
    return best_first(scores)


def fuse(rankings: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """(id, score), best first, by reciprocal ranks; 1.0 for what is first in every ranking.

    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009: score(d) = sum over rankings of 1 / (k + place of d), with k = 60.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, ranked_id in enumerate(ranking, start=1):
            scores[ranked_id] = scores.get(ranked_id, 0.0) + 1 / (_K + place)
    highest = len(rankings) / (_K + 1)
    return best_first({ranked_id: score / highest for ranked_id, score in scores.items()})


def best_first(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    """(id, score), the highest score first; ties by id."""
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))
