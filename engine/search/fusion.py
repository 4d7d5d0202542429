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
WEIGHT_OF_DOCUMENT = 0.3
"""The share of a document's cosine in the score by meaning of its passages, which need not repeat its subject.

A document of one passage has no other subject, so that passage keeps its own score. Mean nDCG@10 of nine dev sets by
meaning at 0, .1, .2, .3, .4, .5: .764 .768 .773 .774 .773 .771. To leave out documents of one passage raised it from
.830 to .833 on eight English dev sets, from .830 to .834 on 22 sets in other languages, and from .834 to .852 on 18
sets across languages."""
WEIGHT_OF_DOCUMENT_WORDS = 0.4
"""The share of a document's score by words in those of its passages: some words stand on one page of a document and
apply to all its pages: the company, the year, the law.

Mean nDCG@10 of nine dev sets by words at 0, .2, .3, .4, .5, .6: .780 .812 .818 .820 .819 .817; for long reports
(kgrag_docs) .463 .712 .752 .763 .770 .775."""
_LONG_QUERY = 12
"""A query of more terms may be about a document and not about a passage. Chance asks at most eight words."""
# at 1, 1.2 and 1.5 long queries gain 3.5, 3.5 and 2.5 points of nDCG@10 over kgrag_docs and -.3, -.1 and 0 over
# product_docs; at 2 they lose .4 over kgrag_docs
_HELD_BY_A_PASSAGE = 1.5


def mixed(one: Score, other: Score, share: float) -> Score:
    """A score of which `share`, 0 to 1, is the `other`: of an excerpt, of a document, of the meaning.

    A single sentence that answers the query has little weight in the vector of a passage on another subject. Models
    differ in how well they gather a passage in one vector, so the share of the nearest excerpt is the model's
    (`ReadoutConfig.excerpt_weight`).
    """
    return (1 - share) * one + share * other


def trust_in_meaning(n_terms: int, best_passage: float, best_document: float) -> float:
    """How much of its weight a score by meaning keeps in a hybrid search, from 0 to 1: all of it for a short query.

    `best_passage` and `best_document` are the highest scores by words that a passage and a document reach. If a
    document holds far more of the query than any passage does, the query tells of the document as a whole, as a summary
    does, and the vectors of passages say little about it (docs/evaluation.md, "Long queries").
    """
    if n_terms <= _LONG_QUERY or not best_passage or not best_document:
        return 1.0
    return min(1.0, _HELD_BY_A_PASSAGE * best_passage / best_document)


def both(by_words: Score, by_meaning: Score) -> Score:
    """0.4 of the score by meaning plus 0.6 of the score by words."""
    return mixed(by_words, by_meaning, WEIGHT_OF_MEANING)


def combine(by_words: Mapping[int, float], by_meaning: Mapping[int, float]) -> list[tuple[int, float]]:
    """(id, score), best first, by `both` scores; a missing score is 0."""
    ids = by_words.keys() | by_meaning.keys()
    return best_first({id_: both(by_words.get(id_, 0.0), by_meaning.get(id_, 0.0)) for id_ in ids})


def best_first(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    """(id, score), the highest score first; ties by id."""
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))
