"""Completes the field or the value that a person is typing in a query, with the numbers of documents.

The grammar is that of `query`; the indexes that are searched say which fields and values there are.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.completions import Completion, CompletionChoice
from longsearch.engine.errors import QueryError
from longsearch.engine.index.index import Index
from longsearch.engine.languages.names import name_of
from longsearch.engine.query_language import fields
from longsearch.engine.query_language.fields import quoted
from longsearch.engine.query_language.file_filter import folded
from longsearch.engine.query_language.items import unfinished
from longsearch.engine.query_language.query import is_common, parse
from longsearch.engine.search.retrieval import allowed_documents
from longsearch.engine.store import languages, metadata
from longsearch.engine.store.connection import among

_CHOICES = 12
_READ_OF_EACH = 200  # values of one index; with several indexes, the counts of these are added
_MIN_NAME = 2
_AGES = ("7d", "30d", "6m", "1y")
_SUFFIX_MAX_CHARACTERS = 8

Ids = NDArray[np.int64]
Part = tuple[Index, Ids | None]
"""An index, and the documents in it that the rest of the query admits; None: all."""


def complete(indexes: Sequence[Index], text: str, folders: Mapping[str, int] | None = None) -> Completion:
    """What may follow at the end of `text`, the query up to the cursor: most documents first.

    `indexes`: those that are searched. `folders`: if `folder:` can choose among them, the name of each with its
    number of documents. The numbers are of documents that the query's other filters admit. A field is completed from
    its second letter on, unless what was typed is a common word such as "in".
    """
    start, typed, name = unfinished(text)
    keys = frozenset[str]().union(*(index.fields for index in indexes))
    parts = [(index, _allowed(index, text[:start], keys)) for index in indexes]
    if name is None:
        if len(typed) < _MIN_NAME or is_common(typed):
            return Completion(start, ())
        return Completion(start, tuple(_names(parts, typed, keys, bool(folders))))
    known = fields.name_of(name, keys)
    return Completion(start, tuple(_values(parts, known, typed, folders or {})) if known else ())


def _allowed(index: Index, before: str, keys: Collection[str]) -> Ids | None:
    """The documents that the other filters of the query, which stand before what is typed, admit; None: all."""
    try:
        query = parse(before, keys=keys)
    except QueryError:  # there is nothing before it, or nothing to search for
        return None
    return allowed_documents(index, query.files, query.conditions)


def _names(parts: Sequence[Part], typed: str, keys: frozenset[str], has_folders: bool) -> Iterator[CompletionChoice]:
    own = sorted(key for key in keys - {"language", "created"} if key not in fields.NAMES)
    for name in (*fields.NAMES, *own):
        if name.startswith(typed) and (has_folders or name != fields.FOLDER):
            n = (
                sum(metadata.n_documents_with(index.db, name, allowed) for index, allowed in parts)
                if name in keys
                else None
            )
            yield CompletionChoice(f"{name}:", n)


def _values(parts: Sequence[Part], name: str, typed: str, folders: Mapping[str, int]) -> Iterator[CompletionChoice]:
    if name in ("sort", "since"):
        values = [str(sort) for sort in fields.Sort] if name == "sort" else _AGES
        yield from (CompletionChoice(value, None) for value in values if value.startswith(typed))
        return
    if name == fields.FOLDER:
        counts = Counter({folder: n for folder, n in folders.items() if f"/{folded(typed)}" in f"/{folded(folder)}"})
    else:
        counts = Counter()
        for index, allowed in parts:
            counts.update(_counts(index.db, allowed, name, typed))
    for value, n in sorted(counts.items(), key=lambda row: (-row[1], row[0]))[:_CHOICES]:
        meaning = name_of(value) if name == "lang" else value
        yield CompletionChoice(quoted(value), n, meaning if meaning != value else "")


def _counts(db: apsw.Connection, allowed: Ids | None, name: str, typed: str) -> dict[str, int]:
    """The values of a field that begin with `typed`, each with its number of documents, or of files."""
    if name == "lang":
        codes = ((code, n) for code, n in languages.counts(db, allowed).items() if code)
        return {
            code: n for code, n in codes if code.startswith(typed) or folded(name_of(code)).startswith(folded(typed))
        }
    if name in fields.OF_FILES:
        return {value: n for value, n in _of_files(db, allowed, name).items() if value.startswith(typed)}
    return dict(metadata.values_with_counts(db, name, typed, _READ_OF_EACH, allowed))


def _of_files(db: apsw.Connection, allowed: Ids | None, name: str) -> Counter[str]:
    """The endings of files, or the folders in which they lie, each with its number of files."""
    counts: Counter[str] = Counter()
    condition, ids = among("content_id", allowed)
    for (path,) in db.execute(f"SELECT path FROM files WHERE content_id IS NOT NULL{condition}", ids):  # noqa: S608
        parts = PurePosixPath(os.fsdecode(path))
        if name == "in":
            counts.update(str(folder) for folder in parts.parents if folder.name)
        elif 0 < len(suffix := parts.suffix.removeprefix(".").casefold()) <= _SUFFIX_MAX_CHARACTERS:
            counts[suffix] += 1
    return counts
