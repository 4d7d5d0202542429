"""Completes the field or the value that a person is typing in a query, with the numbers of documents.

The grammar is that of `query`; the index says which fields and values there are.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

import apsw

from longsearch.engine.search import fields
from longsearch.engine.search.query import is_common, quoted, unfinished
from longsearch.engine.store import metadata
from longsearch.engine.types import Completion, CompletionChoice

_CHOICES = 12
_MIN_NAME = 2
_STORED_AS = {"lang": "language"}
_AGES = ("7d", "30d", "6m", "1y")
_SUFFIX_MAX_CHARACTERS = 8


def complete(db: apsw.Connection, text: str) -> Completion:
    """What may follow at the end of `text`, the query up to the cursor: most documents first.

    A field is completed from its second letter on, unless what was typed is a common word such as "in".
    """
    start, typed, name = unfinished(text)
    keys = metadata.fields(db)
    if name is None:
        if len(typed) < _MIN_NAME or is_common(typed):
            return Completion(start, ())
        return Completion(start, tuple(_names(db, typed, keys)))
    known = fields.name_of(name, keys)
    return Completion(start, tuple(_values(db, known, typed)) if known else ())


def _names(db: apsw.Connection, typed: str, keys: frozenset[str]) -> Iterator[CompletionChoice]:
    own = sorted(key for key in keys - {"language", "created"} if key not in fields.NAMES)
    for name in (*fields.NAMES, *own):
        if name.startswith(typed):
            field = _STORED_AS.get(name, name)
            yield CompletionChoice(f"{name}:", metadata.n_documents_with(db, field) if field in keys else None)


def _values(db: apsw.Connection, name: str, typed: str) -> Iterator[CompletionChoice]:
    if name in fields.OF_FILES:
        counts = _of_files(db, name)
        found = sorted((row for row in counts.items() if row[0].startswith(typed)), key=lambda row: (-row[1], row[0]))
        yield from (CompletionChoice(quoted(value), n) for value, n in found[:_CHOICES])
    elif name in ("sort", "since"):
        values = [str(sort) for sort in fields.Sort] if name == "sort" else _AGES
        yield from (CompletionChoice(value, None) for value in values if value.startswith(typed))
    else:
        for value, n in metadata.values_with_counts(db, _STORED_AS.get(name, name), typed, _CHOICES):
            yield CompletionChoice(quoted(value), n)


def _of_files(db: apsw.Connection, name: str) -> Counter[str]:
    """The endings of files, or the folders in which they lie, each with its number of files."""
    counts: Counter[str] = Counter()
    for (path,) in db.execute("SELECT path FROM files WHERE content_id IS NOT NULL"):
        parts = PurePosixPath(os.fsdecode(path))
        if name == "in":
            counts.update(str(folder) for folder in parts.parents if folder.name)
        elif 0 < len(suffix := parts.suffix.removeprefix(".").casefold()) <= _SUFFIX_MAX_CHARACTERS:
            counts[suffix] += 1
    return counts
