"""The words of an index as a search sees them at one moment: its segments, and the passages that none of them has.

Each *part* answers the same questions: which passages hold a term, and how often. The number of a passage in its part
is its *place*. A term is an FTS5 expression of one word, prefix or phrase; FTS5 itself looks up phrases.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store import documents, keywords, manifest
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.allowed import Allowed, places_among
from longsearch.engine.store.segments.files import Arrays, opened
from longsearch.engine.store.segments.postings import document_starts

_ONE_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')
_AT_ONCE = 16_384  # postings of a prefix that are added up at once, in a core's own cache
_FEW = 8  # a prefix with postings for less than an eighth of the passages is merged by sorting, others by counting

Ints = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query, as FTS5 looks it up."""

    expression: str
    tokens: tuple[bytes, ...]
    is_prefix: bool

    @property
    def is_word(self) -> bool:
        """Whether the postings alone answer it."""
        return len(self.tokens) <= 1


@dataclass(frozen=True, slots=True)
class Postings:
    """The living passages of a part that hold a term."""

    places: Ints
    """(p,), ascending."""
    counts: Ints
    """(p,): how often each holds the term; a word of the title counts `TITLE_WEIGHT` times."""
    n_documents: int


@dataclass(frozen=True, slots=True)
class Part:
    """Some passages of the index, and the postings of each term of a query."""

    passage_ids: NDArray[np.int64]
    """(n,), ascending."""
    document_ids: NDArray[np.int64]
    """(m,), ascending."""
    first_of: NDArray[np.int64]
    """(m + 1,): where the passages of each document begin."""
    lengths: Ints
    """(n,): words of each passage that holds a term."""
    postings: tuple[Postings, ...]
    """For each term."""

    def mask(self, allowed: Allowed) -> NDArray[np.bool_]:
        """(n,): which passages are allowed."""
        return allowed.mask(self.passage_ids, self.document_ids, self.first_of)


def terms_of(db: apsw.Connection, expressions: Sequence[str]) -> list[Term] | None:
    """Cut each expression into words as FTS5 does; None if one is not a single word, prefix or phrase."""
    cut = keywords.tokenizer(db)
    terms = []
    for expression in expressions:
        quoted = _ONE_PHRASE.fullmatch(expression)
        if quoted is None:
            return None
        tokens = tuple(token.encode() for token in cut(quoted[1].replace('""', '"')))
        terms.append(Term(expression, tokens, bool(quoted[2])))
    return terms


def parts_of(db: apsw.Connection, terms: Sequence[Term]) -> list[Part] | None:
    """The parts of the index with their postings of these terms; None if there are no usable segments."""
    listed = manifest.read(db, Kind.WORDS)
    segments = opened(db, listed)
    if segments is None:
        return None
    phrases = {term.expression: keywords.matching(db, term.expression) for term in terms if not term.is_word}
    parts = [_of_segment(db, arrays, dead, terms, phrases) for arrays, dead in segments]
    if len(listed.fresh):
        parts.append(_of_fresh(db, listed.fresh, terms))
    return parts


def _of_segment(
    db: apsw.Connection,
    segment: Arrays,
    dead: NDArray[np.int64],
    terms: Sequence[Term],
    phrases: dict[str, NDArray[np.int64]],
) -> Part:
    ids = segment["ids"]
    dead_places, _ = places_among(ids, dead)
    document_ids, first_of = segment["document_ids"], segment["first_of"]
    postings = []
    for term in terms:
        if not term.is_word:
            holding = ids[places_among(ids, phrases[term.expression])[0]]
            found, counts, _ = keywords.frequencies(db, term.expression, holding)
            places: Ints = np.searchsorted(ids, found)
            n_documents = None
        elif term.is_prefix:
            places, counts = _of_prefix(segment, term.tokens)
            n_documents = None
        else:
            places, counts, n_documents = _of_word(segment, term.tokens)
        if len(dead_places) and len(places):
            alive = np.isin(places, dead_places, invert=True, assume_unique=True)
            places, counts, n_documents = places[alive], counts[alive], None
        if n_documents is None:
            n_documents = n_documents_at(first_of, places)
        postings.append(Postings(places, counts, n_documents))
    return Part(ids, document_ids, first_of, segment["lengths"], tuple(postings))


def _of_fresh(db: apsw.Connection, fresh: NDArray[np.int64], terms: Sequence[Term]) -> Part:
    """The passages that no segment has; FTS5 looks up all terms."""
    document_of = documents.documents_of(db, fresh.tolist())
    ids = np.array(sorted(document_of), np.int64)
    document_ids, first_of = document_starts(np.array([document_of[id_] for id_ in ids.tolist()], np.int64))
    lengths = np.zeros(len(ids), np.int64)
    postings = []
    for term in terms:
        found, counts, own_lengths = keywords.frequencies(db, term.expression, ids)
        places = np.searchsorted(ids, found)
        lengths[places] = own_lengths
        postings.append(Postings(places, counts, n_documents_at(first_of, places)))
    return Part(ids, document_ids, first_of, lengths, tuple(postings))


def _of_word(segment: Arrays, tokens: tuple[bytes, ...]) -> tuple[Ints, Ints, int]:
    """(places, counts, number of documents) of a word."""
    terms = _Terms(segment)
    number = bisect_left(terms, tokens[0]) if tokens else len(terms)
    if number == len(terms) or terms[number] != tokens[0]:
        return segment["places"][:0], segment["counts"][:0], 0
    own = slice(*segment["posting_ends"][number : number + 2].tolist())
    return segment["places"][own], segment["counts"][own], int(segment["n_documents"][number])


def _of_prefix(segment: Arrays, tokens: tuple[bytes, ...]) -> tuple[Ints, Ints]:
    """(places, counts) of all words with this beginning, which stand side by side."""
    if not tokens:
        return segment["places"][:0], segment["counts"][:0]
    terms = _Terms(segment)
    first = bisect_left(terms, tokens[0])
    last = bisect_left(terms, tokens[0] + b"\xff", first)  # UTF-8 has no such byte
    own = slice(*segment["posting_ends"][[first, last]].tolist())
    places, counts = segment["places"][own], segment["counts"][own]
    if last - first <= 1:
        return places, counts
    n = len(segment["ids"])
    if len(places) * _FEW < n:
        order = np.argsort(places, kind="stable")
        unique, starts = np.unique(places[order], return_index=True)
        return unique, np.add.reduceat(counts[order], starts, dtype=np.int64)
    summed = np.zeros(n, np.int64)
    for start in range(0, len(places), _AT_ONCE):  # not np.bincount, which takes three times as long
        part = slice(start, start + _AT_ONCE)
        np.add.at(summed, places[part].astype(np.int64), counts[part].astype(np.int64))
    held = np.flatnonzero(summed > 0)
    return held, summed[held]


class _Terms(Sequence[bytes]):
    """The terms of a segment, to be bisected without reading all."""

    def __init__(self, segment: Arrays) -> None:
        self._whole, self._ends = segment["terms"], segment["term_ends"]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: Any) -> Any:
        start, stop = self._ends[number : number + 2].tolist()
        return self._whole[start:stop].tobytes()


def n_documents_at(first_of: NDArray[np.int64], places: Ints) -> int:
    """How many documents have a passage at these places (ascending)."""
    if len(places) * _FEW < len(first_of):
        numbers = np.searchsorted(first_of, places, "right")
        return int(np.count_nonzero(np.diff(numbers))) + bool(len(numbers))
    counts = np.diff(np.searchsorted(places, first_of.astype(places.dtype)))
    return int(np.count_nonzero(counts))
