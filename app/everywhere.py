"""Searches several indexed folders as one, for the command line and for the app.

A folder that is away still answers, because its index lies here; the note says so. One whose index cannot be read is
left out, and the note says that.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from longsearch.app.models.folder_models import folder_model
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import index_path
from longsearch.app.searching import SearchRequest, VectorSource, read_whole
from longsearch.engine.arrays import Vectors
from longsearch.engine.completions import Completion
from longsearch.engine.errors import LongsearchError, StoreError, in_words
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.folder_filter import FolderFilter
from longsearch.engine.query_language.query import Query, folders_named, parse, unfinished
from longsearch.engine.search import searcher
from longsearch.engine.search.completion import complete
from longsearch.engine.search.similar import similar_to_vector, title_and_vector
from longsearch.engine.search.similar_passages import asked_passage, similar_to_passage
from longsearch.engine.types.results import DocumentHit, Folder, SearchMode, SearchResults

_OTHER_MODEL = "made with another model"


def search_folders(folders: Sequence[Folder], request: SearchRequest, vector_source: VectorSource) -> SearchResults:
    """Search these folders, or those of them that the query names by `folder:`.

    Hybrid falls back to words for a folder whose index was made with another model, and the note names it; meaning
    leaves it out. Raises QueryError for a name that no folder has, and LongsearchError if no folder can be searched.
    """
    with opened(admitted(folders, folders_named(request.text, request.also))) as (sessions, notes):
        query = parse(request.text, request.prefix_last, _keys(sessions), request.also)
        vectors, vector_ms = _no_vectors(sessions), 0.0
        if request.mode is not SearchMode.WORDS and not query.is_listing:
            vectors, vector_ms, vector_notes = _vectors(sessions, query, request, vector_source)
            notes = [*notes, *vector_notes]
        of_each = [vectors[folder.name] for folder, _ in sessions]
        asked = searcher.SearchRequest(query, request.mode, of_each, request.k, request.explain)
        results = searcher.search([index for _, index in sessions], asked)
        searched = tuple(folder for folder, _ in sessions)
    names = {folder.root: folder.name for folder in searched}
    hits = tuple(replace(hit, folder=names[hit.root]) for hit in results.hits)
    note = "; ".join(filter(None, (results.note, *notes)))
    return replace(
        results, hits=hits, instruction=request.instruction, note=note, vector_ms=vector_ms, folders=searched
    )


def similar_in_folders(folders: Sequence[Folder], file: Path, k: int = 10) -> SearchResults:
    """Return the documents of these folders that are most similar to `file`, an absolute path.

    A file in none of them is read and encoded whole. Folders whose index was made with another model are left out, and
    the note names them. Raises LongsearchError if the file cannot be read or compared.
    """
    with opened(folders) as (sessions, notes):
        for folder, index in sessions:
            path = file.relative_to(folder.root).as_posix() if file.is_relative_to(folder.root) else None
            if path is not None and (known := index.document_of(path)) is not None:
                return _similar(sessions, notes, *_known(index, known), k, without=index.hash_of(known))
        title, vector = read_whole(file)
        return _similar(sessions, notes, title, vector, k)


def similar_to_document_in(folders: Sequence[Folder], root: Path, document_id: int, k: int = 10) -> SearchResults:
    """The same for a document of the index of `root`, which must be one of these folders."""
    with opened(folders) as (sessions, notes):
        for folder, index in sessions:
            if folder.root == str(root):
                without = index.hash_of(document_id)
                return _similar(sessions, notes, *_known(index, document_id), k, without=without)
    raise LongsearchError(f"{root} is no longer indexed", "search again")


def similar_to_passage_in(
    folders: Sequence[Folder], root: Path, document_id: int, start: int, k: int = 10
) -> SearchResults:
    """The passages of these folders like the one at `start` in a document of the index of `root`, one of them."""
    with opened(folders) as (sessions, notes):
        for folder, index in sessions:
            if folder.root == str(root):
                asked = asked_passage(index, document_id, start)
                made = QueryVector(asked.vector, index.fingerprint)
                about = f"a passage of {asked.title}"
                return _similar(sessions, notes, about, made, k, find=partial(similar_to_passage, asked=asked, k=k))
    raise LongsearchError(f"{root} is no longer indexed", "search again")


def complete_in(folders: Sequence[Folder], typed: str) -> Completion:
    """Return the fields, values and folders that complete a query.

    Fields and values count the documents of the folders that the query names; folders count all of their own.
    """
    n_documents = {folder.name: folder.n_documents for folder in folders}
    try:
        before = typed[: unfinished(typed)[0]]
        with opened(admitted(folders, folders_named(before))) as (sessions, _):
            return complete([index for _, index in sessions], typed, n_documents)
    except LongsearchError:  # no index can be read, or no folder has the name: the folders still have theirs
        return complete([], typed, n_documents)


def admitted(folders: Sequence[Folder], named: FolderFilter) -> list[Folder]:
    """The folders that are named; all if none is. Raises QueryError for an unknown name."""
    chosen = named.chosen([folder.name for folder in folders])
    return [folder for folder in folders if folder.name in chosen]


@contextmanager
def opened(folders: Sequence[Folder]) -> Iterator[tuple[list[tuple[Folder, Index]], list[str]]]:
    """Yield the folders with their open indexes, and what a person should know of those that are away or damaged.

    Raises LongsearchError if no index can be read.
    """
    with ExitStack() as stack:
        sessions, notes = [], []
        for folder in folders:
            try:
                if folder.problem:
                    raise StoreError(folder.problem)
                index = stack.enter_context(open_index(index_path(Path(folder.root))))
            except StoreError as error:
                notes.append(f"{folder.name} is left out: {error.message}")
                continue
            sessions.append((folder, index))
            if folder.away:
                notes.append(f"{folder.name} is away ({folder.away}): its documents are found, but cannot be opened")
        if not sessions:
            raise LongsearchError("; ".join(notes) or "no folder is indexed", "index one: longsearch index FOLDER")
        yield sessions, notes


def _keys(sessions: Sequence[tuple[Folder, Index]]) -> frozenset[str]:
    """The fields that the documents of any of these folders have."""
    return frozenset[str]().union(*(index.fields for _, index in sessions))


def _no_vectors(sessions: Sequence[tuple[Folder, Index]]) -> dict[str, Vectors | None]:
    return {folder.name: None for folder, _ in sessions}


def _vectors(
    sessions: Sequence[tuple[Folder, Index]], query: Query, request: SearchRequest, source: VectorSource
) -> tuple[dict[str, Vectors | None], float, list[str]]:
    """The query's vector for each folder by name, the time that it took, and notes on folders that have none.

    Raises LongsearchError in a search by meaning if no folder has one.
    """
    prints = {folder.name: index.fingerprint for folder, index in sessions}
    vectors, others = _no_vectors(sessions), [name for name, fingerprint in prints.items() if not fingerprint]
    notes = [f"no document of {name} has been read for its meaning yet" for name in others]
    took_ms = 0.0
    problem: LongsearchError | None = None
    if len(others) < len(prints):
        for own, names in _by_source(sessions, source):
            try:
                made = own(query.meaning, request.instruction or None)
            except LongsearchError as error:
                problem, notes = error, [*notes, f"words only: {in_words(error)}"]
                continue
            took_ms += made.took_ms
            same, different = _compared({name: prints[name] for name in names}, made)
            vectors |= dict.fromkeys(same, made.vector)
            notes += _say_different(
                different, "searched by words only" if request.mode is SearchMode.HYBRID else "left out"
            )
    if request.mode is SearchMode.MEANING and all(vector is None for vector in vectors.values()):
        raise problem or LongsearchError("; ".join(notes), "search for words, or bring it up to date: longsearch index")
    return vectors, took_ms, notes


def _by_source(sessions: Sequence[tuple[Folder, Index]], source: VectorSource) -> list[tuple[VectorSource, list[str]]]:
    """The source of query vectors of each model, and the names of the folders that have this model."""
    names: dict[str | None, list[str]] = {}
    for folder, _ in sessions:
        own = folder_model(Path(folder.root))
        names.setdefault(own.model if own.is_own else None, []).append(folder.name)
    return [(source if model is None else partial(source, model=model), own) for model, own in names.items()]


def _compared(prints: dict[str, str], made: QueryVector) -> tuple[list[str], list[str]]:
    """The names of the folders with vectors that compare with this one, and of those with vectors that do not."""
    same = [name for name, fingerprint in prints.items() if fingerprint == made.fingerprint]
    different = [name for name, fingerprint in prints.items() if fingerprint not in ("", made.fingerprint)]
    return same, different


def _say_different(names: Sequence[str], what: str) -> list[str]:
    were = "was" if len(names) == 1 else "were"
    return [f"{', '.join(names)} {were} {_OTHER_MODEL}: {what}"] if names else []


# ---- similar documents


def _known(index: Index, document_id: int) -> tuple[str, QueryVector]:
    title, vector = title_and_vector(index, document_id)
    return title, QueryVector(vector, index.fingerprint)


def _similar(
    sessions: Sequence[tuple[Folder, Index]],
    notes: Sequence[str],
    title: str,
    made: QueryVector,
    k: int,
    without: bytes = b"",
    find: Callable[[Index], SearchResults] | None = None,
) -> SearchResults:
    """The documents of all folders nearest to the vector, each once; `without`: the hash of one to leave out.

    `find` finds them in one folder, in place of `similar_to_vector`.
    """
    same, different = _compared({folder.name: index.fingerprint for folder, index in sessions}, made)
    if not same:
        raise LongsearchError("no folder was read with this model", "bring them up to date: longsearch index FOLDER")
    once: dict[bytes, DocumentHit] = {}
    took_ms, said = 0.0, [*notes, *_say_different(different, "left out")]
    for folder, index in sessions:
        if folder.name not in same:
            continue
        found = find(index) if find else similar_to_vector(index, made.vector, title, k + 1)
        took_ms += found.took_ms
        said += [f"{folder.name}: {found.note}"] if found.note else []
        for hit in found.hits:
            key = index.hash_of(hit.document_id)
            if key != without and (key not in once or hit.score > once[key].score):
                once[key] = replace(hit, folder=folder.name)
    best = sorted(once.values(), key=lambda hit: -hit.score)[:k]
    hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, start=1))
    searched = tuple(folder for folder, _ in sessions)
    return SearchResults("", SearchMode.MEANING, "", took_ms, hits, "; ".join(said), similar_to=title, folders=searched)
