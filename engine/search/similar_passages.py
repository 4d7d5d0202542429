"""Passages like another passage: ranks them by the cosine of their own vectors, and folds near-duplicates.

Knows no model: the vectors are in the index.
"""

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from longsearch.engine.amounts import counted
from longsearch.engine.arrays import Vectors
from longsearch.engine.index.index import Index
from longsearch.engine.near_equal import grouped
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.hits import LEAST_SCORE, to_hits
from longsearch.engine.search.ranking import RankedPassage, group
from longsearch.engine.search.similar import title_and_vector
from longsearch.engine.store import documents, texts
from longsearch.engine.store.records import PassageRow
from longsearch.engine.types.results import SearchMode, SearchResults

_N_PASSAGES = 100


@dataclass(frozen=True, slots=True)
class AskedPassage:
    """A passage of which others are wanted that are like it."""

    title: str
    """The title of its document."""
    text: str
    vector: Vectors
    """(dim,), unit length."""


def asked_passage(index: Index, document_id: int, offset: int) -> AskedPassage:
    """Return the passage of a document that begins at `offset`. Raises LongsearchError if it has no vector yet."""
    title = title_and_vector(index, document_id)[0]
    spans, found = documents.passages(index.db, document_id), index.backend.vectors_of_passages(document_id)
    place = max(bisect_right([span.start for span in spans], offset) - 1, 0)
    (text,) = texts.spans(index.db, document_id, [(span.start, span.stop) for span in spans[place : place + 1]])
    return AskedPassage(title, text, found[place])


def similar_to_passage(index: Index, asked: AskedPassage, k: int = 10) -> SearchResults:
    """Find passages like another, in the `k` documents with the nearest ones.

    A passage's score is its cosine with the one asked about. Near-duplicates are folded: of passages with nearly the
    same words only the nearest is listed, and none of those that say what the asked one says. The note counts them.
    """
    started = time.perf_counter()
    near = index.backend.nearest_passages(asked.vector, _N_PASSAGES)
    rows = index.passage_rows([id_ for id_, _ in near])
    likely = [(rows[id_], id_, cosine) for id_, cosine in near if cosine >= LEAST_SCORE]
    kept, n_folded = _unfolded(index.db, likely, asked)
    hits = to_hits(index, FileFilter(), group(kept, k))
    note = f"{counted(n_folded, 'near-duplicate')} folded" if n_folded else ""
    took_ms = (time.perf_counter() - started) * 1000
    about = f"a passage of {asked.title}"
    return SearchResults("", SearchMode.MEANING, "", took_ms, hits, note, similar_to=about)


def _unfolded(
    db: apsw.Connection, near: Sequence[tuple[PassageRow, int, float]], asked: AskedPassage
) -> tuple[list[RankedPassage], int]:
    """The passages that differ in their words, best first, with their cosines, and how many were folded."""
    found = [texts.spans(db, row.document_id, [(row.start, row.stop)])[0] for row, _, _ in near]
    same, *others = grouped([asked.text, *found])
    best = [near[group[0] - 1] for group in others]
    kept = [RankedPassage(id_, row.document_id, min(1.0, cosine)) for row, id_, cosine in best]
    n_folded = sum(len(group) - 1 for group in (same, *others))
    return kept, max(n_folded - 1, 0)  # one of them is the asked passage itself
