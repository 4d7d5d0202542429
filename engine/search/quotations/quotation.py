"""Finds the document and the page of a quotation: verbatim first, then with differences in print, then nearly the same.

The word index gives candidates, and only these are read. First passages that hold all words of the quotation in its
order; then those that hold groups of three of its words, for a quotation that runs over from passage to passage, was
scanned badly or was changed; at last those with its rarest words.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.errors import QueryError
from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import any_of, expressions
from longsearch.engine.languages.analysis import characters_of
from longsearch.engine.languages.scripts import SPACED_OR_RUN, UNSPACED_RUN
from longsearch.engine.query_language.fields import Condition
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.query import content_words
from longsearch.engine.search.quotations.alignment import Match, NormalForm, best_spans, normal_form, normal_text
from longsearch.engine.search.retrieval import allowed_documents
from longsearch.engine.store import documents, files, texts
from longsearch.engine.types.results import Quotation, Term

MAX_CHARACTERS = 2_000
LEAST_SIMILARITY = 0.7
"""Of 100 quotations that nobody said, none was found at .7, one at .65, three at .6 (`tests/bench/quotations.py`)."""
_SHORT = 16
"""Letters; so few are found with differences in print only: with one change in four, too much is similar."""
_N_CANDIDATES = 12
_N_GROUPS, _GROUP_WORDS = 16, 3
_N_OF_GROUP = 500
"""Passages looked up for a group: "one of the" stands in thousands."""
_N_WORDS = 8
_SPLIT_WORD = re.compile(r"(?<=\w)[-\u00ad\u2010\ufffe]\s+(?=\w)")


@dataclass(frozen=True, slots=True)
class _Window:
    """A candidate passage with as much text around it as the quotation has."""

    document_id: int
    start: int
    text: str


def find_quotation(
    index: Index, quote: str, k: int = 10, file_filter: FileFilter | None = None, conditions: Sequence[Condition] = ()
) -> list[Quotation]:
    """Return at most `k` places that say the quotation, the nearest first; [] if no document says it.

    If it stands somewhere verbatim or with differences in print only, places where it was changed are left out. Raises
    QueryError for a quotation without words, or one of more than 2,000 characters.
    """
    plain = checked(quote).text
    file_filter = file_filter or FileFilter()
    in_files = allowed_documents(index, file_filter, conditions)
    allowed = None if in_files is None else documents.passages_of(index.db, in_files.tolist())
    for candidates in (partial(_in_order, limit=k), _in_groups, _with_rare_words):
        matches = _matches(_windows(index, candidates(index, quote, allowed), len(quote)), plain)
        if matches:
            found = [_place(index, file_filter, *match, quote, plain) for match in matches]
            return best_places(found)[:k]
    return []


def checked(quote: str) -> NormalForm:
    """Return the normal form of a quotation. Raises QueryError if it cannot be looked for."""
    if len(quote) > MAX_CHARACTERS:
        raise QueryError(
            f"The quotation has {len(quote):,} characters", f"Give at most {MAX_CHARACTERS:,}: a sentence or two"
        )
    plain = normal_form(quote)
    if not plain.text:
        raise QueryError("The quotation has no words", 'Give the words to look for: "it was the best of times"')
    return plain


# ---- candidates


def _in_order(index: Index, quote: str, allowed: NDArray[np.int64] | None, limit: int) -> list[int]:
    """Passages with all words of the quotation in its order; a word split by a hyphen may be one word or two."""
    readings = dict.fromkeys((_phrase(_words(_SPLIT_WORD.sub("", quote))), _phrase(_words(quote))))
    return index.backend.first_matching(_expression(index, readings), max(limit, _N_CANDIDATES), allowed)


def _in_groups(index: Index, quote: str, allowed: NDArray[np.int64] | None) -> list[int]:
    """Passages with three words of the quotation in a row, those with most such groups first."""
    words = _words(_SPLIT_WORD.sub("", quote))
    groups = [_phrase(words[at : at + _GROUP_WORDS]) for at in range(len(words) - _GROUP_WORDS + 1)]
    counts: Counter[int] = Counter()
    for group in groups[:: len(groups) // _N_GROUPS + 1]:
        counts.update(index.backend.first_matching(_expression(index, [group]), _N_OF_GROUP, allowed))
    return [id_ for id_, _ in counts.most_common(_N_CANDIDATES)]


def _with_rare_words(index: Index, quote: str, allowed: NDArray[np.int64] | None) -> list[int]:
    """Passages with the longest words of the quotation. Long words are rare, and common ones cost most."""
    words = content_words([Term(word.strip()) for word in _words(_SPLIT_WORD.sub("", quote))], has_phrases=False)
    chosen = sorted(words, key=lambda term: -len(term.text))[:_N_WORDS]
    return [id_ for id_, _ in index.backend.best(_expression(index, chosen), _N_CANDIDATES, allowed)]


def _expression(index: Index, terms: Iterable[Term]) -> str:
    """What to ask the word index for passages that hold any of these terms."""
    return any_of(expressions(terms, index.spoken))


def _words(text: str) -> list[str]:
    """The words of a text, each after a space. In a script without spaces every two neighbouring characters are a word.

    The word index itself folds their case and accents.
    """
    found = []
    for word in SPACED_OR_RUN.findall(unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())):
        characters = characters_of(word) if UNSPACED_RUN.match(word) else [word]
        pairs = ["".join(characters[at : at + 2]) for at in range(0, len(characters), 2)]
        found += [f" {pairs[0]}", *pairs[1:]]
    return found


def _phrase(words: Sequence[str]) -> Term:
    return Term("".join(words).strip(), is_phrase=True)


def _windows(index: Index, passage_ids: Sequence[int], n_characters: int) -> list[_Window]:
    """The text of these passages, with that of a quotation of `n_characters` before and after each."""
    rows = index.passage_rows(passage_ids)
    reach = n_characters + n_characters // 4  # it may be longer there
    windows = []
    for row in (rows[id_] for id_ in passage_ids if id_ in rows):
        start = max(0, row.start - reach)
        (text,) = texts.spans(index.db, row.document_id, [(start, row.stop + reach)])
        windows.append(_Window(row.document_id, start, text))
    return windows


def _matches(windows: Sequence[_Window], plain: str) -> list[tuple[_Window, tuple[int, int], int]]:
    """The windows that say the quotation: (window, (start, stop) in it, edits). Only if none says it as it is, others.

    `plain` is the normal form of the quotation.
    """
    plain_texts = [normal_text(window.text) for window in windows]
    aligned = [
        (window, Match(text.index(plain), text.index(plain) + len(plain), 0))
        for window, text in zip(windows, plain_texts, strict=True)
        if plain in text
    ]
    if not aligned and len(plain) >= _SHORT:
        spans = zip(windows, best_spans(plain, plain_texts), strict=True)
        aligned = [(window, match) for window, match in spans if _is_similar(plain, match)]
    return [(window, normal_form(window.text).span(*match[:2]), match.n_edits) for window, match in aligned]


def _is_similar(plain: str, match: Match) -> bool:
    return match.last > match.first and 1 - match.n_edits / len(plain) >= LEAST_SIMILARITY


# ---- places


def _place(
    index: Index, file_filter: FileFilter, window: _Window, span: tuple[int, int], n_edits: int, quote: str, plain: str
) -> Quotation:
    start, text = window.start + span[0], window.text[slice(*span)]
    outline = documents.outline(index.db, window.document_id)
    place = outline.place_at(start)
    path = next(filter(file_filter.admits, files.paths_of(index.db, window.document_id, file_filter.under)))
    return Quotation(
        document_id=window.document_id,
        path=os.path.join(index.root, path),  # noqa: PTH118 (Path would normalise a hostile name)
        title=outline.title,
        page=place.page,
        heading=place.heading,
        start=start,
        stop=start + len(text),
        text=text,
        similarity=1 - n_edits / len(plain),
        is_verbatim=_letters(quote) == _letters(text),
        root=os.fspath(index.root),
        page_label=place.page_label,
        n_pages=place.n_pages,
    )


def best_places(found: Iterable[Quotation]) -> list[Quotation]:
    """Each place once, the nearest first. Changed wordings are left out if the words themselves stand somewhere."""
    ordered = sorted(found, key=lambda one: (-one.is_verbatim, -one.similarity, one.path, one.start))
    once: list[Quotation] = []
    for one in ordered:
        if not any(one.path == other.path and _overlap(one, other) for other in once):
            once.append(one)
    same = [one for one in once if one.similarity == 1]
    return same or once


def _overlap(one: Quotation, other: Quotation) -> bool:
    return one.start < other.stop and other.start < one.stop


def _letters(text: str) -> str:
    """A text as it is compared letter by letter: composed, with one space for any white space, and no marks around."""
    return " ".join(unicodedata.normalize("NFC", text).split()).strip(" .,;:!?\"'“”‘’„«»…()[]")
