"""Says whether a score is better than chance: how well an index answers queries that mean nothing.

The background of an index are the scores of the best hit for queries of words drawn at random from its own passages.
Such a query has the words, the language and the length of a real one, and no answer. A hit is no better than chance if
half of the background scores as high, and good if only a tenth does.

Measured on three dev sets (docs/scores.md): below the line are 0 to 3 in 100 right answers, and 84 to 100 in 100 of the
hits for questions about something else. A question about the very subject whose answer is missing looks like one whose
answer is there.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import apsw

from longsearch.engine.store import documents, vectors
from longsearch.engine.types import ChanceLevel, DocumentHit, SearchMode

WEAK_SHARE, GOOD_SHARE = 0.5, 0.9
"""Of the background that a weak and a good hit beats."""
LEAST_PASSAGES = 30
"""A smaller index has no background: its passages are too few to draw from."""
_STALE_SHARE = 0.25
_KEY = "background"


@dataclass(frozen=True, slots=True)
class Background:
    """The scores that queries of random words reach in an index."""

    fingerprint: str
    """Of the model that made the vectors."""
    n_passages: int
    """Of the index when it was measured."""
    scores: Mapping[str, Sequence[float]]
    """For each mode, by its value, the score of the best hit for each query, ascending."""

    def level(self, score: float, mode: SearchMode) -> ChanceLevel:
        """Return how much better than chance a hit with this score is."""
        scores = self.scores[mode.value]
        share = bisect_left(scores, score) / len(scores)
        return (
            ChanceLevel.CHANCE if share < WEAK_SHARE else ChanceLevel.WEAK if share < GOOD_SHARE else ChanceLevel.GOOD
        )


def load(db: apsw.Connection) -> Background | None:
    """Return the background of an index; None if it was not measured, or for the vectors of another model."""
    kept = db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).get
    model = vectors.model_in_use(db)
    if kept is None or model is None:
        return None
    background = Background(**json.loads(kept))
    return background if background.fingerprint == model[0] else None


def keep(db: apsw.Connection, background: Background) -> None:
    """Keep the background in the index."""
    row = {"fingerprint": background.fingerprint, "n_passages": background.n_passages, "scores": background.scores}
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(row)))


def is_stale(db: apsw.Connection) -> bool:
    """Whether the background is to be measured: there is none, or the index has grown or shrunk by a quarter.

    False while documents wait for their vectors: they will change it.
    """
    n_passages = documents.n_passages(db)
    if n_passages < LEAST_PASSAGES or vectors.model_in_use(db) is None or vectors.n_waiting(db):
        return False
    known = load(db)
    return known is None or abs(n_passages - known.n_passages) > _STALE_SHARE * known.n_passages


def with_levels(
    hits: Sequence[DocumentHit], backgrounds: Sequence[Background | None], mode: SearchMode
) -> tuple[DocumentHit, ...]:
    """Return the hits with their levels, by the backgrounds of all indexes that were searched.

    In several indexes chance reaches what it reaches in the one where it reaches most. Without any background the hits
    stay as they are.
    """
    known = [background for background in backgrounds if background is not None]
    if not known:
        return tuple(hits)
    order = list(ChanceLevel)
    return tuple(
        replace(hit, level=min((one.level(hit.score, mode) for one in known), key=order.index)) for hit in hits
    )
