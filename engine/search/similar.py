"""More like this: ranks documents by the cosine of their vectors with another document's, whatever their lengths.

A document's vector comes from one pass from its first token to its last, so whole documents are compared. Knows no
model: the vector is given or is in the index.

Measured by `tests/bench/likeness.py`, which cuts documents in two and counts how often a half ranks its other half
first among 80 documents of its kind. The model was trained on text of these kinds: encyclopedia articles 100 %,
chapters and PEPs 95 %, EIPs 85 %. It never saw text of these: 32 meetings 69 %, 61 yearly reports 44 % (they come from
few companies, whose other years are just as similar). Cosines: two halves .78 to .92; documents on different subjects
.1 in the median; different documents of one kind up to .6.
"""

import time

import apsw
import numpy as np

from longsearch.engine.amounts import counted
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.search.answering.sqlite import answers_of
from longsearch.engine.search.hits import LEAST_SCORE, to_hits
from longsearch.engine.search.query_language.file_filter import FileFilter
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.search.retrieval import allowed_documents
from longsearch.engine.store import documents, vectors
from longsearch.engine.store.session import Session
from longsearch.engine.types.results import PassageSimilarity, SearchMode, SearchResults


def similar_to_document(session: Session, document_id: int, k: int = 10, under: str = "") -> SearchResults:
    """The same as `similar_to_vector`, for a document of the index. Leaves out the document itself.

    Raises LongsearchError if the document has no vector yet, StoreError if it is gone.
    """
    title, vector = title_and_vector(session, document_id)
    return similar_to_vector(session, vector, title, k, under, without=document_id)


def title_and_vector(session: Session, document_id: int) -> tuple[str, Vectors]:
    """The title of a document of the index, and its vector (dim,). Raises as `similar_to_document`."""
    with session.reading() as db:
        title, vector = documents.outline(db, document_id).title, answers_of(db).vector_of_document(document_id)
    if vector is None:
        hint = "wait until it has been read: `longsearch status` shows the progress"
        raise LongsearchError(f"{title} has not been read for its meaning yet", hint)
    return title, vector


def similar_to_vector(
    session: Session,
    vector: Vectors,
    title: str,
    k: int = 10,
    under: str = "",
    without: int | None = None,
    passages_per_document: int = 5,
) -> SearchResults:
    """Find the `k` documents nearest to `vector` (dim,), the unit vector of a document called `title`.

    A document's score is its cosine; its passages are those with the highest cosines of their own. `under`: only files
    in this folder, relative to the root; `without`: a document to leave out. Raises ValueError for a vector of another
    dimension.
    """
    started = time.perf_counter()
    with session.reading() as db:
        file_filter = FileFilter(under)
        found = answers_of(db).nearest_documents(vector, k + 1, allowed_documents(db, file_filter))
        near = [(id_, min(1.0, cosine)) for id_, cosine in found if id_ != without and cosine >= LEAST_SCORE][:k]
        ranked = [
            RankedDocument(id_, cosine, _nearest_passages(db, id_, vector, passages_per_document))
            for id_, cosine in near
        ]
        hits = to_hits(db, session.root, file_filter, ranked, {})
        n_waiting = vectors.n_waiting(db)
    note = f"{counted(n_waiting, 'document')} cannot be compared yet" if n_waiting else ""
    took_ms = (time.perf_counter() - started) * 1000
    return SearchResults("", SearchMode.MEANING, "", took_ms, hits, note, similar_to=title)


def similarity_of_passages(session: Session, document_id: int, vector: Vectors) -> PassageSimilarity:
    """(start, stop, cosine with `vector` (dim,)) of each passage of a document that has its vector, in their order.

    Reads the vectors of one document: 2 ms for 300 passages.
    """
    with session.reading() as db:
        found = answers_of(db).vectors_of_passages(document_id)
        passages = documents.passages(db, document_id)[: len(found)]
    if not len(found):
        return ()
    cosines = (found @ vector).tolist()
    return tuple((passage.start, passage.stop, cosine) for passage, cosine in zip(passages, cosines, strict=True))


def _nearest_passages(db: apsw.Connection, document_id: int, vector: Vectors, n: int) -> tuple[tuple[int, float], ...]:
    """(passage id, cosine) of the document's `n` nearest passages, best first."""
    cosines = np.clip(answers_of(db).vectors_of_passages(document_id) @ vector, 0, 1)
    best = np.argsort(-cosines, kind="stable")[:n].tolist()
    passage_ids = documents.passage_ids(db, document_id)
    return tuple((passage_ids[place], float(cosines[place])) for place in best)
