"""Finds which new passages answer the saved searches, after a folder has been indexed.

A passage is new if the index got it after the search was last run there, and its words were not among the answers
before. So a file that is renamed or read again brings no news, and a note that has grown brings its new passages.
The bar is the level of chance: without a calibrated index, words alone count, and a passage must hold about
two thirds of them.
"""

import logging
import time
from collections.abc import Callable
from hashlib import blake2b

import apsw

from longsearch.app.user_data.saved import Answer, NewPassage, SavedSearch, SavedSearches, Stamp
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError, QueryError
from longsearch.engine.index.index import Index
from longsearch.engine.query_language.prefixes import is_draft, quote_in
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.calibration import level_of
from longsearch.engine.search.quotations.quotation import find_quotation
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store import documents
from longsearch.engine.types.results import ChanceLevel, SearchMode

Encode = Callable[[str, str | None], Vectors]
"""Returns the vector of a query with an instruction (None: the model's own), by the model of the index."""
log = logging.getLogger("longsearch.news")

N_DOCUMENTS = 200
"""More documents than the app shows: a new passage counts even if it is not among the first."""
_LEAST_BY_WORDS = 0.3  # a passage that holds each word once reaches .45 in an index of passages of one length
_SHOWN_CHARACTERS = 400


def note_news(index: Index, encode: Encode) -> int:
    """Run every saved search about this folder whose index has changed since. Returns how many passages are new.

    A search by meaning waits until all documents have been read for it. Never raises: indexing must not fail here.
    """
    n_new = 0
    try:
        searches, root = SavedSearches(), str(index.root)
        wanted = [one for one in searches.all() if one.covers(root)]
        if not wanted:
            return 0
        last_id = documents.last_passage_id(index.db)
        for one in wanted:
            stamp = Stamp(last_id, "" if _is_by_words(one) else index.fingerprint)
            if one.stamp_of(root) != stamp and (_is_by_words(one) or not index.n_waiting):
                n_new += searches.note(one.name, root, stamp, _answers(index, one, encode))
    except (LongsearchError, OSError, apsw.Error) as error:
        log.warning("news: %s", error)
    return n_new


def _is_by_words(one: SavedSearch) -> bool:
    return one.mode is SearchMode.WORDS or quote_in(one.query) is not None


def _answers(index: Index, one: SavedSearch, encode: Encode) -> list[Answer]:
    """Return the passages that answer a search better than chance, best first. Raises LongsearchError."""
    try:
        if (quote := quote_in(one.query)) is not None:  # a draft is judged when somebody asks: no passage answers it
            return [] if is_draft(one.query) else _quotations(index, quote)
        query = parse(one.query, False, index.fields)
    except QueryError as error:  # it stays as it is until the person mends it
        log.info("the saved search %s: %s", one.name, error.message)
        return []
    known = index.background
    mode = one.mode if known is not None else SearchMode.WORDS
    vector = None
    if mode is not SearchMode.WORDS and not query.is_listing:
        vector = encode(query.meaning, one.instruction or None)
    answers = []
    for hit in search([index], SearchRequest(query, mode, (vector,), N_DOCUMENTS)).hits:
        for number, passage in enumerate(hit.passages[:1] if query.is_listing else hit.passages):
            alone = None if number else hit.meaning_alone  # which is that of the best passage
            level = None if known is None or query.is_listing else level_of(known, passage.score, mode, alone)
            if level is ChanceLevel.CHANCE:
                continue
            if known is None and not query.is_listing and passage.score < _LEAST_BY_WORDS:
                continue
            id_ = documents.passage_at(index.db, hit.document_id, passage.start)
            name = level.value if level else ""
            new = _new(hit.path, hit.title, passage.page, passage.text, hit.root, name)
            answers.append(Answer(_digest(passage.text), id_ or 0, new))
    return answers


def _quotations(index: Index, quote: str) -> list[Answer]:
    query = parse(quote)
    places = find_quotation(index, query.meaning, N_DOCUMENTS, query.files, query.conditions)
    return [
        Answer(
            _digest(f"{place.path} {place.text}"),
            documents.passage_at(index.db, place.document_id, place.start) or 0,
            _new(place.path, place.title, place.page, place.text, place.root),
        )
        for place in places
    ]


def _new(path: str, title: str, page: int | None, text: str, root: str, level: str = "") -> NewPassage:
    return NewPassage(path, title, page, text[:_SHOWN_CHARACTERS], root, level, time.time())


def _digest(text: str) -> bytes:
    return blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).digest()
