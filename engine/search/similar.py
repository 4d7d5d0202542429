"""More like this: documents by how near their vectors are to another's, of whatever length.

A document's vector comes of one reading from its first token to its last, so two reports are compared as wholes. Cut in
two, documents find their other halves first among 80 of their kind (`tests/bench/likeness.py`): encyclopedia articles
all, chapters and PEPs 95 in 100, EIPs 85; the model was trained on text of these. Of 32 meetings it never
saw 69, of 61 yearly reports by few companies, whose other years are as like, 44. Cosines of halves are .78 to .92, of
documents on other subjects .1 in the middle, of other documents of one kind up to .6. Knows no model: the vector is
given, or is in the index.
"""

import time

import apsw
import numpy as np

from engine.arrays import Vectors
from engine.errors import LongsearchError
from engine.search.file_filter import FileFilter
from engine.search.hits import LEAST_SCORE, documents_shown
from engine.search.ranking import RankedDocument
from engine.search.retrieval import allowed_contents
from engine.store import documents, vectors
from engine.store.session import Session
from engine.store.storage_chunks import DOCUMENTS
from engine.types import SearchMode, SearchResults


def similar_to_document(session: Session, document_id: int, k: int = 10, under: str = "") -> SearchResults:
    """As `like_vector`, for a document of the index, which is left out.

    LongsearchError where it has no vector yet, StoreError where it has gone.
    """
    with session.reading() as db:
        title, vector = documents.outline(db, document_id).title, vectors.of_document(db, document_id)
    if vector is None:
        hint = "wait until it is: `longsearch status` says how far it is"
        raise LongsearchError(f"{title} has not been read for its meaning yet", hint)
    return similar_to_vector(session, vector, title, k, under, without=document_id)


def similar_to_vector(
    session: Session,
    vector: Vectors,
    title: str,
    k: int = 10,
    under: str = "",
    without: int | None = None,
    passages_per_document: int = 5,
) -> SearchResults:
    """The `k` documents whose vectors are nearest to `vector` (dim,), the unit vector of a document called `title`.

    A document's score is that cosine; its passages are those nearest to `vector`, by theirs. `under`: only files in
    this folder, relative to the root; `without`: a content that is no answer. ValueError for a vector of another width.
    """
    started = time.perf_counter()
    with session.reading() as db:
        of_files = FileFilter(under)
        found = vectors.nearest(db, DOCUMENTS, vector, k + 1, allowed_contents(db, of_files))
        near = [(id_, min(1.0, cosine)) for id_, cosine in found if id_ != without and cosine >= LEAST_SCORE][:k]
        ranked = [
            RankedDocument(id_, cosine, _nearest_passages(db, id_, vector, passages_per_document))
            for id_, cosine in near
        ]
        hits = documents_shown(db, session.root, of_files, ranked, {})
        n_waiting = vectors.n_waiting(db)
    note = f"{n_waiting} document{'s' if n_waiting > 1 else ''} cannot be compared yet" if n_waiting else ""
    took_ms = (time.perf_counter() - started) * 1000
    return SearchResults("", SearchMode.MEANING, "", took_ms, hits, note, similar_to=title)


def _nearest_passages(db: apsw.Connection, document_id: int, vector: Vectors, n: int) -> tuple[tuple[int, float], ...]:
    """(passage id, cosine) of the document's `n` passages that are nearest, best first."""
    cosines = np.clip(vectors.of_passages(db, document_id) @ vector, 0, 1)
    best = np.argsort(-cosines, kind="stable")[:n].tolist()
    passage_ids = documents.passage_ids(db, document_id)
    return tuple((passage_ids[place], float(cosines[place])) for place in best)
