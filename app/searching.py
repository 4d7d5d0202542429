"""Search the index of one folder, by a query or by a document, for the command line and for the app."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from longsearch.app.folders.names import names_of
from longsearch.app.models.encoders import open_encoder
from longsearch.app.models.folder_models import folder_model
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import index_path
from longsearch.engine.errors import LongsearchError, in_words
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import Given, Query, parse
from longsearch.engine.search import searcher
from longsearch.engine.search.similar import similar_to_document, similar_to_vector
from longsearch.engine.store.documents import title_of
from longsearch.engine.types.results import SearchMode, SearchResults

VectorSource = Callable[..., QueryVector]
"""Encodes a query's text with an instruction (None: the model's own), by the `model` of a folder that has one."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, wherever it is asked for and in whichever folders."""

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


def search_index(root: Path, request: SearchRequest, vector_source: VectorSource, under: str = "") -> SearchResults:
    """Search the index of `root`, or only its folder `under`.

    Without a vector, hybrid falls back to words and says why; meaning raises LongsearchError. Raises QueryError if the
    query names another folder by `folder:`.
    """
    mode, instruction = request.mode, request.instruction
    with open_index(index_path(root)) as index:
        query = parse(request.text, request.prefix_last, index.fields, request.also)
        query = replace(query, files=replace(query.files, under=under))
        if not query.folders.admits_all:
            query.folders.chosen(list(names_of([root]).values()))
        vector, problem, vector_ms = None, None, 0.0
        if mode is not SearchMode.WORDS and not query.is_listing:
            try:
                found = query_vector(index, query, instruction, source_for(root, vector_source))
            except LongsearchError as error:
                if mode is SearchMode.MEANING:
                    raise
                problem = error
            else:
                vector, vector_ms = found.vector, found.took_ms
        asked = searcher.SearchRequest(query, mode, (vector,), request.k, request.explain)
        results = searcher.search([index], asked)
    results = replace(_with_folder(results, root), instruction=instruction, vector_ms=vector_ms)
    if not problem:
        return results
    notes = (*query.notes, f"words only: {in_words(problem)}")
    return replace(results, note="; ".join(notes))


def similar_to_file(root: Path, file: Path, under: str = "", k: int = 10) -> SearchResults:
    """Return the documents in the index of `root`, or in its folder `under`, that are most similar to `file`.

    `file` is an absolute path. A file outside this index is read and encoded whole. Raises LongsearchError if the file
    cannot be read or compared.
    """
    with open_index(index_path(root)) as index:
        known = index.document_of(file.relative_to(root).as_posix()) if file.is_relative_to(root) else None
        if known is not None:
            return _with_folder(similar_to_document(index, known, k, under), root)
        fingerprint = _fingerprint(index)
        title, vector = read_whole(file, folder_model(root).model)
        found = similar_to_vector(index, comparable(vector, fingerprint).vector, title, k, under)
    return _with_folder(found, root)


def source_for(root: Path, source: VectorSource) -> VectorSource:
    """Return the source of query vectors for a root: a folder with a model of its own names it."""
    folder = folder_model(root)
    return partial(source, model=folder.model) if folder.is_own else source


def _with_folder(results: SearchResults, root: Path) -> SearchResults:
    """Return the results with the name of the folder in each hit."""
    name = names_of([root])[root]
    return replace(results, hits=tuple(replace(hit, folder=name) for hit in results.hits))


def read_whole(file: Path, model: str | None = None) -> tuple[str, QueryVector]:
    """Return a file's title and the vector of its whole text. Raises LongsearchError if the file cannot be read."""
    from longsearch.app.settings.reading import current
    from longsearch.indexer.extract.formats import use_adapters
    from longsearch.indexer.extract.reader import ExtractorProcess

    use_adapters(current().adapters)
    with ExtractorProcess() as extractor:
        extracted = extractor.extract(file)
    document = extracted.document
    encoder = open_encoder(model)
    vector = encoder.encode_document(document.text).vector
    return document.title or title_of(file.name), QueryVector(vector, encoder.fingerprint)


def query_vector(index: Index, query: Query, instruction: str, source: VectorSource) -> QueryVector:
    """Return the query's vector. Raises LongsearchError unless the model that made the index's vectors can make it."""
    fingerprint = _fingerprint(index)
    return comparable(source(query.meaning, instruction or None), fingerprint)


def _fingerprint(index: Index) -> str:
    """Return the fingerprint of the model that made the index's vectors. Raises LongsearchError if there are none."""
    if not index.model:
        raise LongsearchError("no document has been read for its meaning yet", "wait a moment, or search for words")
    return index.fingerprint


def comparable(vector: QueryVector, fingerprint: str) -> QueryVector:
    """Return `vector` if the model with this fingerprint made it; else raise LongsearchError."""
    if vector.fingerprint != fingerprint:
        hint = "bring it up to date: longsearch index FOLDER"
        raise LongsearchError("the index was made with another model", hint)
    return vector
