"""Finds who matches an expression (`candidate_filter.evaluated`) by the postings of a store.

FTS5 is not asked: its index stays in the working file.
"""

from collections.abc import Callable, Iterable, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index.lance.postings import IN_TITLE, LENGTHS, PLACE_BITS, Held, added, counted
from longsearch.engine.index.lance.snapshot import Snapshot
from longsearch.engine.index.lookup import forms_of
from longsearch.engine.store import keywords
from longsearch.engine.store.segments.candidate_filter import TOKEN, evaluated

_NOBODY = Held(np.empty(0, np.int64), np.empty(0, np.int64))


class Matcher:
    """Looks up phrases for one search; each phrase is looked up once."""

    def __init__(self, db: apsw.Connection, snapshot: Snapshot) -> None:
        self._db = db
        self._snapshot = snapshot
        self._cut = keywords.tokenizer(db)
        self._held: dict[str, Held] = {}

    def matching(self, match: str) -> NDArray[np.int64]:
        """Ids of the passages that match an expression, ascending."""
        self.look_up(forms_of(match))
        return evaluated(TOKEN.findall(match)[::-1], _Ids(self))

    def look_up(self, phrases: Iterable[str]) -> None:
        """Look up the words of all these phrases in one read."""
        cut = {phrase: self._words(phrase) for phrase in phrases if phrase not in self._held}
        single = [(own[0], is_prefix) for own, is_prefix in cut.values() if len(own) == 1]
        words, beginnings = {word for word, _ in single}, {word for word, is_prefix in single if is_prefix}
        by_word = self._read(words, beginnings)
        for phrase, (own, is_prefix) in cut.items():
            self._held[phrase] = self._of_phrase(own, is_prefix, by_word)

    def held(self, phrase: str) -> Held:
        """Who holds a phrase, and how often; a word of the title counts `TITLE_WEIGHT` times."""
        self.look_up([phrase])
        return self._held[phrase]

    def _words(self, phrase: str) -> tuple[tuple[str, ...], bool]:
        is_prefix = phrase.endswith("*")
        text = phrase.rstrip("*")[1:-1].replace('""', '"')
        return tuple(self._cut(text.encode())), is_prefix

    def _read(self, words: set[str], beginnings: set[str]) -> Callable[[str, bool], Held]:
        """What gives the passages of a word, or of all words with a beginning."""
        condition = _condition(words - {LENGTHS}, beginnings)
        found = self._snapshot.postings(condition) if condition else {}

        def of(word: str, is_prefix: bool) -> Held:
            if not is_prefix:
                return found.get(word, _NOBODY)
            own = [held for term, held in found.items() if term.startswith(word)]
            return added(own) if own else _NOBODY

        return of

    def _of_phrase(self, words: Sequence[str], is_prefix: bool, of: Callable[[str, bool], Held]) -> Held:
        if not words:
            return _NOBODY
        if len(words) == 1:
            return of(words[0], is_prefix)
        return counted(self._in_order(words, is_prefix))

    def _in_order(self, words: Sequence[str], is_prefix: bool) -> NDArray[np.int64]:
        """Where these words stand one after another: the keys of the first one."""
        exact, beginnings = set(words), {words[-1]} if is_prefix else set()
        found = self._snapshot.keys(_condition(exact, beginnings))
        starts: NDArray[np.int64] | None = None
        for number, word in enumerate(words):
            terms = (
                [word] if number < len(words) - 1 or not is_prefix else [one for one in found if one.startswith(word)]
            )
            own = np.concatenate([np.empty(0, np.int64), *(found[term] for term in terms if term in found)]) - number
            own = np.unique(own) if len(terms) > 1 else own
            starts = own if starts is None else np.intersect1d(starts, own, assume_unique=True)
        return np.empty(0, np.int64) if starts is None else starts

    def near(self, phrases: Sequence[str], within: int) -> NDArray[np.int64]:
        """The ids of the passages in whose text or title these phrases stand with at most `within` words between.

        As FTS5 has it: up to the one that begins last, each other begins within its own words and those between.
        """
        cut = [self._words(phrase) for phrase in phrases]
        starts = [np.sort(self._in_order(words, is_prefix)) for words, is_prefix in cut]
        lasts = np.unique(np.concatenate(starts))
        for (words, _), own in zip(cut, starts, strict=True):
            first = np.maximum(lasts - len(words) - within, lasts & ~np.int64(IN_TITLE - 1))
            lasts = lasts[np.searchsorted(own, first) < np.searchsorted(own, lasts, "right")]
        return np.unique(lasts >> PLACE_BITS)


class _Ids:
    """`Sets` of ids, ascending."""

    def __init__(self, matcher: Matcher) -> None:
        self.near, self._held = matcher.near, matcher.held
        self.either, self.both, self.without = np.union1d, np.intersect1d, np.setdiff1d

    def held(self, form: str) -> NDArray[np.int64]:
        """See `Sets`."""
        return self._held(form).ids


def _condition(words: set[str], beginnings: set[str]) -> str:
    """The rows of these words, and of all words with these beginnings."""
    conditions = [f"term IN ({', '.join(map(_quoted, sorted(words)))})"] if words else []
    conditions += [f"(term >= {_quoted(one)} AND term < {_quoted(_after(one))})" for one in sorted(beginnings)]
    return " OR ".join(conditions)


def _after(beginning: str) -> str:
    """A text that stands after every text with this beginning: LanceDB compares UTF-8 byte by byte."""
    return beginning + "\U0010ffff"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
