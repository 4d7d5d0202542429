"""Verifies the quotations of a draft: whether the indexed documents say them, where, and what differs."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from longsearch.app.evidence.sources import Sources
from longsearch.app.paths import expanded
from longsearch.app.search.query_vectors import VectorSource
from longsearch.app.search.quoting import ALL_FILES, as_passage, quotations
from longsearch.app.search.scope import Scope, opened
from longsearch.app.search.searching import Question, search
from longsearch.engine.citing.draft_formats import with_blocks
from longsearch.engine.citing.drafts import Quoted, quotations_in
from longsearch.engine.citing.interrupted import span_around
from longsearch.engine.citing.names import is_names_alone
from longsearch.engine.citing.wording import Difference, differences, whole_words
from longsearch.engine.errors import LongsearchError, QueryError
from longsearch.engine.query_language.file_filter import FileFilter, folded
from longsearch.engine.query_language.prefixes import quote_in
from longsearch.engine.search.quotations.quotation import MAX_CHARACTERS
from longsearch.engine.store import documents, texts
from longsearch.engine.types.results import ChanceLevel, DocumentHit, Quotation, SearchMode, SearchResults
from longsearch.indexer.extract.readers.decoding import decode

_K = 50
"""Places looked at, among which one in the cited source may be."""
_MOST_SHOWN = 200
"""Quotations of a draft that the app shows."""
_RAW = (".tex", ".ltx", ".md", ".markdown", ".qmd", ".rmd", ".txt", ".text", ".rst", ".org", ".typ")
"""Endings of drafts that are read as they are, so that lines are their own."""
_MOST = 6
"""Documents of which the wording is compared."""
_MOST_WORDS = 150
"""Words of a document that may stand where the quotation has others; between two halves there may be a page of them."""
_REACH = 6_000
"""Characters of a document in which the two halves of a quotation may stand, with a page's end between them."""
_PASSAGES = 5
"""Passages of a document among which the sentence that supports a claim is chosen."""
_WHOLE_WORDS = 60
"""Characters on each side of a place in which its first and last words begin and end."""
_AROUND = 3_000
"""Characters on each side of a place in which its quotation may go on, behind a figure."""


class Status(StrEnum):
    """How a quotation stands in the documents."""

    VERBATIM = "verbatim"
    """Word by word; print may differ: quotation marks, hyphens, line ends, case, marks of notes, the end of a page."""
    CHANGED = "changed"
    """With other words."""
    ELSEWHERE = "elsewhere"
    """In another document than in the one that the draft cites beside it."""
    NOWHERE = "nowhere"


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


@dataclass(frozen=True, slots=True)
class _Read:
    """A quotation in one document."""

    place: Quotation
    """Where its longest piece stands."""
    differences: tuple[Difference, ...]


def verify(scope: Scope, draft: Sequence[Quoted], source: VectorSource, file: Path | None = None) -> Iterator[Verdict]:
    """Yield a verdict on each quotation that is long enough. `source` makes vectors, for the nearest text.

    `file`: the draft, beside which links and `.bib` files are looked for.
    """
    sources = Sources(scope, source, file)
    judge = lru_cache(maxsize=4_096)(lambda quoted: _verdict(scope, quoted, sources, source))
    for quoted in draft:
        if quoted.pieces:
            yield replace(judge(replace(quoted, line=0)), quoted=quoted)


def _verdict(scope: Scope, quoted: Quoted, sources: Sources, source: VectorSource) -> Verdict:
    cited = frozenset[str]().union(*map(sources.documents, quoted.cited))
    note = "; ".join(filter(None, map(sources.missing, quoted.cited)))
    anchor = max(quoted.pieces, key=len)
    places = _places(scope, anchor) or _halves(scope, anchor)
    if cited and not any(one.path in cited and one.similarity == 1 for one in places):
        places = [*places, *(one for path in sorted(cited)[:_MOST] for one in _places_in(scope, anchor, path))]
    best = {path: _best(places, path) for path in dict.fromkeys(one.path for one in places)}
    likely = sorted(best.values(), key=lambda one: (one.path not in cited, -one.similarity, one.path))
    likely = [*likely[:_MOST], *(one for one in likely[_MOST:] if one.similarity == 1)][: 2 * _MOST]
    read = [_read(scope, quoted.pieces, anchor, place) for place in likely]
    read = [one for one in read if all(len(part.document.split()) <= _MOST_WORDS for part in one.differences)]
    if not read:
        near = nearest(scope, quoted.text, source)
        return Verdict(quoted, Status.NOWHERE, near and near[0], (), note)
    chosen = min(read, key=lambda one: (bool(one.differences), one.place.path not in cited, _n_words(one.differences)))
    if chosen.differences:
        return Verdict(quoted, Status.CHANGED, chosen.place, chosen.differences, note)
    is_elsewhere = bool(cited) and chosen.place.path not in cited
    return Verdict(quoted, Status.ELSEWHERE if is_elsewhere else Status.VERBATIM, chosen.place, (), note)


def _n_words(found: Sequence[Difference]) -> int:
    return sum(len(one.draft.split()) + len(one.document.split()) for one in found)


# ---- places


def _places(scope: Scope, piece: str, file_filter: FileFilter = ALL_FILES) -> list[Quotation]:
    try:
        return quotations(scope, piece[:MAX_CHARACTERS], _K, file_filter)[0]
    except QueryError:  # signs alone
        return []


def _places_in(scope: Scope, piece: str, path: str) -> list[Quotation]:
    """Return the places in one document."""
    relative = _relative(scope, path)
    if not relative:
        return []
    only = FileFilter(parts=(folded(relative),))
    return [one for one in _places(scope, piece, only) if one.path == path]


def _halves(scope: Scope, piece: str) -> list[Quotation]:
    """Return the places where both halves of a piece stand near each other, with other text between them."""
    words = piece.split()
    first, second = (" ".join(half) for half in (words[: len(words) // 2], words[len(words) // 2 :]))
    found = []
    for one in _places(scope, first):
        for other in _places_in(scope, second, one.path)[:1]:
            if 0 <= other.start - one.stop < _REACH:
                found.append(replace(one, stop=other.stop, similarity=0.5))
    return found


def _best(places: Sequence[Quotation], path: str) -> Quotation:
    return max((one for one in places if one.path == path), key=lambda one: one.similarity)


def _read(scope: Scope, pieces: Sequence[str], anchor: str, place: Quotation) -> _Read:
    """Compare all pieces with what a document says."""
    found: list[Difference] = []
    for piece in pieces:
        own = [place] if piece == anchor else _places_in(scope, piece, place.path)
        if not own:
            found.append(Difference(piece, ""))
            continue
        said, starts = _said(scope, own[0])
        found_here = differences(piece, said.text, starts)
        if found_here and (whole := _around(scope, piece, own[0])):
            said, found_here = whole, []
        found += found_here
        if piece == anchor and said.text:
            place = said
    return _Read(place, tuple(found))


def _said(scope: Scope, place: Quotation) -> tuple[Quotation, list[int]]:
    """Return a place with the whole words that its document says there, and the starts of pages in them."""
    text, before, pages = _text_around(scope, place, _WHOLE_WORDS)
    start, stop = whole_words(text, place.start - before, place.stop - before)
    said = replace(place, start=before + start, stop=before + stop, text=text[start:stop])
    return said, [page - start for page in pages if start <= page <= stop]


def _around(scope: Scope, piece: str, place: Quotation) -> Quotation | None:
    """Return the place where a piece goes on behind a figure, a footnote or a page's end that stands in its way."""
    text, before, pages = _text_around(scope, place, _AROUND)
    span = span_around(piece, text, pages)
    return span and replace(place, start=before + span[0], stop=before + span[1], text=text[slice(*span)])


def _text_around(scope: Scope, place: Quotation, reach: int) -> tuple[str, int, list[int]]:
    """Return (text, begin, starts of pages): the text with `reach` more characters on each side of a place.

    `begin` is where that text begins in the document; the starts of pages count from there.
    """
    one = replace(scope, folders=[folder for folder in scope.folders if folder.root == place.root])
    with opened(one) as found:
        db = found.indexes[0].db
        before = max(0, place.start - reach)
        (text,) = texts.spans(db, place.document_id, [(before, place.stop + reach)])
        pages = documents.outline(db, place.document_id).page_starts
    return text, before, [page - before for page in pages]


def nearest(
    scope: Scope, text: str, source: VectorSource, path: str = ""
) -> tuple[Quotation, ChanceLevel | None] | None:
    """Return the sentence nearest to a text, as a place, and its level. `path`: in this document alone.

    Of one document it is the sentence that answers best, in whichever passage; the names of authors and of where they
    work are left out if the document says anything else.
    """
    words = " ".join(re.findall(r"\w+(?:['’-]\w+)*", text)[:60])
    also = [("in", _relative(scope, path))] if path else []
    asked = Question(words, SearchMode.HYBRID, k=5 if path else 1, also=also, unfold=bool(path), literal=True)
    try:
        results = search(scope, asked, source)
    except LongsearchError:
        return None
    hit = next((hit for hit in results.hits if not path or path in (hit.path, *hit.also_at)), None)
    if hit is None or not hit.passages:
        return None
    best = hit.passages[0]
    if path:
        said = [one.passage for one in replace(results, hits=(hit,)).answers(_PASSAGES)] or hit.passages
        best = next((one for one in said if not is_names_alone(one.sentence)), said[0])
    start, stop = best.excerpt or (best.start, best.stop)
    place = Quotation(
        hit.document_id, hit.path, hit.title, best.page, best.heading, start, stop, best.sentence, 0.0, False,
        hit.root, hit.folder, best.page_label, best.n_pages,
    )  # fmt: skip
    return place, hit.level


def _relative(scope: Scope, path: str) -> str:
    """Return a path relative to its folder; "" if none of the folders has it."""
    root = next((folder.root for folder in scope.folders if Path(path).is_relative_to(folder.root)), "")
    return os.path.relpath(path, root) if root else ""


# ---- drafts


def text_of(draft: Path) -> tuple[str, str]:
    """Return the text of a draft, and the ending that says which marks it has. Raises LongsearchError."""
    suffix = draft.suffix.lower()
    if suffix in _RAW and draft.is_file():
        return decode(draft.read_bytes()), suffix
    from longsearch.app.search.outside import read_now

    document = read_now(draft, is_draft=True).document
    return with_blocks(document.text, document.quoted), ""


def verified(query: str, scope: Scope, source: VectorSource) -> SearchResults:
    """Answer `verify: DRAFT` as the app shows results: a hit for each quotation, what is wrong first.

    Raises QueryError until the path of a draft is typed.
    """
    started, typed = time.perf_counter(), (quote_in(query) or "").strip().strip('"')
    file = expanded(typed).resolve() if typed else None
    if file is None or not file.is_file():
        raise QueryError("There is no draft of this name yet", "Type the path of what you write: verify: ~/chapter.md")
    quoted = [one for one in quotations_in(*text_of(file)) if one.pieces]
    verdicts = list(verify(scope, quoted[:_MOST_SHOWN], source, file))
    counts = Counter(one.status.value for one in verdicts)
    wrong_first = sorted(verdicts, key=lambda one: one.status is Status.VERBATIM)
    hits = tuple(
        _as_hit(rank, one, place)
        for rank, (one, place) in enumerate(((one, one.place) for one in wrong_first if one.place), start=1)
    )
    more = f"; the first {_MOST_SHOWN} of {len(quoted):,}: all by longsearch verify" if quoted[_MOST_SHOWN:] else ""
    note = ", ".join(f"{n} {status}" for status, n in counts.items()) or "the draft quotes nothing of five words"
    return SearchResults(query, SearchMode.WORDS, "", (time.perf_counter() - started) * 1000, hits, note + more)


def _as_hit(rank: int, verdict: Verdict, place: Quotation) -> DocumentHit:
    """Return a quotation as a hit: its status and its words in place of the title, and the passage of the document."""
    words = "; ".join(one.shown for one in verdict.differences)
    title = (
        f"{verdict.status.value}, line {verdict.quoted.line}: {f'{words} in ' if words else ''}“{verdict.quoted.text}”"
    )
    return DocumentHit(
        rank, place.document_id, place.path, title, place.similarity, (as_passage(place),), place.root, place.folder
    )
