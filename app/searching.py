"""A search in the index of one folder, by a query or by a document, as the command line and the app ask for it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.encoders import open_encoder
from app.paths import index_path
from app.vectors import QueryVector
from engine.errors import LongsearchError
from engine.search.query import Query, parse
from engine.search.searcher import search
from engine.search.similar import similar_to_document, similar_to_vector
from engine.store.documents import title_of
from engine.store.store import Store
from engine.types import SearchMode, SearchResults

VectorSource = Callable[[str, str | None], QueryVector]


def search_index(
    root: Path,
    text: str,
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
        query = parse(text, prefix_last)
        vector, problem = None, None
        if mode is not SearchMode.WORDS:
            try:
                vector = _comparable_vector(store, query, instruction, vector_source)
            except LongsearchError as error:
                if mode is SearchMode.MEANING:
                    raise
                problem = error
        array = None if vector is None else vector.vector
        results = search(store, query, mode, array, k=k, instruction=instruction, under=under)
    return replace(results, note=f"words only: {problem.message}") if problem else results


def similar_to_file(root: Path, file: Path, under: str = "", k: int = 10) -> SearchResults:
    """The documents in the index of `root`, or in its folder `under`, that are most like `file`, an absolute path.

    A file that is not in this index is read for it, whole. LongsearchError where it cannot be, or cannot be compared.
    """
    with Store.open(index_path(root), read_only=True) as store:
        known = store.document_of(file.relative_to(root).as_posix()) if file.is_relative_to(root) else None
        if known is not None:
            return similar_to_document(store, known, k, under)
        maker = _maker(store)
        title, vector = _read_whole(file)
        return similar_to_vector(store, _comparable(vector, maker).vector, title, k, under)


def _read_whole(file: Path) -> tuple[str, QueryVector]:
    """A file's title, and the vector of all of it. Raises LongsearchError where it cannot be read."""
    from indexer.extract.reader import ExtractorProcess

    with ExtractorProcess() as extractor:
        extracted = extractor.extract(file)
    document = extracted.document
    encoder = open_encoder()
    vector = encoder.encode_document(document.text).vector
    return document.title or title_of(file.name), QueryVector(vector, encoder.fingerprint)


def _comparable_vector(store: Store, query: Query, instruction: str, source: VectorSource) -> QueryVector:
    """The query's vector, made by the model that made the index's. Raises LongsearchError where it cannot be had."""
    maker = _maker(store)
    return _comparable(source(query.meaning, instruction or None), maker)


def _maker(store: Store) -> str:
    """The fingerprint of the model that made the index's vectors. Raises LongsearchError where there are none."""
    in_use = store.model_in_use()
    if in_use is None:
        raise LongsearchError("no document has been read for its meaning yet", "wait a moment, or search for words")
    return in_use[0]


def _comparable(vector: QueryVector, maker: str) -> QueryVector:
    """`vector`, if it is of the model `maker`, else LongsearchError."""
    if vector.fingerprint != maker:
        hint = "bring it up to date: longsearch index FOLDER"
        raise LongsearchError("the index was made with another model", hint)
    return vector
