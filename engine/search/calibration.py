"""Says whether a score is better than chance: how well an index answers queries that mean nothing.

The background of an index are the scores of the best hit for queries of words drawn at random from its own passages.
Such a query has the words, the language and the length of a real one, and no answer. A hit that beats too few of these
scores is no better than chance.

docs/scores.md has a table of false and of lost answers. Questions about something else and nonsense are told apart; a
question about the very subject whose answer is missing looks like one whose answer is there.
"""

from collections.abc import Sequence
from dataclasses import replace

from longsearch.engine.index.index import Background, Index
from longsearch.engine.search.fusion import both
from longsearch.engine.store import documents
from longsearch.engine.types.results import ChanceLevel, DocumentHit, Reason, SearchMode

LINES = {SearchMode.HYBRID: (0.25, 0.5), SearchMode.MEANING: (0.5, 0.8), SearchMode.WORDS: (0.1, 0.4)}
"""The shares of the background that a weak hit beats, and a good one. They were chosen on squad2_dev and stackfaq: few
right answers are below. Random words are all in the index, those of a real question are not, so by words less is asked
for."""
LEAST_PASSAGES = 30
"""A smaller index has no background: its passages are too few to draw from."""
_STALE_SHARE = 0.25
_ORDER = list(ChanceLevel)
MADE_UP = "made-up"
"""The kind of score that queries of made-up words reach by meaning."""


def is_stale(index: Index) -> bool:
    """Whether the background is to be measured: there is none, or the index has grown or shrunk by a quarter.

    False while documents wait for their vectors: they will change it.
    """
    n_passages, known = documents.n_passages(index.db), index.background
    if n_passages < LEAST_PASSAGES or index.model is None or index.n_waiting:
        return False
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


def level_of(background: Background, score: float, mode: SearchMode, meaning_alone: float | None = None) -> ChanceLevel:
    """Return how much better than chance a hit with this score is.

    `meaning_alone`: see `DocumentHit`. Random words are all in the index. A hybrid score without words never reaches
    theirs, though it be the right answer in another language. So its meaning may lift such a hit.
    """
    share = background.beaten(score, mode.value) or 0.0
    weak, good = LINES[mode]
    own = ChanceLevel.CHANCE if share < weak else ChanceLevel.WEAK if share < good else ChanceLevel.GOOD
    if meaning_alone is None:
        return own
    return max(own, level_of(background, meaning_alone, SearchMode.MEANING), key=_ORDER.index)


def _level(hit: DocumentHit, known: Sequence[Background], mode: SearchMode, alone: bool = True) -> ChanceLevel:
    """The lowest level that any of the indexes gives to a hit; without its meaning if not `alone`."""
    meaning = hit.meaning_alone if alone else None
    return min((level_of(one, hit.score, mode, meaning) for one in known), key=_ORDER.index)


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
