"""What a store in LanceDB answers in place of FTS5 and sqlite-vec: `index.backends.IndexBackend`."""

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.backends import Found, QueryWords
from longsearch.engine.index.lance.address import errors_explained
from longsearch.engine.index.lance.indexes import ALL_PARTITIONS, has_vector_index
from longsearch.engine.index.lance.match import Matcher
from longsearch.engine.index.lance.postings import Held, added
from longsearch.engine.index.lance.snapshot import Snapshot
from longsearch.engine.index.lookup import Lookup, forms_of
from longsearch.engine.index.segment_words import WordsBySegments
from longsearch.engine.store import vectors
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.store.segments.term_counts import Postings, n_documents_at
from longsearch.engine.store.segments.word_parts import Part
from longsearch.engine.store.vectors import K_MAX

_READ_ALL = 5_000
"""So few vectors are read and compared one by one."""
_SELECTIVE = 0.1
"""A filter that leaves a smaller share is given to LanceDB; else more neighbours are asked for and some left out."""
_LEAST_COMPARED = 1_000
"""So many of the nearest by an index of vectors are compared whole."""
_TABLES = {Kind.VECTORS: ("passages", "id"), Kind.DOCUMENTS: ("document_vectors", "content_id")}


class LanceBackend:
    """`IndexBackend` by a store at one publication. Make one for each connection."""

    def __init__(self, db: apsw.Connection, snapshot: Snapshot) -> None:
        self._db = db
        self._snapshot = snapshot
        self._matcher: Matcher | None = None

    def nearest_passages(self, query: Vectors, k: int, allowed: CandidateFilter | None = None) -> Found:
        """See `IndexBackend`. Exact, unless the store is so large that it has an index of vectors."""
        if not self._snapshot.at.dim or (allowed is not None and allowed.is_empty):
            return []
        vector, k = self._checked(query), min(k, K_MAX)
        return self._nearest(vector, k, "") if allowed is None else self._nearest_of(vector, k, allowed)

    def _nearest_of(self, query: Vectors, k: int, allowed: CandidateFilter) -> Found:
        snapshot = self._snapshot
        mask = allowed.mask(snapshot.passage_ids, snapshot.document_ids, snapshot.first_of)
        n_allowed = int(np.count_nonzero(mask))
        if n_allowed <= _READ_ALL:
            found = snapshot.vectors("passages", "id", snapshot.passage_ids[mask].tolist())
            return _best(found, query, k)
        if n_allowed < _SELECTIVE * len(mask):
            listed = ", ".join(map(str, snapshot.passage_ids[mask].tolist()))
            return self._nearest(query, k, f"id IN ({listed})")
        wanted = k
        while True:
            wanted = min(int(1.5 * wanted * len(mask) / n_allowed) + 100, len(mask))
            found_all = self._nearest(query, wanted, "")
            places = np.searchsorted(snapshot.passage_ids, [id_ for id_, _ in found_all])
            kept = [one for one, is_kept in zip(found_all, mask[places].tolist(), strict=True) if is_kept]
            if len(kept) >= k or wanted == len(mask):
                return kept[:k]

    def nearest_documents(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> Found:
        """See `IndexBackend`."""
        if not self._snapshot.at.dim:
            return []
        vector, k = self._checked(query), min(k, K_MAX)
        if allowed is not None:
            return _best(self.vectors_of(Kind.DOCUMENTS, allowed.tolist()), vector, k)
        return self._asked("document_vectors", "content_id", vector, k, "")

    def cosines(self, kind: Kind, ids: Sequence[int], query: Vectors) -> dict[int, float]:
        """See `IndexBackend`."""
        return {id_: float(own @ query) for id_, own in self.vectors_of(kind, ids).items()}

    def vectors_of(self, kind: Kind, ids: Sequence[int]) -> dict[int, Vectors]:
        """See `IndexBackend`."""
        return self._snapshot.vectors(*_TABLES[kind], ids)

    def vectors_of_passages(self, document_id: int) -> Vectors:
        """See `IndexBackend`."""
        found = self._snapshot.rows_by("passages", ("id", "vector"), "content_id", [document_id])
        rows = [np.frombuffer(own, np.float32) for _, own in sorted(found, key=lambda row: row[0]) if own is not None]
        return np.stack(rows) if rows else np.empty((0, self._snapshot.at.dim), np.float32)

    def vector_of_document(self, document_id: int) -> Vectors | None:
        """See `IndexBackend`."""
        return self.vectors_of(Kind.DOCUMENTS, [document_id]).get(document_id)

    def lengths(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        return self._snapshot.n_passages_of(document_ids)

    def documents_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        owners = self._snapshot.document_of(passage_ids.tolist())
        return np.array([owners[id_][0] for id_ in passage_ids.tolist()], np.int64)

    def words(self, asked: Lookup, n_documents: int) -> QueryWords:
        """See `IndexBackend`."""
        by_term, matcher = list(map(forms_of, asked.terms)), self._look_up()
        matcher.look_up(dict.fromkeys(form for own in by_term for form in own))
        held = [[matcher.held(form) for form in own] for own in by_term]
        united = [own[0] if len(own) == 1 else added(own) for own in held]
        return self._words_held(united, asked.weights, n_documents)

    def _words_held(
        self, held: Sequence[Held], weights: tuple[float, ...] = (), n_documents: int = 0
    ) -> WordsBySegments:
        """The words of all passages, of which `held` says who holds them; they are scored as SQLite's are."""
        snapshot, postings = self._snapshot, []
        for one in held:
            places = np.searchsorted(snapshot.passage_ids, one.ids)
            postings.append(Postings(places, one.counts, n_documents_at(snapshot.first_of, places)))
        part = Part(snapshot.passage_ids, snapshot.document_ids, snapshot.first_of, snapshot.lengths, tuple(postings))
        return WordsBySegments.of([part], weights, n_documents, snapshot.at.n_passages, snapshot.at.n_words)

    def matching(self, match: str) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        return self._look_up().matching(match)

    def first_matching(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> list[int]:
        """See `IndexBackend`."""
        found = self.matching(match)
        first: list[int] = (found if allowed is None else np.intersect1d(found, allowed))[:limit].tolist()
        return first

    def best(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> Found:
        """See `IndexBackend`."""
        phrases = forms_of(match)
        matcher = self._look_up()
        matcher.look_up(phrases)
        found = self._words_held([matcher.held(phrase) for phrase in phrases])
        return found.best(limit, None if allowed is None else CandidateFilter(holding=allowed))

    def words_near(self, typed: str, most: int, least: int) -> dict[str, int]:
        """See `IndexBackend`. None: LanceDB does not list the words of its index."""
        return {}

    def words_like(self, pattern: str) -> list[str]:
        """See `IndexBackend`. None: LanceDB does not list the words of its index."""
        return []

    @property
    def lacks_segments(self) -> bool:
        """See `IndexBackend`. A shared store has none."""
        return False

    def terms_around(self, parts: Sequence[str]) -> dict[str, dict[str, int]]:
        """See `IndexBackend`. None: LanceDB does not list the words of its index."""
        return {}

    def counts_of(self, stems: Sequence[str]) -> dict[str, int]:
        """See `IndexBackend`."""
        return {}

    def expect(self, passage_ids: Sequence[int]) -> None:
        """See `IndexBackend`."""
        self._snapshot.expect(passage_ids)

    def _checked(self, query: Vectors) -> Vectors:
        checked: Vectors = vectors.unit_vectors(np.atleast_2d(query), self._snapshot.at.dim)[0]
        return checked

    def _look_up(self) -> Matcher:
        if self._matcher is None:
            self._matcher = Matcher(self._db, self._snapshot)
        return self._matcher

    def _nearest(self, query: Vectors, k: int, where: str) -> Found:
        return self._asked("passages", "id", query, k, where)

    def _asked(self, name: str, key: str, query: Vectors, k: int, where: str) -> Found:
        """The `k` nearest rows of a table, as (id, cosine), highest first."""
        table = self._snapshot.table(name)
        with errors_explained(self._snapshot.tables.uri):
            asked: Any = table.search(query, vector_column_name="vector").distance_type("dot").limit(k)
            if name == "passages" and has_vector_index(table):
                asked = asked.maximum_nprobes(ALL_PARTITIONS).minimum_nprobes(ALL_PARTITIONS)
                asked = asked.refine_factor(max(2, _LEAST_COMPARED // k))
            if where:
                asked = asked.where(where)
            found = asked.select([key, "_distance"]).to_arrow()
        rows = zip(found[key].to_pylist(), found["_distance"].to_pylist(), strict=True)
        return sorted(((id_, 1 - distance) for id_, distance in rows), key=lambda row: (-row[1], row[0]))


def _best(found: dict[int, Vectors], query: Vectors, k: int) -> Found:
    scored = ((id_, float(own @ query)) for id_, own in found.items())
    return sorted(scored, key=lambda row: (-row[1], row[0]))[:k]
