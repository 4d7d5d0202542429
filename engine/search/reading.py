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
from longsearch.engine.languages.stop_words import STOP_WORDS, language_of_question
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.search.hits import placed, with_page_breaks
from longsearch.engine.sentences import Span
from longsearch.engine.store.metadata import as_words
from longsearch.engine.store.records import Outline
from longsearch.engine.types.results import NOTHING_BELOW, Answer, PassageHit, SearchResults

# The probability that one of the first five passages answers is that of the highest `answers` + 10 * passage score.
# Fitted on 971 questions over encyclopaedia articles and eight other sets, half of them with the answer taken out.
_SCALE, _WEIGHT_OF_PASSAGE, _AT_ZERO = 0.71, 10.0, -2.86
# The same by meaning alone, for a passage about which the words say too little: a hybrid score without words is low.
# Fitted on 460 questions over encyclopaedia articles and of a forum, and 399 times without the answer.
_SCALE_ALONE, _WEIGHT_OF_MEANING, _AT_ZERO_ALONE = 1.29, 4.04, -2.44
_MOST_MISSED = 2
"""Names that a passage does not hold count a point each, up to so many. A paraphrase says other words, seldom another
name. At the same share of absent answers told, half as many answerable questions are lost."""
_NAME = late_pattern(r"(?<=[^\s.?!:] )(?![A-ZÀ-Þ]{2,4}\b)[A-ZÀ-Þ]\w[\w’'-]*")
"""But for an abbreviation of up to four capitals, which a passage may say in full: FB for Facebook."""
_LEAST_OF_NAME = 4
# The same of a document that the reader cannot read, by the nearness of its sentence's words and the passage's score.
# Fitted on 538 questions in five other languages, and 250 times without the paragraph, by the multilingual model; then
# raised by .44, so that no language lost more than 4 %, and lowered by .15, since the nearest excerpt raises nearness.
_WEIGHT_OF_NEARNESS, _WEIGHT_UNREAD, _AT_ZERO_UNREAD = 2.51, 11.2, -5.27
_NOUNS_ARE_NAMES = ("de", "lb")
"""Languages in which every noun has a capital, so that a missing word may be any: they have no names here."""
# Below which probability "nothing" is told. A question with names is seldom a paraphrase, so it needs more; one of
# common words needs less the more one document stands out; and so does a long one, whose words no sentence has all:
# docs/evaluation.md has what each of these loses and tells.
_NOTHING_BELOW_WITH_NAMES = 0.18
_NOTHING_BELOW_IF_ONE_STANDS_OUT = ((0.65, 0.05), (0.8, 0.1))
"""By the share of the first document's score that the second one has at most."""
_LONG, _EACH_WORD_MORE = 6, 0.1
"""Each word more than so many that is looked up takes so much from the line, as a logit."""
_LEAST_AROUND = 5
"""Documents that have to be found for one to stand out among them."""
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

    def knows(self, word: str) -> bool:
        """Whether it has learnt this word, without the marks around it, as a whole."""


def read_answers(indexes: Sequence[Index], results: SearchResults, query: str, reader: Reader) -> SearchResults:
    """The same results, with the sentences of the five best passages chosen by the reader, each with its probability.

    A passage in a language that the reader does not know keeps its sentence. If the question is not plainly in that
    language, it gets no probability: none of its words is near, whatever the passage says.
    """
    five = results.answers(_N_READ)
    found = [answer for answer in five if not answer.passage.furniture] or five
    best = [answer for answer in found if answer.hit.language in _LANGUAGES]
    outlines, names = _outlines(indexes, best), names_in(query)
    texts = [
        with_page_breaks(one.passage.text, one.passage.start, outlines[_document(one)].page_starts) for one in best
    ]
    readings = reader.read(query, [(text, one.hit.language) for text, one in zip(texts, best, strict=True)])
    unknown = [word for word, n in results.n_with.items() if not n and not reader.knows(word)]
    is_nonsense = bool(unknown) and len(unknown) == len(results.n_with)
    read = {
        id(answer.passage): replace(answer.passage, probability=_probability_unread(answer, names))
        for answer in found
        if answer.hit.language not in _LANGUAGES and _asks_in(query, answer.hit.language)
    }
    for answer, text, reading in zip(best, texts, readings, strict=True):
        likely = 0.0 if is_nonsense else _probability(answer, reading, names)
        read[id(answer.passage)] = _passage(answer.passage, text, reading, outlines[_document(answer)], likely)
    hits = tuple(
        replace(hit, passages=tuple(read.get(id(passage), passage) for passage in hit.passages)) for hit in results.hits
    )
    line = _nothing_below(results, names, bool(unknown)) if best == found else NOTHING_BELOW
    return replace(results, hits=hits, nothing_below=line).with_levels_read()


def _nothing_below(results: SearchResults, names: Sequence[str], has_unknown: bool) -> float:
    """The probability below which "nothing" is told. `has_unknown`: the question has a word that nobody knows."""
    line = _NOTHING_BELOW_WITH_NAMES if names else NOTHING_BELOW
    scores = [hit.score for hit in results.hits]
    if not names and not has_unknown and len(scores) >= _LEAST_AROUND:
        found = (low for share, low in _NOTHING_BELOW_IF_ONE_STANDS_OUT if scores[1] < share * scores[0])
        line = next(found, line)
    n_more = max(0, len(results.n_with) - _LONG)
    return line / (line + (1 - line) * math.exp(_EACH_WORD_MORE * n_more))


def _document(answer: Answer) -> tuple[str, int]:
    """The root and the id of an answer's document."""
    return answer.hit.root, answer.hit.document_id


def _outlines(indexes: Sequence[Index], best: Sequence[Answer]) -> dict[tuple[str, int], Outline]:
    """The outline of each document, by root and id."""
    found: dict[tuple[str, int], Outline] = {}
    for index in indexes:
        root = str(index.root)
        ids = list({answer.hit.document_id for answer in best if answer.hit.root == root})
        outlines = index.outlines(ids)
        found |= {(root, id_): outlines[id_] for id_ in ids}
    return found


def names_in(query: str) -> list[str]:
    """The names in a question: its capitalised words after the first; [] for a title, which has many."""
    found = _NAME.findall(query)
    return found if 2 * len(found) <= sum(len(word) > 2 for word in query.split()) else []


def _n_missed(names: Sequence[str], answer: Answer) -> int:
    """How many of the names, up to the most that count, a passage and its title lack; their endings may differ."""
    if not names:
        return 0
    words = as_words(f"{answer.hit.title} {answer.passage.text}")
    stems = (as_words(name).rstrip(" ") for name in names)  # a space stands before each
    return min(sum(stem[: max(_LEAST_OF_NAME + 1, len(stem) - 2)] not in words for stem in stems), _MOST_MISSED)


def _probability(answer: Answer, reading: Reading, names: Sequence[str]) -> float:
    """The probability that a passage answers."""
    meaning = answer.hit.meaning_alone if answer.passage is answer.hit.passages[0] else None
    return probability(reading.answers - _n_missed(names, answer), answer.passage.score, meaning)


def _asks_in(query: str, language: str) -> bool:
    if language not in STOP_WORDS:
        return not query.isascii()
    return language_of_question(query, {language}) == language


def _probability_unread(answer: Answer, names: Sequence[str]) -> float:
    """The probability that a passage answers in a language that the reader does not know."""
    passage, n_missed = answer.passage, 0 if answer.hit.language in _NOUNS_ARE_NAMES else _n_missed(names, answer)
    nearness = _WEIGHT_OF_NEARNESS * (passage.answer or 0.0) - _SCALE * n_missed
    return _sigmoid(nearness + _WEIGHT_UNREAD * passage.score + _AT_ZERO_UNREAD)


def _passage(passage: PassageHit, text: str, reading: Reading, outline: Outline, likely: float) -> PassageHit:
    """The passage, read as `text`, at the sentence that the reader chose, with its probability."""
    furniture = outline.furniture_in(passage.start, passage.stop)
    choice = best_of(text, reading.sentences, reading.scores.tolist(), reading.pairs.tolist(), furniture)
    if choice is None:
        return passage
    hit = placed((passage.start, passage.stop), passage.text, passage.score, outline, choice)
    return replace(hit, probability=likely, is_read=True)


def probability(answers: float, passage_score: float, meaning_alone: float | None = None) -> float:
    """The probability that a passage answers, from the reader's logit and the passage's score.

    `meaning_alone`: see `DocumentHit`.
    """
    z = _SCALE * (answers + _WEIGHT_OF_PASSAGE * passage_score) + _AT_ZERO
    if meaning_alone is not None:
        z = _SCALE_ALONE * answers + _WEIGHT_OF_MEANING * meaning_alone + _AT_ZERO_ALONE
    return _sigmoid(z)


def _sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-min(max(z, -50.0), 50.0)))
