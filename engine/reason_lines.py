"""Explains the score of a hit in a few lines: chance, the sentence, the points of words and vectors.

Pure. Words pass through `printable`: a query may have been pasted.
"""

from typing import TYPE_CHECKING

from longsearch.engine.amounts import counted
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.engine.types.results import DocumentHit, MeaningShare, PassageHit, Reason, WordShare

_NAME_WIDTH = 16
_LEVELS = {"chance": "unlikely", "weak": "unsure", "good": "likely"}
"""The levels as people are told them."""
_NO_REASON = "It has no parts: the score of a similar document is the cosine of two vectors, and a list has no scores."


def reason_lines(hit: "DocumentHit", lit: "PassageHit | None" = None) -> list[str]:
    """Return the lines: how the hit stands to chance, then the points of each part, indented.

    `lit`: the passage of the sentence that is shown; None for the hit's first one.
    """
    reason = hit.reason
    if reason is None:
        return [_NO_REASON]
    lines = [_beside_the_line(hit, reason), *_of_the_sentence(lit or hit.passages[0])]
    if reason.weight < 1:
        lines.append(f"The passage only points elsewhere, so its score counts {reason.weight:.1f} times.")
    if reason.words:
        lines.append(_row(0, "words", reason.by_words, _beats(reason.words_beat)))
        by_points = sorted(reason.words, key=lambda share: -(share.passage + share.document))
        lines += [_row(2, share.word, share.passage + share.document, _where(share)) for share in by_points]
    if reason.meaning:
        lines.append(_row(0, "meaning", reason.by_meaning, _beats(reason.meaning_beats)))
        lines += [_row(2, share.vector_of, share.points, _how_near(share)) for share in reason.meaning]
    return lines


def _beside_the_line(hit: "DocumentHit", reason: "Reason") -> str:
    if hit.level is None or reason.beats is None or reason.lines is None:
        return "How much better than chance it is, is unknown: the index is not calibrated, or too small."
    weak, good = reason.lines
    side = "below the line" if reason.beats < weak else "above the line"
    what = "its meaning " if reason.is_by_meaning else ""
    level = _LEVELS[hit.level.value]
    return f"{level}, {side}: {what}{_beats(reason.beats)} (unsure: {weak:.0%}, likely: {good:.0%})"


def _of_the_sentence(best: "PassageHit") -> list[str]:
    """How near the lit sentence is to the query, and the reader's probability: neither is a part of the score."""
    if best.answer is None:
        return []
    answers = "" if best.probability is None else f"; it answers with a probability of {best.probability:.2f}"
    return [f"The words of the lit sentence are {best.answer:.2f} near to the query's (1: the same){answers}."]


def _row(indent: int, name: str, points: float, about: str) -> str:
    shown = printable(condensed(name))
    shown = shown if len(shown) <= _NAME_WIDTH else shown[: _NAME_WIDTH - 1] + "…"
    return f"{' ' * indent}{shown:<{_NAME_WIDTH + 2 - indent}} {points:.2f}  {about}".rstrip()


def _beats(share: float | None) -> str:
    return "" if share is None else f"beats {share:.0%} of random queries"


def _where(share: "WordShare") -> str:
    if not share.n_passages:
        return "in no passage of the index"
    if share.passage + share.document == 0:
        return f"not here; in {counted(share.n_passages, 'passage')}"
    return f"passage {share.passage:.2f}, document {share.document:.2f}; in {counted(share.n_passages, 'passage')}"


def _how_near(share: "MeaningShare") -> str:
    return ", ".join(filter(None, (f"cosine {share.cosine:.2f}", _beats(share.beats))))
