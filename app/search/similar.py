"""Documents like a document, and passages like a passage, in one folder or in several."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from longsearch.app.models.encoders import open_encoder
from longsearch.app.models.folder_models import folder_model
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.search.query_vectors import check_read, comparable, why_not
from longsearch.app.search.scope import OpenFolders, Scope, opened
from longsearch.engine.errors import LongsearchError
from longsearch.engine.index.index import Index
from longsearch.engine.search.similar import similar_to_vector, title_and_vector
from longsearch.engine.search.similar_passages import asked_passage, similar_to_passage
from longsearch.engine.store.documents import title_of
from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.results import DocumentHit, SearchMode, SearchResults

Find = Callable[[Index, QueryVector], SearchResults]
"""Finds in one index what is like a vector."""


def similar_to_file(scope: Scope, file: Path, k: int = 10) -> SearchResults:
    """Return the documents of these folders that are most similar to `file`, an absolute path.

    A file in none of them is read and encoded whole, by the model of each folder. Raises LongsearchError if the file
    cannot be read or compared.
    """
    with opened(scope) as found:
        for folder, index in found.parts:
            path = file.relative_to(folder.root).as_posix() if file.is_relative_to(folder.root) else None
            if path is not None and (known := index.document_of(path)) is not None:
                return _like_document(found, index, known, k)
        if found.scope.is_one:
            check_read(found.indexes[0])
        document = _read(file)
        models = {folder.name: folder_model(Path(folder.root)).model for folder, _ in found.parts}
        made = {model: _encoded(document.text, model) for model in dict.fromkeys(models.values())}
        return _merged(found, document.title, {name: made[model] for name, model in models.items()}, k)


def similar_to_document(scope: Scope, root: Path, document_id: int, k: int = 10) -> SearchResults:
    """The same for a document of the index of `root`, which must be one of these folders."""
    with opened(scope) as found:
        return _like_document(found, _index_of(found, root), document_id, k)


def similar_to_passage_at(scope: Scope, root: Path, document_id: int, start: int, k: int = 10) -> SearchResults:
    """The passages of these folders like the one at `start` in a document of the index of `root`, one of them."""
    with opened(scope) as found:
        index = _index_of(found, root)
        asked = asked_passage(index, document_id, start)
        made = dict.fromkeys(_names(found), QueryVector(asked.vector, index.fingerprint))
        about = f"a passage of {asked.title}"
        return _merged(found, about, made, k, find=lambda one, _: similar_to_passage(one, asked, k))


def _names(found: OpenFolders) -> list[str]:
    return [folder.name for folder, _ in found.parts]


def _index_of(found: OpenFolders, root: Path) -> Index:
    for folder, index in found.parts:
        if folder.root == str(root):
            return index
    raise LongsearchError(f"{root} is no longer indexed", "search again")


def _read(file: Path) -> DocumentText:
    """Return the text of a file with a title. Raises LongsearchError if the file cannot be read."""
    from longsearch.app.search.outside import read_now

    document = read_now(file).document
    return replace(document, title=document.title or title_of(file.name))


def _encoded(text: str, model: str) -> QueryVector:
    encoder = open_encoder(model)
    return QueryVector(encoder.encode_document(text).vector, encoder.fingerprint)


def _like_document(found: OpenFolders, index: Index, document_id: int, k: int) -> SearchResults:
    """The documents like one of an index, and not this one."""
    title, vector = title_and_vector(index, document_id)
    made = dict.fromkeys(_names(found), QueryVector(vector, index.fingerprint))
    return _merged(found, title, made, k, without=index.hash_of(document_id))


def _merged(
    found: OpenFolders,
    title: str,
    made: Mapping[str, QueryVector],
    k: int,
    without: bytes = b"",
    find: Find | None = None,
) -> SearchResults:
    """The documents nearest to each folder's vector, each once; `without`: the hash of a document to leave out.

    Folders whose index was made with another model are left out, and the note names them. Raises LongsearchError if
    all are.
    """
    find = find or (lambda index, vector: similar_to_vector(index, vector.vector, title, k + 1, found.scope.under))
    once: dict[bytes, DocumentHit] = {}
    problems: dict[str, LongsearchError] = {}
    took_ms, notes = 0.0, list[str]()
    for folder, index in found.parts:
        try:
            answer = find(index, comparable(made[folder.name], index))
        except LongsearchError as error:
            problems[folder.name] = error
            continue
        took_ms += answer.took_ms
        notes += [answer.note if found.scope.is_one else f"{folder.name}: {answer.note}"] if answer.note else []
        for hit in answer.hits:
            key = index.hash_of(hit.document_id)
            if key != without and (key not in once or hit.score > once[key].score):
                once[key] = hit
    if len(problems) == len(found.parts):
        raise next(iter(problems.values()))
    best = sorted(once.values(), key=lambda hit: -hit.score)[:k]
    hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, start=1))
    results = SearchResults("", SearchMode.MEANING, "", took_ms, hits, similar_to=title)
    return found.named(results, [*why_not("left out", problems, len(found.parts)), *notes])
