"""How often each of some passages holds a term: as postings, or for a term that many hold as a count for each passage.

Postings name the passages that hold the term; their `Counts` have a number for every passage. The two answer alike.
A typed beginning such as "wi" is held by most passages; among a million, counts rank it in half the time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import distinct
from longsearch.engine.store.segments.files import Arrays

K1, B = 1.2, 0.75  # FTS5's constants; do not change them
_IDF_LEAST = 1e-6  # FTS5's idf of a term that more than half of the passages hold
_AT_ONCE = 16_384  # passages: what is computed of them stays in a core's own cache, which is three times as fast
_FEW = 8  # documents are looked up one by one if an eighth as many passages hold the term; rarer forms are merged so
_COUNTED = 4  # among a million, a term that a quarter of the passages hold is ranked as fast by counts as by postings
LOW_BITS = 16
"""So many bits of a place stand in the array `places` of a segment."""
_MANY_TURNS = 16  # are added at once, which takes longer for a few
COMMON = 64
"""A term that one in so many passages holds has its places as steps, a byte each."""
_COUNTS_OF_PAIR = np.stack([np.arange(256) & 15, np.arange(256) >> 4], axis=1).astype(np.uint8).view(np.uint16)[:, 0]

Ints = NDArray[Any]


def idf(n_matching: int, n_passages: int) -> float:
    """FTS5's idf of a term."""
    n_matching = min(n_matching, n_passages)
    found = math.log((n_passages - n_matching + 0.5) / (n_matching + 0.5))
    return found if found > 0 else _IDF_LEAST


def mean_length(n_all: int, n: int) -> float:
    """The mean length of `n` passages that have the length `n_all` together; above 0."""
    return max(n_all / max(1, n), 1e-9)


def half_count(lengths: Any, mean: float) -> Any:
    """The count at which BM25 gives a term half of the most it can, in passages of these lengths: a number or (n,).

    `mean`: the mean length of all passages.
    """
    return K1 * (1 - B + B * lengths / mean)


class Held(Protocol):
    """Which of n passages hold a term, and how often; a word of the title counts `TITLE_WEIGHT` times."""

    @property
    def n_passages(self) -> int:
        """How many hold it."""

    @property
    def n_documents(self) -> int:
        """How many documents have a passage that holds it."""

    def at(self, places: Ints) -> Ints:
        """(p,): how often the passages at `places` (p,), ascending, hold it."""

    @property
    def places(self) -> Ints:
        """The places of the passages that hold it, ascending."""

    def n_between(self, starts: Ints, stops: Ints) -> Ints:
        """(m,): how many of the passages from `starts` (m,) to `stops` (m,) hold it; the ranges are not empty."""

    def add_scores(self, sums: NDArray[np.float32], lengths: Ints, weight: float, mean: float) -> None:
        """Add the BM25 of each passage to `sums` (n,), in float32. `lengths` (n,): words of each passage."""


@dataclass(frozen=True, slots=True)
class Postings:
    """`Held` by the passages that hold the term."""

    places: Ints
    """(p,), ascending."""
    counts: Ints
    """(p,)"""
    n_documents: int

    @property
    def n_passages(self) -> int:
        """See `Held`."""
        return len(self.places)

    def at(self, places: Ints) -> Ints:
        """See `Held`."""
        own = np.searchsorted(self.places, places.astype(self.places.dtype))
        held = own < len(self.places)
        held[held] = self.places[own[held]] == places[held]
        counts = np.zeros(len(places), self.counts.dtype)
        counts[held] = self.counts[own[held]]
        return counts

    def n_between(self, starts: Ints, stops: Ints) -> Ints:
        """See `Held`."""
        # of the same type: otherwise numpy converts all places first
        first, end = np.searchsorted(self.places, np.stack([starts, stops]).astype(self.places.dtype))
        between: Ints = end - first
        return between

    def add_scores(self, sums: NDArray[np.float32], lengths: Ints, weight: float, mean: float) -> None:
        """See `Held`."""
        for start in range(0, len(self.places), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            places = self.places[part].astype(np.int64)
            sums[places] += _scores(self.counts[part], lengths[places], weight, mean)


@dataclass(frozen=True, slots=True)
class Counts:
    """`Held` by a number for every passage."""

    counts: Ints
    """(n,)"""
    n_passages: int
    n_documents: int

    @classmethod
    def of(cls, counts: Ints, first_of: NDArray[np.int64]) -> "Counts":
        """Count the passages, and the documents; those of document i begin at `first_of[i]`."""
        held = counts > 0
        n_documents = int(np.count_nonzero(np.logical_or.reduceat(held, first_of[:-1])))
        return cls(counts, int(np.count_nonzero(held)), n_documents)

    def at(self, places: Ints) -> Ints:
        """See `Held`."""
        counts: Ints = self.counts[places]
        return counts

    @property
    def places(self) -> Ints:
        """See `Held`."""
        return np.flatnonzero(self.counts)

    def n_between(self, starts: Ints, stops: Ints) -> Ints:
        """See `Held`."""
        ends = np.cumsum(stops - starts)
        firsts = ends - (stops - starts)
        n_before = np.append(0, np.cumsum(self.counts[ranges(starts, stops - starts)] > 0))
        between: Ints = n_before[ends] - n_before[firsts]
        return between

    def add_scores(self, sums: NDArray[np.float32], lengths: Ints, weight: float, mean: float) -> None:
        """See `Held`."""
        for start in range(0, len(self.counts), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            sums[part] += _scores(self.counts[part], lengths[part], weight, mean)


def united(forms: Sequence[Held], n: int, first_of: NDArray[np.int64]) -> Held:
    """A term that has several forms, among `n` passages: who holds any of them, with the sum of their counts."""
    found = [held for held in forms if held.n_passages] or list(forms[:1])
    if len(found) == 1:
        return found[0]
    few = sorted((held for held in found if isinstance(held, Postings)), key=lambda held: -held.n_passages)
    n_rarer = sum(held.n_passages for held in few[1:])
    if len(few) == len(found) and few[0].n_passages * _COUNTED < n and n_rarer * _FEW < n:
        if n_rarer * _FEW < few[0].n_passages:
            return _with_rarer(few[0], few[1:], first_of)
        places, numbers = np.unique(np.concatenate([held.places for held in few]), return_inverse=True)
        counts = np.bincount(numbers, np.concatenate([held.counts for held in few])).astype(np.int64)
        return Postings(places, counts, n_documents_at(first_of, places))
    summed = np.zeros(n, np.int32)
    for held in found:
        if isinstance(held, Postings):
            summed[held.places] += held.counts.astype(np.int32)
        else:
            summed += held.at(np.arange(n))
    return Counts.of(summed, first_of)


def _with_rarer(most: Postings, others: Sequence[Postings], first_of: NDArray[np.int64]) -> Postings:
    """The postings of all forms: those of the rarer ones are put into those of the commonest, which are not sorted."""
    places, numbers = np.unique(np.concatenate([held.places for held in others]), return_inverse=True)
    counts = np.bincount(numbers, np.concatenate([held.counts for held in others])).astype(np.int64)
    where, is_new = np.searchsorted(most.places, places), most.at(places) == 0
    summed = most.counts.astype(np.int64)
    summed[where[~is_new]] += counts[~is_new]
    new, own = places[is_new], where[is_new]
    documents = distinct(np.searchsorted(first_of, new, "right"))[0] - 1
    n_new = np.count_nonzero(most.n_between(first_of[documents], first_of[documents + 1]) == 0)
    return Postings(
        np.insert(most.places, own, new), np.insert(summed, own, counts[is_new]), most.n_documents + int(n_new)
    )


def n_documents_at(first_of: NDArray[np.int64], places: Ints) -> int:
    """How many documents have a passage at these places (ascending); those of document i begin at `first_of[i]`."""
    if len(places) * _FEW < len(first_of):
        numbers = np.searchsorted(first_of, places, "right")
        return int(np.count_nonzero(np.diff(numbers))) + bool(len(numbers))
    counts = np.diff(np.searchsorted(places, first_of.astype(places.dtype)))
    return int(np.count_nonzero(counts))


def places_at(segment: Arrays, start: int, stop: int) -> NDArray[np.uint32]:
    """The places of the postings from `start` to `stop`, which are those of whole terms.

    A segment of an older longsearch has them whole, or no steps.
    """
    steps, begins, first, last = [0], [stop], start, stop
    if "steps" in segment.raw:
        common = segment["common"]
        own = slice(*common.searchsorted(np.array((start, stop), common.dtype)).tolist())
        steps, begins = segment["step_starts"][own.start : own.stop + 1].tolist(), [*common[own].tolist(), stop]
        first, last = start - steps[0], stop - steps[-1]
    wide: NDArray[np.uint32] = segment.part("places", first, last).astype(np.uint32, copy=False)
    if "turns" in segment.raw and len(wide):
        turns, above = segment["turns"], segment["above"]
        n, end = turns.searchsorted(np.array((first, last), turns.dtype)).tolist()
        borders = [0, *(turns[n:end].astype(np.int64) - first).tolist(), last - first]
        uppers = above[n - 1 : end].astype(np.uint32) if n else np.append(np.uint32(0), above[:end])
        if len(uppers) > _MANY_TURNS:
            wide += np.repeat(uppers, np.diff(borders)) << LOW_BITS
        else:
            for begin, border, upper in zip(borders, borders[1:], uppers.tolist(), strict=False):
                wide[begin:border] += np.uint32(upper << LOW_BITS)
    if len(begins) == 1:
        return wide
    parts, leaps = [wide[: begins[0] - start]], segment["leaps"]
    for begin, own_steps, following, next_begin in zip(begins, steps, steps[1:], begins[1:], strict=False):
        part = segment.part("steps", own_steps, following).astype(np.uint32)
        far = slice(*leaps.searchsorted(np.array((own_steps, following), leaps.dtype)).tolist())
        part[leaps[far] - own_steps] += segment["leap_highs"][far].astype(np.uint32) << 8
        parts += [np.cumsum(part, out=part), wide[begin - own_steps - first : next_begin - following - first]]
    return np.concatenate(parts) if len(wide) or len(parts) > 3 else parts[1]


def counts_at(segment: Arrays, start: int, stop: int) -> Ints:
    """How often the passage holds the term, of the postings from `start` to `stop`."""
    if "pairs" not in segment.raw:
        return segment.part("counts", start, stop)
    pairs = _COUNTS_OF_PAIR.take(segment.part("pairs", start // 2, (stop + 1) // 2)).view(np.uint8)
    found, often = pairs[start % 2 : start % 2 + stop - start], segment["often"]
    first, last = often.searchsorted(np.array((start, stop), often.dtype)).tolist()
    if first < last:
        found = found.astype(segment["counts"].dtype)
        found[often[first:last] - start] = segment["counts"][first:last]
    return found


def of_rare(segment: Arrays, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint32], Ints]:
    """(places, counts) of the postings in these rows (p,), all of terms that one in `COMMON` passages does not hold.

    To read those of a hundred terms one by one takes eight times as long. Slow twins: `places_at` and `counts_at`.
    """
    wide = rows
    if "steps" in segment.raw:
        common = segment["common"]
        wide = rows - segment["step_starts"][common.searchsorted(rows.astype(common.dtype))].astype(np.int64)
    places: NDArray[np.uint32] = segment.rows("places", wide).astype(np.uint32)
    if "turns" in segment.raw and len(segment["turns"]):
        n = segment["turns"].searchsorted(wide.astype(segment["turns"].dtype), "right")
        places += np.where(n, segment["above"][n - 1], 0).astype(np.uint32) << LOW_BITS
    if "pairs" not in segment.raw:
        return places, segment.rows("counts", rows)
    counts, often = segment.rows("pairs", rows // 2) >> (rows % 2 * 4).astype(np.uint8) & 15, segment["often"]
    if len(often):
        own = np.minimum(often.searchsorted(rows.astype(often.dtype)), len(often) - 1)
        counts = np.where(often[own] == rows, segment["counts"][own], counts)
    return places, counts


def ranges(starts: Ints, lengths: Ints) -> NDArray[np.int64]:
    """The numbers from each of `starts` (m,) on, as many as `lengths` (m,) says."""
    ends = np.cumsum(lengths, dtype=np.int64)
    found: NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
    return found


def _scores(counts: Ints, lengths: Ints, weight: float, mean: float) -> NDArray[np.float32]:
    """(p,): the BM25 of passages that hold a term `counts` (p,) times. It stays below `weight * (K1 + 1)`."""
    scores: NDArray[np.float32] = counts.astype(np.float32)
    half = lengths.astype(np.float32)
    half *= np.float32(K1 * B / mean)
    half += np.float32(K1 * (1 - B))
    half += scores
    scores *= np.float32(weight * (K1 + 1))
    scores /= half
    return scores
