"""Compares two texts sentence by sentence: what is new, gone, changed or moved. Pure.

Equal sentences are matched in their order. Between them, a sentence that was changed is matched with the one that has
most of its words; what is left stands in one text alone, or at another place of the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from longsearch.engine.citing.wording import words
from longsearch.engine.sentences import Span, cut_sentences

_ALIKE = 0.5
"""The share of the words of two sentences that are in both, from which one is the other, changed."""
_MOST_PAIRS = 200_000
"""Pairs of sentences compared between two equal ones; of more, only those at about the same place are."""


class Kind(StrEnum):
    """What became of a passage of the first text in the second."""

    NEW = "new"
    GONE = "gone"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Change:
    """A passage that is not the same in both texts."""

    kind: Kind
    first: Span | None
    """(start, stop) in the first text; None if the passage is new."""
    second: Span | None
    """The same in the second text; None if it is gone."""


def compared(first: str, second: str, languages: tuple[str, str] = ("en", "en")) -> tuple[list[Change], int]:
    """Return what differs, in the order of the second text, and how many sentences are the same in both."""
    spans = [cut_sentences(text, language) for text, language in zip((first, second), languages, strict=True)]
    ours, theirs = (
        [tuple(words(text[slice(*span)])) for span in own] for text, own in zip((first, second), spans, strict=True)
    )
    changes: list[tuple[int | None, int | None]] = []
    n_same = 0
    for kind, a, b, c, d in SequenceMatcher(None, ours, theirs, False).get_opcodes():
        if kind == "equal":
            n_same += b - a
        else:
            changes += _between(ours, theirs, range(a, b), range(c, d))
    return list(_joined(_with_moved(changes, ours, theirs), spans[0], spans[1])), n_same


def _between(
    ours: Sequence[tuple[str, ...]], theirs: Sequence[tuple[str, ...]], a: range, c: range
) -> Iterator[tuple[int | None, int | None]]:
    """Yield (sentence of the first text or None, of the second or None), in order, changed ones side by side."""
    reach = len(c) if len(a) * len(c) <= _MOST_PAIRS else max(1, _MOST_PAIRS // len(a) // 2)
    bags = {number: Counter(theirs[number]) for number in c}
    likely = []
    for number, i in enumerate(a):
        own, middle = Counter(ours[i]), number * len(c) // len(a)
        for j in c[max(0, middle - reach) : middle + reach + 1]:
            shared = sum((own & bags[j]).values()) / max(len(ours[i]), len(theirs[j]), 1)
            if shared >= _ALIKE:
                likely.append((-shared, i, j))
    pairs: list[tuple[int, int]] = []
    for _, i, j in sorted(likely):
        if all((i < x and j < y) or (i > x and j > y) for x, y in pairs):
            pairs.append((i, j))
    i, j = a.start, c.start
    for x, y in [*sorted(pairs), (a.stop, c.stop)]:
        yield from ((left, None) for left in range(i, x))
        yield from ((None, right) for right in range(j, y))
        if x < a.stop:
            yield x, y
        i, j = x + 1, y + 1


def _with_moved(
    changes: Sequence[tuple[int | None, int | None]], ours: Sequence[tuple[str, ...]], theirs: Sequence[tuple[str, ...]]
) -> Iterator[tuple[Kind, int | None, int | None]]:
    """Yield the changes with their kinds; a sentence that is gone here and new there has moved."""
    gone: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, j in changes:
        if i is not None and j is None:
            gone[ours[i]].append(i)
    came_from = {j: gone[theirs[j]].pop(0) for i, j in changes if i is None and j is not None and gone.get(theirs[j])}
    moved = set(came_from.values())
    for i, j in changes:
        if i is not None and j is not None:
            yield Kind.CHANGED, i, j
        elif j is not None:
            yield (Kind.MOVED, came_from[j], j) if j in came_from else (Kind.NEW, None, j)
        elif i not in moved:
            yield Kind.GONE, i, None


def _joined(
    changes: Iterator[tuple[Kind, int | None, int | None]], first: Sequence[Span], second: Sequence[Span]
) -> Iterator[Change]:
    """Yield the changes; sentences in a row that are new, or gone, are one passage."""
    open_change: tuple[Kind, int | None, int | None] | None = None
    made: Change | None = None
    for kind, i, j in changes:
        goes_on = (
            open_change is not None
            and kind is open_change[0]
            and kind is not Kind.CHANGED
            and all(
                now is None or (was is not None and now == was + 1)
                for now, was in zip((i, j), open_change[1:], strict=True)
            )
        )
        own = (None if i is None else first[i], None if j is None else second[j])
        if made is not None and goes_on:
            made = Change(kind, _both(made.first, own[0]), _both(made.second, own[1]))
        else:
            if made is not None:
                yield made
            made = Change(kind, *own)
        open_change = (kind, i, j)
    if made is not None:
        yield made


def _both(one: Span | None, other: Span | None) -> Span | None:
    return (one[0], other[1]) if one and other else one or other
