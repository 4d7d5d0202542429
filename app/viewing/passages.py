"""How near the passages of a document are to a query, for the strip beside its text."""

from pathlib import Path

from longsearch.app.paths import index_path
from longsearch.app.search.query_vectors import VectorSource, query_vector, source_for
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.similar import similarity_of_passages
from longsearch.engine.types.results import PassageSimilarity


def passage_similarity(
    root: Path, document_id: int, text: str, instruction: str, source: VectorSource
) -> PassageSimilarity:
    """Return (start, stop, cosine) of each passage; () for a query without meaning, such as fields alone.

    Raises LongsearchError if the query has no vector, or if the index was made with another model.
    """
    with open_index(index_path(root)) as index:
        query = parse(text, keys=index.fields)
        if query.is_listing:
            return ()
        found = query_vector(index, query.meaning, instruction, source_for(root, source))
        return similarity_of_passages(index, document_id, found.vector)
