"""Folds documents that say nearly the same into one hit, so that other answers are seen: the versions of a lease.

Two documents are versions if their best passages say nearly the same, and so do their beginnings; if they have about
as many passages; and if their vectors are near, where they have some. Hits are compared, never the whole index.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from longsearch.engine.index.index import Index
from longsearch.engine.near_equal import grouped
from longsearch.engine.store import files, texts
from longsearch.engine.store.manifest import Kind
from longsearch.engine.types.results import DocumentHit

_ALIKE = 0.6  # of the words of two passages that may say nearly the same
_LEAST_WORDS = 12  # shorter notes are alike by chance
_BEGINNING = 8_192  # characters
_AS_LONG = 0.75  # the shorter of two versions has at least this share of the longer one's passages
_NEAR = 0.95  # the cosine of two versions
_MOST_ROUNDS = 3
_NUMBER = re.compile(r"\d+")
IndexOf = Callable[[DocumentHit], Index]


def may_be_among(hits: Sequence[DocumentHit]) -> bool:
    """Whether the best passages of any two hits share so many words that it is worth a look."""
    words = [frozenset(hit.passages[0].text.split()) for hit in hits if hit.passages]
    long = [own for own in words if len(own) >= _LEAST_WORDS]
    return any(len(one & other) >= _ALIKE * max(len(one), len(other)) for one, other in combinations(long, 2))


def unlike(find: Callable[[int], Sequence[DocumentHit]], k: int, index_of: IndexOf) -> list[DocumentHit]:
    """The `k` best hits that say something else, each with its versions. `find`: the n best hits, whatever they say."""
    n = k
    for _ in range(_MOST_ROUNDS):
        found = find(n)
        rows = with_versions(found, index_of)
        if len(rows) >= k or len(found) < n:
            break
        n *= 3
    return rows[:k]


def with_versions(hits: Sequence[DocumentHit], index_of: IndexOf) -> list[DocumentHit]:
    """The hits, of each group of versions the newest alone, with the others as its `versions`, the newest first.

    It stands where the best of them stood. `index_of`: the index that found a hit.
    """
    groups: list[list[DocumentHit]] = []
    best = [hit.passages[0].text if hit.passages else "" for hit in hits]
    is_long = [len(frozenset(text.split())) >= _LEAST_WORDS for text in best]
    for numbers in grouped([text if long else hit.path for hit, text, long in zip(hits, best, is_long, strict=True)]):
        groups += _versions([hits[number] for number in numbers], index_of)
    rows = []
    for group in sorted(groups, key=lambda group: group[0].rank):
        newest, *others = sorted(group, key=lambda hit: _age(hit, index_of(hit)), reverse=True)
        rows.append(replace(newest, versions=tuple(others)) if others else newest)
    return [hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(rows, start=1)]


def _versions(hits: Sequence[DocumentHit], index_of: IndexOf) -> Iterator[list[DocumentHit]]:
    """Yield the versions among hits whose best passages say nearly the same, the best hit of each first."""
    if len(hits) == 1:
        yield list(hits)
        return
    beginnings = [texts.spans(index_of(hit).db, hit.document_id, [(0, _BEGINNING)])[0] for hit in hits]
    for numbers in grouped(beginnings):
        left = [hits[number] for number in numbers]
        while left:
            first = left[0]
            own = [hit for hit in left if hit is first or _is_version(hit, first, index_of)]
            left = [hit for hit in left if hit not in own]
            yield own


def _is_version(one: DocumentHit, other: DocumentHit, index_of: IndexOf) -> bool:
    """Whether two documents that begin alike are as long, and alike as a whole."""
    lengths = [int(index_of(hit).backend.lengths(np.array([hit.document_id]))[0]) for hit in (one, other)]
    if min(lengths) < _AS_LONG * max(lengths):
        return False
    index = index_of(one)
    if index is not index_of(other):
        return True
    vectors = list(index.backend.vectors_of(Kind.DOCUMENTS, sorted({one.document_id, other.document_id})).values())
    return len(vectors) < 2 or float(vectors[0] @ vectors[1]) >= _NEAR


def _age(hit: DocumentHit, index: Index) -> tuple[str, int, list[int]]:
    """The date of a document, then the time of its file, then the numbers in its name: the newest is the highest."""
    stamp = files.stamp_of(index.db, os.path.relpath(hit.path, hit.root))
    numbers = [int(number) for number in _NUMBER.findall(os.path.basename(hit.path))]  # noqa: PTH119 (hostile names)
    return hit.date, stamp[1] if stamp else 0, numbers
