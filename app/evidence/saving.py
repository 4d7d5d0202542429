"""Saves searches, and looks for their news now, in the indexed folders."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from longsearch.app.search.query_vectors import VectorSource, query_vector, source_for
from longsearch.app.search.quoting import where
from longsearch.app.search.scope import Scope, opened
from longsearch.app.search.searching import Question
from longsearch.app.search.searching import search as search_in
from longsearch.app.user_data.news import note_news
from longsearch.app.user_data.saved import SavedSearch, SavedSearches
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.index import Index
from longsearch.engine.query_language.prefixes import is_draft, quote_in
from longsearch.engine.query_language.query import folders_named
from longsearch.engine.types.results import Folder, SearchResults


def save(search: SavedSearch, folders: Sequence[Folder], source: VectorSource) -> None:
    """Save a search over these folders; the answers that they have now are no news. Raises LongsearchError.

    A search that names folders by `folder:` is about these, else one without roots is about all folders.
    """
    if not search.roots:
        named = folders_named(search.query, ())
        if named is not None:
            search = replace(search, roots=tuple(folder.root for folder in Scope(folders).admitted(named).folders))
    SavedSearches().save(search, [folder.root for folder in folders])
    with suppress(LongsearchError):  # the daemon, or the next look at the news, makes up for it
        renew(folders, source)


def renew(folders: Sequence[Folder], source: VectorSource) -> list[str]:
    """Run the saved searches in these folders where the index has changed since. Returns notes for a person.

    Raises LongsearchError if no folder can be searched.
    """
    with opened(Scope(folders)) as found:
        for folder, index in found.parts:
            note_news(index, partial(_vector, index, source_for(Path(folder.root), source)))
    return list(found.notes)


def _vector(index: Index, source: VectorSource, text: str, instruction: str | None) -> Vectors:
    return query_vector(index, text, instruction or "", source).vector


def quoted(query: str, scope: Scope, source: VectorSource, k: int) -> SearchResults:
    """Answer a query that begins with `where:` or `verify:`, as the app shows results. Raises QueryError."""
    if is_draft(query):
        from longsearch.app.evidence.verifying import verified  # seldom, and it loads much

        return verified(query, scope, source)
    return where(query, scope, k)


def searched(search: SavedSearch, folders: Sequence[Folder], source: VectorSource, k: int) -> SearchResults:
    """Return the answer to a saved search in its folders. Raises LongsearchError, as `app.search.searching.search`."""
    wanted = [folder for folder in folders if search.covers(folder.root)]
    if not wanted:
        raise LongsearchError("the folders of this search are no longer indexed", "see them: longsearch folders")
    if quote_in(search.query) is not None:
        return quoted(search.query, Scope(wanted), source, k)
    return search_in(
        Scope(wanted), Question(search.query, search.mode, search.instruction, k, unfold=True, literal=True), source
    )
