"""The vector of a query for each of several indexes, by the model that made the vectors of each."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from longsearch.app.models.folder_models import own_model
from longsearch.app.models.query_vectors import PATIENCE_S, QueryVector
from longsearch.app.search.scope import OpenFolders
from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import LongsearchError, in_words
from longsearch.engine.index.index import Index
from longsearch.engine.types.results import SearchMode
from longsearch.engine.unread import NONE_READ

VectorSource = Callable[..., QueryVector]
"""Encodes a query's text with an instruction (None: the model's own), by the `model` of a folder that has one."""


@dataclass(frozen=True, slots=True)
class VectorsOfQuery:
    """A query's vector for each index."""

    of_each: Sequence[Vectors | None] = ()
    """None for an index without vectors; () if no query vector was made."""
    took_ms: float = 0.0
    notes: Sequence[str] = ()
    """Why some indexes have none."""


def vectors_of(
    found: OpenFolders, text: str, instruction: str, mode: SearchMode, source: VectorSource
) -> VectorsOfQuery:
    """Encode a query for each index that can compare it.

    Raises LongsearchError in a search by meaning if none can; a hybrid search falls back to words there.
    """
    of_each: list[Vectors | None] = []
    problems: dict[str, LongsearchError] = {}
    made: dict[str | None, QueryVector | LongsearchError] = {}
    began = time.monotonic()
    for folder, index in found.parts:
        try:
            check_read(index)
            model = own_model(Path(folder.root))
            if model not in made:
                given: dict[str, Any] = {} if model is None else {"model": model}
                if made:  # all models of a search share the patience with the daemon
                    given["timeout_s"] = max(0.0, PATIENCE_S - (time.monotonic() - began))
                try:  # a model that makes none is asked once for all its folders, too
                    made[model] = source(text, instruction or None, **given)
                except LongsearchError as error:
                    made[model] = error
            of_each.append(comparable(made[model], index).vector)
        except LongsearchError as error:
            problems[folder.name] = error
            of_each.append(None)
    if mode is SearchMode.MEANING and len(problems) == len(of_each):
        raise next(iter(problems.values()))
    took_ms = sum(one.took_ms for one in made.values() if isinstance(one, QueryVector))
    what = "words only" if mode is SearchMode.HYBRID else "left out"
    return VectorsOfQuery(of_each, took_ms, why_not(what, problems, len(of_each)) if problems else ())


def why_not(what: str, problems: Mapping[str, LongsearchError], n_folders: int) -> list[str]:
    """Say once for each problem which folders have it; of a problem that all have, only what it is."""
    names: dict[str, list[str]] = {}
    for name, error in problems.items():
        names.setdefault(in_words(error), []).append(name)
    return [
        f"{what}: {error}" if len(own) == n_folders else f"{', '.join(own)}: {what}: {error}"
        for error, own in names.items()
    ]


def source_for(root: Path, source: VectorSource) -> VectorSource:
    """Return the source of query vectors for a root: a folder with a model of its own names it."""
    model = own_model(root)
    return source if model is None else partial(source, model=model)


def query_vector(index: Index, text: str, instruction: str, source: VectorSource) -> QueryVector:
    """Return a query's vector. Raises LongsearchError unless the model that made the index's vectors can make it."""
    check_read(index)
    return comparable(source(text, instruction or None), index)


def check_read(index: Index) -> None:
    """Raise LongsearchError if no document has vectors."""
    if not index.model:
        raise LongsearchError(NONE_READ, "wait a moment, or search for words")


def comparable(vector: QueryVector | LongsearchError, index: Index) -> QueryVector:
    """Return `vector` if the model that made the index's vectors made it; else raise LongsearchError."""
    if isinstance(vector, LongsearchError):
        raise vector
    if vector.fingerprint != index.fingerprint:
        hint = "bring it up to date: longsearch index FOLDER"
        raise LongsearchError("the index was made with another model", hint)
    return vector
