"""The words of an index that resemble a mistyped one, are like a pattern or hold another word. Knows no query.

The index holds words without their endings. So the terms that resemble the typed word, or a beginning of it, say in
which passages to look, and the words of these passages are compared whole.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.languages.analysis import MADE, folded, movable
from longsearch.engine.languages.document_words import parts_of_names
from longsearch.engine.languages.scripts import SPACED_WORD
from longsearch.engine.languages.typing_errors import Letters, codes_of, n_errors
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.store import keywords, texts
from longsearch.engine.store.documents import bindable
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments.files import Arrays, Segments
from longsearch.engine.store.segments.filter_cache import FilesVersion, kept
from longsearch.engine.store.segments.word_parts import number_of


class Tails(NamedTuple):
    """The last eight bytes of each term, as numbers, in the order of the last two."""

    letters: NDArray[np.uint64]
    """(n,)"""
    numbers: NDArray[np.int64]
    """(n,): for each of `letters` the number of its term."""
    starts: NDArray[np.int64]
    """(65,537,): where those with each two last bytes begin."""


_TAIL_BYTES = 8
_MARK = MADE.encode()
_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.word_counts USING fts5vocab(main, words, row)"
_SHORTEST = 3  # letters of a term
_N_TERMS = 16
"""The nearest terms whose passages are read."""
_N_PASSAGES = 6  # of each term: one of them has the word in the form that was meant
_TAIL = 0.25  # of an error, for each letter that a term lacks at the end
_MOST_SCANNED = 50_000  # passages of an index without segments, whose terms FTS5 counts one by one
_LONGEST = 40  # letters of a term that is like a pattern
_AT_ONCE = 8_192  # terms whose letters fit into a core's own cache
_Y, _I = ord("y"), ord("i")
_ENDING = 6  # letters that a term may lack at the end of a pattern: "coupl" of couplings
_WILD = late_pattern(r"([*?])")
_OF_WORD = {"*": r"\w*", "?": r"\w?"}
_OF_TERM = {"*": "[^\n]*", "?": "[^\n]{0,4}"}  # of bytes: a letter has up to four
MOST_LIKE = 64
"""The commonest terms that a pattern stands for."""


def words_near(segments: Segments, typed: str, most: int, least: int = 1) -> dict[str, int]:
    """The words of the documents that differ from `typed` by at most `most` errors, in small letters, with these.

    Letters that FTS5 does not fold are no error: Øresund for Oresund.
    Rare words are left out: of each word one form at least stands in `least` passages or more.
    """
    small = folded(typed)
    nearest: list[tuple[float, int, bytes]] = []
    for known in _dictionaries(segments, movable(small), most, least):
        nearest += _nearest(movable(small), known, most)
    terms = list(dict.fromkeys(term.decode() for _, _, term in sorted(nearest)))[:_N_TERMS]
    stems = tuple(term.removesuffix(MADE) for term in terms if term.endswith(MADE))
    found = sorted({word.lower() for word in _words_with(segments.db, terms)})
    words = [folded(word) for word in found]
    bare = [max((stem for stem in stems if word.startswith(stem)), key=len, default=word) for word in words]
    errors, _ = n_errors(small, Letters.of([*words, *(word.removesuffix("s") for word in words), *bare]), most)
    of_each = errors.reshape(3, -1)
    whole = np.where(of_each > 0, of_each, most + 1).min(axis=0)
    whole[is_other := (of_each[0] == 0) & (np.array(found, object) != typed.lower())] = 0
    near = np.flatnonzero(((of_each[0] > 0) | is_other) & (whole <= most)).tolist()
    return {found[i]: int(whole[i]) for i in near}


def words_like(segments: Segments, pattern: str) -> list[str]:
    """The words of the documents that are like a pattern, in small letters. A star in it stands for any letters, a
    question mark for one or none.

    Words that begin with the letters before a single star at the end are found by these; here are those whose terms
    have lost some of them, as `univers` for `universi*`.
    """
    parts = _WILD.split(folded(pattern))
    pieces = [part if part in _OF_TERM else movable(part) for part in parts]
    if pattern.endswith("*") and len(pieces) == 3:
        begun = [pieces[0][:stop] for stop in range(len(pieces[0]) - _ENDING, len(pieces[0])) if stop >= _SHORTEST]
        terms = [term for own in begun for term in (own, own + MADE)]
    else:
        terms = [term.decode() for _, term in sorted(_terms_like(segments, pieces))[:MOST_LIKE]]
    whole = re.compile("".join(_OF_WORD.get(part) or re.escape(part) for part in parts))
    found = {word.lower() for word in _words_with(segments.db, terms)}
    return sorted(word for word in found if whole.fullmatch(folded(word)))


def _terms_like(segments: Segments, pieces: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """Yield (less the passages that hold it, term) of the terms that words of this pattern may have."""
    *first, last = pieces
    n_before = sum(len(piece) for piece in first if piece not in _OF_TERM)
    kept = last[: max(len(last) - _ENDING, min(len(last), _SHORTEST - 1 - n_before), 0)]
    ending = "".join(f"(?:{re.escape(letter)}" for letter in last[len(kept) :]) + ")?" * (len(last) - len(kept))
    text = "".join([*(_OF_TERM.get(piece) or re.escape(piece) for piece in first), re.escape(kept) + ending])
    pattern = re.compile(f"^{text}(?:{MADE})?$".encode(), re.MULTILINE)
    for known in _dictionaries(segments, "x" * _LONGEST, 0, 1):
        lines = np.insert(known.whole, known.ends[1:], ord("\n")).tobytes()
        ends = known.ends[1:] + np.arange(len(known.counts))
        for match in pattern.finditer(lines):
            yield -int(known.counts[np.searchsorted(ends, match.start())]), match[0]


def terms_around(segments: Segments, parts: Sequence[str]) -> dict[str, dict[str, int]]:
    """For each of these stems the longer ones that begin or end with it, with the passages that hold each."""
    found: dict[str, Counter[str]] = {part: Counter() for part in parts}
    for known, tails in _whole_dictionaries(segments):
        for part in parts:
            own, made = part.encode(), part.encode() + _MARK
            last, ending = own[-_TAIL_BYTES:], int.from_bytes(own[-2:])  # a longer stem is compared whole below
            alike = slice(*tails.starts[ending : ending + 2].tolist())
            mask, wanted = np.uint64((1 << 8 * len(last)) - 1), np.uint64(int.from_bytes(last))
            ending_so = tails.numbers[alike][(tails.letters[alike] & mask) == wanted]
            near = np.union1d(np.array(known.beginning_with(own), np.int64), ending_so)
            is_longer = known.ends[near + 1] - known.ends[near] > len(made)
            for number in near[is_longer & (known.whole[known.ends[near + 1] - 1] == _MARK[-1])].tolist():
                term = known.term(number)
                if term.endswith(_MARK) and (term.startswith(own) or term.endswith(made)):
                    found[part][term.removesuffix(_MARK).decode()] += int(known.counts[number])
    return {part: dict(terms) for part, terms in found.items()}


def counts_of(segments: Segments, stems: Sequence[str]) -> dict[str, int]:
    """How many passages hold each of these stems of words that are not English."""
    found: Counter[str] = Counter()
    opened = segments.opened(Kind.WORDS)
    for arrays, _ in opened or ():
        for stem in stems:
            if (number := number_of(arrays, ((stem + MADE).encode(),))) is not None:
                found[stem] += int(np.diff(arrays["posting_ends"][number : number + 2])[0])
    if opened is None:
        segments.db.execute(_VOCABULARY)
        sql = "SELECT doc FROM temp.word_counts WHERE term = ?"
        found.update({stem: segments.db.execute(sql, (stem + MADE,)).get or 0 for stem in stems})
    return dict(found)


def _whole_dictionaries(segments: Segments) -> Iterator[tuple["_Dictionary", Tails]]:
    """Yield all terms of each segment, or of FTS5 in an index without segments, and their last letters.

    To make these takes as long as to look for one stem in all letters, so they are kept for a version of the index.
    """
    opened = segments.opened(Kind.WORDS)
    version = segments.db.execute("SELECT value FROM meta WHERE key = 'files_version'").get
    index = FilesVersion(segments.db.filename, b"", int(version))
    for arrays, _ in opened or ():
        known = _Dictionary(arrays["terms"], arrays["term_ends"], np.diff(arrays["posting_ends"]))
        yield known, kept(index, arrays.path, known.tails)
    if opened is None and keywords.totals(segments.db)[0] <= _MOST_SCANNED:
        known = kept(index, "terms", partial(_of_fts5, segments.db, 1 << 16, 1))
        yield known, kept(index, "tails", known.tails)


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """Some terms of the index, one after another."""

    whole: NDArray[np.uint8]
    ends: NDArray[np.integer[Any]]
    """(n + 1,): where each begins in `whole`."""
    counts: NDArray[np.int64]
    """(n,): the passages that hold each."""

    def term(self, number: int) -> bytes:
        """The bytes of a term."""
        return self.whole[self.ends[number] : self.ends[number + 1]].tobytes()

    def beginning_with(self, part: bytes) -> range:
        """The numbers of the terms that begin so; they are in the order of their bytes."""
        numbers = range(len(self.counts))
        first = bisect_left(numbers, part, key=self.term)
        return range(first, bisect_left(numbers, part + b"\xff", first, key=self.term))  # UTF-8 has no such byte

    def tails(self) -> Tails:
        """The last eight bytes of each term without its mark. Those of a shorter term begin in the term before it."""
        padded = np.concatenate((np.zeros(_TAIL_BYTES, np.uint8), self.whole, np.zeros(_TAIL_BYTES, np.uint8)))
        stops = np.maximum(self.ends[1:], len(_MARK)) - len(_MARK)  # the ends may be unsigned
        own = np.lib.stride_tricks.sliding_window_view(padded, _TAIL_BYTES)[stops]
        letters = own.view(">u8").ravel().astype(np.uint64)
        endings = letters.astype(np.uint16)
        numbers = np.argsort(endings, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(endings, minlength=1 << 16)))
        return Tails(letters[numbers], numbers, starts)

    def letters(self) -> Letters:
        """The letters of all terms, without the mark of those that were stemmed before FTS5."""
        begins = (self.whole & 0xC0) != 0x80  # a character; the other bytes go on with one
        borders = np.concatenate(([0], np.cumsum(begins)))[self.ends]
        codes = codes_of(self.whole.tobytes().decode())
        is_made = codes[borders[1:] - 1] == ord(MADE) if len(codes) else np.zeros(len(self.counts), np.bool_)
        return Letters(np.where(codes == _Y, np.uint32(_I), codes), borders[:-1], np.diff(borders) - is_made)


def _dictionaries(segments: Segments, typed: str, most: int, least: int) -> Iterator[_Dictionary]:
    """Yield the terms of likely lengths, of each segment or of FTS5; passages that no segment has yet are not asked."""
    longest = (len(typed) + most) * (1 if typed.isascii() else 4) + len(MADE.encode())
    opened = segments.opened(Kind.WORDS)
    for arrays, _ in opened or ():
        yield from _of_segment(arrays, longest, least)
    if opened is None and keywords.totals(segments.db)[0] <= _MOST_SCANNED:
        yield _of_fts5(segments.db, longest, least)


def _of_segment(segment: Arrays, longest: int, least: int) -> Iterator[_Dictionary]:
    starts, posting_ends = segment["term_ends"].astype(np.int64), segment["posting_ends"].astype(np.int64)
    lengths, counts = starts[1:] - starts[:-1], posting_ends[1:] - posting_ends[:-1]
    wanted = np.flatnonzero((lengths >= _SHORTEST) & (lengths <= longest) & (counts >= least))
    for begin in range(0, len(wanted), _AT_ONCE):
        own = wanted[begin : begin + _AT_ONCE]
        ends = np.concatenate(([0], np.cumsum(lengths[own])))
        places = np.repeat(starts[own] - ends[:-1], lengths[own]) + np.arange(ends[-1])
        yield _Dictionary(segment["terms"][places], ends, counts[own])


def _of_fts5(db: apsw.Connection, longest: int, least: int) -> _Dictionary:
    db.execute(_VOCABULARY)
    sql = "SELECT CAST(term AS BLOB), doc FROM temp.word_counts WHERE doc >= ?"
    rows = [(term, count) for term, count in db.execute(sql, (least,)) if _SHORTEST <= len(term) <= longest]
    ends = np.cumsum([0, *(len(term) for term, _ in rows)])
    whole = np.frombuffer(b"".join(term for term, _ in rows), np.uint8)
    return _Dictionary(whole, ends, np.array([count for _, count in rows], np.int64))


def _nearest(typed: str, known: _Dictionary, most: int) -> list[tuple[float, int, bytes]]:
    """(distance, less the passages that hold it, term) of the nearest terms; y and i count as one, as in *happier*."""
    letters = known.letters()
    whole, begun = n_errors(typed.replace("y", "i"), letters, most)
    distances = np.minimum(whole, begun) + _TAIL * np.maximum(0, len(typed) - letters.lengths)
    near = np.flatnonzero((begun <= most) & (letters.lengths >= _SHORTEST))
    best = near[np.lexsort((-known.counts[near], distances[near]))][:_N_TERMS]
    return [(float(distances[i]), -int(known.counts[i]), known.term(i)) for i in best.tolist()]


def _words_with(db: apsw.Connection, terms: Sequence[str]) -> set[str]:
    """The words of some passages that hold these terms, and of the titles and names of their documents."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.word_places USING fts5vocab(main, words, instance)")
    sql = "SELECT DISTINCT doc FROM temp.word_places WHERE term = ? LIMIT ?"
    ids = sorted({row[0] for term in terms for row in db.execute(sql, (term, _N_PASSAGES))})
    places: dict[tuple[int, str, str], list[tuple[int, int]]] = {}
    sql = (
        "SELECT content_id, title, names, start, stop FROM passages JOIN contents ON contents.id = content_id"
        " WHERE passages.id IN carray(?)"
    )
    for document_id, title, names, start, stop in db.execute(sql, (bindable(np.array(ids, np.int64)),)) if ids else ():
        places.setdefault((document_id, title, names), []).append((start, stop))
    found: set[str] = set()
    for (document_id, title, names), own in places.items():
        paths = " ".join(json.loads(names)[0])
        found.update(parts_of_names(paths))
        found.update(SPACED_WORD.findall(" ".join([title, paths, *texts.spans(db, document_id, own)])))
    return found
