"""The words of some passages as arrays: for each term the passages that hold it, and how often. Knows no query.

The arrays of a segment of words:

    ids (n,)              passages, ascending
    lengths (n,)          words of a passage, title included, as FTS5 counts them
    text_lengths (n,)     those of its text alone
    document_ids (m,)     ascending; the passages of a document follow one another
    first_of (m + 1,)     where the passages of each document begin
    terms (bytes)         all terms, ascending, one after another
    term_ends (t + 1,)    where each term begins in `terms`
    posting_ends (t + 1,) where the postings of each term begin
    n_documents (t,)      documents that hold a term
    places (w,)           which passages of the segment hold the term, ascending for each term: their lowest two bytes
    turns (u,), above (u,)  from which of these on, what stands above these two bytes; 0 until the first
    steps (s,)            the same of terms that one in `COMMON` passages holds: how far from the one before, a byte
    leaps (l,), leap_highs (l,)  which steps have more than a byte, and what stands above it
    common (c,)           where the postings of each of these terms begin, among those of all terms
    step_starts (c + 1,)  where its steps begin
    pairs (p / 2,)        how often the passage holds the term, four bits; in a title `TITLE_WEIGHT` times
    often (o,), counts (o,)  which postings have more than four bits hold, and how many
    position_ends (t+1,)  where the positions of each term begin
    positions (q,)        where in the passage the term stands, a number for each time: their lowest bytes
    far (f,), highs (f,)  which positions have more than a byte (the lowest two bytes), and what stands above it
    far_starts (b + 1,)   where those among each 65,536 positions begin in `far`

The title follows the text after a gap of one place, so that no phrase goes from one into the other, and then again.

Longer than 300 lines because the layout of postings, what writes them and what merges them are one thing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from longsearch.engine.store.segments.files import Arrays, SegmentWriter, Shapes
from longsearch.engine.store.segments.term_counts import COMMON, LOW_BITS, counts_at, places_at, ranges

_BYTE, _FOUR_BITS, _LOW = 255, 15, (1 << LOW_BITS) - 1
_OF_POSTINGS = (
    *("places", "turns", "above", "steps", "leaps", "leap_highs", "common", "step_starts"),
    *("pairs", "often", "counts", "positions", "far", "highs", "far_starts"),
)
# of these, numbers of rows of others
_ROWS = frozenset({"turns", "leaps", "common", "step_starts", "often", "far_starts"})
_OF_TWO_BYTES = frozenset({"places", "far"})
_DENSE = 8  # so many rows to each that is wanted
_POSTINGS_AT_ONCE = 2**21  # merged at once, which takes 150 MB at most


@dataclass(frozen=True, slots=True)
class Passages:
    """Which passages a segment holds."""

    ids: NDArray[np.int64]
    """(n,), ascending."""
    document_ids: NDArray[np.int64]
    """(n,): the document of each passage, ascending."""
    lengths: NDArray[np.int32]
    """(n,)"""
    text_lengths: NDArray[np.int32]
    """(n,)"""


@dataclass(frozen=True, slots=True)
class Block:
    """The postings of some consecutive terms, in the order of terms and then of places."""

    terms: NDArray[np.int64]
    """(p,): numbers of terms."""
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    positions: NDArray[np.int64]
    """(q,): the positions of each posting, ascending."""


def add_positions(segment: Arrays, start: int, sums: NDArray[np.int64]) -> None:
    """Add the positions in the rows of `positions` from `start` on to `sums` (n,), in place."""
    sums += segment.part("positions", start, start + len(sums))
    far, highs = _far(segment, start, start + len(sums))
    sums[far - start] += highs


def positions_at(segment: Arrays, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions in these rows of `positions`."""
    if not len(rows):
        return rows
    start, stop = int(rows.min()), int(rows.max()) + 1
    if stop - start <= _DENSE * len(rows):  # to look for each of ten million rows takes a second
        whole = np.zeros(stop - start, np.int64)
        add_positions(segment, start, whole)
        return whole[rows - start]
    found = segment.part("positions", start, stop)[rows - start].astype(np.int64)
    far, highs = _far(segment, start, stop)
    if len(far):
        own = np.minimum(np.searchsorted(far, rows.astype(far.dtype)), len(far) - 1)
        is_far = far[own] == rows
        found[is_far] += highs[own[is_far]]
    return found


def _far(segment: Arrays, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of these rows have more than a byte, and what to add to it."""
    far, highs = segment["far"], segment["highs"]
    if "far_starts" not in segment.raw or start == stop:  # a segment of an older longsearch has them whole
        begin, end = far.searchsorted(np.array((start, stop)).astype(far.dtype)).tolist()
        return far[begin:end].astype(np.int64), highs[begin:end].astype(np.int64) << 8
    first, last = start >> LOW_BITS, stop - 1 >> LOW_BITS
    starts = segment["far_starts"][first : last + 2].astype(np.int64)
    begin = starts[0] + far[starts[0] : starts[1]].searchsorted(np.uint16(start & _LOW))
    end = starts[-2] + far[starts[-2] : starts[-1]].searchsorted(np.uint16(stop - 1 & _LOW), "right")
    above = np.repeat(np.arange(first, last + 1), np.diff(starts.clip(begin, end)))
    return far[begin:end] + (above << LOW_BITS), highs[begin:end].astype(np.int64) << 8


def type_of_ids(ids: NDArray[np.int64]) -> DTypeLike:
    """The type in which a segment holds these ids (n,), ascending."""
    return np.uint32 if not len(ids) or ids[-1] < 2**32 - 1 else np.int64


def document_starts(document_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(document ids (m,), where the passages of each begin (m + 1,)) of the documents (n,) of all passages."""
    if not len(document_ids):
        return document_ids, np.zeros(1, np.int64)
    starts = np.flatnonzero(np.append(True, document_ids[1:] != document_ids[:-1]))
    return document_ids[starts], np.append(starts, len(document_ids))


def terms_of(segment: Arrays) -> list[bytes]:
    """All terms of a segment, ascending."""
    whole, ends = segment["terms"].tobytes(), segment["term_ends"].tolist()
    return [whole[start:stop] for start, stop in pairwise(ends)]


def from_tokens(columns: Iterable[Sequence[Sequence[str]]]) -> tuple[list[bytes], Block]:
    """Count the tokens of each passage, given as those of its columns. Returns the terms, ascending, and postings."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    found: list[int] = []
    positions: list[int] = []
    lengths: list[int] = []
    for own in columns:
        start, before = 0, len(found)
        for tokens in own:
            found.extend(map(numbers.__getitem__, tokens))
            positions.extend(range(start, start + len(tokens)))
            start += len(tokens) + 1
        lengths.append(len(found) - before)
    by_bytes = sorted((term.encode(), number) for term, number in numbers.items())
    rank = np.empty(len(by_bytes), np.int64)
    rank[[number for _, number in by_bytes]] = np.arange(len(by_bytes))
    n = max(1, len(lengths))
    pairs = rank[np.array(found, np.int64)] * n + np.repeat(np.arange(len(lengths)), lengths)
    order = np.argsort(pairs, kind="stable")
    pairs, counts = np.unique(pairs[order], return_counts=True)
    terms, places = np.divmod(pairs, n)
    return [term for term, _ in by_bytes], Block(terms, places, counts, np.array(positions, np.int64)[order])


def write(writer: SegmentWriter, passages: Passages, terms: Sequence[bytes], counted: "Counted") -> None:
    """Write all arrays of a segment. The writer has the shapes that `shapes` gives."""
    document_ids, first_of = document_starts(passages.document_ids)
    writer.write("ids", [passages.ids])
    writer.write("lengths", [passages.lengths])
    writer.write("text_lengths", [passages.text_lengths])
    writer.write("document_ids", [document_ids])
    writer.write("first_of", [first_of])
    writer.write("terms", [np.frombuffer(b"".join(terms), np.uint8)])
    writer.write("term_ends", [np.cumsum([0, *map(len, terms)])])
    writer.write("posting_ends", [np.append(0, np.cumsum(counted.n_postings))])
    writer.write("n_documents", [counted.n_documents])
    writer.write("position_ends", [np.append(0, np.cumsum(counted.n_positions))])
    writer.write_together(tuple(counted.sizes), _written(counted.blocks(), counted.is_common))


def _written(blocks: Iterable[Block], is_common: NDArray[np.bool_]) -> Iterator[list[NDArray[Any]]]:
    """Yield what each block adds to each array of `_OF_POSTINGS`; `is_common` (t,): which terms have steps."""
    n, n_wide, n_steps, n_positions, n_far, upper = 0, 0, 0, 0, 0, 0
    odd = np.empty(0, np.int64)  # the last count of a block, which shares a byte with the first of the next
    for block in blocks:
        has_steps = is_common[block.terms]
        wide = block.places[~has_steps]
        turns = np.flatnonzero(np.diff(wide >> LOW_BITS, prepend=upper))
        is_first = np.append(True, block.terms[1:] != block.terms[:-1])[: len(block.terms)]
        steps = np.where(is_first, block.places, np.diff(block.places, prepend=0))[has_steps]
        leaps, far = np.flatnonzero(steps > _BYTE), np.flatnonzero(block.positions > _BYTE)
        common = np.flatnonzero(is_first & has_steps)
        before = np.cumsum(has_steps)[common] - 1
        counts = np.append(odd, block.counts)
        often = np.flatnonzero(block.counts > _FOUR_BITS)
        whole = len(counts) // 2 * 2
        low, odd = np.minimum(counts[:whole], _FOUR_BITS), counts[whole:]
        end = n_positions + len(block.positions)
        borders = np.arange(-(-n_positions >> LOW_BITS), -(-end >> LOW_BITS)) << LOW_BITS
        yield [
            *(wide & _LOW, turns + n_wide, wide[turns] >> LOW_BITS),
            *(steps & _BYTE, leaps + n_steps, steps[leaps] >> 8, common + n, before + n_steps),
            *(low[::2] | low[1::2] << 4, often + n, block.counts[often]),
            *(block.positions & _BYTE, (far + n_positions) & _LOW, block.positions[far] >> 8),
            np.searchsorted(far + n_positions, borders) + n_far,
        ]
        n, n_wide, n_steps = n + len(block.terms), n_wide + len(wide), n_steps + len(steps)
        n_positions, n_far, upper = end, n_far + len(far), int(wide[-1] >> LOW_BITS) if len(wide) else upper
    none = np.empty(0, np.int64)
    yield [none] * 7 + [np.array([n_steps]), np.minimum(odd, _FOUR_BITS)] + [none] * 5 + [np.array([n_far])]


@dataclass(frozen=True, slots=True)
class Counted:
    """The postings of a segment to be written, block by block, and their numbers."""

    n_postings: NDArray[np.int64]
    """(t,)"""
    n_documents: NDArray[np.int64]
    """(t,)"""
    n_positions: NDArray[np.int64]
    """(t,)"""
    is_common: NDArray[np.bool_]
    """(t,): which terms have steps."""
    sizes: dict[str, int]
    """The length of each array of postings."""
    largest: dict[str, int]
    """The largest number in each."""
    blocks: Any
    """A function that returns an iterator of `Block`, the same every time."""

    @classmethod
    def of(cls, n_terms: int, document_ids: NDArray[np.int64], blocks: Any) -> "Counted":
        """Count the postings of these blocks; `document_ids` (n,) are those of all passages."""
        n_postings, n_documents, n_positions = np.zeros((3, n_terms), np.int64)
        is_common = np.zeros(n_terms, np.bool_)

        def counting() -> Iterator[Block]:
            for block in blocks():
                own = document_ids[block.places]
                is_new = np.append(True, (block.terms[1:] != block.terms[:-1]) | (own[1:] != own[:-1]))[: len(own)]
                n_postings[:] += np.bincount(block.terms, minlength=n_terms)
                n_documents[:] += np.bincount(block.terms[is_new], minlength=n_terms)
                n_positions[:] += np.bincount(block.terms, block.counts, n_terms).astype(np.int64)
                is_common[:] = n_postings * COMMON >= len(document_ids)
                yield block

        sizes, largest = dict.fromkeys(_OF_POSTINGS, 0), dict.fromkeys(_OF_POSTINGS, 0)
        for written in _written(counting(), is_common):
            for name, part in zip(_OF_POSTINGS, written, strict=True):
                sizes[name] += len(part)
                largest[name] = max(largest[name], int(part.max(initial=0)))
        return cls(n_postings, n_documents, n_positions, is_common, sizes, largest, blocks)

    def type_of(self, name: str) -> DTypeLike:
        """The type of an array of postings."""
        n_rows = int(self.n_positions.sum())  # at least as many as postings
        smallest = np.min_scalar_type(n_rows if name in _ROWS else self.largest[name])
        return np.uint16 if name in _OF_TWO_BYTES else smallest


def shapes(passages: Passages, terms: Sequence[bytes], counted: Counted) -> Shapes:
    """The type and shape of each array of a segment."""
    n, n_documents = len(passages.ids), len(document_starts(passages.document_ids)[0])
    n_terms, n_bytes = len(terms), sum(map(len, terms))
    smallest = np.min_scalar_type
    return {
        "ids": (type_of_ids(passages.ids), (n,)),
        "lengths": (smallest(int(passages.lengths.max(initial=0))), (n,)),
        "text_lengths": (smallest(int(passages.text_lengths.max(initial=0))), (n,)),
        "document_ids": (np.int64, (n_documents,)),
        "first_of": (np.int64, (n_documents + 1,)),
        "terms": (np.uint8, (n_bytes,)),
        "term_ends": (smallest(n_bytes), (n_terms + 1,)),
        "posting_ends": (smallest(int(counted.n_postings.sum())), (n_terms + 1,)),
        "n_documents": (smallest(n_documents), (n_terms,)),
        "position_ends": (smallest(int(counted.n_positions.sum())), (n_terms + 1,)),
        **{name: (counted.type_of(name), (size,)) for name, size in counted.sizes.items()},
    }


def merged(
    first: Arrays, second: Arrays, alive: tuple[NDArray[np.bool_], NDArray[np.bool_]]
) -> tuple[Passages, list[bytes], Counted]:
    """Merge two segments, keeping the `alive` passages ((n,) for each); pass the result to `write`."""
    both = (first, second)
    ids = np.concatenate([one["ids"][own] for one, own in zip(both, alive, strict=True)]).astype(np.int64)
    order = np.argsort(ids, kind="stable")
    new_places = np.empty(len(ids), np.int64)
    new_places[order] = np.arange(len(ids))
    n_first = int(alive[0].sum())
    places = [np.full(len(own), -1, np.int64) for own in alive]
    places[0][alive[0]], places[1][alive[1]] = new_places[:n_first], new_places[n_first:]
    documents, lengths, text_lengths = (
        np.concatenate([get(one)[own] for one, own in zip(both, alive, strict=True)])[order]
        for get in (documents_of, itemgetter("lengths"), itemgetter("text_lengths"))
    )
    passages = Passages(ids[order], documents, lengths, text_lengths)
    own_terms = [terms_of(one) for one in both]
    terms = sorted({*own_terms[0], *own_terms[1]})
    number_of = {term: number for number, term in enumerate(terms)}
    numbers = [np.fromiter((number_of[term] for term in own), np.int64, len(own)) for own in own_terms]
    del number_of, own_terms
    blocks = _Blocks(both, places, numbers, len(terms))
    counted = Counted.of(len(terms), passages.document_ids, blocks)
    return passages, terms, counted


def documents_of(segment: Arrays) -> NDArray[np.int64]:
    """(n,): the document of each passage of a segment."""
    return np.repeat(segment["document_ids"], np.diff(segment["first_of"]))


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The postings of two segments, merged block by block; a call begins again."""

    segments: tuple[Arrays, Arrays]
    places: Sequence[NDArray[np.int64]]
    """For each segment (n,): the new place of each passage, or -1."""
    numbers: Sequence[NDArray[np.int64]]
    """For each segment (t,): the new number of each term, ascending."""
    n_terms: int

    def __call__(self) -> Iterator[Block]:
        sizes = np.zeros(self.n_terms, np.int64)
        for segment, numbers in zip(self.segments, self.numbers, strict=True):
            sizes[numbers] += np.diff(segment["posting_ends"])
        ends = np.cumsum(sizes)
        start = 0
        while start < self.n_terms:
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _POSTINGS_AT_ONCE, "right")))
            yield self._block(start, stop)
            start = stop

    def _block(self, start: int, stop: int) -> Block:
        """The postings of the terms from `start` to `stop`."""
        parts, positions = [], []
        for segment, new_places, numbers in zip(self.segments, self.places, self.numbers, strict=True):
            first, last = np.searchsorted(numbers, (start, stop))
            ends = segment["posting_ends"][first : last + 1].astype(np.int64)
            own = slice(int(ends[0]), int(ends[-1]))
            places, counts = (
                new_places[places_at(segment, own.start, own.stop)],
                counts_at(segment, own.start, own.stop).astype(np.int64),
            )
            terms = np.repeat(numbers[first:last], np.diff(ends))
            parts.append((terms, places, counts))
            begin, end = segment["position_ends"][[first, last]].tolist()
            positions.append(np.zeros(end - begin, np.int64))
            add_positions(segment, begin, positions[-1])
        terms, places, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(terms * (int(places.max(initial=0)) + 1) + places, kind="stable")
        order = order[places[order] >= 0]
        rows = ranges((np.cumsum(counts) - counts)[order], counts[order])
        return Block(terms[order], places[order], counts[order], np.concatenate(positions)[rows])
