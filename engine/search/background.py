"""Says whether a score is better than chance: how well an index answers queries that mean nothing.

The background of an index are the scores of the best hit for queries of words drawn at random from its own passages.
Such a query has the words, the language and the length of a real one, and no answer. A hit that beats too few of these
scores is no better than chance.

docs/scores.md has a table of false and of lost answers. Questions about something else and nonsense are told apart; a
question about the very subject whose answer is missing looks like one whose answer is there.
"""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import apsw

from longsearch.engine.search.fusion import both
from longsearch.engine.store import documents, vectors
from longsearch.engine.types.results import ChanceLevel, DocumentHit, Reason, SearchMode

LINES = {SearchMode.HYBRID: (0.25, 0.5), SearchMode.MEANING: (0.5, 0.8), SearchMode.WORDS: (0.1, 0.4)}
"""The shares of the background that a weak hit beats, and a good one. They were chosen on squad2_dev and stackfaq: few
right answers are below. Random words are all in the index, those of a real question are not, so by words less is asked
for."""
LEAST_PASSAGES = 30
"""A smaller index has no background: its passages are too few to draw from."""
_STALE_SHARE = 0.25
_ORDER = list(ChanceLevel)
_KEY = "background"
MADE_UP = "made-up"
"""The kind of the scores by meaning that words which do not exist reach."""


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

    def level(self, score: float, mode: SearchMode, meaning_alone: float | None = None) -> ChanceLevel:
        """Return how much better than chance a hit with this score is.

        `meaning_alone`: see `DocumentHit`. Random words are all in the index. A hybrid score without words never
        reaches theirs, though it be the right answer in another language. So its meaning may lift such a hit.
        """
        share = self.beaten(score, mode.value) or 0.0
        weak, good = LINES[mode]
        own = ChanceLevel.CHANCE if share < weak else ChanceLevel.WEAK if share < good else ChanceLevel.GOOD
        if meaning_alone is None:
            return own
        return max(own, self.level(meaning_alone, SearchMode.MEANING), key=_ORDER.index)


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
    if known is not None and not {"passage", MADE_UP} <= known.scores.keys():
        return True  # measured before there were reasons, or made-up words
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
    judged = []
    for hit in hits:
        level = _level(hit, known, mode)
        reason = hit.reason and _beside_chance(hit, hit.reason, level, known, mode)
        judged.append(replace(hit, level=level, reason=reason))
    return tuple(judged)


def _level(hit: DocumentHit, known: Sequence[Background], mode: SearchMode, alone: bool = True) -> ChanceLevel:
    """The lowest level that any of the indexes gives to a hit; without its meaning if not `alone`."""
    meaning = hit.meaning_alone if alone else None
    return min((one.level(hit.score, mode, meaning) for one in known), key=_ORDER.index)


def _beside_chance(
    hit: DocumentHit, reason: Reason, level: ChanceLevel, known: Sequence[Background], mode: SearchMode
) -> Reason:
    """The reason of a hit of this level, with what each of its parts beats."""

    def beaten(score: float, kind: str) -> float | None:
        shares = [one.beaten(score, kind) for one in known]
        return min((share for share in shares if share is not None), default=None)

    words, meaning = (both(1.0, 0.0), both(0.0, 1.0)) if mode is SearchMode.HYBRID else (1.0, 1.0)
    meaning_beats = beaten(reason.by_meaning / meaning, SearchMode.MEANING) if reason.meaning else None
    is_by_meaning = level is not _level(hit, known, mode, alone=False)
    return replace(
        reason,
        meaning=tuple(replace(share, beats=beaten(share.cosine, share.vector_of)) for share in reason.meaning),
        words_beat=beaten(reason.by_words / words, SearchMode.WORDS) if reason.words else None,
        meaning_beats=meaning_beats,
        beats=meaning_beats if is_by_meaning else beaten(hit.score, mode),
        lines=LINES[SearchMode.MEANING if is_by_meaning else mode],
        is_by_meaning=is_by_meaning,
    )
