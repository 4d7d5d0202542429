"""Where the passages of an answer lie to each other by meaning, for the app's map."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from longsearch.app.paths import index_path
from longsearch.engine.projection import project
from longsearch.engine.search.answering.sqlite import answers_of
from longsearch.engine.store import vectors
from longsearch.engine.store.session import Session
from longsearch.engine.types.results import PassageMap

_STARTS = "SELECT start FROM passages WHERE content_id = ? ORDER BY ordinal"


def passage_map(places: Sequence[tuple[int, int]], place_of: Callable[[int], tuple[Path, int]]) -> PassageMap:
    """Return the map of passages, given as (document, offset where it begins); `place_of`: its folder and id there.

    Passages without a vector, or of another model than the first one's, are not on it.
    """
    model, found, at = "", [], []
    for document in dict.fromkeys(document for document, _ in places):
        root, own_id = place_of(document)
        with Session.open(index_path(root), read_only=True) as session, session.reading() as db:
            in_use = vectors.model_in_use(db)
            if in_use is None or (model and in_use[0] != model):
                continue
            model = in_use[0]
            rows = answers_of(db).vectors_of_passages(own_id)
            known = dict(zip((start for (start,) in db.execute(_STARTS, (own_id,))), rows, strict=False))
        for place, (one, start) in enumerate(places):
            if one == document and start in known:
                at.append(place)
                found.append(known[start])
    plane = project(np.stack(found)) if found else None
    if plane is None:
        return PassageMap((), (0.0, 0.0))
    points = ((place, float(x), float(y)) for place, (x, y) in zip(at, plane.points, strict=True))
    return PassageMap(tuple(sorted(points)), plane.kept)
