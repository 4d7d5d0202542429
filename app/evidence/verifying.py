"""Verifies the quotations of a draft: whether the indexed documents say them, where, and what differs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache

from longsearch.app.search.query_vectors import VectorSource
from longsearch.app.search.quoting import quotations
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.engine.citing.drafts import Cited, Quoted
from longsearch.engine.errors import LongsearchError, QueryError
from longsearch.engine.search.quotations.quotation import MAX_CHARACTERS
from longsearch.engine.types.results import Quotation, SearchMode

_K = 50
"""Places looked at, among which one in the cited source may be."""
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


class Status(StrEnum):
    """How a quotation stands in the documents."""

    VERBATIM = "verbatim"
    """Word by word; print may differ: quotation marks, hyphens, line ends, case."""
    CHANGED = "changed"
    """With other words."""
    ELSEWHERE = "elsewhere"
    """In another document than in the one that the draft cites beside it."""
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that differ."""

    draft: str
    """"" if the document says more."""
    document: str
    """"" if the draft says more."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a quotation stands in the documents, and where."""

    quoted: Quoted
    status: Status
    place: Quotation | None
    """Where it stands, or its nearest text; None if no document is near."""
    differences: tuple[Difference, ...] = ()
    note: str = ""
    """What a person should know of the cited source, or ""."""


def verify(scope: Scope, draft: Sequence[Quoted], source: VectorSource) -> Iterator[Verdict]:
    """Yield a verdict on each quotation that is long enough. `source` makes vectors, for the nearest text."""
    cited_in = lru_cache(maxsize=None)(lambda cited: _documents_of(scope, cited, source))
    for quoted in draft:
        if quoted.pieces:
            cited = cited_in(quoted.cited) if quoted.cited else frozenset()
            yield _verdict(scope, quoted, cited, source)


def _verdict(scope: Scope, quoted: Quoted, cited: frozenset[str], source: VectorSource) -> Verdict:
    note = f"no document is known as {quoted.cited.text}" if quoted.cited and not cited else ""
    places = [_places(scope, piece) for piece in quoted.pieces]
    if not all(places):
        return Verdict(quoted, Status.NOWHERE, _nearest(scope, quoted.text, source), (), note)
    together = set.intersection(*({one.path for one in of_piece} for of_piece in places))
    if not together:  # each piece stands somewhere, and no document has them all
        return Verdict(quoted, Status.CHANGED, places[0][0], _differences(quoted.pieces, places, None), note)
    exact = {path for path in together if all(_best(of_piece, path).similarity == 1 for of_piece in places)}
    chosen = min(exact & cited or exact or together & cited or together, key=lambda path: _rank(places, path))
    place = _best(places[0], chosen)
    if chosen not in exact:
        return Verdict(quoted, Status.CHANGED, place, _differences(quoted.pieces, places, chosen), note)
    is_elsewhere = bool(cited) and chosen not in cited
    return Verdict(quoted, Status.ELSEWHERE if is_elsewhere else Status.VERBATIM, place, (), note)


def _places(scope: Scope, piece: str) -> list[Quotation]:
    try:
        return quotations(scope, piece[:MAX_CHARACTERS], _K)[0]
    except QueryError:  # signs alone
        return []


def _best(places: Sequence[Quotation], path: str) -> Quotation:
    return max((one for one in places if one.path == path), key=lambda one: one.similarity)


def _rank(places: Sequence[Sequence[Quotation]], path: str) -> tuple[float, str]:
    return -sum(_best(of_piece, path).similarity for of_piece in places), path


def _differences(
    pieces: Sequence[str], places: Sequence[Sequence[Quotation]], path: str | None
) -> tuple[Difference, ...]:
    found: list[Difference] = []
    for piece, of_piece in zip(pieces, places, strict=True):
        place = of_piece[0] if path is None else _best(of_piece, path)
        if place.similarity < 1:
            found += differences(piece, place.text)
    return tuple(found)


def differences(draft: str, document: str) -> list[Difference]:
    """Return the runs of words that differ, in their order; case does not count."""
    ours, theirs = _WORD.findall(draft), _WORD.findall(document)
    matcher = SequenceMatcher(None, [word.casefold() for word in ours], [word.casefold() for word in theirs], False)
    return [
        Difference(" ".join(ours[a:b]), " ".join(theirs[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def _nearest(scope: Scope, text: str, source: VectorSource) -> Quotation | None:
    """Return the passage nearest to a quotation that nobody says, as a place."""
    words = " ".join(_WORD.findall(text)[:60])
    try:
        hits = search(scope, Question(words, SearchMode.HYBRID, k=1, literal=True), source).hits
    except LongsearchError:
        return None
    if not hits or not hits[0].passages:
        return None
    hit, best = hits[0], hits[0].passages[0]
    start, stop = best.excerpt or (best.start, best.stop)
    return Quotation(
        hit.document_id, hit.path, hit.title, best.page, best.heading, start, stop, best.sentence, 0.0, False,
        hit.root, hit.folder, best.page_label, best.n_pages,
    )  # fmt: skip


def _documents_of(scope: Scope, cited: Cited, source: VectorSource) -> frozenset[str]:
    """Return the paths of the documents that a draft may mean by a source; none if nothing is known of it."""
    author, year, name = (re.sub(r'["\\]', "", part) for part in (cited.author, cited.year, cited.name))
    queries = [f'in:"{name}"'] if name else []
    if author and year:
        queries += [f'author:"{author}" date:{year}', f'in:"{author}" in:"{year}"', f'in:"{author}" date:{year}']
    found: set[str] = set()
    for query in queries:
        try:
            found.update(hit.path for hit in search(scope, Question(query, SearchMode.WORDS, k=_K), source).hits)
        except LongsearchError:  # such as a field that no document has
            continue
    return frozenset(found)
