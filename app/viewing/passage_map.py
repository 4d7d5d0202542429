"""Where the passages of an answer lie to each other by meaning, for the app's map."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from longsearch.app.paths import index_path
from longsearch.engine.index.opening import open_index
from longsearch.engine.projection import project
from longsearch.engine.store import documents
from longsearch.engine.types.results import PassageMap


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
