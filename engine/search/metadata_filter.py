"""Decides which documents satisfy a query's conditions on metadata, and lists documents for a query without words.

The index answers, so a filter narrows the candidates before the best are taken. Knows no vectors.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import distinct
from longsearch.engine.index.index import Index
from longsearch.engine.index.lookup import expressions
from longsearch.engine.languages.asked_forms import asked
from longsearch.engine.quantities import POINT
from longsearch.engine.query_language.fields import Condition, Sort
from longsearch.engine.search.ranking import RankedDocument, RankedPassage
from longsearch.engine.store import documents, metadata
from longsearch.engine.types.results import DocumentHit, Term

Thing = TypeVar("Thing")


def narrowed(
    index: Index, allowed: NDArray[np.int64] | None, conditions: Sequence[Condition]
) -> NDArray[np.int64] | None:
    """Ids of the documents in `allowed` (None: of all) that satisfy all conditions, ascending; None: all do."""
    if not conditions:
        return allowed
    found = documents.all_ids(index.db) if allowed is None else allowed
    for one in conditions:
        select = np.setdiff1d if one.is_excluded else np.intersect1d
        found = select(found, _with(index, one), assume_unique=True)
    return found


def _with(index: Index, one: Condition) -> NDArray[np.int64]:
    """Ids of the documents that have what the condition names, ascending.

    If no document says that an identifier is its own, those whose text has it.
    """
    if one.days is not None:
        return metadata.dated(index.db, *one.days)
    texts = [one.text]
    if one.field in metadata.IDENTIFIERS:  # as it is pasted: https://doi.org/10.1000/xyz
        texts += (form.replace(POINT, ".") for own in asked(one.text) for form in own.forms)
    every = [metadata.as_words(text) for text in texts]
    found = [metadata.with_words(index.db, one.field, own.rstrip(" ") if one.is_prefix else own) for own in every]
    if one.field in metadata.IDENTIFIERS and not any(map(len, found)):
        (match,) = expressions([Term(one.text, is_phrase=True, is_prefix=one.is_prefix)], index.spoken)
        found.append(index.backend.documents_of(index.backend.matching(match)))
    return distinct(np.concatenate(found))[0]


def list_order(asked: Sort | None) -> Sort:
    """The order of a list: by date unless the query says otherwise; without words no document has a score."""
    return Sort.NAME if asked is Sort.NAME else Sort.DATE


def listed(
    db: apsw.Connection, allowed: NDArray[np.int64] | None, sort: Sort, is_reversed: bool, k: int
) -> list[RankedDocument]:
    """The first `k` of these documents (None: of all), in this order, each with its first passage and no score."""
    ids = (documents.all_ids(db) if allowed is None else allowed).tolist()
    ids = in_order(ids, sort_keys(db, ids, sort), sort, is_reversed)[:k]
    first = documents.first_passages(db, ids)
    return [RankedDocument(id_, 0.0, (RankedPassage(first[id_], id_, 0.0),) if id_ in first else ()) for id_ in ids]


def sort_keys(db: apsw.Connection, ids: Sequence[int], sort: Sort) -> list[str]:
    """The key that sorts each of these documents: its date ("" without one), or its title as words."""
    if sort is Sort.NAME:
        names = metadata.titles(db, ids)
        return [metadata.as_words(names[id_]) for id_ in ids]
    dates = metadata.dates(db, ids)
    return [dates.get(id_, "") for id_ in ids]


def in_order(things: Sequence[Thing], keys: Sequence[str], sort: Sort, is_reversed: bool) -> list[Thing]:
    """The things by their keys, which `sort_keys` made. The newest come first, and what has no date comes last.

    Things with the same key keep their order.
    """
    order = sorted(range(len(things)), key=keys.__getitem__, reverse=is_reversed is (sort is Sort.NAME))
    return [things[place] for has_key in (True, False) for place in order if bool(keys[place]) is has_key]


def sort_hits(hits: Sequence[DocumentHit], sort: Sort | None, is_reversed: bool) -> tuple[DocumentHit, ...]:
    """The hits, which are sorted by score, in another order, ranked anew."""
    found = list(hits)
    if sort is Sort.NAME:
        found = in_order(found, [metadata.as_words(hit.title) for hit in found], sort, is_reversed)
    elif sort is Sort.DATE:
        found = in_order(found, [hit.date for hit in found], sort, is_reversed)
    elif sort is Sort.SCORE and is_reversed:
        found.reverse()
    return tuple(hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(found, start=1))
