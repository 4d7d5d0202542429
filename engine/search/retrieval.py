"""Finds candidates: passages by words and passages by vector, each ranked and scored.

Words and vectors are two SQL statements, never a join: a join of sqlite-vec's MATCH with FTS5's took 26.7 s.
"""

from collections.abc import Iterable, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.search import bm25
from longsearch.engine.search.fields import Condition
from longsearch.engine.search.file_filter import FileFilter
from longsearch.engine.search.fusion import best_first, in_document, with_excerpt, words_in_document
from longsearch.engine.search.lookup import Lookup, all_of, any_of
from longsearch.engine.search.metadata_filter import narrowed
from longsearch.engine.search.query_words import Found, QueryWords
from longsearch.engine.store import documents, excerpts, files, keywords, languages, vectors
from longsearch.engine.store.files import folder_range
from longsearch.engine.store.segments.allowed import Allowed
from longsearch.engine.store.vec0.storage_chunks import DOCUMENTS, PASSAGES

Scored = list[tuple[int, float]]
"""(passage id, score from 0 to 1), best first."""


def allowed_documents(
    db: apsw.Connection, file_filter: FileFilter, conditions: Sequence[Condition] = ()
) -> NDArray[np.int64] | None:
    """Ids of the documents in files that the filter admits and of which the conditions hold, ascending; None: all."""
    allowed = None
    if not file_filter.admits_all:
        found = files.documents_where(db, *folder_range(file_filter.under), file_filter.admits)
        if file_filter.languages:
            found &= languages.documents_in(db, file_filter.languages)
        if file_filter.languages_excluded:
            found -= languages.documents_in(db, file_filter.languages_excluded)
        allowed = np.array(sorted(found), np.int64) if len(found) < documents.count(db) else None
    return narrowed(db, allowed, conditions)


def allowed_passages(
    db: apsw.Connection, asked: Lookup, file_filter: FileFilter, conditions: Sequence[Condition] = ()
) -> Allowed | None:
    """The passages of admitted documents that hold all phrases and nothing excluded; None if all are allowed.

    The filter applies before ranking: otherwise none of the best 200 might lie in a small folder.
    """
    in_files = allowed_documents(db, file_filter, conditions)
    holding = keywords.matching(db, all_of(asked.phrases)) if asked.phrases else None
    excluded = keywords.matching(db, any_of(asked.excluded)) if asked.excluded else None
    is_all = in_files is None and holding is None and excluded is None
    return None if is_all else Allowed(in_files, holding, excluded)


def words_in_documents(
    db: apsw.Connection, words: QueryWords, found: Found, also: Iterable[int] = ()
) -> dict[int, float]:
    """Scores by words of the passages in `found` (from `words.best`) and in `also`.

    A score is 0.6 of the passage's BM25 and 0.4 of its document's, each as a share of the highest that the query can
    reach. Passages that are only in `also` get their document's part alone.
    """
    figures = words.statistics
    highest = bm25.highest(figures.n_passages_with, figures.n_passages)
    of_passage = {passage_id: _clipped(score / highest) for passage_id, score in found}
    document_of = documents.documents_of(db, list(of_passage.keys() | set(also)))
    document_ids = sorted(set(document_of.values()))
    lengths = documents.lengths(db, document_ids)
    whole = bm25.of_documents(words.in_documents(document_ids), lengths, figures)
    return {id_: words_in_document(of_passage.get(id_, 0.0), whole[own]) for id_, own in document_of.items()}


def by_vector(db: apsw.Connection, vector: Vectors, limit: int, allowed: Allowed | None) -> Scored:
    """Passages nearest to `vector` (dim,); a score combines the cosines of passage, nearest excerpt and document."""
    return best_first(_by_meaning(db, vector, dict(vectors.nearest_passages(db, vector, limit, allowed))))


def similarities(db: apsw.Connection, vector: Vectors, passage_ids: Sequence[int]) -> dict[int, float]:
    """The score of `by_vector` for these passages; passages without a vector are missing."""
    found = vectors.of_ids(db, PASSAGES, passage_ids)
    return _by_meaning(db, vector, {passage_id: float(other @ vector) for passage_id, other in found.items()})


def _by_meaning(db: apsw.Connection, vector: Vectors, cosines: dict[int, float]) -> dict[int, float]:
    """Combine passages' cosines with those of their nearest excerpts and of their documents.

    If a document has no vector yet, the passage's own score takes its place.
    """
    document_of = documents.documents_of(db, list(cosines))
    whole = vectors.of_ids(db, DOCUMENTS, sorted(set(document_of.values())))
    of_document = {document_id: float(other @ vector) for document_id, other in whole.items()}
    nearest = excerpts.nearest(db, vector, list(cosines))
    scores = {}
    for id_, cosine in cosines.items():
        own = with_excerpt(cosine, nearest[id_].cosine if id_ in nearest else cosine)
        scores[id_] = _clipped(in_document(own, of_document.get(document_of[id_], own)))
    return scores


def ids(scored: Sequence[tuple[int, float]]) -> list[int]:
    """The passage ids, best first."""
    return [passage_id for passage_id, _ in scored]


def _clipped(score: float) -> float:
    return min(1.0, max(0.0, score))
