"""Finds phrases, and words near each other, by where words stand in the passages of a segment. The slow twin is FTS5.

The rarest word decides which passages are looked at. In these, occurrences are numbers that grow by passage and by
place, so that to ask whether a word follows another is to look up a number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.segments.files import Arrays
from longsearch.engine.store.segments.postings import positions_at
from longsearch.engine.store.segments.term_counts import counts_at, places_at, ranges

_AT_ONCE = 4_096  # passages: what is looked up of them stays in a core's own cache


@dataclass(frozen=True, slots=True)
class Word:
    """The terms that a word of a phrase may be: one, or those with a beginning."""

    first: int
    stop: int
    """One past the last term."""


class _Occurrences:
    """Where a word stands."""

    def __init__(self, segment: Arrays, word: Word) -> None:
        start, stop = segment["posting_ends"][[word.first, word.stop]].tolist()
        self._segment, self._counts = segment, counts_at(segment, start, stop)
        self.places = places_at(segment, start, stop)
        self._ends = np.cumsum(self._counts, dtype=np.int64)
        self._ends += int(segment["position_ends"][word.first])
        self._has_many = word.stop - word.first > 1
        if self._has_many:
            order = np.argsort(self.places, kind="stable")
            self.places, self._ends, self._counts = self.places[order], self._ends[order], self._counts[order]

    def of(self, wanted: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(which of the passages at `wanted` (ascending), the position in it) of each occurrence in these."""
        own, which = np.searchsorted(self.places, wanted), np.arange(len(wanted))
        if self._has_many:
            n = np.searchsorted(self.places, wanted, "right") - own
            own, which = ranges(own, n), np.repeat(which, n)
        counts = self._counts[own].astype(np.int64)
        return np.repeat(which, counts), positions_at(self._segment, ranges(self._ends[own] - counts, counts))


def phrase(segment: Arrays, words: Sequence[Word]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(places of the passages that hold these words one after another, ascending, how often each holds them)."""
    found = [_Occurrences(segment, word) for word in words]
    places, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for wanted in _blocks(found):
        width, starts = _starts(found, [one.of(wanted) for one in found])
        own = np.bincount(starts // width, minlength=len(wanted))
        held = np.flatnonzero(own)
        places.append(wanted[held].astype(np.int64))
        counts.append(own[held])
    return np.concatenate(places), np.concatenate(counts)


def near(segment: Arrays, phrases: Sequence[Sequence[Word]], within: int) -> NDArray[np.int64]:
    """Places of the passages that hold all these phrases with at most `within` words between, ascending.

    So many words may stand between the end of any of them and the beginning of the last. What stands in the title is
    far from what stands in the text.
    """
    found = [[_Occurrences(segment, word) for word in words] for words in phrases]
    places = [np.empty(0, np.int64)]
    if not found:
        return places[0]
    gap = within + max(map(len, phrases))
    for wanted in _blocks([one for own in found for one in own]):
        ends = segment["text_lengths"][wanted].astype(np.int64)
        title = segment["lengths"][wanted] - ends
        apart = []
        for own in found:
            width, starts = _starts(own, [one.of(wanted) for one in own])
            which, position = np.divmod(starts, width)
            position += gap * ((position > ends[which]).astype(np.int64) + (position > (ends + title + 1)[which]))
            apart.append((which, position))
        width = gap + max(int(position.max(initial=0)) for _, position in apart) + 1
        keys = [np.sort(which * width + position) for which, position in apart]
        held = np.zeros(len(wanted), np.bool_)
        for number, last in enumerate(keys):
            for other, begins in enumerate(keys):
                if other != number:
                    before = np.append(-1 - width, begins)[np.searchsorted(begins, last, "right")]
                    last = last[before >= last - len(phrases[other]) - within]
            held[last // width] = True
        places.append(wanted[held].astype(np.int64))
    return np.concatenate(places)


def _blocks(found: Sequence[_Occurrences]) -> Iterator[NDArray[np.uint32]]:
    """Yield the places of the passages that hold all these words, ascending, some at a time."""
    in_order = sorted((one.places for one in found), key=len)
    rarest = in_order[0]
    wanted = reduce(_among, in_order[1:], rarest[np.append(True, rarest[1:] != rarest[:-1])[: len(rarest)]])
    return (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE))


def _among(wanted: NDArray[np.uint32], places: NDArray[np.uint32]) -> NDArray[np.uint32]:
    own = np.searchsorted(places, wanted)
    held = own < len(places)
    held[held] = places[own[held]] == wanted[held]
    return wanted[held]


def _starts(
    found: Sequence[_Occurrences], occurrences: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> tuple[int, NDArray[np.int64]]:
    """(width, passage * width + position of each beginning of a phrase with these words)."""
    width = 1 + max(int(position.max(initial=0)) for _, position in occurrences)
    n = 1 + max(int(which.max(initial=0)) for which, _ in occurrences)
    which, position = occurrences[0]
    keys = which * width + position
    for distance, (which, position) in enumerate(occurrences[1:], 1):
        follows = np.zeros(n * width, np.bool_)
        follows[(which * width + position - distance)[position >= distance]] = True
        keys = keys[follows[keys]]
    return width, keys
