"""The background of an index: the scores that queries of random words reach in it. See `search.calibration`."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import apsw

_KEY = "background"


@dataclass(frozen=True, slots=True)
class Background:
    """The scores that queries of random words reach in an index."""

    fingerprint: str
    """The fingerprint of the model that made the vectors."""
    n_passages: int
    """How many passages the index had when it was measured."""
    scores: Mapping[str, Sequence[float]]
    """For each mode, by its value, the score of the best hit for each query, ascending; by `vector_of`, the cosines
    of the best hits by meaning."""

    def beaten(self, score: float, kind: str) -> float | None:
        """Return the share of random queries (0 to 1) that a score or a cosine of this kind beats; None if unknown."""
        scores = self.scores.get(kind)
        return bisect_left(scores, score) / len(scores) if scores else None


def background_of(meta: Mapping[str, Any], fingerprint: str) -> Background | None:
    """Return the background of an index; None if it was not measured, or for the vectors of another model."""
    if _KEY not in meta:
        return None
    background = Background(**json.loads(meta[_KEY]))
    return background if background.fingerprint == fingerprint else None


def keep(db: apsw.Connection, background: Background) -> None:
    """Keep the background in the index."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(asdict(background))))
