"""Finds phrases, and words near each other, by where words stand in the passages of a segment. The slow twin is FTS5.

The rarest word decides which passages are looked at, or all are if every word is common: then positions are read in one
piece. Occurrences are numbers that grow by passage and by place, so that to ask whether a word follows another is to
look up a number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store.segments.files import Arrays
from longsearch.engine.store.segments.postings import add_positions, positions_at
from longsearch.engine.store.segments.term_counts import counts_at, places_at, ranges

_AT_ONCE = 16_384  # passages whose words are looked up together
_COMMON = 8  # where one in so many passages holds each word, all are looked at


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
        self._begin = int(segment["position_ends"][word.first])
        self._ends += self._begin
        self._has_many = word.stop - word.first > 1
        if self._has_many:
            order = np.argsort(self.places, kind="stable")
            self.places, self._ends, self._counts = self.places[order], self._ends[order], self._counts[order]

    def of(self, wanted: NDArray[np.uint32], bases: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each occurrence in these passages (ascending), as its position after the base of its passage, ascending."""
        if not self._has_many and wanted[-1] - wanted[0] == len(wanted) - 1:  # without a gap: one piece
            first, stop = self.places.searchsorted((wanted[0], wanted[-1] + np.uint32(1))).tolist()
            begin = int(self._ends[first - 1]) if first else self._begin
            keys = np.repeat(bases.take(self.places[first:stop] - wanted[0]), self._counts[first:stop])
            add_positions(self._segment, begin, keys)
            return keys
        own, which = np.searchsorted(self.places, wanted), np.arange(len(wanted))
        if self._has_many:
            n = np.searchsorted(self.places, wanted, "right") - own
            own, which = ranges(own, n), np.repeat(which, n)
        counts = self._counts[own].astype(np.int64)
        rows = ranges(self._ends[own] - counts, counts)
        keys = np.repeat(bases[which], counts) + positions_at(self._segment, rows)
        return np.sort(keys) if self._has_many else keys


def phrase(segment: Arrays, words: Sequence[Word]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(places of the passages that hold these words one after another, ascending, how often each holds them)."""
    found = [_Occurrences(segment, word) for word in words]
    places, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for wanted in _blocks(segment, found):
        bases = _bases(_stops(segment, wanted) + len(words))
        starts = _starts([one.of(wanted, bases) for one in found])
        own = np.bincount(_owners(bases, starts), minlength=len(wanted))
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
    lengths = list(map(len, phrases))
    gap = within + max(lengths)
    for wanted in _blocks(segment, [one for own in found for one in own]):
        stops = _stops(segment, wanted)
        bases = _bases(stops + 3 * gap)
        ends = segment["text_lengths"][wanted].astype(np.int64)
        titled = np.flatnonzero(segment["lengths"][wanted] > ends)
        text_ends, again = (ends[titled], (ends + stops)[titled] // 2)
        keys = [_starts([one.of(wanted, bases) for one in own]) for own in found]
        for own in keys:
            for begin in (again, text_ends):  # where the title stands again, and where it stands
                first, end = own.searchsorted((bases[titled] + begin, bases[titled + 1]))
                own[ranges(first, end - first)] += gap
        held = np.zeros(len(wanted), np.bool_)
        for last in _last(keys, lengths, within):
            held[_owners(bases, last)] = True
        places.append(wanted[held].astype(np.int64))
    return np.concatenate(places)


def _last(keys: Sequence[NDArray[np.int64]], lengths: Sequence[int], within: int) -> Iterator[NDArray[np.int64]]:
    """Yield those occurrences of phrases of these lengths, ascending, from which no other phrase is too far.

    Of two phrases those of the rarer tell it: the other stands before it or behind it. Of more, each may be the last.
    """
    farthest = [length + within for length in lengths]
    padded = [np.concatenate(([-1 - most], own, [2**62])) for most, own in zip(farthest, keys, strict=True)]
    if len(keys) == 2:
        rare, other = sorted((0, 1), key=lambda number: len(keys[number]))
        own, others = keys[rare], padded[other]
        behind = np.searchsorted(keys[other], own) + 1
        yield own[(others[behind - 1] >= own - farthest[other]) | (others[behind] <= own + farthest[rare])]
        return
    for number, last in enumerate(keys):
        for other, begins in enumerate(keys):
            if other != number:
                last = last[padded[other][np.searchsorted(begins, last, "right")] >= last - farthest[other]]
        yield last


def _blocks(segment: Arrays, found: Sequence[_Occurrences]) -> Iterator[NDArray[np.uint32]]:
    """Yield the places of the passages that hold all these words, ascending, some at a time; or of all passages."""
    in_order = sorted((one.places for one in found), key=len)
    rarest = in_order[0]
    if len(rarest) * _COMMON > len(segment.raw["ids"]):
        wanted = np.arange(len(segment.raw["ids"]), dtype=np.uint32)
    else:
        wanted = reduce(_among, in_order[1:], rarest[np.append(True, rarest[1:] != rarest[:-1])[: len(rarest)]])
    return (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE))


def _among(wanted: NDArray[np.uint32], places: NDArray[np.uint32]) -> NDArray[np.uint32]:
    own = np.searchsorted(places, wanted)
    held = own < len(places)
    held[held] = places[own[held]] == wanted[held]
    return wanted[held]


def _bases(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n + 1,): where the numbers of each passage begin; without holes, so that they fit a core's own cache."""
    return np.append(0, np.cumsum(sizes))


def _owners(bases: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """(k,): in which passage each of these numbers is."""
    owners: NDArray[np.intp] = bases.searchsorted(keys, "right") - 1
    return owners


def _stops(segment: Arrays, wanted: NDArray[np.uint32]) -> NDArray[np.int64]:
    """(n,): a number that is higher than all positions in each of these passages: its title stands there twice."""
    own = wanted.astype(np.intp)
    stops: NDArray[np.int64] = 2 * segment["lengths"][own].astype(np.int64) - segment["text_lengths"][own] + 2
    return stops


def _starts(occurrences: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The beginnings of a phrase, of the occurrences of each of its words."""
    begins, *others = occurrences
    for distance, other in enumerate(others, 1):
        follows = np.zeros(max(int(one[-1]) if len(one) else 0 for one in (begins, other)) + distance + 1, np.bool_)
        follows[other] = True
        begins = begins[follows[begins + distance]]
    return begins
