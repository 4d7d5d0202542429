"""Decides which characters of a line are lit, and how. Pure: spans in, runs out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from longsearch.tui.text.lit_words import Words


@dataclass(frozen=True, slots=True)
class Span:
    """A lit passage of a document."""

    start: int
    stop: int
    """One past its last character."""
    score: float
    """0 to 1, as in `engine.types.PassageHit`."""
    excerpt: tuple[int, int] | None = None
    """(start, stop) of the excerpt nearest to the query, if known."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring characters of a line that look the same."""

    start: int
    stop: int
    """One past its last character."""
    passage: int | None
    """Index of the passage that lights the run, or None."""
    is_word: bool
    """Whether it belongs to a word of the query."""
    is_excerpt: bool
    """Whether it belongs to the excerpt of the current passage."""
    is_found: bool = False
    """Whether it belongs to a place that the reader searches for."""


def runs(
    text: str,
    start: int,
    stop: int,
    spans: Sequence[Span],
    current: int,
    words: Words | None,
    places: Sequence[tuple[int, int]] = (),
) -> list[Run]:
    """Split `text` from `start` to `stop` into runs, in order and without gaps. The current span lies on top.

    `places`: (start, stop) of what the reader searches for.
    """
    excerpt = (spans[current].excerpt if 0 <= current < len(spans) else None) or (start, start)
    found = [match.span() for match in words.finditer(text, start, stop)] if words else []
    touching = [index for index, span in enumerate(spans) if span.start < stop and span.stop > start]
    edges = {start, stop}
    for low, high in [*found, *places, excerpt, *((spans[index].start, spans[index].stop) for index in touching)]:
        edges.update((min(max(low, start), stop), max(min(high, stop), start)))
    ordered = sorted(edges)
    return [
        Run(
            low, high, _on_top(spans, touching, current, low),
            is_word=any(first <= low < last for first, last in found), is_excerpt=excerpt[0] <= low < excerpt[1],
            is_found=any(first <= low < last for first, last in places),
        )
        for low, high in pairwise(ordered)
    ]  # fmt: skip


def _on_top(spans: Sequence[Span], touching: Sequence[int], current: int, offset: int) -> int | None:
    """Return the index of the span that lights the character at `offset`, or None."""
    over = [index for index in touching if spans[index].start <= offset < spans[index].stop]
    return current if current in over else over[0] if over else None
