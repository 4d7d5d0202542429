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

import numpy as np

from longsearch.engine.amounts import counted
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.index import Index
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.hits import LEAST_SCORE, to_hits
from longsearch.engine.search.ranking import PASSAGES_SHOWN, RankedDocument, RankedPassage
from longsearch.engine.search.retrieval import allowed_documents
from longsearch.engine.store import documents
from longsearch.engine.types.results import PassageSimilarity, SearchMode, SearchResults
from longsearch.engine.unread import unread


def title_and_vector(index: Index, document_id: int) -> tuple[str, Vectors]:
    """The title of a document of the index, and its vector (dim,).

    Raises LongsearchError if the document has no vector yet, StoreError if it is gone.
    """
    title = documents.outline(index.db, document_id).title
    vector = index.backend.vector_of_document(document_id)
    if vector is None:
        hint = "wait until it has been read: `longsearch status` shows the progress"
        raise LongsearchError(unread(title), hint)
    return title, vector


def similar_to_vector(index: Index, vector: Vectors, title: str, k: int = 10, under: str = "") -> SearchResults:
    """Find the `k` documents nearest to `vector` (dim,), the unit vector of a document called `title`.

    A document's score is its cosine; its passages are those with the highest cosines of their own. `under`: only files
    in this folder, relative to the root. Raises ValueError for a vector of another dimension.
    """
    started = time.perf_counter()
    file_filter = FileFilter(under)
    found = index.backend.nearest_documents(vector, k, allowed_documents(index, file_filter))
    near = [(id_, min(1.0, cosine)) for id_, cosine in found if cosine >= LEAST_SCORE]
    ranked = [RankedDocument(id_, cosine, _nearest_passages(index, id_, vector)) for id_, cosine in near]
    hits = to_hits(index, file_filter, ranked)
    note = unread(counted(index.n_waiting, "document"), index.n_waiting) if index.n_waiting else ""
    took_ms = (time.perf_counter() - started) * 1000
    return SearchResults("", SearchMode.MEANING, "", took_ms, hits, note, similar_to=title)


def similarity_of_passages(index: Index, document_id: int, vector: Vectors) -> PassageSimilarity:
    """(start, stop, cosine with `vector` (dim,)) of each passage of a document that has its vector, in their order.

    Reads the vectors of one document: 2 ms for 300 passages.
    """
    found = index.backend.vectors_of_passages(document_id)
    passages = documents.passages(index.db, document_id)[: len(found)]
    if not len(found):
        return ()
    cosines = (found @ vector).tolist()
    return tuple((passage.start, passage.stop, cosine) for passage, cosine in zip(passages, cosines, strict=True))


def _nearest_passages(index: Index, document_id: int, vector: Vectors) -> tuple[RankedPassage, ...]:
    """The document's nearest passages, best first, each with its cosine as score."""
    cosines = np.clip(index.backend.vectors_of_passages(document_id) @ vector, 0, 1)
    best = np.argsort(-cosines, kind="stable")[:PASSAGES_SHOWN].tolist()
    passage_ids = documents.passage_ids(index.db, document_id)
    return tuple(RankedPassage(passage_ids[place], document_id, float(cosines[place])) for place in best)
