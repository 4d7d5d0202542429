"""The words of an index as a search sees them at one moment: its segments, and the passages that none of them has.

Each *part* answers the same questions: which passages hold a term, and how often. The number of a passage in its part
is its *place*. A term has one form or several, for example one for each language; a passage that holds any of them
holds the term, as often as it holds them together. FTS5 itself looks up phrases.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store import documents, keywords
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.candidate_filter import CandidateFilter, places_among
from longsearch.engine.store.segments.files import Arrays, Segments
from longsearch.engine.store.segments.postings import document_starts
from longsearch.engine.store.segments.term_counts import (
    K1,
    Counts,
    Held,
    Ints,
    Postings,
    half_count,
    idf,
    n_documents_at,
    united,
)

_ONE_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')
_AT_ONCE = 16_384  # postings of a prefix that are added up at once, in a core's own cache
_FEW = 8  # a prefix with postings for less than an eighth of the passages is merged by sorting, others by counting


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a term, as FTS5 looks it up: a word, a prefix or a phrase."""

    expression: str
    tokens: tuple[bytes, ...]
    is_prefix: bool

    @property
    def is_word(self) -> bool:
        """Whether the postings alone answer it."""
        return len(self.tokens) <= 1


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
    held: tuple[Held, ...]
    """For each term which passages hold it."""

    def mask(self, allowed: CandidateFilter) -> NDArray[np.bool_]:
        """(n,): which passages are allowed."""
        return allowed.mask(self.passage_ids, self.document_ids, self.first_of)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The passages of the whole index that hold a phrase."""

    ids: NDArray[np.int64]
    """(n,), ascending."""
    scores: NDArray[np.float64]
    """(n,): the BM25 of each for the phrase alone."""
    weight: float
    """The idf of the phrase."""
    mean_length: float

    @classmethod
    def found(cls, db: apsw.Connection, form: Form) -> "_Phrase":
        """Ask FTS5, which alone knows where words stand."""
        ids, scores = keywords.matching_scored(db, form.expression)
        n_passages, n_words = keywords.totals(db)
        return cls(ids, scores, idf(len(ids), n_passages), n_words / max(1, n_passages))

    def counts(self, which: NDArray[np.intp], lengths: Ints) -> NDArray[np.int64]:
        """How often the passages at `which` hold it; `lengths`: their words. The slow twin is `keywords.frequencies`.

        FTS5 tells a count only as a part of BM25, w f (K1 + 1) / (f + half), which is solved for f here. A function of
        our own, called for each passage, takes three times as long for a phrase that many hold.
        """
        half: NDArray[np.float64] = half_count(lengths.astype(np.float64), self.mean_length)
        shares = self.scores[which] / self.weight
        return np.rint(shares * half / (K1 + 1 - shares)).astype(np.int64)


def forms_cut(db: apsw.Connection, terms: Sequence[Sequence[str]]) -> list[list[Form]]:
    """Cut the forms of each term, FTS5 expressions of one word, prefix or phrase, into words as FTS5 does."""
    cut = keywords.tokenizer(db)

    def form(expression: str) -> Form:
        text, star = _ONE_PHRASE.fullmatch(expression).groups()  # type: ignore[union-attr]
        return Form(expression, tuple(token.encode() for token in cut(text.replace('""', '"'))), bool(star))

    return [list(map(form, own)) for own in terms]


def parts_of(segments: Segments, terms: Sequence[Sequence[Form]]) -> list[Part] | None:
    """The parts of the index with their postings of these terms; None if there are no usable segments."""
    db, listed, opened = segments.db, segments.manifest(Kind.WORDS), segments.opened(Kind.WORDS)
    if opened is None:
        return None
    phrases = {one.expression: _Phrase.found(db, one) for own in terms for one in own if not one.is_word}
    parts = [_of_segment(db, arrays, dead, terms, phrases) for arrays, dead in opened]
    if len(listed.fresh):
        parts.append(_of_fresh(db, listed.fresh, terms))
    return parts


def holding(segments: Segments, forms: Sequence[str]) -> NDArray[np.int64] | None:
    """Ids of the passages that hold any of these forms, ascending; None without segments, or if one is a phrase."""
    cut = forms_cut(segments.db, [forms])
    parts = parts_of(segments, cut) if all(form.is_word for form in cut[0]) else None
    if parts is None:
        return None
    return np.sort(
        np.concatenate([np.empty(0, np.int64), *(part.passage_ids[part.held[0].held_at()] for part in parts)])
    )


def _of_segment(
    db: apsw.Connection,
    segment: Arrays,
    dead: NDArray[np.int64],
    terms: Sequence[Sequence[Form]],
    phrases: dict[str, "_Phrase"],
) -> Part:
    ids = segment["ids"]
    dead_places, _ = places_among(ids, dead)
    document_ids, first_of = segment["document_ids"], segment["first_of"]

    def held(form: Form) -> Held:
        if form.is_word and form.is_prefix:
            return _of_prefix(segment, form.tokens, dead_places)
        n_documents = None
        if form.is_word:
            places, counts, n_documents = _of_word(segment, form.tokens)
        else:
            phrase = phrases[form.expression]
            places, own = places_among(ids, phrase.ids)
            counts = phrase.counts(own, segment["lengths"][places])
        return _living(places, counts, dead_places, first_of, n_documents)

    of_terms = tuple(united(list(map(held, own)), len(ids), first_of) for own in terms)
    return Part(ids, document_ids, first_of, segment["lengths"], of_terms)


def _living(places: Ints, counts: Ints, dead_places: Ints, first_of: Ints, n_documents: int | None = None) -> Postings:
    """The postings without dead passages. `n_documents`: that of all, dead ones too, if it is known."""
    if len(dead_places) and len(places):
        alive = np.isin(places, dead_places, invert=True, assume_unique=True)
        places, counts, n_documents = places[alive], counts[alive], None
    return Postings(places, counts, n_documents_at(first_of, places) if n_documents is None else n_documents)


def _of_fresh(db: apsw.Connection, fresh: NDArray[np.int64], terms: Sequence[Sequence[Form]]) -> Part:
    """The passages that no segment has; FTS5 looks up all terms."""
    document_of = documents.documents_of(db, fresh.tolist())
    ids = np.array(sorted(document_of), np.int64)
    document_ids, first_of = document_starts(np.array([document_of[id_] for id_ in ids.tolist()], np.int64))
    lengths = np.zeros(len(ids), np.int64)

    def held(form: Form) -> Held:
        found, counts, own_lengths = keywords.frequencies(db, form.expression, ids)
        places = np.searchsorted(ids, found)
        lengths[places] = own_lengths
        return Postings(places, counts, n_documents_at(first_of, places))

    of_terms = tuple(united(list(map(held, own)), len(ids), first_of) for own in terms)
    return Part(ids, document_ids, first_of, lengths, of_terms)


def n_holding(segment: Arrays, term: bytes) -> int:
    """How many passages of a segment hold a term."""
    return len(_of_word(segment, (term,))[0])


def _of_word(segment: Arrays, tokens: tuple[bytes, ...]) -> tuple[Ints, Ints, int]:
    """(places, counts, number of documents) of a word."""
    terms = _Terms(segment["terms"], segment["term_ends"])
    number = bisect_left(terms, tokens[0]) if tokens else len(terms)
    if number == len(terms) or terms[number] != tokens[0]:
        return segment.part("places", 0, 0), segment.part("counts", 0, 0), 0
    own = segment["posting_ends"][number : number + 2].tolist()
    return segment.part("places", *own), segment.part("counts", *own), int(segment["n_documents"][number])


def _of_prefix(segment: Arrays, tokens: tuple[bytes, ...], dead_places: Ints) -> Held:
    """All words with this beginning, which stand side by side, as one."""
    if not tokens:
        return Postings(segment.part("places", 0, 0), segment.part("counts", 0, 0), 0)
    terms = _Terms(segment["terms"], segment["term_ends"])
    first = bisect_left(terms, tokens[0])
    last = bisect_left(terms, tokens[0] + b"\xff", first)  # UTF-8 has no such byte
    own = segment["posting_ends"][[first, last]].tolist()
    places, counts, n = segment.part("places", *own), segment.part("counts", *own), len(segment["ids"])
    if last - first <= 1:
        return _living(places, counts, dead_places, segment["first_of"])
    if len(places) * _FEW < n:
        order = np.argsort(places, kind="stable")
        unique, starts = np.unique(places[order], return_index=True)
        summed = np.add.reduceat(counts[order], starts, dtype=np.int64)
        return _living(unique, summed, dead_places, segment["first_of"])
    summed = np.zeros(n, np.int32)  # half as many new pages as with 64 bits
    for start in range(0, len(places), _AT_ONCE):  # not np.bincount, which takes three times as long
        part = slice(start, start + _AT_ONCE)
        np.add.at(summed, places[part].astype(np.int64), counts[part].astype(np.int32))
    summed[dead_places] = 0
    return Counts.of(summed, segment["first_of"])


@dataclass(frozen=True, slots=True)
class _Terms(Sequence[bytes]):
    """The terms of a segment, to be bisected without reading all."""

    whole: NDArray[np.uint8]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, number: Any) -> Any:
        start, stop = self.ends[number : number + 2].tolist()
        return self.whole[start:stop].tobytes()
