"""Answers and completes a query, in one folder or in several, and offers headings to ask for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.models.folder_models import token_table
from longsearch.app.search.query_vectors import VectorsOfQuery, VectorSource, vectors_of
from longsearch.app.search.scope import Scope, opened
from longsearch.engine.completions import Completion
from longsearch.engine.errors import LongsearchError, ModelError, in_words
from longsearch.engine.index.index import Index
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.query_language.items import unfinished
from longsearch.engine.query_language.query import Given, folders_named, parse
from longsearch.engine.search import searcher, spelling
from longsearch.engine.search.completion import complete
from longsearch.engine.search.reading import read_answers
from longsearch.engine.search.searcher import SearchRequest
from longsearch.engine.types.results import SearchMode, SearchResults

if TYPE_CHECKING:
    from longsearch.engine.reader.reading import Reader


@dataclass(frozen=True, slots=True)
class Question:
    """What a person or a program asks, wherever it is asked and of whichever folders."""

    text: str
    """The query, in the query language."""
    mode: SearchMode
    instruction: str = ""
    """What kind of passage is looked for; "": the model's own."""
    k: int = 10
    """The most documents to find."""
    also: Sequence[Given] = ()
    """Fields beside those in the text, as (field, value)."""
    prefix_last: bool = False
    """Whether the last word may be unfinished, as while a person types."""
    explain: bool = False
    """Whether each hit gets the reason for its score."""
    read: bool = False
    """Whether the reader reads the best passages with the query: a quarter of a second for five of them."""
    unfold: bool = False
    """Whether documents that say nearly the same stay apart."""
    literal: bool = False
    """Whether no word is taken for a typing error."""


def search(scope: Scope, asked: Question, source: VectorSource) -> SearchResults:
    """Search these folders, or those of them that the query names by `folder:`.

    Hybrid falls back to words where the query has no vector, and the note says why; meaning leaves such folders out.
    Raises QueryError for a name that no folder has, and LongsearchError if no folder can be searched.
    """
    with opened(scope.admitted(folders_named(asked.text, asked.also))) as found:
        keys = frozenset[str]().union(*(index.fields for index in found.indexes))
        # the first folder's: it compares words, so one model serves all folders
        table = partial(token_table, Path(found.parts[0][0].root), found.indexes[0].fingerprint)
        query, meant = parse(asked.text, asked.prefix_last, keys, asked.also), ""
        if not asked.literal and not query.is_listing:
            meant = spelling.corrected(found.indexes, query, keys, table)
        if meant:
            query = parse(meant, asked.prefix_last, keys, asked.also)
            query = replace(query, notes=(f'showing results for "{meant}"', *query.notes))
        query = replace(query, files=replace(query.files, under=scope.under))
        made = VectorsOfQuery()
        if asked.mode is not SearchMode.WORDS and not query.is_listing:
            made = vectors_of(found, query.meaning, asked.instruction, asked.mode, source)
        chooser = None if query.is_listing or asked.prefix_last else table()
        request = SearchRequest(query, asked.mode, made.of_each, asked.k, asked.explain, chooser, not asked.unfold)
        results = searcher.search(found.indexes, request)
        notes = made.notes
        if asked.read and not query.is_listing:
            try:
                reader = shipped_reader()
            except ModelError as error:  # its file is damaged: what was found is worth showing without it
                reader, notes = None, (*notes, f"not read: {in_words(error)}")
            if reader:
                results = read_answers(found.indexes, results, query.meaning, reader)
        results = found.named(results, notes)
    return replace(results, query=asked.text, corrected=meant, instruction=asked.instruction, vector_ms=made.took_ms)


@lru_cache(maxsize=1)
def shipped_reader() -> "Reader | None":
    """Return the reader, opened once; None where it is left out. Raises ModelError if its file is damaged."""
    from longsearch.engine.reader.reading import Reader

    return Reader.shipped()


def complete_query(scope: Scope, typed: str) -> Completion:
    """Return the fields, values and folders that complete a query.

    Fields and values count the documents of the folders that the query names; folders count all of their own.
    """
    n_documents = {} if scope.is_one else {folder.name: folder.n_documents for folder in scope.folders}
    try:
        before = typed[: unfinished(typed)[0]]
        with opened(scope.admitted(folders_named(before))) as found:
            return complete(found.indexes, typed, n_documents)
    except LongsearchError:  # no index can be read, or no folder has the name: the folders still have theirs
        return complete([], typed, n_documents)


_SOME, _LOOKED_THROUGH = 3, 30
"""Headings to ask for, and the documents of a folder that are looked through for them."""
_NUMBER = late_pattern(r"^(?:[\dIVXLC]+[.)]\s*)*[\d.]*\s*")


def headings_to_ask(indexes: Iterable[Index]) -> list[str]:
    """Return headings of the documents that were added last: of each the one that says most."""
    documents = (headings for index in indexes for headings in index.newest_headings(_LOOKED_THROUGH))
    longest = (max(map(_asked, headings), key=len, default="") for headings in documents)
    return list(islice(dict.fromkeys(filter(None, longest)), _SOME))


def _asked(heading: str) -> str:
    """A heading as a question, without its number; "" if it says too little or holds more than words."""
    words = _NUMBER.sub("", " ".join(heading.split())).split()
    is_plain = 2 <= len(words) <= 9 and all(word.strip(",;:?!'’()\"-").isalpha() for word in words)
    return " ".join(words) if is_plain else ""
