"""Finds the query's words in a text, in every form under which the search found them. Pure.

English words are a pattern (`query_words`). In an index with other languages a word of the text is lit if its stem is a
query word's, and in a script without spaces whatever two characters or more the query and the text share.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from longsearch.engine.types import Term
from longsearch.tui.text.query_words import word_pattern

_ENGLISH = ("", "en")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_HIRAGANA = re.compile("[ぁ-ゖー]+")


class FoundWord(Protocol):
    """A place in a text; `re.Match` is one."""

    def span(self) -> tuple[int, int]:
        """(start, stop)."""

    def start(self) -> int:
        """Offset of the first character."""

    def end(self) -> int:
        """One past the last character."""


class Words(Protocol):
    """Finds words; `re.Pattern` does."""

    def finditer(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> Iterator[FoundWord]:
        """Yield the places of words between `pos` and `endpos`, in order."""

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> FoundWord | None:
        """Return the first place, or None."""


def lit_words(terms: Sequence[Term], languages: Iterable[str]) -> Words | None:
    """Return what finds these words and phrases in texts of these languages; None if there are none."""
    pattern = word_pattern(terms)
    foreign = [code for code in languages if code not in _ENGLISH]
    if pattern is None or not (foreign or any(_NOT_ASCII.search(term.text) for term in terms)):
        return pattern
    return ForeignWords(pattern, terms, ("", *foreign))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a word stands."""

    first: int
    last: int

    def span(self) -> tuple[int, int]:
        """(start, stop)."""
        return self.first, self.last

    def start(self) -> int:
        """Offset of the first character."""
        return self.first

    def end(self) -> int:
        """One past the last character."""
        return self.last


class ForeignWords:
    """Finds words by their stems, and shared runs of characters, beside what a pattern finds."""

    def __init__(self, pattern: re.Pattern[str], terms: Iterable[Term], languages: Sequence[str]) -> None:
        from longsearch.engine.languages import analysis, scripts  # loads the stemmers

        self._analysis, self._scripts = analysis, scripts
        self._pattern = pattern
        self._languages = languages
        terms = list(terms)
        loose = [term.text for term in terms if not term.is_phrase]
        phrases = [scripts.SPACED_OR_RUN.findall(term.text) for term in terms if term.is_phrase]
        unspaced = [words for words in phrases if any(map(scripts.UNSPACED_RUN.match, words))]
        joined = "|".join(r"\W*".join(map(re.escape, words)) for words in unspaced)
        self._phrases = re.compile(joined, re.IGNORECASE) if joined else None
        runs = [run for text in loose for run in scripts.UNSPACED_RUN.findall(text)]
        pairs = {pair for run in runs for pair in analysis.pairs(analysis.characters_of(run))}
        self._pairs = {pair for pair in pairs if not _HIRAGANA.fullmatch(pair)} or pairs
        words = [word for text in loose for word in scripts.SPACED_WORD.findall(scripts.UNSPACED_RUN.sub(" ", text))]
        self._forms = {(analysis.made(word, code), code) for word in words for code in languages if word}
        self._forms = {(form, code) for form, code in self._forms if form.endswith(analysis.MADE)}

    def search(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> FoundWord | None:
        """Return the first place, or None."""
        return next(self.finditer(string, pos, endpos), None)

    def finditer(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> Iterator[FoundWord]:
        """Yield the places of words, in order and apart."""
        spans = [match.span() for match in self._pattern.finditer(string, pos, endpos)]
        if self._phrases:  # the pattern finds one only between spaces
            spans += [match.span() for match in self._phrases.finditer(string, pos, endpos)]
        if self._forms:
            words = self._scripts.SPACED_WORD.finditer(string, pos, endpos)
            spans += [word.span() for word in words if self._is_word(word[0])]
        if self._pairs:
            for run in self._scripts.UNSPACED_RUN.finditer(string, pos, endpos):
                spans += self._shared(run[0], run.start())
        first, last = -1, -1
        for start, stop in sorted(spans):
            if start > last:
                if last > first:
                    yield Place(first, last)
                first, last = start, stop
            last = max(last, stop)
        if last > first:
            yield Place(first, last)

    def _is_word(self, word: str) -> bool:
        return any((self._analysis.made(word, code), code) in self._forms for code in self._languages)

    def _shared(self, run: str, offset: int) -> Iterator[tuple[int, int]]:
        """Yield where pairs of the query stand in a run, which begins at `offset` of the text."""
        letters = [match.span() for match in self._analysis.LETTER_WITH_SIGNS.finditer(run)]
        for (start, _), (_, stop) in pairwise(letters):
            if "".join(self._analysis.pairs(self._analysis.characters_of(run[start:stop]))) in self._pairs:
                yield offset + start, offset + stop
