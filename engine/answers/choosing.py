"""Chooses the sentences of passages that answer a query. Pure but for the table of token vectors."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.formulas import FORMULA
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.sentences import PAGE_BREAK, ROW, Span, cut_sentences
from longsearch.engine.types.results import FURNITURE_COSTS

COMMON_WEIGHT = 0.1
"""What a piece of a stop word or of a mark weighs. A content word weighs its idf, 1 to 14."""
SECOND_COSTS = 0.04
"""What a second sentence has to bring: the answer often stands in the one after that which repeats the question. Of 300
questions over encyclopaedia articles and 300 over other sets the reader's excerpt holds the answer for .793 and .587
alone (175 and 169 characters), .830 and .607 at .05 (200 and 186), .840 and .613 at .04 (208 and 192)."""
EXCERPT_GAINS = 0.1
"""What a sentence gains that lies in the excerpt which is nearest to the query by vector. On sets on which it was not
chosen the sentence holds the answer for 73 of 100 (Swedish, 70 without), 77 (Portuguese, 72), 78 (English without the
reader, 74) and 88 (Turkish, 88)."""
_WORD = late_pattern(r"\w+")
_PAGE_NUMBER = late_pattern(r"\s*(?:page|seite|p\.)?\s*[\divxlc]{1,6}(?:\s*(?:/|of|von|de)\s*\d+)?\s*$", re.IGNORECASE)
_LEADS_ON = late_pattern(r"[:：?？؟]\s*$")
_ENDED = late_pattern(r"[.!?…。！？؟।॥።][\"'”’»)\]」』）]*\s*$")
_HEADING_WORDS = 12


@dataclass(frozen=True, slots=True)
class Choice:
    """The part of a passage that answers best."""

    start: int
    """Offset in the passage."""
    stop: int
    score: float | None
    """-1 to 1: the weighted mean over the query's pieces of the cosine with the nearest piece of the sentence; up to
    `EXCERPT_GAINS` more in the nearest excerpt. None if something else chose it."""


class Pieces(Protocol):
    """The word pieces of a text."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """(n,)"""

    @property
    def starts(self) -> NDArray[np.int64]:
        """(n,): the offset of each piece."""


class Table(Hashable, Protocol):
    """What choosing asks of a model: `token_table.TokenTable`."""

    def tokenize(self, text: str) -> Pieces:
        """The pieces of a text."""

    def pieces(self, sentences: Sequence[str]) -> list[list[int]]:
        """The ids of the pieces of each sentence."""

    def rows(self, ids: NDArray[np.int64]) -> Vectors:
        """(n, dim): the unit vectors of these pieces (n,)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as sentences are compared with it: its word pieces by a model's token table."""

    table: Table
    vectors: Vectors
    """(pieces, dim)"""
    weights: NDArray[np.float32]
    """(pieces,), of sum 1."""

    @classmethod
    def of(cls, query: str, idf: Mapping[str, float], table: Table) -> "Asked | None":
        """A query and the idf of its content words, by their casefolded text; None for a query without pieces.

        A word of several pieces shares its idf among them by their square root: a name is often cut into many.
        """
        tokens = table.tokenize(query)
        if not len(tokens.ids):
            return None
        words = list(_WORD.finditer(query))
        places = np.searchsorted([word.start() for word in words], tokens.starts, "right") - 1
        own = [words[place] if place >= 0 else None for place in places.tolist()]
        of = [
            word[0].casefold() if word and at < word.end() else ""
            for word, at in zip(own, tokens.starts.tolist(), strict=True)
        ]
        pieces = Counter(of)
        weights = np.array([idf.get(word, 0.0) / pieces[word] ** 0.5 + COMMON_WEIGHT for word in of], np.float32)
        return cls(table, table.rows(tokens.ids), weights / weights.sum())

    def choose(
        self,
        passages: Sequence[tuple[str, str]],
        furniture: Sequence[Sequence[Span]] | None = None,
        nearest: Sequence[Span | None] | None = None,
    ) -> list[Choice | None]:
        """Return the best sentence of each passage, given as (text, language); None for one without words.

        `furniture`: the parts of each passage that only point elsewhere. `nearest`: its excerpt that is nearest to the
        query by vector, if any is. A sentence that ends with a colon, a question and a heading bring the sentence after
        them.
        """
        cut = [_cut(self.table, text, language) for text, language in passages]
        scores, pairs = self._scores([own.ids for own in cut], [n for own in cut for n in own.lengths])
        ends = np.cumsum([len(own.sentences) for own in cut]).tolist()
        chosen = []
        for number, (own, first, end) in enumerate(zip(cut, [0, *ends], ends, strict=False)):
            of_each, of_pairs = scores[first:end], pairs[first : max(first, end - 1)]
            if nearest and (excerpt := nearest[number]):
                start, stop = excerpt
                shared = [(max(0, min(b, stop) - max(a, start)), b - a) for a, b in own.sentences]
                gains = [EXCERPT_GAINS * n / length for n, length in shared]
                of_each = [score + gain for score, gain in zip(of_each, gains, strict=True)]
                of_pairs = [score + max(both) for score, both in zip(of_pairs, pairwise(gains), strict=True)]
            parts = furniture[number] if furniture else ()
            chosen.append(best_of(passages[number][0], own.sentences, of_each, of_pairs, parts))
        return chosen

    def _scores(self, ids: Sequence[NDArray[np.int64]], lengths: Sequence[int]) -> tuple[list[float], list[float]]:
        """The scores of all sentences, from the ids of their pieces, and of each with the one after it. One product.

        A sentence without pieces has -1.
        """
        n_pieces = np.array(lengths, np.int64)
        has_pieces, starts = n_pieces > 0, np.cumsum(n_pieces) - n_pieces
        nearest = np.full((len(self.weights), len(lengths)), -1.0, np.float32)
        if has_pieces.any():
            joined = np.concatenate(ids)
            places = np.zeros(joined.max() + 1, np.int64)  # each piece once, by counting: np.unique sorts
            places[joined] = 1
            unique = np.flatnonzero(places)
            places[unique] = np.arange(len(unique))
            near = (self.vectors @ self.table.rows(unique).T)[:, places[joined]]  # (pieces of the query, pieces)
            nearest[:, has_pieces] = np.maximum.reduceat(near, starts[has_pieces], axis=1)
        pairs = self.weights @ np.maximum(nearest[:, :-1], nearest[:, 1:])
        return (self.weights @ nearest).tolist(), pairs.tolist()


@dataclass(frozen=True, slots=True)
class _Cut:
    """The sentences of a passage and their pieces."""

    sentences: Sequence[Span]
    ids: NDArray[np.int64]
    """The ids of all pieces, sentence by sentence."""
    lengths: Sequence[int]
    """How many pieces each sentence has."""


@lru_cache(512)
def _cut(table: Table, text: str, language: str) -> _Cut:
    """Cut a passage into sentences and pieces.

    Kept because the app asks by words and then by both, and a person asks again with one more word: most passages are
    the same.
    """
    sentences = cut_sentences(text, language)
    pieces = table.pieces([text[start:stop] for start, stop in sentences])
    return _Cut(sentences, np.fromiter(chain.from_iterable(pieces), np.int64), list(map(len, pieces)))


def best_of(
    text: str, spans: Sequence[Span], scores: Sequence[float], pairs: Sequence[float], furniture: Sequence[Span] = ()
) -> Choice | None:
    """Choose the sentence with the highest score, and the one after it if it leads on; None without sentences.

    `pairs`: the score of each sentence and the one after it together. A pair is chosen if it says more than any
    sentence. `furniture`: the parts of the text that only point elsewhere. A sentence in one of them costs, and so does
    a page number. A formula in shreds is never chosen.
    """
    runs = [(score, at, at + 1) for at, score in enumerate(scores)]
    runs += [(score - SECOND_COSTS, at, at + 2) for at, score in enumerate(pairs)]
    best, highest = (0.0, 0, 0), float("-inf")
    for run in sorted(runs, key=lambda run: (-round(run[0], 6), -run[1])):  # of a title and its heading the heading
        score, first, stop = run
        if score <= highest:
            break  # what furnishes a page only costs, so no further one can be better
        if stop - first > 1 and not _goes_on(text, spans[first], spans[first + 1]):
            continue
        if FORMULA.match(text[spans[first][0] : spans[stop - 1][1]]):
            continue
        for start, end in spans[first:stop]:
            if _PAGE_NUMBER.match(text[start:end]) or any(own < end and start < last for own, last in furniture):
                score -= FURNITURE_COSTS
                break
        if score > highest:
            best, highest = run, score
    score, first, stop = best
    if first == stop:
        return None
    start, end = spans[first]
    if stop - first == 1 and stop < len(spans) and leads_on(text[start:end], text[end : spans[stop][1]]):
        stop += 1
    return Choice(start, spans[stop - 1][1], score)


def _goes_on(text: str, span: Span, following: Span) -> bool:
    """Whether two sentences stand in one paragraph: no item of a list, no row, no heading."""
    between = text[span[1] : following[0]]
    return "\n\n" not in between and PAGE_BREAK not in between and _ENDED.search(text[slice(*span)]) is not None


@lru_cache(1024)
def overlapping(text: str, language: str, excerpt: Span) -> Span:
    """Return the sentence of a passage that shares most with an excerpt (start, stop): where no table can choose."""
    start, stop = excerpt

    def shared(span: Span) -> int:
        return min(span[1], stop) - max(span[0], start)

    best = max(cut_sentences(text, language, excerpt), key=shared, default=excerpt)
    return best if shared(best) > 0 else max(cut_sentences(text, language), key=shared, default=excerpt)


def leads_on(sentence: str, after: str) -> bool:
    """Whether a sentence says little without what comes `after` it: it ends with a colon, asks, or is a heading.

    `after` begins with the white space between them. A row of a table is no heading, and neither is a line of a slide
    or of a list that another such line follows.
    """
    if _LEADS_ON.search(sentence):
        return True
    is_short = not _ENDED.search(sentence) and not ROW.match(sentence) and 0 < len(sentence.split()) < _HEADING_WORDS
    return is_short and ("\n\n" in after or _ENDED.search(after) is not None)
