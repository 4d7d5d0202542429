"""The words every package shares, as frozen dataclasses. Imports nothing heavy; knows no model, file or screen.

Character offsets are into `DocumentText.text`; pages are numbered from 1; scores are explained at `DocumentHit`.
"""

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum


class SearchMode(StrEnum):
    """How a query is matched."""

    HYBRID = "hybrid"
    MEANING = "meaning"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document's outline."""

    level: int
    """1 for the outermost."""
    title: str
    start: int
    """Offset of its first character."""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """What was read of one file."""

    text: str
    page_starts: tuple[int, ...]
    """Offset of each page's first character, ascending, the first 0; empty for formats without pages."""
    title: str
    """Its own, on one line; "" where it has none. Out of the store it then has its file's name."""
    headings: tuple[Heading, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The page that holds the character at `offset`, or None where the format has no pages."""
        return bisect_right(self.page_starts, offset) or None

    def heading_at(self, offset: int) -> str:
        """The title of the last heading at or before `offset`, or ""."""
        index = bisect_right(self.headings, offset, key=lambda heading: heading.start)
        return self.headings[index - 1].title if index else ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document, a few sentences: the unit of a hit."""

    start: int
    stop: int
    """One past the last character."""
    n_tokens: int


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that answers a query."""

    page: int | None
    heading: str
    start: int
    stop: int
    text: str
    score: float
    """As `DocumentHit.score`, for this passage."""
    excerpt: tuple[int, int] | None = None
    """(start, stop) of what in it is nearest to the query by meaning; None where that is all of it, or not known."""


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A document that answers a query, best passage first."""

    rank: int
    """1 for the best."""
    document_id: int
    path: str
    """Absolute; undecodable bytes are surrogate escapes: pass it through `printable` before showing it."""
    title: str
    score: float
    """Of its best passage, 0 to 1, with its document's. meaning: cosine similarity, half of the passage's its nearest
    excerpt's. words: share of the highest BM25 the query can reach. hybrid: 0.4 of the one and 0.6 of the other."""
    passages: tuple[PassageHit, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase of a query, as the search looks it up."""

    text: str
    is_phrase: bool = False
    """Whether it was typed in quotation marks."""
    is_prefix: bool = False
    """Whether its last word is still being typed: it matches every word that begins with it."""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answer to one query, or to "more like this"."""

    query: str
    mode: SearchMode
    """What was run: WORDS where hybrid was asked for and no vectors could be had."""
    instruction: str
    took_ms: float
    hits: tuple[DocumentHit, ...]
    note: str = ""
    """Why the answer may be less than was asked for, or ""."""
    similar_to: str = ""
    """The title of the document that these documents are similar to; "" for the answer to a query."""
    lit: tuple[Term, ...] = ()
    """The words and phrases to highlight in the hits: those that were searched for."""


class FileStatus(StrEnum):
    """How far a file has come."""

    CURRENT = "current"
    """Read whole, searchable by words and by meaning."""
    PARTIAL = "partial"
    """Only some pages could be read; what came is searchable."""
    WAITING = "waiting"
    """Searchable by words; vectors are still to come."""
    FAILED = "failed"
    """Nothing could be read; the reason says why."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file of a root, as `longsearch status` shows it."""

    path: str
    """Relative to the root."""
    status: FileStatus
    reason: str
    """Why it failed or is partial, or ""."""
    hint: str
    """What the person can do about it, or ""."""
    n_pages: int
    n_tokens: int
    """Tokens extracted."""
    n_tokens_embedded: int
    n_failures: int = 0
    """Readings in a row that failed."""
    retry_at: float | None = None
    """When it is read again by itself, seconds since 1970; None: only once it has changed, or on request."""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far a root's index has come; the status row that any process can read."""

    n_files: int
    n_current: int
    n_waiting: int
    n_partial: int
    n_failed: int
    n_tokens: int
    n_tokens_embedded: int
    activity: str
    """What the indexer says it is doing ("reading x.pdf"), "" when idle or dead."""
    tokens_per_s: float
    """Recent rate of embedding; 0 when unknown."""

    @property
    def eta_s(self) -> float | None:
        """Seconds until all tokens are embedded, or None when unknown."""
        rest = self.n_tokens - self.n_tokens_embedded
        if rest <= 0:
            return 0.0
        return rest / self.tokens_per_s if self.tokens_per_s > 0 else None
