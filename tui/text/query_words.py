"""Turns the terms of a query into a pattern that highlights them in a text. Pure; knows no query language."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from longsearch.engine.languages.spelling import other_spelling
from longsearch.engine.types import Term

_WORD = re.compile(r"\w+")
_LETTER = r"[^\W_]"
"""A letter or digit. An underscore parts words, as it does for FTS5."""
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
    """Return whether the term may be a part of a code name: see `engine.languages.code_names`."""
    return not term.is_phrase and term.text.isascii() and term.text.isalpha() and len(term.text) > 1
