"""Finds the vectors nearest to a query by their segments. The slow twin is sqlite-vec: `nearest_by_sqlite_vec`.

Three passes, each over fewer vectors: the signs of all coordinates (48 bytes a vector; the fewer of them differ from
the query's, the nearer it is), then int8, then float32 out of the index. Only the first is approximate.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import documents, manifest
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.allowed import Allowed, places_among
from longsearch.engine.store.segments.files import Arrays, mapped, path_of
from longsearch.engine.store.segments.postings import document_starts
from longsearch.engine.store.segments.vector_maker import signs
from longsearch.engine.store.vec0 import storage_chunks

RESCORED = 100
"""Passages beyond `k` that are compared in float32: int8 is off by about 0.0003 per score."""
_LEAST_BY_SIGNS, _SHARE_BY_SIGNS = 2_000, 80
"""Of a segment so many vectors, and one in so many, are compared in int8."""
_MAX_ESTIMATE_ERROR = 0.02  # a larger difference between an estimate and its score means a damaged segment
_AT_ONCE = 16_384  # vectors whose signs are compared at once: they fit a core's own cache
_NONE = np.uint16(0xFFFF)

Scored = tuple[NDArray[np.int64], Vectors]
"""Passage ids (n,), and their scores (n,)."""


@dataclass(frozen=True, slots=True)
class _Near:
    """The distances of all vectors of a segment to the query, by their signs."""

    arrays: Arrays
    distances: NDArray[np.uint16]
    """(n,): how many signs differ; 0xFFFF for a vector that is not wanted."""


def nearest(
    db: apsw.Connection, query: Vectors, k: int, allowed: Allowed | None = None
) -> list[tuple[int, float]] | None:
    """The same as `vectors.nearest` for passages; None if the segments are missing or cannot be trusted."""
    listed = manifest.read(db, Kind.VECTORS)
    if not listed.segments:
        return None
    index = Path(db.filename)
    try:
        opened = [mapped(path_of(index, Kind.VECTORS, one.token), one.token) for one in listed.segments]
        if any(one["codes"].shape[1] != len(query) for one in opened):
            return None
    except (OSError, ValueError, KeyError):
        return None
    dead = [listed.dead(one) for one in listed.segments]
    ids, estimates = _estimated(opened, dead, query, k, allowed)
    best = np.argpartition(-estimates, k + RESCORED)[: k + RESCORED] if len(ids) > k + RESCORED else np.arange(len(ids))
    scored, scores = _exact(db, ids[best], query)
    own = np.argsort(ids[best], kind="stable")
    if len(scored) < len(best) or np.abs(scores - estimates[best][own]).max(initial=0.0) > _MAX_ESTIMATE_ERROR:
        return None
    fresh, fresh_scores = _exact(db, _of(db, listed.fresh, allowed), query)
    scored, scores = np.concatenate([scored, fresh]), np.concatenate([scores, fresh_scores])
    order = np.lexsort((scored, -scores))[:k]
    return list(zip(scored[order].tolist(), scores[order].tolist(), strict=True))


def _estimated(
    segments: Sequence[Arrays], dead: Sequence[NDArray[np.int64]], query: Vectors, k: int, allowed: Allowed | None
) -> Scored:
    """The nearest vectors of all segments by their signs, with their cosines by int8."""
    near = [_near(segment, gone, query, allowed) for segment, gone in zip(segments, dead, strict=True)]
    n_wanted = sum(len(one.distances) for one in near)
    n = max(_LEAST_BY_SIGNS, n_wanted // _SHARE_BY_SIGNS, 4 * (k + RESCORED))
    counts = sum(np.bincount(one.distances[one.distances != _NONE], minlength=_NONE) for one in near)
    limit = int(np.searchsorted(np.cumsum(counts), n))
    ids, scores = [], []
    for one in near:
        places = np.flatnonzero(one.distances <= min(limit, int(_NONE) - 1))
        ids.append(one.arrays["passage_ids"][places])
        scores.append(_cosines(one.arrays, places, query))
    return np.concatenate(ids), np.concatenate(scores)


def _near(segment: Arrays, dead: NDArray[np.int64], query: Vectors, allowed: Allowed | None) -> _Near:
    ids = segment["passage_ids"]
    distances = _sign_distances(segment["signs"], signs(query[None])[:, 0])
    if allowed is not None:
        distances[~allowed.mask(ids, segment["document_ids"], segment["first_of"])] = _NONE
    distances[places_among(ids, dead)[0]] = _NONE
    return _Near(segment, distances)


def _sign_distances(planes: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """(n,): in how many bits each column of `planes` (words, n) differs from `query` (words,)."""
    n = planes.shape[1]
    distances = np.zeros(n, np.uint16)

    def compare(start: int) -> None:
        own = planes[:, start : start + _AT_ONCE]
        sums = distances[start : start + _AT_ONCE]
        different, counts = np.empty(own.shape[1], np.uint64), np.empty(own.shape[1], np.uint8)
        for plane, word in zip(own, query, strict=True):
            np.bitwise_xor(plane, word, out=different)
            np.bitwise_count(different, out=counts)
            np.add(sums, counts, out=sums)

    starts = range(0, n, _AT_ONCE)
    if len(starts) > 1:
        list(_threads().map(compare, starts))
    else:
        list(map(compare, starts))
    return distances


def _cosines(segment: Arrays, places: NDArray[np.int64], query: Vectors) -> Vectors:
    """(p,): the cosines of these vectors by int8. 256 rows at a time fit a core's own cache in float32."""
    codes, parts = segment["codes"], [np.empty(0, np.float32)]
    for start in range(0, len(places), 256):
        parts.append(codes[places[start : start + 256]].astype(np.float32) @ query)
    return np.concatenate(parts) * segment["scales"][places]


def _exact(db: apsw.Connection, ids: NDArray[np.int64], query: Vectors) -> Scored:
    """(ids, ascending, of those that have a vector, and their cosines in float32)."""
    places = storage_chunks.places_of(db, storage_chunks.PASSAGES, ids.tolist())
    vectors = storage_chunks.read_rows(db, storage_chunks.PASSAGES, len(query), places[:, 1], places[:, 2])
    order = np.argsort(places[:, 0], kind="stable")
    return places[order, 0], (vectors @ query)[order]


def _of(db: apsw.Connection, ids: NDArray[np.int64], allowed: Allowed | None) -> NDArray[np.int64]:
    """Those of these passages that are allowed."""
    if allowed is None or not len(ids):
        return ids
    document_of = documents.documents_of(db, ids.tolist())
    document_ids, first_of = document_starts(np.array([document_of[id_] for id_ in ids.tolist()], np.int64))
    return ids[allowed.mask(ids, document_ids, first_of)]


@lru_cache(1)
def _threads() -> ThreadPoolExecutor:
    """Two to four threads: numpy lets go of the interpreter while it compares."""
    return ThreadPoolExecutor(max(2, min(4, os.cpu_count() or 2)), "longsearch-signs")
