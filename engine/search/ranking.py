"""Groups ranked passages by document. A document has the score of its best passage. Pure.

Files with the same bytes are one document, so a copy never takes a place of its own. Nothing else is merged.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from longsearch.engine.types.results import Reason

PASSAGES_SHOWN = 5
"""The best passages of a document that a hit has."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document and its best passages."""

    document_id: int
    score: float
    passages: tuple[tuple[int, float], ...]
    """(passage id, score), best first."""
    reason: Reason | None = None
    """What the parts of the query gave to the score of its best passage."""
    is_named: bool = False
    """Whether its title, its name or an identifier is the whole query: it comes first."""
    meaning_alone: float | None = None
    """In a hybrid search, that passage's score by meaning if the words say too little about it; else None."""


def group(
    scored: Iterable[tuple[int, float]], document_of: Mapping[int, int], k: int, named: Container[int] = ()
) -> list[RankedDocument]:
    """Group (passage id, score), best first, by document: the best `k` documents, best first. `named` stand first."""
    grouped: dict[int, list[tuple[int, float]]] = {}
    for passage_id, score in scored:
        grouped.setdefault(document_of[passage_id], []).append((passage_id, score))
    return [
        RankedDocument(document_id, found[0][1], tuple(found[:PASSAGES_SHOWN]), is_named=document_id in named)
        for document_id, found in islice(grouped.items(), k)
    ]


def ids(scored: Sequence[tuple[int, float]]) -> list[int]:
    """The passage ids, best first."""
    return [passage_id for passage_id, _ in scored]


def with_meaning_alone(ranked: list[RankedDocument], of_passages: Mapping[int, float]) -> list[RankedDocument]:
    """The same, each with the score by meaning of its best passage if it is one of these."""
    scores = (of_passages.get(document.passages[0][0]) for document in ranked)
    return [
        document if score is None else replace(document, meaning_alone=float(score))
        for document, score in zip(ranked, scores, strict=True)
    ]
