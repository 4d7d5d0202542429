"""The answer to a query: hits with their passages and reasons, quotations, and the folders searched.

Character offsets count from the start of a document's text. Page numbers begin at 1. `DocumentHit` explains scores.
Longer than 300 lines because each fact of an answer has a line that says what it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from longsearch.engine.amounts import counted
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.modes import SearchMode as SearchMode

# excerpt@1 of 500 questions over 48 encyclopaedia articles at 0 (first passage alone), .5, 1, 2: .738 .780 .770 .768
ANSWER_WEIGHT_OF_PASSAGE = 0.5
# How near a sentence's words are says less where no reader chose it: .15 of its distance from what is usual counts, so
# 1 to 3 beside its passage's score. With this and the nearest excerpt (`answers.choosing`) the best sentence of five
# passages holds the answer for 2.0 more of 100 questions in four languages than with a quarter alone.
_USUAL_NEARNESS, _SHARE_UNREAD = 0.6, 0.15
_ANSWERING_PASSAGES = 5
FURNITURE_COSTS = 0.5
"""What a sentence loses that only points elsewhere. A line of contents may repeat the question, an answer seldom does:
they have 1 and .64 in the handbook of a mill."""
# The share of questions with an answer that are told "nothing" below a line, and of those whose paragraph was taken
# out: below .1 .5 and 33 % over encyclopaedias, 1.0 and 41 % over eight other sets; below .14 .5 and 40, 2.0 and 50;
# below .16 .9 and 44, 2.0 and 52. Of 240 paraphrased questions of a forum .8, 1.3 and 1.3 %.
NOTHING_BELOW, LIKELY_FROM = 0.14, 0.5


LIST_NAMES = {"": "", "references": "list of references", "contents": "contents", "index": "index"}
"""What a passage is, by its `PassageHit.furniture`, as people are told."""


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that answers a query."""

    page: int | None
    """The page on which the excerpt begins; without one, that of the passage's middle."""
    heading: str
    """The heading above the same place."""
    start: int
    stop: int
    text: str
    score: float
    """The same as `DocumentHit.score`, for this passage."""
    excerpt: tuple[int, int] | None = None
    """(start, stop) of the sentence that answers best; None if it is the whole passage or unknown."""
    is_ocr: bool = False
    """Whether any of it is from OCR, so that letters may be wrong."""
    page_label: str = ""
    """The number or name that is printed on the page, such as "iv"; "" if the file does not say it."""
    n_pages: int = 0
    """The pages of the document, if its pages have labels; else 0."""
    answer: float | None = field(default=None, compare=False)
    """-1 to 1: how near the words of the excerpt are to those of the query; None if a vector alone chose it."""

    probability: float | None = field(default=None, compare=False)
    """0 to 1: how likely it is that the passage answers; None if nothing could judge it."""
    is_read: bool = field(default=False, compare=False)
    """Whether the reader chose its sentence."""
    furniture: str = ""
    """`references`, `contents` or `index` if the passage only points elsewhere; see `engine.furniture`."""

    @property
    def sentence(self) -> str:
        """The text of the excerpt, or of the whole passage."""
        start, stop = self.excerpt or (self.start, self.stop)
        return self.text[start - self.start : stop - self.start]


@dataclass(frozen=True, slots=True)
class Answer:
    """A sentence that answers a query, and where it stands."""

    hit: "DocumentHit"
    passage: PassageHit
    """Its `sentence` is the answer; its page and heading are those of the sentence."""

    @property
    def score(self) -> float:
        """What answers are ranked by: the sentence's own score and half of its passage's.

        A passage that only points elsewhere costs as much as it does inside a passage.
        """
        own = self.passage.answer or 0.0
        if not self.passage.is_read:
            own = _USUAL_NEARNESS + _SHARE_UNREAD * (own - _USUAL_NEARNESS)
        own -= FURNITURE_COSTS * bool(self.passage.furniture)
        return own + ANSWER_WEIGHT_OF_PASSAGE * self.passage.score


PassageSimilarity = tuple[tuple[int, int, float], ...]
"""(start, stop, cosine with a query) of each passage of a document, in their order."""


class ChanceLevel(StrEnum):
    """How much better than chance a hit is, in three levels; see `engine.search.calibration`."""

    CHANCE = "chance"
    """No better than what a query of random words finds."""
    WEAK = "weak"
    GOOD = "good"


class Verdict(StrEnum):
    """Whether anything that was found answers the query."""

    LIKELY = "likely"
    UNSURE = "unsure"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class WordShare:
    """The points that a word or phrase of the query gave to a hit."""

    word: str
    passage: float
    """Points for the best passage: its share of the passage's BM25."""
    document: float
    """Points for the whole document: its share of the document's BM25."""
    n_passages: int
    """Passages of the index, or of all indexes that were searched, that hold the word."""


@dataclass(frozen=True, slots=True)
class MeaningShare:
    """The points that a vector gave to a hit."""

    vector_of: str
    """`passage`, `excerpt` or `document`."""
    cosine: float
    """Its cosine similarity with the query's vector."""
    points: float
    beats: float | None = None
    """The share of random queries (0 to 1) whose best hit by meaning has a lower cosine; None if not calibrated."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a hit has its score: the points of all parts add up to it. See `engine.search.explaining`."""

    words: tuple[WordShare, ...]
    """The points of each word and phrase; () in a search by meaning."""
    meaning: tuple[MeaningShare, ...]
    """The points of each vector; () in a search by words, and for a document without vectors."""
    words_beat: float | None = None
    """The share of random queries (0 to 1) whose best hit has a lower score by words; None if not calibrated."""
    meaning_beats: float | None = None
    """The same for the score by meaning."""
    beats: float | None = None
    """The same for the whole score: what the hit's level is decided by."""
    lines: tuple[float, float] | None = None
    """The shares at which a weak hit and a good one begin; None if not calibrated."""
    weight: float = 1.0
    """What the points are multiplied by already: less than 1 if the passage only points elsewhere."""
    is_by_meaning: bool = False
    """Whether `beats` and `lines` are those of the meaning alone, because the words say too little about this hit."""

    @property
    def by_words(self) -> float:
        """The points of all words."""
        return sum(share.passage + share.document for share in self.words)

    @property
    def by_meaning(self) -> float:
        """The points of all vectors."""
        return sum(share.points for share in self.meaning)


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A document that answers a query, best passage first."""

    rank: int
    """1 for the best."""
    document_id: int
    path: str
    """Absolute; undecodable bytes are surrogate escapes: use `printable` before showing it."""
    title: str
    score: float
    """0 to 1: the score of the best passage, combined with the score of the whole document. By meaning, a passage's
    score is the mean of two cosine similarities: its own and its nearest excerpt's. By words, it is BM25 divided by the
    highest BM25 that the query can reach. Hybrid: 0.4 of the score by meaning and 0.6 of the score by words."""
    passages: tuple[PassageHit, ...]
    root: str = ""
    """The indexed folder that holds the document, absolute."""
    folder: str = ""
    """The name of that folder; "" if the engine was asked directly."""
    metadata: tuple[MetadataValue, ...] = ()
    """Title, authors, date and whatever else the document says of itself, each value with its source."""
    language: str = ""
    """ISO 639 code of the language that most of the document is in; "" if it is unclear."""
    level: ChanceLevel | None = None
    """How much better than chance the hit is; None if the index is not calibrated yet, or too small to be."""
    reason: Reason | None = field(default=None, compare=False)
    """The points that the parts of the query gave to the score; None for similar documents and without a query."""
    also_at: tuple[str, ...] = ()
    """Absolute paths of other files with the same bytes, the best name first; `path` has a better one."""
    versions: tuple["DocumentHit", ...] = ()
    """Older documents that say nearly the same and have no row of their own, the newest first."""
    meaning_alone: float | None = field(default=None, compare=False)
    """In a hybrid search, the score by meaning of a hit about which the words say too little; None for other hits."""

    @property
    def date(self) -> str:
        """The document's date as an ISO string, or ""."""
        return next((value.value for value in self.metadata if value.field == "date"), "")


@dataclass(frozen=True, slots=True)
class Quotation:
    """A place where a document says a quotation."""

    document_id: int
    path: str
    """Absolute, as in `DocumentHit`."""
    title: str
    page: int | None
    """The page on which it begins; None if the format has no pages."""
    heading: str
    start: int
    stop: int
    text: str
    """The document's text from `start` to `stop`."""
    similarity: float
    """0 to 1: 1 minus the share of the quotation's letters that were edited. 1 if only print differs: case, quotation
    marks, hyphens, line ends, accents."""
    is_verbatim: bool
    """Whether it stands there letter by letter; only white space may differ."""
    root: str = ""
    """The indexed folder that holds the document, absolute."""
    folder: str = ""
    """The name of that folder; "" if the engine was asked directly."""
    page_label: str = ""
    n_pages: int = 0
    """Both as in `PassageHit`."""


@dataclass(frozen=True, slots=True)
class Folder:
    """An indexed folder, as one of several that are searched together."""

    name: str
    """No two folders have the same."""
    root: str
    """Absolute; undecodable bytes are surrogate escapes."""
    n_documents: int = 0
    away: str = ""
    """Why the folder cannot be reached, or "". Its documents are found all the same, but cannot be opened."""
    problem: str = ""
    """Why its index cannot be read, so that its documents are not found, or ""."""
    about: str = ""
    """What the person says of it, on one line, or ""."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase of a query, as the search looks it up."""

    text: str
    is_phrase: bool = False
    """Whether it was typed in quotation marks."""
    is_prefix: bool = False
    """Whether any word that begins with its last word matches: it is still being typed, or has a star at its end."""
    is_pattern: bool = False
    """Whether it stands for many words: a star in it for any letters, a ? for one or none, or a range."""
    like: tuple[str, ...] = ()
    """For a pattern with a star or a ? the words of the index that are like it; for 1990..2000 its numbers."""

    @property
    def is_wild(self) -> bool:
        """Whether a star or a ? in it stands for letters."""
        return self.is_pattern and ("*" in self.text or "?" in self.text)

    @property
    def is_range(self) -> bool:
        """Whether it is a pattern that stands for all quantities in a range: >=40 kg."""
        return self.is_pattern and not self.is_wild and not self.like


_LEVELS_BY_NAME = {"unlikely": "chance", "unsure": "weak", "likely": "good"}


def _level_read(hit: DocumentHit, verdict: Verdict, unlikely_below: float) -> ChanceLevel | None:
    """The level of a hit by the likeliest of its passages that the reader read."""
    read = [passage.probability for passage in hit.passages if passage.probability is not None]
    if verdict is Verdict.NOTHING:
        return ChanceLevel.CHANCE
    if not read:  # as chance says, but no surer than what was read
        return ChanceLevel.WEAK if verdict is Verdict.UNSURE and hit.level is ChanceLevel.GOOD else hit.level
    if max(read) >= LIKELY_FROM:
        return ChanceLevel.GOOD
    return ChanceLevel.WEAK if max(read) >= unlikely_below else ChanceLevel.CHANCE


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answer to one query, or to "more like this"."""

    query: str
    mode: SearchMode
    """The mode that ran: WORDS if hybrid was asked for and there were no vectors."""
    instruction: str
    took_ms: float
    hits: tuple[DocumentHit, ...]
    note: str = ""
    """Why the answer may be incomplete, or ""."""
    similar_to: str = ""
    """The title of the document that the hits resemble; "" for the answer to a query."""
    lit: tuple[Term, ...] = ()
    """The words and phrases to highlight in the hits: the ones that the search looked up."""
    languages: tuple[str, ...] = ()
    """ISO 639 codes of the languages in which these words were looked up."""
    vector_ms: float = 0.0
    """How long the model took for the query's vector; `took_ms` does not include it. 0 if there was none."""
    soft_tokens: int | None = None
    """How many soft tokens the query was given (`--think`); None: as many as the model has for documents, or none."""
    folders: tuple[Folder, ...] = ()
    """The folders that were searched together; () if only one was asked for."""
    n_with: Mapping[str, int] = field(default_factory=dict, compare=False)
    """For each word and phrase that was looked up, as it was typed, the number of passages that hold it."""
    corrected: str = ""
    """The query that ran in place of `query`, whose typing errors it mends; "" if that ran."""
    understood: str = ""
    """The query as its operators and stars were understood, in the query language; "" for one without."""
    nothing_below: float = field(default=NOTHING_BELOW, compare=False)
    """The probability of the likeliest passage below which the verdict is "nothing"."""

    @property
    def verdict(self) -> Verdict | None:
        """Whether a passage answers, by the most likely one; None if the reader read none."""
        if not self.is_read:
            return None if self.hits else Verdict.NOTHING
        if self.likeliest < self.nothing_below:
            return Verdict.NOTHING
        return Verdict.LIKELY if self.likeliest >= LIKELY_FROM else Verdict.UNSURE

    @property
    def likeliest(self) -> float:
        """The probability of the passage that most likely answers; 0 if the reader read none."""
        return max((passage.probability or 0.0 for hit in self.hits for passage in hit.passages), default=0.0)

    @property
    def is_read(self) -> bool:
        """Whether the reader has read a passage."""
        return any(passage.probability is not None for hit in self.hits for passage in hit.passages)

    def with_levels_read(self) -> "SearchResults":
        """Return the results with the levels that the reader gives: by probability where it read, else as they are.

        Where nothing answers, no hit is better than chance; where something may, none is likely. Nothing that was read
        is told to be the work of chance because of its score alone.
        """
        verdict = self.verdict
        if verdict is None:
            return self
        # a lower line than usual is for the hit that stands out alone
        line = max(self.nothing_below, min(self.likeliest, NOTHING_BELOW))
        hits = (replace(hit, level=_level_read(hit, verdict, line)) for hit in self.hits)
        return replace(self, hits=tuple(hits))

    def answers_first(self) -> "SearchResults":
        """Return the results with the passage of its best sentence first in each document."""
        hits = []
        for hit in self.hits:
            chosen = [passage for passage in hit.passages if passage.answer is not None]
            best = max(chosen, key=lambda passage: Answer(hit, passage).score, default=None)
            others = tuple(passage for passage in hit.passages if passage is not best)
            hits.append(hit if best is None else replace(hit, passages=(best, *others)))
        return replace(self, hits=tuple(hits))

    def answers(self, n: int) -> tuple[Answer, ...]:
        """Return the `n` best sentences, best first: of the five best passages, then of the others."""
        found = [Answer(hit, passage) for hit in self.hits for passage in hit.passages if passage.answer is not None]
        found.sort(key=lambda one: -one.passage.score)
        best, others = found[:_ANSWERING_PASSAGES], found[_ANSWERING_PASSAGES:]
        return tuple(sorted(best, key=lambda one: -one.score) + others)[:n]

    def at_least(self, level: str) -> "SearchResults":
        """Return the results without the hits below this level; a hit whose level is unknown stays."""
        levels = [own.value for own in ChanceLevel]
        least = levels.index(_LEVELS_BY_NAME.get(level, level))
        hits = tuple(hit for hit in self.hits if hit.level is None or levels.index(hit.level.value) >= least)
        n_left_out = len(self.hits) - len(hits)
        if not n_left_out:
            return self
        note = f"{counted(n_left_out, 'document')} left out: below {level}"
        return replace(self, hits=hits, note="; ".join(filter(None, (self.note, note))))
