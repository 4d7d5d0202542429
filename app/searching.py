"""A search in the index of one folder, as the command line and the app ask for it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.paths import index_path
from app.vectors import QueryVector
from engine.errors import LongsearchError, QueryError
from engine.search.query import parse
from engine.search.searcher import search
from engine.store.store import Store
from engine.types import SearchMode, SearchResults

VectorSource = Callable[[str, str | None], QueryVector]


def search_index(
    root: Path,
    query: str,
    mode: SearchMode,
    vector_source: VectorSource,
    instruction: str = "",
    under: str = "",
    k: int = 10,
    prefix_last: bool = False,
) -> SearchResults:
    """Search the index of `root`, or only its folder `under`, for `k` documents at most.

    Hybrid falls back to words, and says why, where no vector can be had; meaning raises LongsearchError.
    `prefix_last`: the last word may be unfinished, as while a person types.
    """
    with Store.open(index_path(root), read_only=True) as store:
        vector, problem = None, None
        if mode is not SearchMode.WORDS:
            try:
                vector = _comparable_vector(store, query, instruction, vector_source)
            except QueryError:
                raise
            except LongsearchError as error:
                if mode is SearchMode.MEANING:
                    raise
                problem = error
        array = None if vector is None else vector.vector
        results = search(store, query, mode, array, k=k, instruction=instruction, under=under, prefix_last=prefix_last)
    return replace(results, note=f"words only: {problem.message}") if problem else results


def _comparable_vector(store: Store, query: str, instruction: str, source: VectorSource) -> QueryVector:
    """The query's vector, made by the model that made the index's. Raises LongsearchError where it cannot be had."""
    in_use = store.model_in_use()
    if in_use is None:
        raise LongsearchError("no document has been read for its meaning yet", "wait a moment, or search for words")
    vector = source(parse(query).meaning, instruction or None)
    if vector.fingerprint != in_use[0]:
        hint = "bring it up to date: longsearch index FOLDER"
        raise LongsearchError("the index was made with another model", hint)
    return vector
