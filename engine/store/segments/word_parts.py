"""The words of an index as a search sees them at one moment: its segments, and the passages that none of them has.

Each *part* answers the same questions: which passages hold a term, and how often. The number of a passage in its part
is its *place*. A term has one form or several, for example one for each language; a passage that holds any of them
holds the term, as often as it holds them together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.store import documents, keywords
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.candidate_filter import TOKEN, CandidateFilter, Ids, evaluated, places_among
from longsearch.engine.store.segments.files import Arrays, Segments
from longsearch.engine.store.segments.postings import document_starts
from longsearch.engine.store.segments.term_counts import (
    COMMON,
    Counts,
    Held,
    Ints,
    Postings,
    counts_at,
    n_documents_at,
    of_rare,
    places_at,
    ranges,
    united,
)
from longsearch.engine.store.segments.word_positions import Word, near, phrase

_ONE_PHRASE = late_pattern(r'"((?:[^"]|"")*)"(\*?)')
_AT_ONCE = 16_384  # postings of a prefix that are added up at once, in a core's own cache
_NOBODY = Postings(np.empty(0, np.uint32), np.empty(0, np.uint8), 0)
_FEW = 8  # a prefix with postings for less than an eighth of the passages is merged by sorting, others by counting


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a term, as FTS5 looks it up: a word, a prefix or a phrase."""

    expression: str
    tokens: tuple[bytes, ...]
    is_prefix: bool

    def words(self, segment: Arrays) -> list[Word]:
        """Its words as the segment has them."""
        ends = [b"\0"] * (len(self.tokens) - 1) + [b"\xff" if self.is_prefix else b"\0"]  # no term has these bytes
        return [
            Word(_place_of(segment, token), _place_of(segment, token + end))
            for token, end in zip(self.tokens, ends, strict=False)
        ]

    def times_in(self, tokens: Sequence[bytes]) -> int:
        """How often it stands in a text that was cut into these."""
        *first, last = self.tokens or [b""]
        if not (first or self.is_prefix):
            return tokens.count(last)
        starts = range(len(tokens) - len(first)) if self.tokens else ()
        return sum(
            tokens[at : at + len(first)] == first
            and (tokens[at + len(first)].startswith(last) if self.is_prefix else tokens[at + len(first)] == last)
            for at in starts
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Some passages of the index, and the postings of each term of a query."""

    passage_ids: Ids
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


def forms_cut(db: apsw.Connection, terms: Sequence[Sequence[str]]) -> list[list[Form]]:
    """Cut the forms of each term, FTS5 expressions of one word, prefix or phrase, into words as FTS5 does."""
    cut, found = keywords.tokenizer(db), []
    for own in terms:
        typed = [_ONE_PHRASE.fullmatch(expression).groups() for expression in own]  # type: ignore[union-attr]
        tokens = [tuple(token.encode() for token in cut(text.replace('""', '"').encode())) for text, _ in typed]
        stars = [bool(star) for _, star in typed]
        found.append(list(map(Form, own, tokens, stars)))
    return found


def parts_of(segments: Segments, terms: Sequence[Sequence[Form]]) -> list[Part] | None:
    """The parts of the index with their postings of these terms; None if there are no usable segments."""
    opened = segments.opened(Kind.WORDS)
    if opened is None:
        return None
    forms, parts = dict.fromkeys(form for own in terms for form in own), []  # a form may stand in several terms
    for segment, dead in opened:
        ids, first_of = segment["ids"], segment["first_of"]
        held = held_in(segments, segment, forms, places_among(ids, dead)[0])
        of_terms = tuple(united([held[form] for form in own], len(ids), first_of) for own in terms)
        parts.append(Part(ids, segment["document_ids"], first_of, segment["lengths"], of_terms))
    fresh = segments.manifest(Kind.WORDS).fresh
    return [*parts, _of_fresh(segments.db, fresh, terms)] if len(fresh) else parts


def held_in(segments: Segments, segment: Arrays, forms: Iterable[Form], dead_places: Ints) -> dict[Form, Held]:
    """Who holds each of these forms in a segment. The postings of rare words are read at once."""
    found: dict[Form, Held] = {}
    numbers: dict[Form, int] = {}
    for form in forms:
        if len(form.tokens) > 1:
            found[form] = _of_phrase(segments, segment, form, dead_places)
        elif form.is_prefix:
            found[form] = _of_prefix(segment, form.tokens, dead_places)
        elif (number := number_of(segment, form.tokens)) is not None:
            numbers[form] = number
        else:
            found[form] = _NOBODY
    own = np.fromiter(numbers.values(), np.int64, len(numbers))
    starts, stops = segment["posting_ends"][own].astype(np.int64), segment["posting_ends"][own + 1].astype(np.int64)
    lengths = np.where((stops - starts) * COMMON < len(segment["ids"]), stops - starts, 0)
    rare = of_rare(segment, ranges(starts, lengths)) if lengths.any() else None
    ends, n_documents = np.cumsum(lengths).tolist(), segment["n_documents"][own].tolist()
    of_each = zip(numbers, starts.tolist(), stops.tolist(), lengths.tolist(), ends, n_documents, strict=True)
    for form, start, stop, length, end, n in of_each:
        if rare and length:
            places, counts = (one[end - length : end] for one in rare)
        else:
            places, counts = places_at(segment, start, stop), counts_at(segment, start, stop)
        found[form] = _living(places, counts, dead_places, segment["first_of"], n)
    return found


def _of_phrase(segments: Segments, segment: Arrays, form: Form, dead_places: Ints) -> Postings:
    """Who holds a phrase. An older longsearch wrote segments without positions: FTS5 knows them."""
    key = segment.path, form
    if key not in segments.phrases and "positions" in segment.raw:
        segments.phrases[key] = phrase(segment, form.words(segment))
    elif key not in segments.phrases:
        ids, counts, _ = keywords.frequencies(segments.db, form.expression, segment["ids"].astype(np.int64))
        segments.phrases[key] = places_among(segment["ids"], ids)[0], counts
    return _living(*segments.phrases[key], dead_places, segment["first_of"])


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

    @cache
    def held(form: Form) -> Held:
        found, counts, own_lengths = keywords.frequencies(db, form.expression, ids)
        places = np.searchsorted(ids, found)
        lengths[places] = own_lengths
        return Postings(places, counts, n_documents_at(first_of, places))

    of_terms = tuple(united(list(map(held, own)), len(ids), first_of) for own in terms)
    return Part(ids, document_ids, first_of, lengths, of_terms)


def matching(segments: Segments, expression: str) -> NDArray[np.int64] | None:
    """Ids of all passages that match an FTS5 expression, ascending; None without segments that can tell.

    Each segment has a flag for every passage that holds a form, and flags are joined: a million take .1 ms. The slow
    twin is `keywords.matching`.
    """
    opened = segments.opened(Kind.WORDS)
    if opened is None or ("NEAR" in expression and any("positions" not in arrays.raw for arrays, _ in opened)):
        return None
    tokens = TOKEN.findall(expression)[::-1]
    typed = [token for token in tokens if token[0] == '"']
    cut = forms_cut(segments.db, [[form] for form in typed])
    forms = {form: own[0] for form, own in zip(typed, cut, strict=True)}
    fresh = segments.manifest(Kind.WORDS).fresh
    found = [keywords.matching(segments.db, expression, fresh)] if len(fresh) else []
    for arrays, dead in opened:
        flags = evaluated(tokens.copy(), _Flags(segments, arrays, forms))
        flags[places_among(arrays["ids"], dead)[0]] = False
        found.append(arrays["ids"][flags])
    return np.sort(np.concatenate(found)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Flags:
    """`Sets` of the passages of a segment, as a flag for each. Dead ones are left out at the end."""

    segments: Segments
    segment: Arrays
    forms: dict[str, Form]
    """By how they are written."""
    both: Any = np.logical_and
    either: Any = np.logical_or

    def held(self, form: str) -> NDArray[np.bool_]:
        """See `Sets`."""
        flags = np.zeros(len(self.segment["ids"]), np.bool_)
        own = self.forms[form]
        flags[held_in(self.segments, self.segment, [own], np.empty(0, np.intp))[own].places] = True
        return flags

    def near(self, forms: Sequence[str], within: int) -> NDArray[np.bool_]:
        """See `Sets`."""
        flags = np.zeros(len(self.segment["ids"]), np.bool_)
        cut = [self.forms[form].words(self.segment) for form in forms]
        flags[near(self.segment, list(filter(None, cut)), within)] = True
        return flags

    def without(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """See `Sets`."""
        return one & ~other


def number_of(segment: Arrays, tokens: tuple[bytes, ...]) -> int | None:
    """The number of the term that is this word; None if the segment has none."""
    if not tokens:
        return None
    number = _place_of(segment, tokens[0])
    start, stop = segment["term_ends"][number : number + 2].tolist() if number < len(segment["n_documents"]) else (0, 0)
    return number if segment["terms"][start:stop].tobytes() == tokens[0] else None


def _of_prefix(segment: Arrays, tokens: tuple[bytes, ...], dead_places: Ints) -> Held:
    """All words with this beginning, which stand side by side, as one."""
    if not tokens:
        return _NOBODY
    first = _place_of(segment, tokens[0])
    last = _place_of(segment, tokens[0] + b"\xff", first)  # UTF-8 has no such byte
    own = segment["posting_ends"][[first, last]].tolist()
    places, counts, n = places_at(segment, *own), counts_at(segment, *own), len(segment["ids"])
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


def _place_of(segment: Arrays, term: bytes, least: int = 0) -> int:
    """Where a term stands among those of a segment, or would stand; not all are read."""
    whole, ends = segment["terms"].data, segment["term_ends"].data  # a third of the time of arrays
    low, high = least, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        is_before = whole[ends[middle] : ends[middle + 1]].tobytes() < term
        low, high = (middle + 1, high) if is_before else (low, middle)
    return low
