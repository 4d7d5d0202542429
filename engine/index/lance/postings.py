"""The words of an index as rows of a table: for each term and each bucket of passage ids, who holds it and how often.

LanceDB's own full-text index cannot stand in for these scores: its BM25 weighs a term by another formula and knows no
title of double weight, and it does not tell how many documents hold a term, which our score of a document needs.
`docs/lance.md` has the measurement. With these rows the scores are those of SQLite, to the last bit.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.index.lance.rows import Row
from longsearch.engine.index.lance.tables import BUCKET_BITS
from longsearch.engine.store import keywords

LENGTHS = ""
"""The row with this term has the lengths of all passages of a bucket, in words, instead of counts."""
_PLACE = np.dtype("<u2")
_COUNTS = {size: np.dtype(f"<u{size}") for size in (1, 2, 4)}


_KEY = np.dtype("<u4")
PLACE_BITS = 32 - BUCKET_BITS
"""A key says where a word stands: its low bits are the number of the word in the passage, its high bits the passage."""
IN_TITLE = 1 << (PLACE_BITS - 1)
"""Added to the number of a word in the title, so that no phrase begins in the text and ends in the title."""


@dataclass(frozen=True, slots=True)
class Held:
    """Passages, and a number for each: how often they hold a term, or how long they are."""

    ids: NDArray[np.int64]
    """(n,), ascending."""
    counts: NDArray[np.int64]
    """(n,)"""


def bucket_of(passage_id: int) -> int:
    """The bucket of a passage."""
    return passage_id >> BUCKET_BITS


def rows_of(db: apsw.Connection, bucket: int) -> list[Row]:
    """(bucket, term, places, counts, keys) of every term of a bucket's passages, as SQLite's word index has them."""
    first = bucket << BUCKET_BITS
    sql = "SELECT id FROM passages WHERE id >= ? AND id < ? ORDER BY id"
    ids = np.array([row[0] for row in db.execute(sql, (first, first + (1 << BUCKET_BITS)))], np.int64)
    if not len(ids):
        return []
    cut = keywords.tokenizer(db)
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    found: list[int] = []
    sizes: list[tuple[int, int]] = []  # words of the text and of the title
    for _, text, title in keywords.indexed_texts(db, ids):
        of_text, of_title = cut(text.encode()), cut(title.encode()) if title else []
        sizes.append((len(of_text), len(of_title)))
        found.extend(map(numbers.__getitem__, of_text))
        found.extend(map(numbers.__getitem__, of_title))
    offsets, lengths = (ids - first).astype(_PLACE), np.array(sizes, _COUNTS[4]).sum(axis=1, dtype=_COUNTS[4])
    whole = (bucket, LENGTHS, offsets.tobytes(), lengths.tobytes(), b"")
    return [whole, *_of_terms(bucket, sorted(numbers.items()), np.array(found, np.int64), _keys(offsets, sizes))]


def _keys(offsets: NDArray[np.uint16], sizes: Sequence[tuple[int, int]]) -> NDArray[np.uint32]:
    """(t,): where each token of the passages stands: the passage's offset and the number of the word."""
    parts = []
    for offset, (n_text, n_title) in zip(offsets.tolist(), sizes, strict=True):
        places = np.concatenate([np.arange(n_text), np.arange(n_title) + IN_TITLE])
        parts.append(np.minimum(places, (1 << PLACE_BITS) - 1) | offset << PLACE_BITS)
    return np.concatenate(parts).astype(_KEY)


def _of_terms(
    bucket: int, terms: Sequence[tuple[str, int]], tokens: NDArray[np.int64], keys: NDArray[np.uint32]
) -> Iterator[Row]:
    """A row for each term; `terms` are sorted, each with its number among `tokens` (t,)."""
    order = np.argsort(tokens, kind="stable")
    ends = np.searchsorted(tokens[order], np.arange(len(terms) + 1))
    keys = keys[order]
    for term, number in terms:
        own = keys[ends[number] : ends[number + 1]]
        held = counted(own.astype(np.int64))
        kind = _COUNTS[max(1, np.min_scalar_type(int(held.counts.max())).itemsize)]
        yield bucket, term, held.ids.astype(_PLACE).tobytes(), held.counts.astype(kind).tobytes(), own.tobytes()


def counted(keys: NDArray[np.int64]) -> Held:
    """How often each passage holds what stands at these places (p,), ascending; a place in a title counts twice."""
    ids = keys >> PLACE_BITS
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if len(ids) else ids
    weights = np.where(keys & IN_TITLE, keywords.TITLE_WEIGHT, 1)
    return Held(ids[starts], np.add.reduceat(weights, starts) if len(ids) else ids)


def joined(rows: Iterable[tuple[int, bytes, bytes]]) -> Held:
    """The passages of (bucket, places, counts) of one term, of all buckets; of several terms, counts are added up."""
    parts = [_unpacked(*row) for row in sorted(rows, key=lambda row: row[0])]
    if not parts:
        return Held(np.empty(0, np.int64), np.empty(0, np.int64))
    ids, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if np.all(ids[1:] > ids[:-1]):
        return Held(ids, counts)
    return added([Held(ids, counts)])


def keys_of(rows: Iterable[tuple[int, bytes]]) -> NDArray[np.int64]:
    """(p,): where the passages hold a term, ascending, of its (bucket, keys) in all buckets."""
    parts = [np.frombuffer(keys, _KEY).astype(np.int64) + (bucket << 32) for bucket, keys in sorted(rows)]
    return np.concatenate([np.empty(0, np.int64), *parts])


def added(parts: Sequence[Held]) -> Held:
    """The passages that any part has, with the sum of their counts."""
    ids = np.concatenate([part.ids for part in parts])
    unique, places = np.unique(ids, return_inverse=True)
    counts = np.bincount(places, np.concatenate([part.counts for part in parts]), len(unique))
    return Held(unique, counts.astype(np.int64))


def _unpacked(bucket: int, places: bytes, counts: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    offsets = np.frombuffer(places, _PLACE).astype(np.int64)
    kind = _COUNTS[len(counts) // len(offsets)]
    return offsets + (bucket << BUCKET_BITS), np.frombuffer(counts, kind).astype(np.int64)
