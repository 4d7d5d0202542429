"""Combines scores into one ranking. Pure arithmetic; knows no index.

`combine` is a weighted sum of two scores, each normalised by its theoretical range (Bruch, Gai, Ingber, "An Analysis of
Fusion Functions for Hybrid Retrieval", TOIS 2023). The alternative is to fuse by rank alone (`minilm-rrf` of
`engine.evaluation.systems`), which ignores how well a passage matches. On eight dev sets the nDCG@10 of MiniLM and BM25
is .865 with the weighted sum, .841 with rank fusion and .812 by words alone.
"""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Score = TypeVar("Score", float, NDArray[np.float32], NDArray[np.float64])

# Mean nDCG@10 of ten dev sets at .35, .4, .45, .5: .851 .852 .852 .851. A smaller weight is better if people
# remember the words (hotpot100, the long reports of kgrag_docs), a larger one for repeated questions (stackfaq).
WEIGHT_OF_MEANING = 0.4
# mean nDCG@10 of nine dev sets by meaning at 0, .1, .2, .3, .4, .5: .764 .768 .773 .774 .773 .771
WEIGHT_OF_DOCUMENT = 0.3
# mean nDCG@10 of nine dev sets by words at 0, .2, .3, .4, .5, .6: .780 .812 .818 .820 .819 .817; for long reports
# (kgrag_docs) .463 .712 .752 .763 .770 .775
WEIGHT_OF_DOCUMENT_WORDS = 0.4
# mean nDCG@10 of 20 hybrid sets with questions in another language than their documents, for 0 (words always count in
# full), .4, .5, .6, .7: .849 .850 .852 .853 .852; of 22 sets in one language .932 throughout
KNOWN_WORDS_FOR_FULL_WEIGHT = 0.6


def with_excerpt(passage: Score, excerpt: Score, weight: float) -> Score:
    """A passage's own score by meaning: its cosine, and for a share `weight` (0 to 1) that of its nearest excerpt.

    A single sentence that answers the query has little weight in the vector of a passage on another subject. Models
    differ in how well they gather a passage in one vector, so `weight` is the model's (`ReadoutConfig.excerpt_weight`).
    """
    return (1 - weight) * passage + weight * excerpt


def in_document(passage: Score, document: Score) -> Score:
    """A passage's score by meaning: 0.7 of its own score (see `with_excerpt`) and 0.3 of its document's cosine.

    A passage need not repeat the subject of its document. A document of one passage has no other subject, so callers
    leave it out and keep the passage's own score. That raises mean nDCG@10 by meaning from .830 to .833 on eight
    English dev sets (hybrid stays at .877), from .830 to .834 on 22 sets in other languages (hybrid .935 to .936), and
    from .834 to .852 on 18 sets across languages (hybrid .835 to .850).
    """
    return (1 - WEIGHT_OF_DOCUMENT) * passage + WEIGHT_OF_DOCUMENT * document


def words_in_document(passage: Score, document: Score) -> Score:
    """A passage's score by words: 0.6 of its own score and 0.4 of its document's.

    Some words stand on one page of a document and apply to all its pages: the company, the year, the law.
    """
    return (1 - WEIGHT_OF_DOCUMENT_WORDS) * passage + WEIGHT_OF_DOCUMENT_WORDS * document


def trust(known_words: float) -> float:
    """How much of its weight a score by words keeps in a hybrid search, from 0 to 1.

    `known_words` is the share of the query's words that occur in the index. Where most do not, the question may be in
    another language than the documents, and the few words that match are seldom those it is about.
    """
    return min(1.0, known_words / KNOWN_WORDS_FOR_FULL_WEIGHT)


def both(by_words: Score, by_meaning: Score) -> Score:
    """0.4 of the score by meaning plus 0.6 of the score by words."""
    return (1 - WEIGHT_OF_MEANING) * by_words + WEIGHT_OF_MEANING * by_meaning


def combine(by_words: Mapping[int, float], by_meaning: Mapping[int, float]) -> list[tuple[int, float]]:
    """(id, score), best first, by `both` scores; a missing score is 0."""
    ids = by_words.keys() | by_meaning.keys()
    return best_first({id_: both(by_words.get(id_, 0.0), by_meaning.get(id_, 0.0)) for id_ in ids})


def best_first(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    """(id, score), the highest score first; ties by id."""
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))
