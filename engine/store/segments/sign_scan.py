"""Compares vectors by the signs of their coordinates, 64 coordinates at a time. Knows no file and no index.

The fewer signs differ between a vector and the query, the nearer the two are, roughly. Weights make this more exact: a
sign counts 0 to 3 times, the more the larger the query's coordinate is. Of 100,022 invented vectors, the 6,000 nearest
by signs alone hold 96.9 % of the 20 nearest, the 6,000 by weight among the 24,000 by signs alone 99.4 %. Of 32,852
vectors of real texts, the 600 nearest by signs hold 99.3 %, the 600 by weight 100 %.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

NONE = np.uint16(0xFFFF)
"""The distance of a vector that is not wanted."""
_LARGE = 0.9  # quantile of a query's coordinates, without their signs: from it on they have the highest weight
_HIGHEST_WEIGHT = 3
_AT_ONCE = 16_384  # vectors whose signs are compared at once: they fit a core's own cache
_SAMPLE = 16_384  # distances of which the limit is taken
_N_THREADS = 2

Words = NDArray[np.uint64]
Distances = NDArray[np.uint16]


def packed(flags: NDArray[np.bool_]) -> Words:
    """(words, n): flags (n, dim), such as `vectors >= 0`, 64 to a word; the last word is filled up with zeros."""
    bits = np.packbits(flags, axis=1, bitorder="little")
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    return np.ascontiguousarray(padded.view("<u8").T)


def by_signs(planes: Words, query: Vectors) -> Distances:
    """(n,): how many signs of each vector differ from those of `query` (dim,). `planes` (words, n): the vectors'."""
    n = planes.shape[1]
    distances = np.zeros(n, np.uint16)
    own = packed(query[None] >= 0)[:, 0]

    def compare(first: int, end: int) -> None:
        different, counts = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint8)
        for start in range(first, end, _AT_ONCE):
            stop = min(start + _AT_ONCE, end)
            sums = distances[start:stop]
            for plane, word in zip(planes[:, start:stop], own, strict=True):
                np.bitwise_xor(plane, word, out=different[: stop - start])
                np.bitwise_count(different[: stop - start], out=counts[: stop - start])
                np.add(sums, counts[: stop - start], out=sums)

    if n < 4 * _AT_ONCE:
        compare(0, n)
    else:
        borders = [n * number // _N_THREADS for number in range(_N_THREADS + 1)]
        list(_threads().map(compare, borders[:-1], borders[1:]))
    return distances


def by_weighted_signs(planes: Words, places: NDArray[np.intp], query: Vectors) -> Distances:
    """(p,): the sum of the weights of the signs that differ, for the vectors at `places` (p,) of `planes`."""
    distances = np.zeros(len(places), np.uint16)
    own, levels = packed(query[None] >= 0)[:, 0], weights(query)
    bits = [packed((levels & bit)[None] > 0)[:, 0] for bit in (1, 2)]
    different, masked = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint64)
    counts, counts_twice = np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    for start in range(0, len(places), _AT_ONCE):
        wanted = places[start : start + _AT_ONCE]
        sums, n = distances[start : start + _AT_ONCE], len(wanted)
        for plane, word, one, two in zip(planes, own, *bits, strict=True):
            plane.take(wanted, out=different[:n], mode="clip")  # by default numpy copies `out`
            np.bitwise_xor(different[:n], word, out=different[:n])
            np.bitwise_count(np.bitwise_and(different[:n], one, out=masked[:n]), out=counts[:n])
            np.bitwise_count(np.bitwise_and(different[:n], two, out=masked[:n]), out=counts_twice[:n])
            counts_twice[:n] *= 2  # at most 128
            counts[:n] += counts_twice[:n]  # at most 192
            np.add(sums, counts[:n], out=sums)
    return distances


def weights(query: Vectors) -> NDArray[np.uint8]:
    """(dim,): how often the sign of each coordinate of `query` (dim,) counts, 0 to 3 times."""
    sizes = np.abs(query)
    large = np.sort(sizes)[int(_LARGE * (len(sizes) - 1))]
    shares = np.minimum(sizes / np.maximum(large, np.finfo(np.float32).tiny), 1)
    levels: NDArray[np.uint8] = np.rint(shares * _HIGHEST_WEIGHT).astype(np.uint8)
    return levels


def limit(distances: Sequence[Distances], n: int) -> int:
    """A distance that at least `n` wanted vectors do not exceed, if there are so many: about the smallest.

    A sample of all distances tells it; counting all of them took a quarter of a search among a million vectors.
    """
    n_all = sum(map(len, distances))
    step = max(1, n_all // _SAMPLE)
    sample = np.concatenate([own[::step] for own in distances])
    sample = sample[sample != NONE]
    # three standard deviations more, so that hardly ever fewer come; of all distances the limit is exact
    place = n // step + (3 * int((n / step) ** 0.5) if step > 1 else 0)
    # a partition, not a sort: that took 4 of the 24 ms of a search among 100,000
    return int(np.partition(sample, place)[place]) if place < len(sample) else int(NONE) - 1


@lru_cache(1)
def _threads() -> "ThreadPoolExecutor":
    """numpy lets go of the interpreter while it compares; more threads wait for memory."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_N_THREADS, "longsearch-signs")
