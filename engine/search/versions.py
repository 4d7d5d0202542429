"""Folds documents that say nearly the same into one hit, so that other answers are seen: the versions of a lease.

Two documents are versions if their best passages say nearly the same, and so do their beginnings and a sample of what
follows; if they have about as many passages; and if their vectors are near, where they have some. If their names differ
by more than numbers, or by a year or a quarter, they share nearly the whole text: two functions of a program or two
reports are alike and no versions. What answers the query much worse is none: a word that was asked for tells the two
apart. Hits are compared, never the whole index.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.index import Index
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.near_equal import NEARLY_THE_SAME, Shingles, grouped, overlap, shingles
from longsearch.engine.store import files, texts
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.filter_cache import FilesVersion
from longsearch.engine.types.results import DocumentHit

_ALIKE = 0.6  # of the words of two passages that may say nearly the same
_LEAST_WORDS = 12  # shorter notes are alike by chance
_BEGINNING, _SAMPLED = 8_192, 65_536  # characters: of what follows the beginning up to there, a sample is compared
_ONE_OF = 8  # groups of words is in the sample; two quarterly reports begin alike, and what they report differs
_AS_LONG = 0.75  # the shorter of two versions has at least this share of the longer one's passages
_NEAR = 0.95  # the cosine of two versions
_AS_GOOD = 0.9  # of the better one's score: asked for AVChapterStart, AVChapterEnd stood in its place
_NEARLY_WHOLE = 0.8  # of the groups of words, where the names do not say that they are versions
_MOST_TIMES = 9  # as many hits as are wanted are compared at most
_MOST_KEPT = 512  # of 11 kB each
_beginnings: dict[tuple[FilesVersion, int], Shingles] = {}
_NUMBER = late_pattern(r"\d+")
_WORD = late_pattern(r"(?<!\d)(?:19|20)\d\d(?!\d)|[qh][1-4](?![^\W_])|[^\W\d_]+")
_SAY_VERSION = frozenset({"v", "ver", "version", "rev", "revision", "draft", "entwurf", "final", "copy", "old", "new"})
IndexOf = Callable[[DocumentHit], Index]
Finder = Callable[[Sequence[DocumentHit], int], Sequence[DocumentHit]]


def may_be_among(hits: Sequence[DocumentHit]) -> bool:
    """Whether the best passages of any two hits share so many words that it is worth a look."""
    words = [frozenset(hit.passages[0].text.split()) for hit in hits if hit.passages]
    long = [own for own in words if len(own) >= _LEAST_WORDS]
    return any(len(one & other) >= _ALIKE * max(len(one), len(other)) for one, other in combinations(long, 2))


def unlike(found: Sequence[DocumentHit], more: Finder, k: int, index_of: IndexOf) -> list[DocumentHit]:
    """The `k` best hits that say something else, each with its versions.

    `found`: the k best hits, whatever they say; `more` adds others to hits, up to so many in all. `index_of`: the index
    that found a hit.
    """
    n, rows = k, with_versions(found, index_of)
    while len(rows) < k and len(found) >= n and n < _MOST_TIMES * k:
        n *= 3
        found = more(found, n)
        rows = with_versions(found, index_of)
    return rows[:k]


def with_versions(hits: Sequence[DocumentHit], index_of: IndexOf) -> list[DocumentHit]:
    """The hits, of each group of versions the newest alone, with the others as its `versions`, the newest first.

    It stands where the best of them stood.
    """
    groups: list[list[DocumentHit]] = []
    best = [hit.passages[0].text if hit.passages else "" for hit in hits]
    is_long = [len(frozenset(text.split())) >= _LEAST_WORDS for text in best]
    for numbers in grouped([text if long else hit.path for hit, text, long in zip(hits, best, is_long, strict=True)]):
        groups += _versions([hits[number] for number in numbers], index_of)
    rows = []
    for group in sorted(groups, key=lambda group: group[0].rank):
        newest, *others = newest_first(group, index_of)
        rows.append(replace(newest, versions=tuple(others)) if others else newest)
    return [hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(rows, start=1)]


@dataclass(frozen=True, slots=True)
class Whole:
    """What tells a whole document from another."""

    hit: DocumentHit
    index: Index
    n_passages: int
    vector: Vectors | None

    def is_version_of(self, other: "Whole", shared: float = NEARLY_THE_SAME) -> bool:
        """Whether both are about as long, alike as a whole, and begin alike. The quick checks come first.

        `shared`: the share of the groups of words that their beginnings have in common at least.
        """
        if min(self.n_passages, other.n_passages) < _AS_LONG * max(self.n_passages, other.n_passages):
            return False
        has_vectors = self.index is other.index and self.vector is not None and other.vector is not None
        if has_vectors and float(self.vector @ other.vector) < _NEAR:  # type: ignore[operator]
            return False
        return overlap(self.beginning(), other.beginning()) >= shared

    def folds_into(self, best: "Whole") -> bool:
        """Whether it needs no row of its own beside a better hit."""
        name = _name(self.hit.path)
        shared = NEARLY_THE_SAME if name and name == _name(best.hit.path) else _NEARLY_WHOLE
        return self.hit.score >= _AS_GOOD * best.hit.score and self.is_version_of(best, shared)

    def beginning(self) -> Shingles:
        """The groups of words with which the document begins, and some of those that follow. The last ones are kept."""
        key = self.index.files_version, self.hit.document_id
        found = _beginnings.get(key)
        if found is None:
            if len(_beginnings) >= _MOST_KEPT:
                _beginnings.clear()
            spans = [(0, _BEGINNING), (_BEGINNING, _SAMPLED)]
            found, rest = map(shingles, texts.spans(self.index.db, self.hit.document_id, spans))
            found = np.union1d(found, rest[rest % _ONE_OF == 0])
            _beginnings[key] = found
        return found


def _versions(hits: Sequence[DocumentHit], index_of: IndexOf) -> Iterator[list[DocumentHit]]:
    """Yield the versions among hits whose best passages say nearly the same, the best hit of each first."""
    left = wholes(hits, index_of) if len(hits) > 1 else []
    if not left:
        yield list(hits)
    while left:
        first = left[0]
        own = [one for one in left if one is first or one.folds_into(first)]
        left = [one for one in left if one not in own]
        yield [one.hit for one in own]


def _name(path: str) -> list[str]:
    """The words of a file's name without numbers, unless of a year or quarter, and what says that it is a version."""
    stem = os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122 (hostile names)
    return [word for word in _WORD.findall(stem.casefold()) if word not in _SAY_VERSION]


def wholes(hits: Sequence[DocumentHit], index_of: IndexOf) -> list[Whole]:
    """The documents of these hits, in their order: each index is asked once."""
    found: dict[int, Whole] = {}
    for root in {hit.root for hit in hits}:
        own = sorted((hit for hit in hits if hit.root == root), key=lambda hit: hit.document_id)
        index, ids = index_of(own[0]), [hit.document_id for hit in own]
        vectors = index.backend.vectors_of(Kind.DOCUMENTS, ids)
        for hit, n_passages in zip(own, index.backend.lengths(np.array(ids)).tolist(), strict=True):
            found[hit.rank] = Whole(hit, index, n_passages, vectors.get(hit.document_id))
    return [found[hit.rank] for hit in hits]


def newest_first(group: Sequence[DocumentHit], index_of: IndexOf) -> list[DocumentHit]:
    """Versions by the date of the document, then the time of its file, then the numbers in its name."""

    def age(hit: DocumentHit) -> tuple[str, int, list[int]]:
        stamp = files.stamp_of(index_of(hit).db, os.path.relpath(hit.path, hit.root))
        numbers = [int(number) for number in _NUMBER.findall(os.path.basename(hit.path))]  # noqa: PTH119 (hostile names)
        return hit.date, stamp[1] if stamp else 0, numbers

    return sorted(group, key=age, reverse=True) if len(group) > 1 else list(group)
