"""Finds the vectors nearest to a query by their segments. The slow twin reads all vectors: `vectors.nearest_of_all`.

Three passes, each over fewer vectors: the signs of all coordinates (48 bytes a vector), these signs again by the weight
of the query's coordinates (`sign_scan`), then int8, which is what the index has. Only the first two are approximate.
"""

import math
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.store import documents
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments import sign_scan
from longsearch.engine.store.segments.candidate_filter import CandidateFilter, places_among
from longsearch.engine.store.segments.files import FACTORS, Arrays, Segments
from longsearch.engine.store.segments.postings import document_starts
from longsearch.engine.store.segments.vector_maker import TABLES
from longsearch.engine.store.vec0 import storage_chunks

_LEAST_BY_WEIGHT, _SHARE_BY_WEIGHT, _BEYOND = 6_000, 160, 400
"""So many vectors, or one in so many, are compared in int8; at least four times those wanted, and so many more."""
_BY_SIGNS = 4
"""Signs alone pick so many times as many, whose signs are then weighted."""
_ROWS_AT_ONCE = 128

Scored = tuple[NDArray[np.int64], Vectors]
"""Ids (n,), and their cosines (n,)."""


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """The vectors of an index at one moment: its segments, and the vectors that none of them has."""

    db: apsw.Connection
    kind: Kind
    segments: tuple[Arrays, ...]
    dead: tuple[NDArray[np.int64], ...]
    """For each segment the ids about which it is wrong."""
    fresh: NDArray[np.int64]
    """Ids, ascending, whose vectors only the index has."""

    @classmethod
    def open(cls, segments: Segments, kind: Kind, dim: int) -> "VectorSearch | None":
        """Open the segments of this kind; None if there are none, or if one is missing or damaged."""
        opened = segments.opened(kind)
        if opened is None or any(one.raw["codes"].shape[1] != dim for one, _ in opened):
            return None
        arrays, dead = zip(*opened, strict=True)
        return cls(segments.db, kind, arrays, dead, segments.manifest(kind).fresh)

    def nearest(self, query: Vectors, k: int, allowed: CandidateFilter | None = None) -> list[tuple[int, float]]:
        """The `k` nearest vectors as (id, cosine), highest first."""
        n_all = sum(len(one["ids"]) for one in self.segments)
        n = max(_LEAST_BY_WEIGHT, 4 * k + _BEYOND, n_all // _SHARE_BY_WEIGHT)
        distances = []  # of each vector: how many signs differ from the query's; NONE where it is not wanted
        for segment, dead in zip(self.segments, self.dead, strict=True):
            distances.append(sign_scan.by_signs(segment["signs"], query))
            if allowed is not None:
                wanted = allowed.mask(segment["ids"], segment["document_ids"], segment["first_of"])
                distances[-1][~wanted] = sign_scan.NONE
            distances[-1][places_among(segment["ids"], dead)[0]] = sign_scan.NONE
        limit = sign_scan.limit(distances, _BY_SIGNS * n)
        near = [np.flatnonzero(own <= limit) for own in distances]
        if sum(map(len, near)) > n:
            pairs = zip(self.segments, near, strict=True)
            distances = [sign_scan.by_weighted_signs(segment["signs"], places, query) for segment, places in pairs]
            limit = sign_scan.limit(distances, n)
            near = [places[own <= limit] for places, own in zip(near, distances, strict=True)]
        scores = np.concatenate([_cosines(*pair, query) for pair in zip(self.segments, near, strict=True)])
        held = [segment["ids"][places] for segment, places in zip(self.segments, near, strict=True)]
        ids = np.concatenate(held).astype(np.int64)
        if len(scores) > k:  # those as near as the last stay
            is_near = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
            ids, scores = ids[is_near], scores[is_near]
        if len(self.fresh):
            fresh = self.fresh if allowed is None else self._allowed_fresh(allowed)
            fresh, fresh_scores = read(self.db, self.kind, fresh, query)
            ids, scores = np.concatenate([ids, fresh]), np.concatenate([scores, fresh_scores])
        order = np.lexsort((ids, -scores))[:k]
        return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))

    def cosines(self, ids: NDArray[np.int64], query: Vectors) -> Scored:
        """The cosines of those of these ids (ascending) that have a vector; the ids are in any order."""
        found, left = [], ids
        for segment, dead in zip(self.segments, self.dead, strict=True):
            wanted = ids if not len(dead) else np.setdiff1d(ids, dead, assume_unique=True)
            places, _ = places_among(segment["ids"], wanted)
            found.append((segment["ids"][places].astype(np.int64), _cosines(segment, places, query)))
        left = np.intersect1d(ids, self.fresh, assume_unique=True)
        found.append(read(self.db, self.kind, left, query))
        return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])

    def _allowed_fresh(self, allowed: CandidateFilter) -> NDArray[np.int64]:
        document_of = documents.documents_of(self.db, self.fresh.tolist())
        owners = np.array([document_of[id_] for id_ in self.fresh.tolist()], np.int64)
        return self.fresh[allowed.mask(self.fresh, *document_starts(owners))]


def read(db: apsw.Connection, kind: Kind, ids: NDArray[np.int64], query: Vectors) -> Scored:
    """(ids of those that have a vector, their cosines), by the index's own vectors."""
    if not len(ids):
        return ids, np.empty(0, np.float32)
    places = storage_chunks.places_of(db, TABLES[kind], ids.tolist())
    vectors = storage_chunks.read_rows(db, TABLES[kind], len(query), places[:, 1], places[:, 2])
    return places[:, 0], vectors @ query


def _cosines(segment: Arrays, places: NDArray[np.intp], query: Vectors) -> Vectors:
    """(p,): the cosines of the vectors at `places` with `query`. Both buffers fit a core's own cache."""
    rows = segment.raw["codes"]
    if segment.n_fetches:
        segment.n_fetches -= 1
        segment.fetch("codes", places * len(query), len(query))
    found, sums = np.empty(len(places), np.float32), np.empty(len(places), np.uint64)
    codes = np.empty((_ROWS_AT_ONCE, len(query)), np.int8)
    floats = np.empty(codes.shape, np.float32)
    words = codes.view(f"<u{math.gcd(len(query), 8)}")  # of which the checksum of a row is made
    for start in range(0, len(places), _ROWS_AT_ONCE):
        own = places[start : start + _ROWS_AT_ONCE]
        n = len(own)
        rows.take(own, axis=0, out=codes[:n], mode="clip")  # by default numpy copies `out`
        np.matmul(words[:n], FACTORS[: words.shape[1]], out=sums[start : start + n])
        floats[:n] = codes[:n]
        np.matmul(floats[:n], query, out=found[start : start + n])
    if "codes" in segment.unread and not np.array_equal(sums >> segment.n_left_out, segment.sums["codes"].take(places)):
        segment.tell("codes")
    found *= segment["scales"][places]
    return found
