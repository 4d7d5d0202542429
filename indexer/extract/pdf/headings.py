"""Find the headings of a PDF without bookmarks: its short lines in larger type than most of its text. Pure.

A formula, a number in a picture or the line that every page bears is no heading. Who is in doubt lists none: then the
outline shows the pages.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.pdf.layout import Line
from longsearch.indexer.extract.wire.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS

_LARGER = 1.12
"""Ratio of a heading's font size to the usual one of the document."""
_MAX_CHARACTERS = 90
_LEAST_LETTERS = 0.7
"""The share of letters and spaces in a heading, its number aside; a formula has less."""
_MAX_ON_A_PAGE = 12
"""Lines in larger type; a page with more of them is a poster, a slide or a cover."""
_MAX_REPEATED = 2
"""Pages that bear the same line; one that more pages bear runs along their edge."""
_LEAST, _MAX_LEVELS = 2, 3
_NUMBER = re.compile(r"(?:§ ?)?\d{1,2}((?:\.\d{1,3})*)\.? ")
_NO_HEADING = re.compile(r"\. ?\. ?\.|@|://")
"""A line of the contents, or an address."""
_SHORT_FORM = re.compile(rf"(?!0){_NUMBER.pattern}[\d.§ ]*[A-Z]{{3,}}s?")
"""A heading without a longer word, as "2.6 API"; a measure as 0.05 MHZ is none."""
_BETWEEN_WORDS = re.compile(r"[ \-\u2010-\u2014/]+")
_LINE_DISTANCE = 1.7
"""Font sizes between the lines of one heading."""


class _Large(NamedTuple):
    """A short line in larger type than its page."""

    page: int
    text: str
    size: float
    baseline: float


class HeadingsByType:
    """Takes the lines of each page; knows the headings once all pages have been read."""

    def __init__(self) -> None:
        self._large: list[_Large] = []
        self._n_characters: Counter[float] = Counter()

    def add(self, page: int, lines: Sequence[Line]) -> None:
        """Take the lines of a page."""
        by_size: dict[float, int] = {}
        texts, _, _, _, _, sizes, *_ = zip(*lines, strict=True) if lines else ((),) * 6
        for size, n_characters in zip(sizes, map(len, texts), strict=True):
            by_size[size] = by_size.get(size, 0) + n_characters
        here: dict[float, int] = {}
        for size, n_characters in by_size.items():
            rounded = round(size, 1)
            here[rounded] = here.get(rounded, 0) + n_characters
            self._n_characters[rounded] += n_characters
        if not here or len(self._large) > MAX_HEADINGS:
            return
        least = _LARGER * max(here, key=here.__getitem__)
        if max(by_size) < least:
            return
        large = [
            _Large(page, line.text, round(line.size, 1), line.baseline) for line in lines if line.size >= least > 0
        ]
        if len(large) <= _MAX_ON_A_PAGE:
            self._large += _joined(large)

    def entries(self, title: str) -> list[tuple[int, str, int]]:
        """Return (level from 1, heading, 0-based page), in order; [] if there are too few. `title`: no heading."""
        if not self._large:
            return []
        least = _LARGER * self._n_characters.most_common(1)[0][0]
        n_pages = Counter(line.text for line in self._large)
        found = [
            line
            for line in self._large
            if line.size >= least and n_pages[line.text] <= _MAX_REPEATED and _reads_like_one(line.text)
            if line.page or line.text not in title or _NUMBER.match(line.text)
        ]
        if any(_NUMBER.match(line.text) for line in found):  # so the rest of the first page is the title and names
            found = [line for line in found if line.page or _NUMBER.match(line.text) or line.text == "Abstract"]
        sizes = sorted({line.size for line in found}, reverse=True)
        levels = {size: min(level, _MAX_LEVELS) for level, size in enumerate(sizes, start=1)}
        entries = [(_level(line, levels), one_line(line.text, MAX_TITLE_CHARACTERS), line.page) for line in found]
        return entries[:MAX_HEADINGS] if len(entries) >= _LEAST else []


def _joined(lines: Sequence[_Large]) -> list[_Large]:
    """Return the lines with those of one heading as one."""
    joined: list[_Large] = []
    for line in lines:
        before = joined[-1] if joined and not _NUMBER.match(line.text) else None
        if before and before.size == line.size and 0 < before.baseline - line.baseline < _LINE_DISTANCE * line.size:
            joined[-1] = line._replace(text=f"{before.text} {line.text}")
        else:
            joined.append(line)
    return joined


def _level(line: _Large, by_size: Mapping[float, int]) -> int:
    """Return the level that the number of a heading tells, as in "2.1 Methods", or else its size."""
    number = _NUMBER.match(line.text)
    return number[1].count(".") + 1 if number else by_size[line.size]


def _reads_like_one(text: str) -> bool:
    """Whether a line in larger type has the words of a heading."""
    words = text.strip().lstrip("0123456789.§ ")
    n_letters = sum(character.isalpha() or character == " " for character in words)
    has_long_word = any(len(word) > 3 and word.isalpha() for word in _BETWEEN_WORDS.split(words))
    return (
        2 < len(words) <= _MAX_CHARACTERS
        and n_letters >= _LEAST_LETTERS * len(words)
        and not words[0].islower()
        and words[-1] not in ",;-="
        and not _NO_HEADING.search(words)
        and (has_long_word or bool(_SHORT_FORM.fullmatch(text.rstrip())))
    )
