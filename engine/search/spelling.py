"""Corrects the typing errors of a query by the words of the indexes that it is asked of."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from longsearch.engine.index.bm25 import pooled
from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import Lookup, expressions
from longsearch.engine.languages.analysis import folded
from longsearch.engine.languages.scripts import SPACED_WORD, UNSPACED_RUN
from longsearch.engine.languages.typing_errors import n_allowed
from longsearch.engine.query_language.query import with_words
from longsearch.engine.store import languages
from longsearch.engine.types.results import SearchResults, Term

FEW = 5
"""A word that more passages hold is typed as it is meant."""
_TIMES_RARER = 100
_EDGE = re.compile(r"^[\W_]+|[\W_]+$")


def corrected(
    indexes: Sequence[Index], results: SearchResults, fields: frozenset[str], is_word: Callable[[str], bool]
) -> str:
    """The query of these results with the words that were meant, or "" if none was mistyped.

    Words with digits, all capitals or capitals inside are names, and stay. So does what `is_word` knows.
    """
    meant: dict[str, str] = {}
    for term in results.lit:
        word, n = _EDGE.sub("", term.text), results.n_with.get(term.text)
        if n is None or n > FEW or not _may_be_mistyped(word, term) or is_word(word):
            continue
        if near := _meant(indexes, word, n):
            meant[word] = _as_cased(near, word)
    text = with_words(results.query, meant, fields) if meant else results.query
    return "" if text == results.query else text


def _may_be_mistyped(word: str, term: Term) -> bool:
    return (
        not (term.is_phrase or term.is_prefix)
        and n_allowed(word) > 0
        and SPACED_WORD.fullmatch(word) is not None
        and not UNSPACED_RUN.search(word)
        and not any(map(str.isdigit, word))
        and word[1:] == word[1:].lower()
    )


def _meant(indexes: Sequence[Index], word: str, n_with: int) -> str:
    """The word of the indexes that was meant by `word`, which `n_with` passages hold; or ""."""
    most = 1 if n_with else n_allowed(word)
    errors: dict[str, int] = {}
    least = max(1, _TIMES_RARER * n_with // len(indexes))
    for index in indexes:
        errors.update(index.backend.words_near(word, most, least))
    counts = _n_passages_with(indexes, list(errors))
    likely = [near for near, n in counts.items() if n > 0 and n >= _TIMES_RARER * n_with]
    small = folded(word)

    def unlikeliness(near: str) -> tuple[int, bool, bool, int, str]:
        own = folded(near)
        return errors[near], _undoubled(own) != _undoubled(small), own[0] != small[0], -counts[near], near

    return min(likely, key=unlikeliness, default="")


def _n_passages_with(indexes: Sequence[Index], words: Sequence[str]) -> Mapping[str, int]:
    if not words:
        return {}
    spoken = languages.joined([index.spoken for index in indexes])
    asked = Lookup(tuple(expressions(map(Term, words), spoken)), (), ())
    figures = pooled([index.backend.words(asked, index.n_documents).statistics for index in indexes])
    return dict(zip(words, figures.n_passages_with, strict=True))


def _undoubled(word: str) -> str:
    """The word with each double letter once: one l for two is the commonest error."""
    return "".join(letter for letter, _ in groupby(word))


def _as_cased(word: str, typed: str) -> str:
    return word.capitalize() if typed[:1].isupper() else word
