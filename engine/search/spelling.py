"""Corrects the typing errors of a query by the words of the indexes that it is asked of."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby, pairwise

from longsearch.engine.answers.choosing import Table
from longsearch.engine.index.bm25 import pooled
from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import Lookup, expressions
from longsearch.engine.languages.analysis import folded
from longsearch.engine.languages.scripts import SPACED_WORD, UNSPACED_RUN
from longsearch.engine.languages.stop_words import STOP_WORDS, language_of_question
from longsearch.engine.languages.word_lists import is_listed
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.query_language.query import Query, in_languages, with_words
from longsearch.engine.store import languages
from longsearch.engine.store.segments.filter_cache import FilesVersion
from longsearch.engine.types.results import Term

_FEW = 5  # a word that more passages hold is typed as it is meant
_TIMES_RARER = 100
_SHORT = 4  # letters: of so short a word nothing is guessed but one wrong letter
_NO_ACRONYM = 8  # letters: so long a word in capitals is no abbreviation
_MOST_KEPT = 256
_kept: dict[tuple[tuple[FilesVersion, ...], str], str] = {}
"""What was meant by a word of these indexes, or "": a person who types on asks again at every key."""
_LONG = 7  # letters of a word that may have two wrong vowels
_VOWELS = late_pattern("[aeiouy]")
_EDGE = late_pattern(r"^[\W_]+|[\W_]+$")


def corrected(indexes: Sequence[Index], query: Query, fields: frozenset[str], table: Callable[[], Table | None]) -> str:
    """The query with the words that were meant, or "" if none was mistyped.

    Words with digits, of a few capitals or with capitals inside are names, and stay. So does a word of which the
    model's `table` makes one piece, or that a list of the words of a language of the indexes has. A question in a
    language that no document is in stays as it is: its words are no errors of theirs.
    """
    spoken = languages.joined([index.spoken for index in indexes])
    versions = tuple(index.files_version for index in indexes)
    words = in_languages(query, spoken.codes).words
    terms = [term.text for term in words if not (term.is_prefix or term.is_phrase or term.is_pattern)]
    found = {text: _kept.get((versions, text)) for text in terms}
    if new := [text for text, near in found.items() if near is None]:
        found |= _meant(indexes, new, table, {*spoken.codes, "en"})
        if len(_kept) > _MOST_KEPT:
            _kept.clear()
        _kept.update({(versions, text): found[text] or "" for text in new})
    meant = {text: near for text, near in found.items() if near}
    asked_in = language_of_question(query.text, STOP_WORDS) if meant else ""
    if not meant or (asked_in and asked_in not in spoken.codes):
        return ""
    in_one = _in_one(indexes, terms, meant)
    meant = {_EDGE.sub("", text): near for text, near in {**meant, **in_one}.items()}
    mended = with_words(query.text, meant, fields)
    if in_one:
        mended = re.sub("  +", " ", mended).removesuffix(" ")
    return "" if mended == query.text else mended


def _meant(
    indexes: Sequence[Index], terms: Sequence[str], table: Callable[[], Table | None], codes: Collection[str]
) -> dict[str, str]:
    """For each of these terms the words of the indexes that were meant, itself if they have none near it, or ""."""
    words = {text: _EDGE.sub("", text) for text in terms}
    doubtful = [text for text, word in words.items() if _may_be_mistyped(word)]
    pieces = known.pieces([words[text].lower() for text in doubtful]) if doubtful and (known := table()) else ()
    common = {text for text, own in zip(doubtful, pieces, strict=False) if len(own) == 1}  # though these may lack it
    meant = dict.fromkeys(terms, "")
    for text, n in _n_passages_with(indexes, doubtful).items():
        near = _nearest(indexes, words[text], n) if n <= _FEW and text not in common else ""
        if near and (folded(near) == folded(words[text]) or not is_listed(words[text], codes)):
            meant[text] = _as_cased(near, words[text])
        elif not (n or near):
            meant[text] = _in_two(indexes, words[text]) or words[text]
    return meant


def _may_be_mistyped(word: str) -> bool:
    return (
        n_allowed(word) > 0
        and SPACED_WORD.fullmatch(word) is not None
        and not UNSPACED_RUN.search(word)
        and not any(map(str.isdigit, word))
        and (word[1:] == word[1:].lower() or (word.isupper() and len(word) >= _NO_ACRONYM))
    )


def _nearest(indexes: Sequence[Index], word: str, n_with: int) -> str:
    """The word of the indexes that was meant by `word`, which `n_with` passages hold; or ""."""
    small = folded(word)
    allowed = 1 if n_with else n_allowed(word)
    most = 2 if len(small) > _SHORT and not n_with else allowed
    errors: dict[str, int] = {}
    least = max(1, _TIMES_RARER * n_with // len(indexes))
    for index in indexes:
        errors.update(index.backend.words_near(word, most, least))
    counts = _n_passages_with(indexes, list(errors))
    # nobody types two letters too many: "constrain" is no "contain"
    far = {near for near in errors if errors[near] > 1 and len(small) - len(folded(near)) > 1}
    far |= {near for near in errors if errors[near] > allowed and not _is_alike(folded(near), small)}
    likely = [near for near, n in counts.items() if n > 0 and n >= _TIMES_RARER * n_with and near not in far]

    def unlikeliness(near: str) -> tuple[int, bool, bool, bool, int, str]:
        own = folded(near)
        ends = own[0] != small[0], own[-1] != small[-1]
        return errors[near], _undoubled(own) != _undoubled(small), *ends, -counts[near], near

    return min(likely, key=unlikeliness, default="")


def _in_one(indexes: Sequence[Index], terms: Sequence[str], doubtful: Collection[str]) -> dict[str, str]:
    """For two neighbours that the indexes have as one word, that word and "": neighbour hood. One is `doubtful`."""
    pairs = {one + two: (one, two) for one, two in pairwise(terms) if one in doubtful or two in doubtful}
    counts = _n_passages_with(indexes, [joined for joined in pairs if joined.isalpha()])
    return {
        word: near for joined, n in counts.items() if n for word, near in zip(pairs[joined], (joined, ""), strict=True)
    }


def _in_two(indexes: Sequence[Index], word: str) -> str:
    """The two words of the indexes that stand where `word` has no space, hyphen or apostrophe between; or ""."""
    least = 2 if word[:1] in "aA" else 1  # "aranged" is no "a range", but "dartagnan" is d'Artagnan
    parts = [f"{word[:place]} {word[place:]}" for place in range(least, len(word) - 1)] if len(word) > _SHORT else []
    counts = _n_passages_with(indexes, parts)
    return max((part for part in parts if counts[part]), key=lambda part: counts[part], default="")


def _is_alike(word: str, typed: str) -> bool:
    """Whether a word, or its singular, has the letters of the typed one in another order, or the same consonants.

    As in *bycicle*, and in *vehical* of at least seven letters.
    """
    singular = word.removesuffix("s")
    consonants = (_VOWELS.sub("", one) for one in (word, singular))
    is_long = len(typed) >= _LONG and typed[0] == word[0]
    return sorted(typed) in (sorted(word), sorted(singular)) or (is_long and _VOWELS.sub("", typed) in consonants)


def _n_passages_with(indexes: Sequence[Index], words: Sequence[str]) -> Mapping[str, int]:
    if not words:
        return {}
    spoken = languages.joined([index.spoken for index in indexes])
    asked = Lookup(tuple(expressions(map(Term, words), spoken)), len(words))
    figures = pooled([index.backend.words(asked, index.n_documents).statistics for index in indexes])
    return dict(zip(words, figures.n_passages_with, strict=True))


def n_allowed(word: str) -> int:
    """How many errors a word of this length may have: none below four letters, one below eight, else two."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def _undoubled(word: str) -> str:
    """The word with each double letter once: one l for two is the commonest error."""
    return "".join(letter for letter, _ in groupby(word))


def _as_cased(word: str, typed: str) -> str:
    return word.capitalize() if typed[:1].isupper() else word
