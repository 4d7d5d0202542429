"""Groups ranked passages by document. A document has the score of its best passage. Pure.

Files with the same bytes are one document, so a copy never takes a place of its own. Nothing else is merged.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from longsearch.engine.types.results import Reason

PASSAGES_SHOWN = 5
"""The best passages of a document that a hit has."""


class RankedPassage(NamedTuple):
    """A passage and its score."""

    id: int
    document_id: int
    score: float
    worth: float = 0.0
    """What a point of BM25 gave to the score."""
    excerpt: tuple[int, int] | None = None
    """The excerpt that is nearest to the query, in characters from the passage's start; None without excerpts.

    It ends with the passage if the second number is -1.
    """
    meaning_alone: float | None = None
    """In a hybrid search, its score by meaning if the words say too little about it; else None."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document and its best passages."""

    document_id: int
    score: float
    passages: tuple[RankedPassage, ...]
    """Best first."""
    reason: Reason | None = None
    """What the parts of the query gave to the score of its best passage."""
    is_named: bool = False
    """Whether its title, its name or an identifier is the whole query: it comes first."""
    meaning_alone: float | None = None
    """That of the passage with the highest score."""


def group(
    scored: Iterable[RankedPassage], k: int, named: Container[int] = (), n_passages: int = PASSAGES_SHOWN
) -> list[RankedDocument]:
    """Group passages, best first, by document: the best `k` documents, best first. `named` stand first."""
    grouped: dict[int, list[RankedPassage]] = {}
    for passage in scored:
        grouped.setdefault(passage.document_id, []).append(passage)
    return [
        RankedDocument(
            id_, found[0].score, tuple(found[:n_passages]), None, id_ in named, meaning_alone=found[0].meaning_alone
        )
        for id_, found in islice(grouped.items(), k)
    ]
