"""Looks up the words of the indexes that the patterns of a query stand for, such as `*leeve`."""

from collections.abc import Sequence
from dataclasses import replace

from longsearch.engine.index.index import Index
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.query_language.operators import with_terms
from longsearch.engine.query_language.query import Query
from longsearch.engine.types.results import Term

MAY_BE_PATTERN = late_pattern(r"\*|\w\?\w")


def with_words_like(query: Query, indexes: Sequence[Index]) -> Query:
    """The query with the words that each of its patterns stands for, and a note for each that stands for none."""
    known: dict[str, tuple[str, ...]] = {}
    notes = list(query.notes)

    def term(own: Term) -> Term:
        if not own.is_wild:
            return own
        if own.text not in known:
            found = {word for index in indexes for word in index.backend.words_like(own.text)}
            known[own.text] = tuple(sorted(found))
            if not found and not own.is_prefix:
                notes.append(f"no word here is like {own.text}")
        return replace(own, like=known[own.text])

    words, excluded, joined = (
        map(term, query.words),
        map(term, query.excluded),
        (with_terms(one, term) for one in query.joined),
    )
    return replace(query, words=tuple(words), excluded=tuple(excluded), joined=tuple(joined), notes=tuple(notes))


def as_lit(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The terms to highlight: for a pattern the words that it stands for."""
    found: list[Term] = []
    for one in terms:
        if one.is_pattern and not one.is_range:
            found += [Term(word) for word in one.like]
            found += [Term(one.text.rstrip("*"), is_prefix=True)] if one.is_prefix else []
        else:
            found.append(one)
    return tuple(found)
