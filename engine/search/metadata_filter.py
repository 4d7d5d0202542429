"""Decides which documents satisfy a query's conditions on metadata, and lists documents for a query without words.

The index answers, so a filter narrows the candidates before the best are taken. Knows no words and no vectors.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.search.fields import Condition, Sort
from longsearch.engine.search.ranking import RankedDocument
from longsearch.engine.store import documents, metadata
from longsearch.engine.types import DocumentHit, MetadataValue

Thing = TypeVar("Thing")
_ANY_OF = frozenset({"language"})
"""Fields of which a document has one value: several conditions are alternatives. Of other fields, all must hold."""


def narrowed(
    db: apsw.Connection, allowed: NDArray[np.int64] | None, conditions: Sequence[Condition]
) -> NDArray[np.int64] | None:
    """Ids of the documents in `allowed` (None: of all) that satisfy all conditions, ascending; None: all do."""
    if not conditions:
        return allowed
    found = documents.all_ids(db) if allowed is None else allowed
    for field in _ANY_OF:
        either = [_with(db, one) for one in conditions if one.field == field and not one.is_excluded]
        if either:
            found = np.intersect1d(found, np.unique(np.concatenate(either)), assume_unique=True)
    for one in conditions:
        if one.is_excluded:
            found = np.setdiff1d(found, _with(db, one), assume_unique=True)
        elif one.field not in _ANY_OF:
            found = np.intersect1d(found, _with(db, one), assume_unique=True)
    return found


def _with(db: apsw.Connection, one: Condition) -> NDArray[np.int64]:
    """Ids of the documents that have what the condition names, ascending."""
    if one.days is not None:
        return metadata.dated(db, *one.days)
    words = metadata.as_words(one.text)
    return metadata.with_words(db, one.field, words.rstrip(" ") if one.is_prefix else words)


def listed(
    db: apsw.Connection, allowed: NDArray[np.int64] | None, sort: Sort, is_reversed: bool, k: int
) -> list[RankedDocument]:
    """The first `k` of these documents (None: of all), in this order, each with its first passage and no score.

    By date, the newest come first; documents without a date come last.
    """
    ids = (documents.all_ids(db) if allowed is None else allowed).tolist()
    if sort is Sort.NAME:
        names = metadata.titles(db, ids)
        ids.sort(key=lambda id_: (_name_key(names[id_]), id_), reverse=is_reversed)
    else:
        dates = metadata.dates(db, ids)
        ids = _by_date(ids, [dates.get(id_, "") for id_ in ids], is_reversed)
    first = documents.first_passages(db, ids[:k])
    return [RankedDocument(id_, 0.0, ((first[id_], 0.0),) if id_ in first else ()) for id_ in ids[:k]]


def sort_hits(hits: Sequence[DocumentHit], sort: Sort | None, is_reversed: bool) -> tuple[DocumentHit, ...]:
    """The hits, which are sorted by score, in another order, ranked anew."""
    found = list(hits)
    if sort is Sort.NAME:
        found.sort(key=lambda hit: _name_key(hit.title), reverse=is_reversed)
    elif sort is Sort.DATE:
        found = _by_date(found, [_date(hit.metadata) for hit in found], is_reversed)
    elif sort is Sort.SCORE and is_reversed:
        found.reverse()
    return tuple(_ranked(hit, rank) for rank, hit in enumerate(found, start=1))


def _ranked(hit: DocumentHit, rank: int) -> DocumentHit:
    return hit if hit.rank == rank else replace(hit, rank=rank)


def _by_date(things: list[Thing], dates: list[str], is_reversed: bool) -> list[Thing]:
    order = sorted(range(len(things)), key=lambda place: dates[place], reverse=not is_reversed)
    return [things[place] for dated in (True, False) for place in order if bool(dates[place]) is dated]


def _date(values: Sequence[MetadataValue]) -> str:
    return next((value.value for value in values if value.field == "date"), "")


def _name_key(title: str) -> str:
    return metadata.as_words(title)
