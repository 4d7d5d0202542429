"""Highlights the answer in a text: finds the query's words, and says how each character of a line looks. Pure.

A word is found in every form under which the search found it. English words are a pattern. In an index with other
languages, a word counts if it has the stem of a query word. In a script without spaces, every run of two or more
characters counts that the query and the text share.
"""

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from longsearch.engine.languages.spelling import other_spelling, respelt
from longsearch.engine.quantities import amounts, quantities
from longsearch.engine.types.documents import DocumentText, Mark
from longsearch.engine.types.results import Term

_WORD = re.compile(r"\w+")
_LETTER = r"[^\W_]"
"""A letter or digit. An underscore parts words, as it does for FTS5."""
_BETWEEN = r"\W+"
_FIRST_CJK = "\u2e80"
_MIN_STEM = 4
"""The pattern also matches words of at least this length with an ending: "model" in "models"."""
_ENGLISH = ("", "en")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_HIRAGANA = re.compile("[ぁ-ゖー]+")
HEADING = "heading"
"""The kind of mark that a heading has here."""


class Highlighter:
    """Finds the words and phrases of a query in texts. Made by `highlighter`."""

    def __init__(self, terms: Sequence[Term] = (), languages: Iterable[str] = ()) -> None:
        self._ranges = list(filter(None, (amounts(term.text) for term in terms if term.is_range)))
        terms, codes = [term for term in terms if not term.is_range], tuple(languages)
        words = [term for term in terms if not term.is_phrase]
        others = [replace(term, text=other) for term in words for other in respelt(term.text, codes)]
        self._pattern = word_pattern([*terms, *others])
        terms += [other for other in others if other.text.isalpha()]  # of O'Brien no part is a word
        foreign = [code for code in codes if code not in _ENGLISH]
        is_foreign = foreign or any(_NOT_ASCII.search(term.text) for term in terms)
        self._foreign = _ForeignWords(terms, ("", *foreign)) if self._pattern and is_foreign else None

    def places(self, text: str, start: int = 0, stop: int = sys.maxsize) -> list[tuple[int, int]]:
        """Return (start, stop) of each word between `start` and `stop`, in order and apart."""
        spans = [match.span() for match in self._pattern.finditer(text, start, stop)] if self._pattern else []
        if self._ranges:
            found = (one for one in quantities(text, start, stop) if any(own.has(one) for own in self._ranges))
            spans = _apart([*spans, *((one.start, one.stop) for one in found)])
        return spans if self._foreign is None else _apart([*spans, *self._foreign.places(text, start, stop)])


@lru_cache(maxsize=4)
def highlighter(terms: tuple[Term, ...], languages: tuple[str, ...]) -> Highlighter:
    """Return what finds these terms in texts of these languages: the same object for the same terms."""
    return Highlighter(terms, languages)


class _ForeignWords:
    """Finds words by their stems, phrases without spaces, and shared runs of characters."""

    def __init__(self, terms: Sequence[Term], languages: Sequence[str]) -> None:
        from longsearch.engine.languages import analysis, scripts  # loads the stemmers

        self._analysis, self._scripts = analysis, scripts
        self._languages = languages
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

    def places(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of each place; they may overlap."""
        if self._phrases:  # the pattern finds one only between spaces
            yield from (match.span() for match in self._phrases.finditer(text, start, stop))
        if self._forms:
            words = self._scripts.SPACED_WORD.finditer(text, start, stop)
            yield from (word.span() for word in words if self._is_word(word[0]))
        if self._pairs:
            for run in self._scripts.UNSPACED_RUN.finditer(text, start, stop):
                yield from self._shared(run[0], run.start())

    def _is_word(self, word: str) -> bool:
        return any((self._analysis.made(word, code), code) in self._forms for code in self._languages)

    def _shared(self, run: str, offset: int) -> Iterator[tuple[int, int]]:
        """Yield where pairs of the query stand in a run, which begins at `offset` of the text."""
        letters = [match.span() for match in self._analysis.LETTER_WITH_SIGNS.finditer(run)]
        for (start, _), (_, stop) in pairwise(letters):
            if "".join(self._analysis.pairs(self._analysis.characters_of(run[start:stop]))) in self._pairs:
                yield offset + start, offset + stop


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order; those that touch become one."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        elif stop > start:
            joined.append((start, stop))
    return joined


def word_pattern(terms: Iterable[Term]) -> re.Pattern[str] | None:
    """Return the pattern that finds these words and phrases in a text, in any case; None if there are none."""
    typed = list(terms)
    terms = [*typed, *_spelt_otherwise(typed)]
    pieces = {piece: None for term in terms if (piece := _piece(term))}
    longest_first = sorted(pieces, key=len, reverse=True)
    inner = dict.fromkeys(
        f"{term.text.capitalize()}[a-z]{_ending(term, term.text)}" for term in terms if _is_part(term)
    )
    in_names = [f"(?-i:(?<=[a-z0-9])(?:{'|'.join(inner)})(?![a-z]))"] if inner else []  # user in getUserName
    return re.compile("|".join([*longest_first, *in_names]), re.IGNORECASE) if longest_first else None


def _spelt_otherwise(terms: Iterable[Term]) -> Iterator[Term]:
    """Yield the words that have another spelling in it: the search finds both."""
    for term in terms:
        if not term.is_phrase and (other := other_spelling(term.text)):
            yield replace(term, text=other)


def _piece(term: Term) -> str:
    """Return the expression for one term, or "". A word such as "state-space" is several words, one after the other."""
    words = _WORD.findall(term.text)
    joined = _BETWEEN.join(map(re.escape, words))
    if not words or (words[0] >= _FIRST_CJK and not term.is_phrase):
        return joined  # CJK is written without spaces: the word may begin and end anywhere
    ending = _ending(term, words[-1])
    in_name = f"|(?-i:[a-z]{ending}(?=[A-Z]))" if _is_part(term) else ""  # user in userName
    return f"(?<!{_LETTER}){joined}(?:{_LETTER}{ending}(?!{_LETTER}){in_name})"


def _ending(term: Term, last_word: str) -> str:
    """Return how many letters may follow, as a repetition."""
    if term.is_prefix:
        return "*"
    if not term.is_phrase and len(last_word) >= _MIN_STEM and last_word.isalpha():
        return "{0,3}"
    return "{0}"


def _is_part(term: Term) -> bool:
    """Return whether the term may be a part of a code name: see `engine.languages.analysis`."""
    return not term.is_phrase and term.text.isascii() and term.text.isalpha() and len(term.text) > 1


NO_WORDS = Highlighter()
"""Finds nothing."""


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

    @property
    def place(self) -> int:
        """Where the passage is shown, and of which the page is named: the beginning of its excerpt, else its middle."""
        return self.excerpt[0] if self.excerpt else (self.start + self.stop) // 2


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
    mark: Mark | None = None
    """What a person marked it with; of several marks the one that begins last."""


class MarksOf:
    """Finds the marks of a document's text that touch a line, and its headings as marks of a kind of their own."""

    def __init__(self, document: DocumentText) -> None:
        self._document = document
        self._marks = [mark for mark in document.marks if mark.stop > mark.start]
        self._longest = max((mark.stop - mark.start for mark in self._marks), default=0)

    def between(self, start: int, stop: int) -> list[Mark]:
        """Return the marks of any character from `start` to `stop`, in order; a heading comes first.

        A heading counts where the text says it: a bookmark of a PDF may have other words than its page.
        """
        headings, text = self._document.headings, self._document.text
        at = bisect_left(headings, stop, key=lambda heading: heading.start)
        heads = []
        for heading in headings[max(at - 1, 0) : at]:
            end = heading.start + len(heading.title)
            if end > start and text[heading.start : end].split() == heading.title.split():
                heads.append(Mark(HEADING, heading.start, end))
        first = bisect_left(self._marks, start - self._longest, key=lambda mark: mark.start)
        last = bisect_left(self._marks, stop, key=lambda mark: mark.start)
        return [*heads, *(mark for mark in self._marks[first:last] if mark.stop > start)]


def runs(
    text: str,
    start: int,
    stop: int,
    spans: Sequence[Span],
    current: int,
    words: Highlighter,
    places: Sequence[tuple[int, int]] = (),
    marks: Sequence[Mark] = (),
) -> list[Run]:
    """Split `text` from `start` to `stop` into runs, in order and without gaps. The current span lies on top.

    `places`: (start, stop) of what the reader searches for. `marks`: those that touch the text.
    """
    excerpt = (spans[current].excerpt if 0 <= current < len(spans) else None) or (start, start)
    word_places = words.places(text, start, stop)
    touching = [index for index, span in enumerate(spans) if span.start < stop and span.stop > start]
    if not (touching or word_places or places or marks or (excerpt[0] < stop and excerpt[1] > start)):
        return [Run(start, stop, None, is_word=False, is_excerpt=False)] if start < stop else []  # as most lines are
    touching.sort(key=lambda index: index != current)
    edges = {start, stop}
    lit: list[Span | Mark] = [*(spans[index] for index in touching), *marks]
    for low, high in [*word_places, *places, excerpt, *((one.start, one.stop) for one in lit)]:
        edges.update((min(max(low, start), stop), max(min(high, stop), start)))
    ordered = sorted(edges)
    return [
        Run(
            low, high, next((index for index in touching if spans[index].start <= low < spans[index].stop), None),
            is_word=any(first <= low < last for first, last in word_places), is_excerpt=excerpt[0] <= low < excerpt[1],
            is_found=any(first <= low < last for first, last in places),
            mark=next((mark for mark in reversed(marks) if mark.start <= low < mark.stop), None),
        )
        for low, high in pairwise(ordered)
    ]  # fmt: skip
