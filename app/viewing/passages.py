"""How near the passages of a document are to a query, for the strip beside its text, and to each other, for the map."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from longsearch.app.paths import index_path
from longsearch.app.search.query_vectors import VectorSource, query_vector, source_for
from longsearch.engine.index.opening import open_index
from longsearch.engine.projection import project
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.similar import similarity_of_passages
from longsearch.engine.store import documents
from longsearch.engine.types.results import PassageMap, PassageSimilarity


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


def passage_map(places: Sequence[tuple[int, int]], place_of: Callable[[int], tuple[Path, int]]) -> PassageMap:
    """Return the map of passages, given as (document, offset where it begins); `place_of`: its folder and id there.

    Passages without a vector, or of another model than the first one's, are not on it.
    """
    model, found, at = "", [], []
    for document in dict.fromkeys(document for document, _ in places):
        root, own_id = place_of(document)
        with open_index(index_path(root)) as index:
            if not index.model or model not in ("", index.fingerprint):
                continue
            model = index.fingerprint
            starts = [passage.start for passage in documents.passages(index.db, own_id)]
            known = dict(zip(starts, index.backend.vectors_of_passages(own_id), strict=False))
        for place, (one, start) in enumerate(places):
            if one == document and start in known:
                at.append(place)
                found.append(known[start])
    plane = project(np.stack(found)) if found else None
    if plane is None:
        return PassageMap((), (0.0, 0.0))
    points = ((place, float(x), float(y)) for place, (x, y) in zip(at, plane.points, strict=True))
    return PassageMap(tuple(sorted(points)), plane.kept)
