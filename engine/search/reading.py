"""Reads the best passages of an answer once more, with the query: the sentences that answer, and whether any does.

The reader is slow beside a search, so it reads five passages, and only where a person asks for answers.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.answers.choosing import best_of
from longsearch.engine.index.index import Index
from longsearch.engine.search.hits import placed
from longsearch.engine.sentences import Span
from longsearch.engine.store.records import Outline
from longsearch.engine.types.results import Answer, PassageHit, SearchResults

# The probability that one of the first five passages answers is that of the highest `answers` + 10 * passage score.
# Fitted on 971 questions over encyclopaedia articles and eight other sets, half of them with the answer taken out.
_SCALE, _WEIGHT_OF_PASSAGE, _AT_ZERO = 0.71, 10.0, -2.86
_N_READ = 5
_LANGUAGES = ("en", "")
"""The languages of documents that the reader has learnt to read, and that of documents whose language is unclear."""


class Reading(Protocol):
    """What a reader says of a passage: `engine.reader.reading.Reading`."""

    @property
    def sentences(self) -> Sequence[Span]:
        """Where each sentence begins and ends in the passage."""

    @property
    def scores(self) -> NDArray[np.float32]:
        """(sentences,), -1 to 1."""

    @property
    def pairs(self) -> NDArray[np.float32]:
        """(sentences - 1,): the same of each sentence and the one after it, taken together."""

    @property
    def answers(self) -> float:
        """The logit that some sentence of the passage answers."""


class Reader(Protocol):
    """What reading asks of a reader: `engine.reader.reading.Reader`."""

    def read(self, query: str, passages: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Read each passage, given as (text, language), with a query."""


def read_answers(indexes: Sequence[Index], results: SearchResults, query: str, reader: Reader) -> SearchResults:
    """The same results, with the sentences of the five best passages chosen by the reader, each with its probability.

    A passage in a language that the reader does not know stays as it was.
    """
    found = [answer for answer in results.answers(_N_READ) if answer.hit.language in _LANGUAGES]
    best = [answer for answer in found if not answer.passage.furniture] or found
    readings = reader.read(query, [(answer.passage.text, answer.hit.language) for answer in best])
    outlines = _outlines(indexes, best)
    read = {
        id(answer.passage): _passage(answer.passage, reading, outlines[answer.hit.root, answer.hit.document_id])
        for answer, reading in zip(best, readings, strict=True)
    }
    hits = tuple(
        replace(hit, passages=tuple(read.get(id(passage), passage) for passage in hit.passages)) for hit in results.hits
    )
    return replace(results, hits=hits).with_levels_read()


def _outlines(indexes: Sequence[Index], best: Sequence[Answer]) -> dict[tuple[str, int], Outline]:
    """The outline of each document, by root and id."""
    found: dict[tuple[str, int], Outline] = {}
    for index in indexes:
        root = str(index.root)
        ids = list({answer.hit.document_id for answer in best if answer.hit.root == root})
        outlines = index.outlines(ids)
        found |= {(root, id_): outlines[id_] for id_ in ids}
    return found


def _passage(passage: PassageHit, reading: Reading, outline: Outline) -> PassageHit:
    """The passage at the sentence that the reader chose, with its probability."""
    furniture = outline.furniture_in(passage.start, passage.stop)
    choice = best_of(passage.text, reading.sentences, reading.scores.tolist(), reading.pairs.tolist(), furniture)
    if choice is None:
        return passage
    hit = placed((passage.start, passage.stop), passage.text, passage.score, outline, choice)
    return replace(hit, probability=probability(reading.answers, passage.score))


def probability(answers: float, passage_score: float) -> float:
    """The probability that a passage answers, from the reader's logit and the passage's score."""
    z = _SCALE * (answers + _WEIGHT_OF_PASSAGE * passage_score) + _AT_ZERO
    return 1 / (1 + math.exp(-min(max(z, -50.0), 50.0)))
