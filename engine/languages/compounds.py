"""Cuts compound words, as German, Dutch, Finnish, Hungarian and the Scandinavian languages write them. Pure.

Where a word may be cut is said here; whether both parts are words is for the index to say, by its own.
"""

from collections.abc import Iterator

from longsearch.engine.languages.stemming import stem

COMPOUNDING = frozenset(("da", "de", "fi", "hu", "is", "lb", "nb", "nl", "nn", "no", "sv"))
"""Languages that write compounds as one word."""
LEAST_LETTERS = 4
"""Letters of a word that is looked for in others, and of each part of a typed one."""
_LEAST_REST = 3
_LINKS = ("", "s", "es", "n", "en", "e", "er", "ens", "ns")
"""Letters that may stand between the parts."""


def cuts(word: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Yield (first part, its stem, the stem of the rest) for each place where a word, in small letters, may be cut."""
    for place in range(LEAST_LETTERS, len(word) - LEAST_LETTERS + 1):
        for link in _LINKS:
            if word[:place].endswith(link) and place - len(link) >= LEAST_LETTERS:
                first = word[: place - len(link)]
                yield first, stem(first, language), stem(word[place:], language)


def rests(term: str, part: str) -> set[str]:
    """Return what may be left of a term that begins or ends with `part`."""
    after, before = term[len(part) :], term[: len(term) - len(part)]
    found: set[str] = set()
    if term.startswith(part):
        found.update(after[len(link) :] for link in _LINKS if after.startswith(link))
    if term.endswith(part):
        found.update(before.removesuffix(link) for link in _LINKS if before.endswith(link))
    return {rest for rest in found if len(rest) >= _LEAST_REST}


def with_stems(rests: set[str], language: str) -> set[str]:
    """Return the rests of a term, and their stems."""
    return rests | {own for rest in rests if len(own := stem(rest, language)) >= _LEAST_REST}
