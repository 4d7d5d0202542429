"""Turns the terms of a query into a pattern that highlights them in a text. Pure; knows no query language."""

import re
from collections.abc import Iterable

from longsearch.engine.types import Term

_WORD = re.compile(r"\w+")
_BETWEEN = r"\W+"
_FIRST_CJK = "\u2e80"
_MIN_STEM = 4
"""The pattern also matches words of at least this length with an ending: "model" in "models"."""


_WHERE = re.compile(r"\s*where:", re.IGNORECASE)


def is_quotation(query: str) -> bool:
    """Return whether the query looks for a quotation."""
    return _WHERE.match(query) is not None


def word_pattern(terms: Iterable[Term]) -> re.Pattern[str] | None:
    """Return the pattern that finds these words and phrases in a text, in any case; None if there are none."""
    pieces = {piece: None for term in terms if (piece := _piece(term))}
    longest_first = sorted(pieces, key=len, reverse=True)
    return re.compile("|".join(longest_first), re.IGNORECASE) if longest_first else None


def _piece(term: Term) -> str:
    """Return the expression for one term, or "". A word such as "state-space" is several words, one after the other."""
    words = _WORD.findall(term.text)
    joined = _BETWEEN.join(map(re.escape, words))
    if not words or (words[0] >= _FIRST_CJK and not term.is_phrase):
        return joined  # CJK is written without spaces: the word may begin and end anywhere
    return rf"(?<!\w){joined}{_ending(term, words[-1])}(?!\w)"


def _ending(term: Term, last_word: str) -> str:
    if term.is_prefix:
        return r"\w*"
    if not term.is_phrase and len(last_word) >= _MIN_STEM and last_word.isalpha():
        return r"\w{0,3}"
    return ""
