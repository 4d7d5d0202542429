"""What an index in SQLite answers: by its segments where it has them, else by FTS5 and by reading all vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.index.backends import Found, QueryWords
from longsearch.engine.index.fts5_words import by_fts5
from longsearch.engine.index.lookup import Lookup, forms_of
from longsearch.engine.index.segment_words import WordsBySegments
from longsearch.engine.store import dictionary, documents, keywords, vectors
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.candidate_filter import CandidateFilter, places_among
from longsearch.engine.store.segments.files import DamagedSegmentError, Segments
from longsearch.engine.store.segments.vector_search import VectorSearch, read
from longsearch.engine.store.segments.word_parts import forms_cut, matching, parts_of
from longsearch.engine.store.vec0 import storage_chunks

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
_TABLES = {Kind.VECTORS: storage_chunks.PASSAGES, Kind.DOCUMENTS: storage_chunks.DOCUMENTS}


def _sound(
    ask: Callable[Concatenate["SqliteBackend", Parameters], Answer],
) -> Callable[Concatenate["SqliteBackend", Parameters], Answer]:
    """Have the slow twins answer where a segment turns out to be damaged, which is then made anew by the writer."""

    @wraps(ask)
    def asked(self: "SqliteBackend", /, *args: Parameters.args, **options: Parameters.kwargs) -> Answer:
        try:
            return ask(self, *args, **options)
        except DamagedSegmentError:
            self.segments.leave()
            return ask(self, *args, **options)

    return asked


@dataclass(frozen=True, slots=True)
class SqliteBackend:
    """`IndexBackend` by an ordinary index file, at one moment."""

    segments: Segments
    dim: int
    """The dimension of the vectors; 0 before a model is in use."""

    @_sound
    def words(self, asked: Lookup, n_documents: int) -> QueryWords:
        """See `IndexBackend`."""
        parts = parts_of(self.segments, forms_cut(self.segments.db, list(map(forms_of, asked.terms))))
        if parts is None:
            return by_fts5(self.segments.db, asked, n_documents)
        return WordsBySegments.of(parts, asked.weights, n_documents, *keywords.totals(self.segments.db))

    @_sound
    def matching(self, match: str) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        found = matching(self.segments, match)
        return keywords.matching(self.segments.db, match) if found is None else found

    def first_matching(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> list[int]:
        """See `IndexBackend`."""
        return keywords.first_matching(self.segments.db, match, limit, allowed)

    def best(self, match: str, limit: int, allowed: NDArray[np.int64] | None) -> Found:
        """See `IndexBackend`."""
        return keywords.best(self.segments.db, match, limit, allowed)

    @_sound
    def nearest_passages(self, query: Vectors, k: int, allowed: CandidateFilter | None = None) -> Found:
        """See `VectorIndex`.

        In a large index the segments pick the candidates; they may miss one that barely beats the last.
        """
        if not self.dim or (allowed is not None and allowed.is_empty):
            return []
        vector = vectors.unit_vectors(np.atleast_2d(query), self.dim)[0]
        search = VectorSearch.open(self.segments, Kind.VECTORS, self.dim)
        if search is not None:
            return search.nearest(vector, min(k, vectors.K_MAX), allowed)
        ids = None if allowed is None else allowed.ids(self.segments.db)
        return vectors.nearest_of_all(self.segments.db, storage_chunks.PASSAGES, vector, k, ids)

    @_sound
    def nearest_documents(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> Found:
        """See `VectorIndex`."""
        if not self.dim:
            return []
        vector = vectors.unit_vectors(np.atleast_2d(query), self.dim)[0]
        search = VectorSearch.open(self.segments, Kind.DOCUMENTS, self.dim) if allowed is None else None
        if search is not None:
            return search.nearest(vector, min(k, vectors.K_MAX))
        return vectors.nearest_of_all(self.segments.db, storage_chunks.DOCUMENTS, vector, k, allowed)

    @_sound
    def cosines(self, kind: Kind, ids: Sequence[int], query: Vectors) -> dict[int, float]:
        """See `VectorIndex`."""
        if not self.dim or not ids:
            return {}
        wanted = np.array(sorted(ids), np.int64)
        search = VectorSearch.open(self.segments, kind, len(query))
        found, scores = read(self.segments.db, kind, wanted, query) if search is None else search.cosines(wanted, query)
        return dict(zip(found.tolist(), scores.tolist(), strict=True))

    def vectors_of(self, kind: Kind, ids: Sequence[int]) -> dict[int, Vectors]:
        """See `VectorIndex`."""
        return vectors.of_ids(self.segments.db, _TABLES[kind], ids)

    def vectors_of_passages(self, document_id: int) -> Vectors:
        """See `VectorIndex`."""
        return vectors.of_passages(self.segments.db, document_id)

    def vector_of_document(self, document_id: int) -> Vectors | None:
        """See `VectorIndex`."""
        return vectors.of_document(self.segments.db, document_id)

    @_sound
    def words_near(self, typed: str, most: int, least: int) -> dict[str, int]:
        """See `IndexBackend`."""
        return dictionary.words_near(self.segments, typed, most, least)

    @_sound
    def words_like(self, pattern: str) -> list[str]:
        """See `IndexBackend`."""
        return dictionary.words_like(self.segments, pattern)

    @_sound
    def terms_around(self, parts: Sequence[str]) -> dict[str, dict[str, int]]:
        """See `IndexBackend`."""
        return dictionary.terms_around(self.segments, parts)

    @_sound
    def counts_of(self, stems: Sequence[str]) -> dict[str, int]:
        """See `IndexBackend`."""
        return dictionary.counts_of(self.segments, stems)

    @_sound
    def documents_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `IndexBackend`. To read 400 passages and 300 documents in tables took 2 ms among 100,000 passages.

        A passage never changes its document. So a segment that is wrong about a passage's words is right about this.
        """
        owners = np.zeros(len(passage_ids), np.int64)  # no document has the id 0
        for segment, _ in self.segments.opened(Kind.WORDS) or ():
            places, wanted = places_among(segment["ids"], passage_ids)
            owners[wanted] = segment["document_ids"][np.searchsorted(segment["first_of"], places, "right") - 1]
        left = np.flatnonzero(owners == 0)
        if len(left):
            document_of = documents.documents_of(self.segments.db, passage_ids[left].tolist())
            owners[left] = [document_of[id_] for id_ in passage_ids[left].tolist()]
        return owners

    @_sound
    def lengths(self, document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `IndexBackend`."""
        found = np.zeros(len(document_ids), np.int64)
        for segment, dead in self.segments.opened(Kind.WORDS) or ():
            places, wanted = places_among(segment["document_ids"], document_ids)
            first = segment["first_of"][places]
            living = ~np.isin(
                segment["ids"][first], dead, assume_unique=True
            )  # passages live and die with their document
            found[wanted[living]] += (segment["first_of"][places + 1] - first)[living]
        left = np.flatnonzero(found == 0)
        if len(left):
            length_of = documents.lengths(self.segments.db, document_ids[left].tolist())
            found[left] = [length_of[id_] for id_ in document_ids[left].tolist()]
        return found

    @property
    def lacks_segments(self) -> bool:
        """See `IndexBackend`."""
        kinds = [kind for kind in Kind if self.segments.manifest(kind).segments]
        return any(self.segments.opened(kind) is None for kind in kinds)

    def expect(self, passage_ids: Sequence[int]) -> None:
        """Do nothing: SQLite reads each as it is asked for."""
