"""Saves searches, and looks for their news now, in the indexed folders."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from longsearch.app.everywhere import admitted, opened, search_folders
from longsearch.app.quoting import quote_in, where
from longsearch.app.searching import SearchRequest, VectorSource, comparable, source_for
from longsearch.app.user_data.news import note_news
from longsearch.app.user_data.saved import SavedSearch, SavedSearches
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.index import Index
from longsearch.engine.query_language.query import folders_named
from longsearch.engine.types.results import Folder, SearchResults


def save(search: SavedSearch, folders: Sequence[Folder], source: VectorSource) -> None:
    """Save a search over these folders; the answers that they have now are no news. Raises LongsearchError.

    A search that names folders by `folder:` is about these, else one without roots is about all folders.
    """
    if not search.roots:
        named = folders_named(search.query, ())
        if not named.admits_all:
            search = replace(search, roots=tuple(folder.root for folder in admitted(folders, named)))
    SavedSearches().save(search, [folder.root for folder in folders])
    with suppress(LongsearchError):  # the daemon, or the next look at the news, makes up for it
        renew(folders, source)


def renew(folders: Sequence[Folder], source: VectorSource) -> list[str]:
    """Run the saved searches in these folders where the index has changed since. Returns notes for a person.

    Raises LongsearchError if no folder can be searched.
    """
    with opened(folders) as (indexs, notes):
        for folder, index in indexs:
            note_news(index, partial(_vector, index, source_for(Path(folder.root), source)))
    return notes


def _vector(index: Index, source: VectorSource, text: str, instruction: str | None) -> Vectors:
    return comparable(source(text, instruction), index.fingerprint).vector


def searched(search: SavedSearch, folders: Sequence[Folder], source: VectorSource, k: int) -> SearchResults:
    """Return the answer to a saved search in its folders. Raises LongsearchError, as `search_folders`."""
    wanted = [folder for folder in folders if search.covers(folder.root)]
    if not wanted:
        raise LongsearchError("the folders of this search are no longer indexed", "see them: longsearch folders")
    if quote_in(search.query) is not None:
        return where(search.query, None, wanted, k)
    return search_folders(wanted, SearchRequest(search.query, search.mode, search.instruction, k), source)
